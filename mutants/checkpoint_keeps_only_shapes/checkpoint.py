"""Checkpoints: parameters and configuration in one .npz file, without pickle."""

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .config import SIZES, GPTConfig
from .init import init_params
from .tree import leaves, map_paths

SHAPING = (*SIZES, "tie_word_embeddings", "n_kv_heads", "rotary")
CONFIG = "config"
"""The entry that holds the configuration, as JSON; every other entry is an array, by its path."""


def save_checkpoint(path: str | os.PathLike[str], params: dict[str, Any], cfg: GPTConfig) -> None:
    """Write the file, whole or not at all: an earlier one stays until the new one is complete."""
    target = Path(path)
    known = {name: getattr(cfg, name) for name in SHAPING}
    arrays = dict(leaves(params)) | {CONFIG: np.array(json.dumps(known))}
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=target.name, delete=False) as file:
        unfinished = Path(file.name)
        try:
            np.savez(file, **arrays)
        except BaseException:
            unfinished.unlink()
            raise
    unfinished.replace(target)


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Any], GPTConfig]:
    """Parameters and configuration, exactly as they were saved.

    Raises ValueError, with the name of the file, for one that is truncated or is something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, EOFError, zipfile.BadZipFile, AttributeError, KeyError) as error:
        raise ValueError(f"{path}: not a whole .npz file: {error}") from None
    if CONFIG not in arrays:
        raise ValueError(f"{path}: not a checkpoint: it has no entry {CONFIG!r}")
    try:
        cfg = GPTConfig(**json.loads(str(arrays.pop(CONFIG))))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: its configuration cannot be read: {error}") from None
    return as_tree(path, arrays, cfg), cfg


def as_tree(
    path: str | os.PathLike[str], arrays: dict[str, np.ndarray], cfg: GPTConfig
) -> dict[str, Any]:
    """The arrays in the tree that the configuration asks for. Raises ValueError if they differ."""
    wanted = init_params(cfg)
    expected = {name: array.shape for name, array in leaves(wanted)}
    for name in expected.keys() | arrays.keys():
        if name not in arrays:
            raise ValueError(f"{path}: lacks {name}")
        if name not in expected:
            raise ValueError(f"{path}: holds {name}, which such a model does not have")
        if arrays[name].shape != expected[name]:
            raise ValueError(
                f"{path}: {name} should have shape {expected[name]}, has {arrays[name].shape}"
            )
    return map_paths(lambda name, _: arrays[name], wanted)
