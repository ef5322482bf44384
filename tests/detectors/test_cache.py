"""The cache: what is kept from earlier tokens must change nothing but the time it takes.

A cache is whatever the implementation makes of it: it is only handed on.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(3)

PIECES = (3, 2, 2)
"""A text in pieces: several tokens at first, and several after tokens that are kept."""

SHORT = {"max_seq_len": 5}
"""A text soon grows out of this one."""

ROWS = 40
WARM = 2.0
"""Enough prompts, and chance enough in every choice, that wrong logits choose another token
somewhere. With one seed the same logits choose the same."""


def test_prompt_gets_the_same_logits_with_a_cache(gpt: "GPT") -> None:
    """A whole prompt brought to an empty cache gets the logits of a plain forward pass.

    It may be looked at by nobody but the cache itself, and a wrong cache spoils all that follows.
    """
    cfg, params = cases.model(gpt)
    same_as_forward(gpt, params, cfg, (cases.T,), "the whole prompt at once")


def test_one_token_at_a_time_gives_the_same_logits(gpt: "GPT") -> None:
    """A text brought token by token gets the logits of a plain forward pass.

    Each token finds the keys and values of all earlier ones, at its own position.
    """
    cfg, params = cases.model(gpt)
    same_as_forward(gpt, params, cfg, (1,) * cases.T, "one token at a time")


def test_pieces_give_the_same_logits(gpt: "GPT") -> None:
    """A text brought in pieces of several tokens gets the logits of a plain forward pass.

    Within a piece each token sees what is kept and what stands before it, but nothing later.
    """
    cfg, params = cases.model(gpt)
    same_as_forward(gpt, params, cfg, PIECES, f"in pieces of {PIECES} tokens")


def test_cache_knows_rotary_positions(gpt: "GPT") -> None:
    """With rotary positions and shared keys, pieces get the logits of a plain forward pass.

    New queries and keys are turned by their place in the whole text, not in their piece.
    """
    cfg, params = cases.model(gpt, **cases.MODERN)
    same_as_forward(gpt, params, cfg, (*PIECES[:2], 1, 1), "rotary positions, in pieces")


def test_next_token_sees_all_that_is_kept(gpt: "GPT") -> None:
    """Every token in the cache matters to the next one.

    The newest token stands behind all others and may look at each of them.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    kept, new = cases.tokens()[:, :5], cases.tokens()[:, 5:6]
    before = continued(gpt, params, cfg, kept, new)
    for t in range(5):
        changed = kept.copy()
        changed[:, t] = cases.other(changed[:, t])
        after = continued(gpt, params, cfg, changed, new)
        cases.assert_changed(
            before, after, f"token {t} in the cache was exchanged; the next token noticed nothing"
        )


def test_generation_is_the_same_with_a_cache(gpt: "GPT") -> None:
    """With and without a cache, the same text is generated.

    A cache saves work and decides nothing: the same seed draws the same tokens.
    """
    cfg, params = cases.model(gpt)
    same_text(gpt, params, cfg, length=3, new=6)


def test_outgrown_cache_of_one_layer(gpt: "GPT") -> None:
    """Past max_seq_len one layer generates the same text with and without a cache.

    The window moves with every token, and each token in it then stands at another position.
    """
    cfg, params = cases.model(gpt, **SHORT, n_layers=1)
    same_text(gpt, params, cfg, length=3, new=7)


def test_outgrown_cache_of_several_layers(gpt: "GPT") -> None:
    """Past max_seq_len several layers generate the same text with and without a cache.

    What a deeper layer keeps holds traces of tokens that have left the window.
    """
    cfg, params = cases.model(gpt, **SHORT)
    same_text(gpt, params, cfg, length=3, new=7)


def test_cache_does_not_outlive_the_model(gpt: "GPT") -> None:
    """After another model has read the same prompt, a model generates what it would alone.

    Keys and values belong to the weights that made them. In training weights change all the time.
    """
    # A configuration of its own: what one detector leaves behind must not reach another.
    cfg, params = cases.model(gpt, max_seq_len=9, n_layers=1)
    same_text(gpt, params, cfg, length=4, new=2)
    params["wte"] = params["wte"][::-1]
    same_text(gpt, params, cfg, length=4, new=2)


def same_as_forward(
    gpt: "GPT", params: dict[str, Any], cfg: Any, pieces: tuple[int, ...], what: str
) -> None:
    """Logits by way of a cache are those of the plain forward pass."""
    __tracebackhide__ = True
    token_ids = cases.tokens()
    logits: list[np.ndarray] = []
    cache = gpt.init_cache(cfg, len(token_ids))
    for piece in np.split(token_ids, list(np.cumsum(pieces)[:-1]), axis=1):
        part, cache = gpt.forward_cached(params, cfg, piece, cache)
        logits.append(np.asarray(part))
    plain = cases.logits_of(gpt, params, cfg, token_ids)
    cases.assert_same(np.concatenate(logits, axis=1), plain, f"{what}: logits", cases.LOGITS)


def continued(
    gpt: "GPT", params: dict[str, Any], cfg: Any, kept: np.ndarray, new: np.ndarray
) -> np.ndarray:
    """Logits of new tokens after those that are kept."""
    _, cache = gpt.forward_cached(params, cfg, kept, gpt.init_cache(cfg, len(kept)))
    logits, _ = gpt.forward_cached(params, cfg, new, cache)
    return np.asarray(logits)


def same_text(gpt: "GPT", params: dict[str, Any], cfg: Any, length: int, new: int) -> None:
    """One seed gives the same text with and without a cache."""
    __tracebackhide__ = True
    prompts = cases.tokens(rows=ROWS, length=length)
    texts = []
    for use_cache in (True, False):
        with cases.optional("use_cache"):
            try:
                text = gpt.generate(
                    params, cfg, prompts, new, temperature=WARM, use_cache=use_cache
                )
            except (ValueError, IndexError) as error:
                raise AssertionError(
                    f"generate(use_cache={use_cache}) could not add {new} tokens to {length}: "
                    f"{error}"
                ) from None
        texts.append(np.asarray(text))
    cached, plain = texts
    assert cached.shape == plain.shape, (
        f"texts with a cache have the shape {cached.shape}, without one {plain.shape}"
    )
    apart = np.argwhere(cached != plain)
    if apart.size:
        row, position = min(apart.tolist(), key=lambda place: place[1])
        raise AssertionError(
            f"with a cache the text differs from position {position} on: in row {row} "
            f"{cached[row, position]} in place of {plain[row, position]}"
        )
