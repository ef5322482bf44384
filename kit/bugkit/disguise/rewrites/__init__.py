"""Forms in which people write the same computation, one small function each.

A rewrite gets a node and returns another that computes the same, or None where it does not apply.
It decides by the code alone, so the bug goes along unseen. Floating-point results may differ by
rounding; what is raised for wrong input may be raised a moment earlier or later.
"""

from . import (
    arguments,
    arithmetic,
    axes,
    branches,
    comparisons,
    loops,
    masks,
    numbers,
    order,
    products,
    reductions,
    shapes,
    splits,
    steps,
)
from .base import BLOCK_REWRITES, REWRITES, BlockRewrite, Context, Rewrite
from .engine import prepare, rewrite_block

prepare()

__all__ = [
    "BLOCK_REWRITES",
    "REWRITES",
    "BlockRewrite",
    "Context",
    "Rewrite",
    "arguments",
    "arithmetic",
    "axes",
    "branches",
    "comparisons",
    "loops",
    "masks",
    "numbers",
    "order",
    "products",
    "reductions",
    "rewrite_block",
    "shapes",
    "splits",
    "steps",
]
