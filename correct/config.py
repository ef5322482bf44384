"""The sizes of a GPT."""

from dataclasses import dataclass

SIZES = ("vocab_size", "d_model", "n_layers", "n_heads", "max_seq_len")


@dataclass(frozen=True)
class GPTConfig:
    """What has to be known before a model can be built.

    Raises ValueError if a size is not a positive integer, or if the heads cannot share the
    width evenly.
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
    """Longest sequence, in tokens: the number of position vectors."""

    tie_word_embeddings: bool = True
    """Whether the head reuses the token embedding (Press & Wolf 2017, arXiv:1608.05859)."""

    def __post_init__(self) -> None:
        for name in SIZES:
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} must be a positive integer, got {size!r}")
        if self.d_model % self.n_heads != 0:
            raise ValueError(
                f"d_model must be divisible by n_heads, got {self.d_model} and {self.n_heads}"
            )
