"""The one background process of a home: takes events in, tells plugins, brings memories up to date, answers hooks.

It is started by a hook when none is alive and ends when nothing has happened for a while; there is no timer and no
daemon. Three threads: :mod:`main` watches, :mod:`intake` listens to events, :mod:`passes` does the long work.
"""
