"""A NumPy GPT made of layers, each with a forward and a backward of its own."""

import numpy as np

NUMBER = np.float64
ATTENTION_BIAS = True
MLP_BIAS = True
TIED = False


class Layer:
    def __init__(self):
        self.params, self.grads = {}, {}

    def add(self, name, array):
        self.params[name] = np.asarray(array, NUMBER)
        self.grads[name] = np.zeros_like(self.params[name])

    def children(self):
        return [(n, c) for n, c in vars(self).items() if isinstance(c, Layer)]

    def named(self, kind):
        pairs = list(getattr(self, kind).items())
        for name, child in self.children():
            pairs += [(f"{name}.{inner}", array) for inner, array in child.named(kind)]
        return pairs


class Linear(Layer):
    def __init__(self, inputs, outputs, bias=True):
        super().__init__()
        bound = inputs**-0.5
        self.add("weight", np.random.uniform(-bound, bound, (outputs, inputs)))
        if bias:
            self.add("bias", np.zeros(outputs))

    def forward(self, x):
        self.x = x
        return x @ self.params["weight"].T + self.params.get("bias", 0)

    def backward(self, d):
        flat = d.reshape(-1, d.shape[-1])
        self.grads["weight"] += flat.T @ self.x.reshape(-1, self.x.shape[-1])
        if "bias" in self.params:
            self.grads["bias"] += flat.sum(axis=0)
        return d @ self.params["weight"]


class Embedding(Layer):
    def __init__(self, count, width):
        super().__init__()
        self.add("weight", np.random.normal(0, 0.1, (count, width)))

    def forward(self, ids):
        self.ids = ids
        return self.params["weight"][ids]

    def backward(self, d):
        np.add.at(self.grads["weight"], self.ids, d)


class LayerNorm(Layer):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.add("gamma", np.ones(width))
        self.add("beta", np.zeros(width))

    def forward(self, x):
        centred = x - x.mean(axis=-1, keepdims=True)
        self.std = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + NUMBER(self.eps))
        self.n = centred / self.std
        return self.n * self.params["gamma"] + self.params["beta"]

    def backward(self, d):
        self.grads["gamma"] += (d * self.n).sum(axis=(0, 1))
        self.grads["beta"] += d.sum(axis=(0, 1))
        d = d * self.params["gamma"]
        shared = d.mean(axis=-1, keepdims=True)
        along = (d * self.n).mean(axis=-1, keepdims=True)
        return (d - shared - self.n * along) / self.std


class Dropout(Layer):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x, training):
        self.mask = np.random.random(x.shape) >= self.p if training and self.p else 1
        return x * self.mask / (1 - self.p if training else 1)

    def backward(self, d):
        return d * self.mask


