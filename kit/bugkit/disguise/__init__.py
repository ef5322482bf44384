"""A broken GPT that looks different from the public one, so that `diff` does not find the bug.

    source, scopes   a module read once: trees with bindings, comments, places
    package          all modules and who imports what
    rewrites         forms that compute the same
    moves, naming,   where a definition stands, what it is called, what is said of it
    wording
    statements,      trees as formatted code
    layout, expressions
    make             all of it together

Every choice is drawn from a seed and from the structure of the code, never from where the bug is.
"""

from .make import disguise
from .model import Disguised, Level, Place

__all__ = ["Disguised", "Level", "Place", "disguise"]
