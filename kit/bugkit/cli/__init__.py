"""The command line: parse, call one function, print."""

from . import author, check, handout, look, measure, secret, worksheet
from .group import cli

__all__ = ["author", "check", "cli", "handout", "look", "measure", "secret", "worksheet"]
