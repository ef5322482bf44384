"""A NumPy GPT as a class, with separate query, key and value projections."""

import numpy as np


def softmax(x, axis=-1):
    x = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return x / x.sum(axis=axis, keepdims=True)


def layer_norm(x, g, b, eps=1e-5):
    x = x - x.mean(axis=-1, keepdims=True)
    return g * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + b


def gelu(x):
    return x * 0.5 * (1.0 + np.tanh((2 / np.pi) ** 0.5 * x * (1 + 0.044715 * x * x)))


class Layer:
    def __init__(self, d_model, n_heads, rng):
        self.n_heads = n_heads
        self.ln1_gain, self.ln1_bias = np.ones(d_model), np.zeros(d_model)
        self.ln2_gain, self.ln2_bias = np.ones(d_model), np.zeros(d_model)
        self.W_q, self.W_k, self.W_v, self.W_o = rng.normal(0, 0.02, (4, d_model, d_model))
        self.b_q, self.b_k, self.b_v, self.b_o = np.zeros((4, d_model))
        self.W_1, self.b_1 = rng.normal(0, 0.02, (d_model, 4 * d_model)), np.zeros(4 * d_model)
        self.W_2, self.b_2 = rng.normal(0, 0.02, (4 * d_model, d_model)), np.zeros(d_model)

    def attention(self, x):
        heads = []
        self.weights = np.empty((x.shape[0], self.n_heads, x.shape[1], x.shape[1]), x.dtype)
        width = x.shape[-1] // self.n_heads
        for h in range(self.n_heads):
            part = slice(h * width, (h + 1) * width)
            q = x @ self.W_q[:, part] + self.b_q[part]
            k = x @ self.W_k[:, part] + self.b_k[part]
            v = x @ self.W_v[:, part] + self.b_v[part]
            scores = np.einsum("btd,bsd->bts", q, k) / width**0.5
            scores[:, ~np.tri(x.shape[1], dtype=bool)] = -np.inf
            self.weights[:, h] = softmax(scores)
            heads.append(self.weights[:, h] @ v)
        return np.concatenate(heads, axis=-1) @ self.W_o + self.b_o

    def __call__(self, x):
        x = x + self.attention(layer_norm(x, self.ln1_gain, self.ln1_bias))
        hidden = gelu(layer_norm(x, self.ln2_gain, self.ln2_bias) @ self.W_1 + self.b_1)
        return x + hidden @ self.W_2 + self.b_2


class GPT:
    def __init__(self, vocab_size, d_model, n_heads, n_layers, block_size, seed):
        rng = np.random.default_rng(seed)
        self.token_embedding = rng.normal(0, 0.02, (vocab_size, d_model))
        self.position_embedding = rng.normal(0, 0.02, (block_size, d_model))
        self.layers = [Layer(d_model, n_heads, rng) for _ in range(n_layers)]
        self.final_gain, self.final_bias = np.ones(d_model), np.zeros(d_model)

    def forward(self, ids):
        x = self.token_embedding[ids] + self.position_embedding[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return layer_norm(x, self.final_gain, self.final_bias) @ self.token_embedding.T
