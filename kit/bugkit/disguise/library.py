"""What is known of NumPy and of Python: which functions give arrays, and which change nothing."""


def _names(text: str, module: str = "") -> frozenset[str]:
    return frozenset(module + name for name in text.split())


MAKERS = _names(
    "abs arange argsort asarray ascontiguousarray broadcast_to clip concatenate copy cos "
    "cumsum einsum empty empty_like exp expand_dims full full_like log logical_not matmul max "
    "maximum mean min minimum moveaxis multiply negative ones ones_like outer repeat reshape "
    "sin split sqrt square stack subtract sum swapaxes take_along_axis tanh tensordot tile "
    "transpose tril triu var where zeros zeros_like add divide array argmax all any std ",
    "np.",
)
"""Functions of NumPy that return arrays (or scalars, which have the same methods)."""

METHODS = _names(
    "all any argmax astype copy cumsum max mean min ravel repeat reshape squeeze std sum "
    "swapaxes transpose var "
)
"""Methods of arrays that return arrays and change nothing."""

CALM = MAKERS | _names("array_equal finfo issubdtype ndim size", "np.")
"""Functions of NumPy that change nothing."""

CALM_BUILTINS = _names("abs bool float int isinstance len max min range round slice tuple")