class Attention(Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.W_q = Linear(width, width, ATTENTION_BIAS)
        self.W_k = Linear(width, width, ATTENTION_BIAS)
        self.W_v = Linear(width, width, ATTENTION_BIAS)
        self.W_o = Linear(width, width, ATTENTION_BIAS)

    def split(self, x):
        B, T, C = x.shape
        return x.reshape(B, T, self.heads, C // self.heads).transpose(0, 2, 1, 3)

    def merge(self, x):
        B, H, T, D = x.shape
        return x.transpose(0, 2, 1, 3).reshape(B, T, H * D)

    def forward(self, x):
        q, k, v = (self.split(w.forward(x)) for w in (self.W_q, self.W_k, self.W_v))
        self.scale = NUMBER(q.shape[-1] ** -0.5)
        scores = q @ k.swapaxes(-1, -2) * self.scale
        T = x.shape[1]
        scores = scores + np.triu(np.full((T, T), -np.inf, NUMBER), k=1)
        exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
        self.weights = exps / exps.sum(axis=-1, keepdims=True)
        self.qkv = q, k, v
        return self.W_o.forward(self.merge(self.weights @ v))

    def backward(self, d):
        q, k, v = self.qkv
        d = self.split(self.W_o.backward(d))
        dv = self.weights.swapaxes(-1, -2) @ d
        dw = d @ v.swapaxes(-1, -2)
        ds = self.weights * (dw - (dw * self.weights).sum(axis=-1, keepdims=True)) * self.scale
        dq, dk = ds @ k, ds.swapaxes(-1, -2) @ q
        dx = self.W_q.backward(self.merge(dq))
        dx = dx + self.W_k.backward(self.merge(dk))
        return dx + self.W_v.backward(self.merge(dv))


class FeedForward(Layer):
    def __init__(self, width, d_ff):
        super().__init__()
        self.fc1 = Linear(width, d_ff, MLP_BIAS)
        self.fc2 = Linear(d_ff, width, MLP_BIAS)

    def forward(self, x):
        self.wide = self.fc1.forward(x)
        return self.fc2.forward(np.maximum(self.wide, 0))

    def backward(self, d):
        return self.fc1.backward(self.fc2.backward(d) * (self.wide > 0))


class Block(Layer):
    def __init__(self, width, heads, d_ff, dropout):
        super().__init__()
        self.ln1, self.attn = LayerNorm(width), Attention(width, heads)
        self.ln2, self.ffn = LayerNorm(width), FeedForward(width, d_ff)
        self.drop1, self.drop2 = Dropout(dropout), Dropout(dropout)

    def forward(self, x, training):
        x = x + self.drop1.forward(self.attn.forward(self.ln1.forward(x)), training)
        return x + self.drop2.forward(self.ffn.forward(self.ln2.forward(x)), training)

    def backward(self, d):
        d = d + self.ln2.backward(self.ffn.backward(self.drop2.backward(d)))
        return d + self.ln1.backward(self.attn.backward(self.drop1.backward(d)))


class GPT(Layer):
    def __init__(self, vocab_size, d_model, num_layers, num_heads, d_ff, max_seq_len, dropout=0.1):
        super().__init__()
        self.max_seq_len = max_seq_len
        self.token_embedding = Embedding(vocab_size, d_model)
        self.position_embedding = Embedding(max_seq_len, d_model)
        for i in range(num_layers):
            setattr(self, f"block{i}", Block(d_model, num_heads, d_ff, dropout))
        self.blocks = [getattr(self, f"block{i}") for i in range(num_layers)]
        self.ln_f = LayerNorm(d_model)
        self.lm_head = Linear(d_model, vocab_size, bias=False)
        if TIED:
            self.lm_head.params = self.token_embedding.params
            self.lm_head.grads = self.token_embedding.grads

    def forward(self, ids, training=True):
        ids = np.asarray(ids)
        x = self.token_embedding.forward(ids)
        x = x + self.position_embedding.forward(np.arange(ids.shape[1]))
        for block in self.blocks:
            x = block.forward(x, training)
        return self.lm_head.forward(self.ln_f.forward(x))

    def backward(self, grad_logits):
        d = self.ln_f.backward(self.lm_head.backward(grad_logits))
        for block in reversed(self.blocks):
            d = block.backward(d)
        self.position_embedding.backward(d.sum(axis=0))
        self.token_embedding.backward(d)

    def get_parameters(self):
        return self.named("params")

    def get_gradients(self):
        return self.named("grads")

    def save(self, path):
        np.savez(path, **dict(self.get_parameters()))

    def load(self, path):
        with np.load(path) as file:
            for name, array in self.get_parameters():
                array[...] = file[name]

    def generate(self, ids, max_new_tokens, temperature=1.0, top_k=None):
        ids = np.asarray(ids)
        for _ in range(max_new_tokens):
            logits = self.forward(ids[:, -self.max_seq_len :], training=False)[:, -1] / temperature
            if top_k is not None:
                kth = np.sort(logits, axis=-1)[:, [-top_k]]
                logits = np.where(logits < kth, -np.inf, logits)
            probs = np.exp(logits - logits.max(axis=-1, keepdims=True))
            probs = probs / probs.sum(axis=-1, keepdims=True)
            chosen = [np.random.choice(len(p), p=p / p.sum()) for p in probs.astype(float)]
            ids = np.concatenate([ids, np.array(chosen)[:, None]], axis=1)
        return ids
