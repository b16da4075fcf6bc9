"""The local page of `smrmr app`: drop a table, read the report; nothing leaves the computer.

`serve` opens it, `server` puts its pages together (`tables`, `runs`, `web`), behind `guard`. Tables
and runs are folders (`folders`); a run is the command `smrmr select` in a process of its own
(`queue`, `child`), and so is all reading of a table (`preview`, `picture`). `settings` says how
choices on the page (`forms`) become a command and lines of Python, `messages` how messages of the
command become notes with buttons, `answers` what is asked of an answer.
"""
