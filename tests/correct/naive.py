"""The forward pass in plain Python: one number at a time, slow and obvious.

It shares nothing with the correct GPT but the names of the parameters. No arrays, no mask (a
token's loop ends at the token itself), no reshaping of heads (each is a range of features),
rotary positions by products of complex numbers, GELU by the logistic function, sums without
rounding.

Sources: Vaswani et al. 2017, arXiv:1706.03762, section 3.2; Radford et al. 2019 (GPT-2),
section 2.3; Ba et al. 2016, arXiv:1607.06450; Hendrycks & Gimpel 2016, arXiv:1606.08415; Su et al.
2021, arXiv:2104.09864, section 3.2; Ainslie et al. 2023, arXiv:2305.13245.
"""

import cmath
import math
from typing import Any

Vector = list[float]
Matrix = list[list[float]]


def forward(
    params: dict[str, Any], n_heads: int, token_ids: Any, theta: float | None = None
) -> tuple[list[Matrix], list[list[list[Matrix]]]]:
    """Logits [B][T][V], and attention weights [layer][B][H][T][T].

    Positions are rotary if `theta` is given. How many heads of keys and values there are follows
    from the width of w_qkv.
    """
    params = plain(params)
    logits = []
    maps: list[list[list[Matrix]]] = [[] for _ in params["blocks"]]
    for sequence in plain(token_ids):
        sequence_logits, sequence_maps = forward_one(params, n_heads, sequence, theta)
        logits.append(sequence_logits)
        for layer, weights in enumerate(sequence_maps):
            maps[layer].append(weights)
    return logits, maps


def forward_one(
    params: dict[str, Any], n_heads: int, sequence: list[int], theta: float | None
) -> tuple[Matrix, list[list[Matrix]]]:
    """Logits [T][V] and attention weights [layer][H][T][T] of one sequence."""
    stream = [params["wte"][token] for token in sequence]
    if theta is None:
        stream = [add(x, params["wpe"][position]) for position, x in enumerate(stream)]
    maps = []
    for block in params["blocks"]:
        normed = [layer_norm(x, block["ln1"]["g"], block["ln1"]["b"]) for x in stream]
        attended, weights = attention(normed, block["attn"], n_heads, theta)
        stream = [add(x, y) for x, y in zip(stream, attended, strict=True)]
        maps.append(weights)

        normed = [layer_norm(x, block["ln2"]["g"], block["ln2"]["b"]) for x in stream]
        stream = [add(x, mlp(y, block["mlp"])) for x, y in zip(stream, normed, strict=True)]

    normed = [layer_norm(x, params["ln_f"]["g"], params["ln_f"]["b"]) for x in stream]
    return [head(x, params) for x in normed], maps


def attention(
    xs: list[Vector], p: dict[str, Any], n_heads: int, theta: float | None
) -> tuple[list[Vector], list[Matrix]]:
    """What each token gathers, [T][C], and the weights of each head, [H][T][T]."""
    T, C = len(xs), len(xs[0])
    D = C // n_heads
    n_kv_heads = (len(p["b_qkv"]) // D - n_heads) // 2
    qkv = [affine(x, p["w_qkv"], p["b_qkv"]) for x in xs]
    gathered = [[0.0] * C for _ in xs]
    maps = []
    for h in range(n_heads):
        shared = h * n_kv_heads // n_heads  # the head whose keys and values head h reads
        queries = range(h * D, h * D + D)
        keys = range(C + shared * D, C + shared * D + D)
        values = range(keys[0] + n_kv_heads * D, keys[0] + n_kv_heads * D + D)
        q = [turned([x[a] for a in queries], i, theta) for i, x in enumerate(qkv)]
        k = [turned([x[a] for a in keys], j, theta) for j, x in enumerate(qkv)]
        rows = []
        for i in range(T):
            scores = []
            for j in range(i + 1):
                product = [a * b for a, b in zip(q[i], k[j], strict=True)]
                scores.append(math.fsum(product) / math.sqrt(D))
            weights = softmax(scores)
            for d in range(D):
                gathered[i][h * D + d] = math.fsum(
                    weights[j] * qkv[j][values[d]] for j in range(i + 1)
                )
            rows.append(weights + [0.0] * (T - 1 - i))
        maps.append(rows)
    return [affine(x, p["w_o"], p["b_o"]) for x in gathered], maps


def turned(x: Vector, position: int, theta: float | None) -> Vector:
    """A query or key after its rotation; feature i and feature i + D / 2 are one complex number."""
    if theta is None:
        return x
    half = len(x) // 2
    pairs = [
        complex(x[i], x[i + half]) * cmath.rect(1.0, position / theta ** (i / half))
        for i in range(half)
    ]
    return [z.real for z in pairs] + [z.imag for z in pairs]


def mlp(x: Vector, p: dict[str, Any]) -> Vector:
    """The perceptron, for one token."""
    hidden = [gelu(value) for value in affine(x, p["w1"], p["b1"])]
    return affine(hidden, p["w2"], p["b2"])


def head(x: Vector, params: dict[str, Any]) -> Vector:
    """One score for each word, for one token."""
    if "w_lm" in params:
        words = range(len(params["w_lm"][0]))
        return [math.fsum(x[c] * params["w_lm"][c][word] for c in range(len(x))) for word in words]
    return [math.fsum(x[c] * vector[c] for c in range(len(x))) for vector in params["wte"]]


def layer_norm(x: Vector, g: Vector, b: Vector, eps: float = 1e-5) -> Vector:
    """The norm of one token."""
    mean = math.fsum(x) / len(x)
    variance = math.fsum((value - mean) ** 2 for value in x) / len(x)
    return [
        gain * (value - mean) / math.sqrt(variance + eps) + bias
        for value, gain, bias in zip(x, g, b, strict=True)
    ]


def softmax(scores: Vector) -> Vector:
    """Weights of one row; the highest score is taken off, or exp overflows at 709."""
    exps = [math.exp(score - max(scores)) for score in scores]
    return [value / math.fsum(exps) for value in exps]


def gelu(x: float) -> float:
    """The tanh form, written with (1 + tanh u) / 2 = 1 / (1 + exp(-2 u))."""
    u = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return x / (1 + math.exp(-2 * u))


def affine(x: Vector, w: Matrix, b: Vector) -> Vector:
    """x w + b: row i of w belongs to input i, column j to output j."""
    return [b[j] + math.fsum(x[i] * w[i][j] for i in range(len(x))) for j in range(len(b))]


def add(x: Vector, y: Vector) -> Vector:
    """The sum, feature by feature."""
    return [a + b for a, b in zip(x, y, strict=True)]


def plain(tree: Any) -> Any:
    """The same tree with lists of Python numbers in place of arrays."""
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [plain(value) for value in tree]
    return tree.tolist() if hasattr(tree, "tolist") else tree
