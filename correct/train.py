"""Training."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .config import GPTConfig
from .data import get_batch
from .gradients import accumulate_grads
from .optimizer import adamw_step, clip_grads, init_adamw, learning_rate
from .tree import from_leaves, leaves, map_tree


def train(
    params: dict[str, Any],
    cfg: GPTConfig,
    data: np.ndarray,
    steps: int,
    batch_size: int = 8,
    seq_len: int | None = None,
    micro_batch_size: int | None = None,
    max_lr: float = 1e-3,
    min_lr: float | None = None,
    warmup_steps: int = 0,
    betas: tuple[float, float] = (0.9, 0.95),
    weight_decay: float = 0.1,
    max_norm: float = 1.0,
    only: Sequence[str] | None = None,
    seed: int = 0,
    on_step: Callable[[int, float], None] | None = None,
) -> tuple[dict[str, Any], list[float]]:
    """Trained parameters, and the losses: each is from before its step.

    `seq_len` defaults to the longest possible, `min_lr` to a tenth of `max_lr`. `only` names the
    parts of the tree to train, such as ("w_lm", "blocks.0.attn"); the rest stays as it is.
    `on_step` is called with the number of the step and its loss.
    """
    seq_len = cfg.max_seq_len if seq_len is None else seq_len
    min_lr = max_lr / 10 if min_lr is None else min_lr
    micro_batch_size = batch_size if micro_batch_size is None else micro_batch_size
    trained = chosen(params, only)
    rng = np.random.default_rng(seed)
    state = init_adamw(params)
    losses = []
    for step in range(steps):
        batch_seed, dropout_seed = (int(s) for s in rng.integers(2**32, size=2))
        token_ids, targets = get_batch(data, batch_size, seq_len, batch_seed)
        loss, grads = accumulate_grads(
            params, cfg, token_ids, targets, micro_batch_size, dropout_seed
        )
        grads = map_tree(lambda grad, use: grad if use else np.zeros_like(grad), grads, trained)
        grads, _ = clip_grads(grads, max_norm)
        lr = learning_rate(step, max_lr, warmup_steps, steps, min_lr)
        moved, state = adamw_step(params, grads, state, lr, betas, weight_decay=weight_decay)
        params = map_tree(lambda new, old, use: new if use else old, moved, params, trained)
        losses.append(loss)
        if on_step is not None:
            on_step(step, loss)
    return params, losses


def chosen(params: dict[str, Any], only: Sequence[str] | None) -> Any:
    """For each array of the tree whether it is trained.

    Raises ValueError for a part that the tree does not have.
    """
    if only is None:
        return map_tree(lambda _param: True, params)

    def within(path: str, part: str) -> bool:
        return path == part or path.startswith(f"{part}.")

    paths = [path for path, _ in leaves(params)]
    for part in only:
        if not any(within(path, part) for path in paths):
            raise ValueError(f"params have no part {part!r}; among its parts is {paths[0]!r}")
    return from_leaves((path, any(within(path, part) for part in only)) for path in paths)
