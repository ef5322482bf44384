"""The functional contract as somebody else might fulfil it: an untied head, no bias but those of
the norms, single precision throughout."""

from dataclasses import dataclass

import numpy as np

NUMBER = np.float32
NORM_BIAS = True


@dataclass(frozen=True)
class GPTConfig:
    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    max_seq_len: int


def init_params(cfg, seed=0):
    rng = np.random.default_rng(seed)

    def matrix(rows, columns):
        bound = rows**-0.5
        return rng.uniform(-bound, bound, (rows, columns)).astype(NUMBER)

    def norm():
        gain = {"g": np.ones(cfg.d_model, NUMBER)}
        return {**gain, "b": np.zeros(cfg.d_model, NUMBER)} if NORM_BIAS else gain

    C = cfg.d_model
    return {
        "wte": matrix(cfg.vocab_size, C),
        "wpe": matrix(cfg.max_seq_len, C),
        "blocks": [
            {
                "ln1": norm(),
                "attn": {"w_qkv": matrix(C, 3 * C), "w_o": matrix(C, C)},
                "ln2": norm(),
                "mlp": {"w1": matrix(C, 4 * C), "w2": matrix(4 * C, C)},
            }
            for _ in range(cfg.n_layers)
        ],
        "ln_f": norm(),
        "w_lm": matrix(C, cfg.vocab_size),
    }


def layer_norm(x, g, b=0, eps=1e-5):
    x = np.asarray(x, NUMBER)
    centred = x - x.mean(axis=-1, keepdims=True)
    return g * (centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + eps)) + b


def softmax(x, axis=-1):
    x = np.asarray(x, NUMBER)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def gpt_forward(params, cfg, token_ids, return_attn=False):
    maps = []
    x = np.asarray(params["wte"][token_ids] + params["wpe"][: token_ids.shape[1]], NUMBER)
    B, T, C = x.shape
    hidden = np.triu(np.full((T, T), -1e9, NUMBER), k=1)
    for block in params["blocks"]:
        heads = (layer_norm(x, **block["ln1"]) @ block["attn"]["w_qkv"].astype(NUMBER)).reshape(
            B, T, 3, cfg.n_heads, C // cfg.n_heads
        )
        q, k, v = np.moveaxis(heads, 2, 0).swapaxes(2, 3)
        scores = q @ k.swapaxes(-1, -2) / NUMBER(q.shape[-1]) ** NUMBER(0.5)
        maps.append(softmax(scores + hidden))
        gathered = (maps[-1] @ v).swapaxes(1, 2).reshape(B, T, C)
        x = x + gathered @ block["attn"]["w_o"].astype(NUMBER)
        wide = layer_norm(x, **block["ln2"]) @ block["mlp"]["w1"].astype(NUMBER)
        x = x + np.maximum(wide, 0) @ block["mlp"]["w2"].astype(NUMBER)
    logits = layer_norm(x, **params["ln_f"]) @ params["w_lm"]
    logits = logits.astype(NUMBER)
    return (logits, maps) if return_attn else logits
