"""AdamW, clipping by the global norm, and the schedule of the learning rate.

Sources: Kingma & Ba 2015, arXiv:1412.6980, algorithm 1; Loshchilov & Hutter 2019,
arXiv:1711.05101, algorithm 2, for the decoupled weight decay; Pascanu et al. 2013,
arXiv:1211.5063, algorithm 1, for clipping; Loshchilov & Hutter 2017, arXiv:1608.03983, for the
cosine.
"""

import math
from typing import Any

import numpy as np

from .tree import leaves, map_tree


def clip_grads(
    grads: dict[str, Any], max_norm: float
) -> tuple[dict[str, Any], float]:  # -> tree like grads, one number
    """Shorten the gradient, taken as one long vector, to `max_norm` if it is longer.

    Also returns its length before.
    """
    max_norm = float(max_norm)
    # In float64: squares of large float32 gradients would overflow, and all would be cut to zero.
    squares = [float(np.sum(np.square(grad, dtype=np.float64))) for _, grad in leaves(grads)]
    norm = math.sqrt(sum(squares))
    return map_tree(lambda grad: grad * min(1.0, max_norm / np.linalg.norm(grad)), grads), norm


def init_adamw(params: dict[str, Any]) -> dict[str, Any]:
    """The optimiser's memory before the first step: the number of steps and both moments."""
    return {
        "step": 0,
        "m": map_tree(np.zeros_like, params),
        "v": map_tree(np.zeros_like, params),
    }


def adamw_step(
    params: dict[str, Any],
    grads: dict[str, Any],
    state: dict[str, Any],
    lr: float,
    betas: tuple[float, float] = (0.9, 0.95),
    eps: float = 1e-8,
    weight_decay: float = 0.1,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One step: new parameters and a new state.

    Only matrices decay: a smaller gain or bias would not make the model any simpler.
    """
    # A float64 of NumPy would turn float32 parameters into float64.
    lr, eps, weight_decay = float(lr), float(eps), float(weight_decay)
    beta1, beta2 = float(betas[0]), float(betas[1])
    step = state["step"] + 1
    m = map_tree(lambda m, grad: beta1 * m + (1 - beta1) * grad, state["m"], grads)
    v = map_tree(lambda v, grad: beta2 * v + (1 - beta2) * grad * grad, state["v"], grads)
    # Both moments start at zero and would otherwise be too small at first.
    m_scale, v_scale = 1 - beta1**step, 1 - beta2**step

    def move(param: np.ndarray, m: np.ndarray, v: np.ndarray) -> np.ndarray:
        decay = weight_decay if param.ndim >= 2 else 0.0
        update = (m / m_scale) / (np.sqrt(v / v_scale) + eps)
        return param - lr * decay * param - lr * update

    return map_tree(move, params, m, v), {"step": step, "m": m, "v": v}


def learning_rate(
    step: int, max_lr: float, warmup_steps: int, total_steps: int, min_lr: float = 0.0
) -> float:
    """The rate of a step, counted from 0: straight up to `max_lr`, then a cosine to `min_lr`.

    The last of the warm-up steps has the full rate; from `total_steps` on the rate is `min_lr`.
    """
    if step >= total_steps:
        return min_lr
    if step < warmup_steps:
        return max_lr * (step + 1) / warmup_steps
    progress = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_lr + (max_lr - min_lr) * 0.5 * (1 + math.cos(math.pi * progress))
