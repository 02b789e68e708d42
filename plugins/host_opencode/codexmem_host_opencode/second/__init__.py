"""OpenCode 2: its service and its processes, their sessions, and their models.

Written from what is known of 2.x (OpenCode memory 20); the real program was not there to try it with.
"""
