"""Checkpoints: parameters and configuration in one .npz file, without pickle."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .config import GPTConfig
from .init import init_params, param_shapes
from .tree import from_leaves, leaves

CONFIG = "config"
"""The entry that holds the configuration, as JSON; every other entry is an array, by its path."""


def save_checkpoint(path: str | os.PathLike[str], params: dict[str, Any], cfg: GPTConfig) -> None:
    """Write the file, whole or not at all: an earlier one stays until the new one is complete.

    Raises ValueError if the configuration asks for other parameters.
    """
    target = Path(path)
    as_tree(path, dict(leaves(params)), cfg)  # what could not be loaded is not written
    arrays = dict(leaves(params)) | {CONFIG: np.array(json.dumps(asdict(cfg)))}
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            np.savez(file, **arrays)
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[str, Any], GPTConfig]:
    """Parameters and configuration, exactly as they were saved.

    Raises ValueError, with the name of the file, for one that is truncated or is something else.
    """
    arrays = read_npz(path)
    if CONFIG not in arrays:
        raise ValueError(f"{path}: not a checkpoint: it has no entry {CONFIG!r}")
    try:
        cfg = GPTConfig(**json.loads(str(arrays.pop(CONFIG))))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: its configuration cannot be read: {error}") from None
    return as_tree(path, arrays, cfg), cfg


def read_npz(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Every array of the file by its name. Raises ValueError for one that is not whole."""
    with Path(path).open("rb") as whole:
        try:
            with np.load(whole, allow_pickle=False) as file:
                return {name: np.asarray(file[name]) for name in file.files}
        except Exception as error:  # what is damaged fails in many ways
            raise ValueError(f"{path}: not a whole .npz file: {error}") from None


def as_tree(
    path: str | os.PathLike[str], arrays: dict[str, np.ndarray], cfg: GPTConfig
) -> dict[str, Any]:
    """The arrays in the tree that the configuration asks for. Raises ValueError if they differ."""
    found = {}
    start = dict(leaves(init_params(cfg)))
    for name, shape in param_shapes(cfg):
        array = arrays.get(name, start[name])
        if array.shape != shape:
            raise ValueError(f"{path}: {name} should have shape {shape}, has {array.shape}")
        if not np.issubdtype(array.dtype, np.floating):
            raise ValueError(f"{path}: {name} should hold real numbers, holds {array.dtype}")
        found[name] = array
    for name in arrays:
        if name not in found:
            raise ValueError(f"{path}: holds {name}, which such a model does not have")
    return from_leaves(found.items())
