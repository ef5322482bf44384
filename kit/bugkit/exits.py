"""Exit codes of the command line."""

FINE = 0
"""Nothing to report."""

FINDING = 1
"""The subject has a bug, or something on disk is out of date."""

WRONG_USE = 2
"""The command was given something it cannot work with."""

BROKEN_KIT = 3
"""The kit itself is at fault: a promise of the catalogue does not hold."""

STOPPED = 130
"""Stopped by the user, as shells say it: 128 + SIGINT."""
