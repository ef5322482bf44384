"""The command line: parse, call one function, print."""

from . import author, check, look, measure, worksheet
from .group import cli

__all__ = ["author", "check", "cli", "look", "measure", "worksheet"]
