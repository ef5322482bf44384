"""Where a named array of somebody's model belongs in the contract's tree.

Only a few names are agreed upon (block0.attn.W_q.weight); the patterns know the usual variants of
the others. A name that fits none is told, never passed over.
"""

import re

HEAD_BIAS = "b_lm"
"""A bias of the head, which the contract's GPT does not have."""

_BLOCK = re.compile(r"(?:transformer\.)?(?:blocks?|layers?|h)[._\[]?(\d+)\]?\.(.+)")

WEIGHT, BIAS = r"[._]?(?:weights?|w|kernel)?", r"[._]?(?:bias|b)"
GAIN, SHIFT = r"[._](?:weight|gamma|gain|scale|g|w)", r"[._](?:bias|beta|shift|b)"

_TABLES = r"(?:embed(?:ding)?s?[._])?"
_FINAL = (
    r"(?:ln_?f(?:inal)?|final_?(?:ln|norm|layer_?norm)|(?:layer_?)?norm_?(?:f(?:inal)?|out)?|ln)"
)
_HEAD = r"(?:(?:lm|output)_?head|head|output(?:_?(?:proj(?:ection)?|layer))?|unembed(?:ding)?|lm)"

_OUTSIDE = (
    (rf"{_TABLES}(?:tok(?:en)?s?(?:_?emb(?:ed(?:ding)?)?s?)?|wte){WEIGHT}", "wte"),
    (rf"(?:embed(?:ding)?s?){WEIGHT}", "wte"),
    (
        rf"{_TABLES}(?:pos(?:ition)?(?:al)?s?(?:_?(?:emb(?:ed(?:ding)?)?s?|enc(?:oding)?))?|wpe){WEIGHT}",
        "wpe",
    ),
    (rf"{_FINAL}{GAIN}", "ln_f.g"),
    (rf"{_FINAL}{SHIFT}", "ln_f.b"),
    (rf"{_HEAD}{WEIGHT}", "w_lm"),
    (rf"{_HEAD}{BIAS}", HEAD_BIAS),
)

_ATTENTION = r"(?:self_?)?(?:attn|attention|mha|sa)\."
_MLP = r"(?:ffn?|mlp|feed_?forward|ff_?net)\.(?:net\.)?"
_FIRST = r"(?:fc_?(?:1|in)|w_?(?:1|in)|lin(?:ear)?_?1|dense_?1|c_fc|up(?:_proj)?|0)"
_SECOND = r"(?:fc_?(?:2|out)|w_?(?:2|out)|lin(?:ear)?_?2|dense_?2|c_proj|down(?:_proj)?|2)"
_FUSED = r"(?:w_?qkv|qkv(?:_proj)?|c_attn|in_proj)"
_OUT = r"(?:w_?o(?:ut)?|o(?:ut)?(?:_proj)?|proj|c_proj)"

_BRANCHES = {1: r"(?:attn|attention)", 2: r"(?:ffn?|mlp)"}


def _norm(number: int) -> str:
    branch = _BRANCHES[number]
    return rf"(?:(?:ln|norm|layer_?norm)_?(?:{number}|{branch})|{branch}_(?:ln|norm|layer_?norm))"


def _one(letter: str) -> str:
    word = {"q": "query", "k": "key", "v": "value"}[letter]
    return rf"(?:w_?{letter}|{letter}(?:_proj)?|{word}(?:_proj)?)"


_INSIDE = (
    *((rf"{_norm(i)}{GAIN}", f"ln{i}.g") for i in (1, 2)),
    *((rf"{_norm(i)}{SHIFT}", f"ln{i}.b") for i in (1, 2)),
    *((rf"{_ATTENTION}{_one(q)}{WEIGHT}", f"attn.w_{q}") for q in "qkv"),
    *((rf"{_ATTENTION}{_one(q)}{BIAS}", f"attn.b_{q}") for q in "qkv"),
    *((rf"{_ATTENTION}b_?{q}", f"attn.b_{q}") for q in ("q", "k", "v", "qkv", "o")),
    (rf"{_ATTENTION}{_FUSED}{WEIGHT}", "attn.w_qkv"),
    (rf"{_ATTENTION}{_FUSED}{BIAS}", "attn.b_qkv"),
    (rf"{_ATTENTION}{_OUT}{WEIGHT}", "attn.w_o"),
    (rf"{_ATTENTION}{_OUT}{BIAS}", "attn.b_o"),
    (rf"{_MLP}{_FIRST}{WEIGHT}", "mlp.w1"),
    (rf"{_MLP}{_FIRST}{BIAS}", "mlp.b1"),
    (rf"{_MLP}{_SECOND}{WEIGHT}", "mlp.w2"),
    (rf"{_MLP}{_SECOND}{BIAS}", "mlp.b2"),
    *((rf"{_MLP}b_?{i}", f"mlp.b{i}") for i in (1, 2)),
)


def place_of(name: str) -> str | None:
    """The path in the tree, such as blocks.0.attn.w_q; None for a name that fits no pattern."""
    lower = name.lower()
    if found := _BLOCK.fullmatch(lower):
        inside = _match(_INSIDE, found[2])
        return inside and f"blocks.{int(found[1])}.{inside}"
    return _match(_OUTSIDE, lower.removeprefix("transformer."))


def _match(patterns: tuple[tuple[str, str], ...], name: str) -> str | None:
    for pattern, place in patterns:
        if re.fullmatch(pattern, name):
            return place
    return None
