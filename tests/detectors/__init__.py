"""The detector suite: ordinary pytest tests, each of one property of a correct GPT.

A test takes the fixture `gpt` and exchanges only data with it. The first line of its docstring
is the property in words; the rest says why a correct GPT has it.
"""

FAMILIES = (
    "numerics",
    "softmax",
    "norm",
    "embedding",
    "attention",
    "causality",
    "modes",
    "mlp",
    "residual",
    "head",
    "init",
    "rotary",
    "groups",
    "loss",
    "gradients",
    "dropout",
    "optimizer",
    "training",
    "sampling",
    "cache",
    "data",
    "checkpoint",
    "backstop",
)
"""The test files, most fundamental first: who fails an early one need not look at later ones."""
