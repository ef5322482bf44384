"""adapter.py for a NumPy GPT that is a class. Put it beside your model, then: bugkit check .

The detectors know functions and a tree of parameters; your class has attributes and methods.
Say here which is which. Leave out what you do not have: those detectors are then not run. That
goes for arrays too: a bias that init_params does not give is not asked for, and where it gives w_lm
(C, V), the head is taken to be a matrix of its own.

Some classes need no adapter: bugkit check FILE knows MiniGPT with arrays as attributes, and GPT
with get_parameters and backward.
"""

from dataclasses import dataclass

import numpy as np
from model import GPT, gelu, layer_norm, softmax  # your file and your names

# Offered as they are, because they take the same arguments as in the contract:
#   softmax(x, axis=-1)   layer_norm(x, g, b, eps=1e-5)   gelu(x)
__all__ = ["GPTConfig", "gelu", "gpt_forward", "init_params", "layer_norm", "softmax"]


@dataclass(frozen=True)
class GPTConfig:
    """The sizes, under the names that the detectors use."""

    vocab_size: int = 64
    d_model: int = 32
    n_layers: int = 2
    n_heads: int = 4
    max_seq_len: int = 16


def build(cfg, seed=0):
    """Your model, of these sizes."""
    return GPT(cfg.vocab_size, cfg.d_model, cfg.n_heads, cfg.n_layers, cfg.max_seq_len, seed)


def init_params(cfg, seed=0):
    """The parameters your model starts from, as the tree that the detectors know."""
    model = build(cfg, seed)
    return {
        "wte": model.token_embedding,
        "wpe": model.position_embedding,
        "blocks": [
            {
                "ln1": {"g": layer.ln1_gain, "b": layer.ln1_bias},
                # Queries, keys and values side by side: (C, 3C) and (3C,).
                "attn": {
                    "w_qkv": np.hstack([layer.W_q, layer.W_k, layer.W_v]),
                    "b_qkv": np.hstack([layer.b_q, layer.b_k, layer.b_v]),
                    "w_o": layer.W_o,
                    "b_o": layer.b_o,
                },
                "ln2": {"g": layer.ln2_gain, "b": layer.ln2_bias},
                "mlp": {"w1": layer.W_1, "b1": layer.b_1, "w2": layer.W_2, "b2": layer.b_2},
            }
            for layer in model.layers
        ],
        "ln_f": {"g": model.final_gain, "b": model.final_bias},
    }


def gpt_forward(params, cfg, token_ids, return_attn=False):
    """Logits [B, T, V] of your model with these parameters."""
    model = build(cfg)
    model.token_embedding = params["wte"]
    model.position_embedding = params["wpe"]
    for layer, p in zip(model.layers, params["blocks"], strict=True):
        layer.ln1_gain, layer.ln1_bias = p["ln1"]["g"], p["ln1"]["b"]
        layer.W_q, layer.W_k, layer.W_v = np.split(p["attn"]["w_qkv"], 3, axis=1)
        layer.b_q, layer.b_k, layer.b_v = np.split(p["attn"]["b_qkv"], 3)
        layer.W_o, layer.b_o = p["attn"]["w_o"], p["attn"]["b_o"]
        layer.ln2_gain, layer.ln2_bias = p["ln2"]["g"], p["ln2"]["b"]
        layer.W_1, layer.b_1 = p["mlp"]["w1"], p["mlp"]["b1"]
        layer.W_2, layer.b_2 = p["mlp"]["w2"], p["mlp"]["b2"]
    model.final_gain, model.final_bias = params["ln_f"]["g"], params["ln_f"]["b"]
    logits = model.forward(token_ids)
    # Attention weights, one [B, H, T, T] array a layer, if your model keeps them.
    return (logits, [layer.weights for layer in model.layers]) if return_attn else logits


# More that you may offer, if your model has it:
#
#   cross_entropy(logits, targets)                      the mean over all positions, in nats
#   loss_and_grads(params, cfg, token_ids, targets)     the loss, and a tree like params
#   generate(params, cfg, token_ids, max_new_tokens, temperature=1.0, seed=0)
