"""One block: attention and MLP, each a branch off the residual stream.

Source: He et al. 2016, arXiv:1512.03385, for the residual sum; Radford et al. 2019, section
2.3, for the norm at the start of each branch (pre-norm; see also Xiong et al. 2020,
arXiv:2002.04745).
"""

from typing import Any

import numpy as np

from .attention import causal_self_attention
from .mlp import mlp
from .norm import layer_norm


def block(
    x: np.ndarray, p: dict[str, Any], n_heads: int
) -> tuple[np.ndarray, np.ndarray]:  # [B, T, C] -> [B, T, C], [B, H, T, T]
    """Read the stream twice, add to it twice. Returns the stream and the attention weights."""
    x = layer_norm(x, **p["ln1"])
    attended, weights = causal_self_attention(x, p["attn"], n_heads)
    x = x + attended
    x = x + mlp(layer_norm(x, **p["ln2"]), p["mlp"])
    return x, weights
