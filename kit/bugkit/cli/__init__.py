"""The command line: parse, call one function, print."""

from . import author, check, look, measure, secret, worksheet
from .group import cli

__all__ = ["author", "check", "cli", "look", "measure", "secret", "worksheet"]
