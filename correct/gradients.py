"""The whole backward pass: the gradient of the loss with respect to every parameter.

Source: Rumelhart, Hinton & Williams 1986, "Learning representations by back-propagating
errors", Nature 323.
"""

from typing import Any

import numpy as np

from .block import block, block_backward
from .config import GPTConfig
from .dropout import dropout, dropout_masks
from .embedding import check_token_ids, embed, embed_backward
from .head import head, head_backward
from .loss import cross_entropy, cross_entropy_backward
from .model import check_params
from .tree import map_tree


def loss_and_grads(
    params: dict[str, Any],
    cfg: GPTConfig,
    token_ids: np.ndarray,
    targets: np.ndarray,
    dropout_seed: int | None = None,
) -> tuple[float, dict[str, Any]]:  # [B, T], [B, T] -> one number, tree like params
    """The loss and its gradients.

    Raises ValueError for token ids or targets of the wrong shape, type, length or range.
    """
    token_ids, targets = np.asarray(token_ids), np.asarray(targets)
    check_token_ids(token_ids, cfg)
    check_params(params, cfg)
    masks = dropout_masks(cfg, token_ids.shape, dropout_seed, params["wte"].dtype)

    x = dropout(embed(params, token_ids), masks["embedding"])
    inputs = []
    for p, layer_masks in zip(params["blocks"], masks["blocks"], strict=True):
        inputs.append(x)
        x, _, _ = block(x, p, cfg, layer_masks)
    logits = head(x, params)
    loss = cross_entropy(logits, targets)

    dx, grads = head_backward(cross_entropy_backward(logits, targets), x, params)
    blocks = []
    for i in reversed(range(cfg.n_layers)):
        dx, dblock = block_backward(dx, inputs[i], params["blocks"][i], cfg, masks["blocks"][i])
        blocks.append(dblock)
    grads["blocks"] = blocks[::-1]
    embedding_grads = embed_backward(dropout(dx, masks["embedding"]), params, token_ids)
    if "wte" in grads:
        # A tied head and the embedding share one matrix, and each has its part in the gradient.
        embedding_grads["wte"] += grads["wte"]
    grads |= embedding_grads
    return loss, {name: grads[name] for name in params}


def accumulate_grads(
    params: dict[str, Any],
    cfg: GPTConfig,
    token_ids: np.ndarray,
    targets: np.ndarray,
    micro_batch_size: int,
    dropout_seed: int | None = None,
) -> tuple[float, dict[str, Any]]:
    """The same as loss_and_grads, a few rows at a time: for batches too large for the memory.

    Each micro-batch counts by its share of the rows, since the last may be smaller. With dropout,
    every micro-batch gets masks of its own.
    """
    if micro_batch_size < 1:
        raise ValueError(f"micro_batch_size must be at least 1, got {micro_batch_size}")
    token_ids, targets = np.asarray(token_ids), np.asarray(targets)
    if targets.shape != token_ids.shape:
        raise ValueError(
            f"targets must have the shape {token_ids.shape} of token_ids, got shape {targets.shape}"
        )
    if len(token_ids) == 0:
        raise ValueError("token_ids hold no row: there is nothing to average")
    B = len(token_ids)
    loss, grads = 0.0, map_tree(np.zeros_like, params)
    for i in range(0, B, micro_batch_size):
        rows = slice(i, i + micro_batch_size)
        seed = None if dropout_seed is None else dropout_seed + i
        share = len(token_ids[rows]) / B
        part, dpart = loss_and_grads(params, cfg, token_ids[rows], targets[rows], seed)
        loss += share * part
        grads = map_tree(lambda total, d, share=share: total + share * d, grads, dpart)
    return loss, grads
