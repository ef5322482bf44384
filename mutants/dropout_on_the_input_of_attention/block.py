"""One block: attention and MLP, each a branch off the residual stream.

Source: He et al. 2016, arXiv:1512.03385, for the residual sum; Radford et al. 2019, section
2.3, for the norm at the start of each branch (pre-norm; see also Xiong et al. 2020,
arXiv:2002.04745).
"""

from typing import Any

import numpy as np

from .attention import causal_self_attention, causal_self_attention_backward
from .config import GPTConfig
from .dropout import dropout
from .mlp import mlp, mlp_backward
from .norm import layer_norm, layer_norm_backward


def block(
    x: np.ndarray,
    p: dict[str, Any],
    cfg: GPTConfig,
    masks: dict[str, Any],
    past: dict[str, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Read the stream twice, add to it twice, [B, T, C] -> [B, T, C].

    Also returns the attention weights, and the keys and values of all tokens so far.
    """
    normed = dropout(layer_norm(x, **p["ln1"]), masks["attended"])
    attended, weights, present = causal_self_attention(
        normed, p["attn"], cfg, masks["weights"], past
    )
    x = x + attended
    x = x + dropout(mlp(layer_norm(x, **p["ln2"]), p["mlp"]), masks["mlp"])
    return x, weights, present


def block_backward(
    dout: np.ndarray, x: np.ndarray, p: dict[str, Any], cfg: GPTConfig, masks: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Gradients of the stream [B, T, C] and of the parameters.

    What lies between the two branches is computed again rather than kept.
    """
    normed = dropout(layer_norm(x, **p["ln1"]), masks["attended"])
    attended, _, _ = causal_self_attention(normed, p["attn"], cfg, masks["weights"])
    middle = x + attended
    middle_normed = layer_norm(middle, **p["ln2"])

    # At each sum the gradient goes both ways, and what comes back from both is added.
    dbranch, dmlp = mlp_backward(dropout(dout, masks["mlp"]), middle_normed, p["mlp"])
    dbranch, dln2 = layer_norm_backward(dbranch, middle, p["ln2"]["g"])
    dmiddle = dout + dbranch

    dattended = dmiddle
    dbranch, dattn = causal_self_attention_backward(
        dattended, normed, p["attn"], cfg, masks["weights"]
    )
    dbranch, dln1 = layer_norm_backward(dropout(dbranch, masks["attended"]), x, p["ln1"]["g"])
    return dmiddle + dbranch, {"ln1": dln1, "attn": dattn, "ln2": dln2, "mlp": dmlp}
