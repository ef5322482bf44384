"""A NumPy GPT as one class with its arrays as attributes."""

import numpy as np

NUMBER = np.float64


def softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x, g, b, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * g + b


def layer_norm_grads(d, x, g, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    std = np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + eps)
    n = (x - mean) / std
    dn = d * g
    dx = (dn - dn.mean(axis=-1, keepdims=True) - n * (dn * n).mean(axis=-1, keepdims=True)) / std
    return dx, (d * n).sum(axis=(0, 1)), d.sum(axis=(0, 1))


def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def gelu_slope(x):
    t = np.tanh(0.7978845608028654 * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * 0.7978845608028654 * (1 + 0.134145 * x**2)


class MiniGPT:
    def __init__(self, vocab_size, d_model, n_heads, n_layers, block_size, seed=0):
        rng = np.random.default_rng(seed)
        C = d_model
        self.n_heads = n_heads
        self.block_size = block_size

        def weight(*shape):
            return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(NUMBER)

        self.tok_emb = rng.normal(0, 0.1, (vocab_size, C)).astype(NUMBER)
        self.pos_emb = rng.normal(0, 0.1, (block_size, C)).astype(NUMBER)
        self.blocks = [
            {
                "ln1_g": np.ones(C, NUMBER),
                "ln1_b": np.zeros(C, NUMBER),
                "W_qkv": weight(C, 3 * C),
                "W_o": weight(C, C),
                "ln2_g": np.ones(C, NUMBER),
                "ln2_b": np.zeros(C, NUMBER),
                "W_1": weight(C, 4 * C),
                "b_1": np.zeros(4 * C, NUMBER),
                "W_2": weight(4 * C, C),
                "b_2": np.zeros(C, NUMBER),
            }
            for _ in range(n_layers)
        ]
        self.lnf_g = np.ones(C, NUMBER)
        self.lnf_b = np.zeros(C, NUMBER)
        self.W_lm = weight(C, vocab_size)

    def heads(self, x, block):
        B, T, C = x.shape
        qkv = (x @ block["W_qkv"]).reshape(B, T, 3, self.n_heads, C // self.n_heads)
        return qkv.transpose(2, 0, 3, 1, 4)

    def attention(self, x, block):
        B, T, C = x.shape
        q, k, v = self.heads(x, block)
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(NUMBER(q.shape[-1]))
        scores = np.where(np.tril(np.ones((T, T), bool)), scores, NUMBER(-1e9))
        weights = softmax(scores)
        out = (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, C)
        return out @ block["W_o"], weights

    def hidden_states(self, ids):
        ids = np.asarray(ids)
        x = self.tok_emb[ids] + self.pos_emb[: ids.shape[1]]
        self.tape = []
        for block in self.blocks:
            n1 = layer_norm(x, block["ln1_g"], block["ln1_b"])
            attended, weights = self.attention(n1, block)
            middle = x + attended
            n2 = layer_norm(middle, block["ln2_g"], block["ln2_b"])
            wide = n2 @ block["W_1"] + block["b_1"]
            self.tape.append((x, n1, weights, middle, n2, wide))
            x = middle + gelu(wide) @ block["W_2"] + block["b_2"]
        self.last = x
        return layer_norm(x, self.lnf_g, self.lnf_b)

    def forward(self, ids):
        return self.hidden_states(ids) @ self.W_lm

    def loss(self, ids, targets):
        logits = self.forward(ids)
        logits = logits - logits.max(axis=-1, keepdims=True)
        log_probs = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        return -np.take_along_axis(log_probs, np.asarray(targets)[..., None], axis=-1).mean()

    def generate(self, prompt, n):
        ids = list(prompt)
        for _ in range(n):
            logits = self.forward(np.array([ids[-self.block_size :]]))[0, -1]
            ids.append(int(logits.argmax()))
        return ids

    def train_step(self, ids, targets, lr):
        ids, targets = np.asarray(ids), np.asarray(targets)
        loss = self.loss(ids, targets)
        hidden = layer_norm(self.last, self.lnf_g, self.lnf_b)
        d = softmax(hidden @ self.W_lm)
        d[np.arange(len(ids))[:, None], np.arange(ids.shape[1]), targets] -= 1
        d = d / targets.size
        steps = [(self.W_lm, np.einsum("btc,btv->cv", hidden, d))]
        d, dg, db = layer_norm_grads(d @ self.W_lm.T, self.last, self.lnf_g)
        steps += [(self.lnf_g, dg), (self.lnf_b, db)]
        for i in reversed(range(len(self.blocks))):
            block = self.blocks[i]
            x, n1, weights, middle, n2, wide = self.tape[i]
            steps.append((block["W_2"], np.einsum("bti,btj->ij", gelu(wide), d)))
            steps.append((block["b_2"], d.sum(axis=(0, 1))))
            dwide = d @ block["W_2"].T * gelu_slope(wide)
            steps.append((block["W_1"], np.einsum("bti,btj->ij", n2, dwide)))
            steps.append((block["b_1"], dwide.sum(axis=(0, 1))))
            dmiddle, dg, db = layer_norm_grads(dwide @ block["W_1"].T, middle, block["ln2_g"])
            steps += [(block["ln2_g"], dg), (block["ln2_b"], db)]
            d = d + dmiddle
            B, T, C = d.shape
            q, k, v = self.heads(n1, block)
            out = (weights @ v).transpose(0, 2, 1, 3).reshape(B, T, C)
            steps.append((block["W_o"], np.einsum("bti,btj->ij", out, d)))
            dout = (d @ block["W_o"].T).reshape(B, T, self.n_heads, -1).transpose(0, 2, 1, 3)
            dv = weights.transpose(0, 1, 3, 2) @ dout
            dweights = dout @ v.transpose(0, 1, 3, 2)
            dscores = weights * (dweights - (dweights * weights).sum(axis=-1, keepdims=True))
            dscores = dscores / np.sqrt(NUMBER(q.shape[-1]))
            dqkv = np.stack([dscores @ k, dscores.transpose(0, 1, 3, 2) @ q, dv])
            dqkv = dqkv.transpose(1, 3, 0, 2, 4).reshape(B, T, 3 * C)
            steps.append((block["W_qkv"], np.einsum("bti,btj->ij", n1, dqkv)))
            dx, dg, db = layer_norm_grads(dqkv @ block["W_qkv"].T, x, block["ln1_g"])
            steps += [(block["ln1_g"], dg), (block["ln1_b"], db)]
            d = d + dx
        dtok = np.zeros_like(self.tok_emb)
        np.add.at(dtok, ids, d)
        self.pos_emb[: ids.shape[1]] -= lr * d.sum(axis=0)
        self.tok_emb -= lr * dtok
        for array, grad in steps:
            array -= lr * grad
        return float(loss)


def train(model, ids, targets, steps=100, lr=0.1):
    return [model.train_step(ids, targets, lr) for _ in range(steps)]
