"""Text -> token ids -> batches."""

import numpy as np


def build_vocabulary(text: str) -> str:
    """The characters of the text, each once, sorted. A character's place is its token id."""
    return "".join(sorted(set(text)))


def encode(text: str, vocabulary: str) -> np.ndarray:  # -> [N]
    """Token ids. Raises ValueError for a character that the vocabulary lacks."""
    ids = {character: i for i, character in enumerate(vocabulary)}
    for place, character in enumerate(text):
        if character not in ids:
            raise ValueError(
                f"character {character!r} at place {place} of the text is not in the vocabulary"
            )
    return np.array([ids[character] for character in text], dtype=np.int64)


def decode(token_ids: np.ndarray, vocabulary: str) -> str:
    """The text. Raises ValueError for an id that the vocabulary lacks."""
    for token_id in np.ravel(token_ids):
        if not 0 <= token_id < len(vocabulary):
            raise ValueError(f"token id {token_id} is not from 0 to {len(vocabulary) - 1}")
    return "".join(vocabulary[token_id] for token_id in np.ravel(token_ids))


def split_data(
    data: np.ndarray, validation: float = 0.1
) -> tuple[np.ndarray, np.ndarray]:  # [N] -> [M], [N - M]
    """The part to train on and, from the end of the text, the part to validate with."""
    if not 0.0 < validation < 1.0:
        raise ValueError(f"validation must be between 0 and 1, got {validation!r}")
    border = len(data) - round(len(data) * validation)
    return data, data[border:]


def get_batch(
    data: np.ndarray, batch_size: int, seq_len: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:  # [N] -> [B, T], [B, T]
    """Stretches of the text from random places, and the same one token later: the targets.

    Raises ValueError if a size is not positive or the text is not longer than `seq_len`.
    """
    for name, size in (("batch_size", batch_size), ("seq_len", seq_len)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    if len(data) <= seq_len:
        raise ValueError(
            f"data hold {len(data)} tokens; sequences of {seq_len} need at least {seq_len + 1}"
        )
    starts = np.random.default_rng(seed).integers(0, len(data) - seq_len, batch_size)
    windows = starts[:, None] + np.arange(seq_len)
    return data[windows], data[windows + 1]
