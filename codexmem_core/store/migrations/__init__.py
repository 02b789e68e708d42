"""Migrations: numbered scripts, a folder a kind of database; each runs once, after a backup.

A script defines ``up(migrator, db)`` and stands alone: it never imports table classes, which move on. A script that
means to change how many rows a table has says so by ``changes_rows = ("table",)``; any other change is an error.
"""
