"""The sizes of a GPT and the choices among its parts."""

import operator
from dataclasses import dataclass
from numbers import Real

import numpy as np

SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "max_seq_len")
CHOICES = ("tie_word_embeddings", "rotary", "scale_residual_init")
NUMBERS = ("dropout", "rope_theta")


@dataclass(frozen=True)
class GPTConfig:
    """What has to be known before a model can be built.

    Raises ValueError if a size is not a positive integer, if the heads cannot share the width
    evenly, or if a choice is of the wrong kind or out of range.
    """

    vocab_size: int = 64
    """V: how many different tokens there are."""

    d_model: int = 32
    """C: width of the residual stream."""

    n_layers: int = 2
    """Number of blocks."""

    n_heads: int = 4
    """H: attention heads in each block; each is C / H wide."""

    max_seq_len: int = 16
    """Longest sequence, in tokens."""

    tie_word_embeddings: bool = True
    """Whether the head reuses the token embedding (Press & Wolf 2017, arXiv:1608.05859)."""

    dropout: float = 0.0
    """Probability of dropping a value, from 0 up to but not including 1; used in training only."""

    n_kv_heads: int | None = None
    """K: heads of keys and values, each shared by H / K query heads (Ainslie et al. 2023,
    arXiv:2305.13245). None for as many as there are query heads."""

    rotary: bool = False
    """Whether queries and keys are turned by their position (Su et al. 2021, arXiv:2104.09864)
    in place of learned position vectors."""

    rope_theta: float = 10000.0
    """Base of the rotary wavelengths."""

    scale_residual_init: bool = False
    """Whether the projections onto the residual stream start smaller by sqrt(2 * n_layers), as in
    GPT-2 (Radford et al. 2019, section 2.3)."""

    def __post_init__(self) -> None:
        names = SIZES if self.n_kv_heads is None else (*SIZES, "n_kv_heads")
        for name in names:
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))
        # NumPy's numbers are welcome, but its float64 would turn float32 arrays into float64. Texts
        # are not: "False" would be true.
        for name in CHOICES:
            object.__setattr__(self, name, true_or_false(name, getattr(self, name)))
        for name in NUMBERS:
            object.__setattr__(self, name, number(name, getattr(self, name)))
        if self.d_model % self.n_heads != 0:
            raise ValueError(
                f"d_model must be divisible by n_heads, got {self.d_model} and {self.n_heads}"
            )
        if self.n_heads % self.kv_heads != 0:
            raise ValueError(
                f"n_heads must be divisible by n_kv_heads, got {self.n_heads} and {self.kv_heads}"
            )
        if not 0.0 <= self.dropout < 1.0:
            raise ValueError(f"dropout must be from 0 up to below 1, got {self.dropout!r}")
        if self.rotary and self.head_width % 2 != 0:
            raise ValueError(
                f"rotary positions pair up the channels of a head: d_model / n_heads must be even, "
                f"got {self.head_width}"
            )
        if not self.rope_theta > 0.0:
            raise ValueError(f"rope_theta must be positive, got {self.rope_theta!r}")

    @property
    def head_width(self) -> int:
        """D: channels of one head."""
        return self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """K, whether it was given or not."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads


def positive_integer(name: str, value: object) -> int:
    """A size as a Python integer; NumPy's integers are as good."""
    try:
        size = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        size = 0
    if size < 1 or isinstance(value, bool):
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return size


def true_or_false(name: str, value: object) -> bool:
    """A choice as a Python bool; NumPy's are as good."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def number(name: str, value: object) -> float:
    """A number as a Python float; NumPy's numbers are as good."""
    if not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)
