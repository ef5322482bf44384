"""Sampling: which token comes next, how often, and when a text ends.

How a right sampler draws is its own affair. Many equal rows of logits give many draws in one
call; what can be known of them is how often each token comes and which never do.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(3)

PROBS = np.array([0.05, 0.3, 0.1, 0.02, 0.35, 0.18])
"""At temperature 1. The likeliest are 4, 1, 5, 2, 0, 3: neither sorted nor sorted the other way,
and sorting twice is not the same as undoing it."""

SHIFT = 1.3
"""Added to all logits, which changes no probability."""

DRAWS = 3000
SURE = 5.5
"""Standard deviations that a frequency may lie off; a right sampler does so once in 20 million."""

FEW = 400
"""Enough draws that every token with a probability above 0.05 comes."""

COUNTING = {"n_layers": 1, "tie_word_embeddings": False}
STOP = 8


def test_higher_temperature_flattens(gpt: "GPT") -> None:
    """A higher temperature makes the likeliest token less frequent.

    The logits are divided by it: above 1 the probabilities come together, below 1 they part.
    """
    cold, hot = (frequencies(gpt, temperature=t).max() for t in (0.25, 4.0))
    assert cold > hot + 0.2, (
        f"the likeliest token should come with a share of 0.62 at temperature 0.25 and 0.22 at 4, "
        f"but came with {cold:.2f} and {hot:.2f}"
    )


def test_draws_follow_the_softmax(gpt: "GPT") -> None:
    """Tokens come as often as softmax(logits / temperature) says.

    At temperature 1 most mistakes with the temperature are invisible.
    """
    for temperature in (0.5, 2.0):
        expected = PROBS ** (1 / temperature) / np.sum(PROBS ** (1 / temperature))
        got = frequencies(gpt, temperature=temperature)
        off = np.abs(got - expected) / np.sqrt(expected * (1 - expected) / DRAWS)
        worst = int(np.argmax(off))
        assert off[worst] < SURE, (
            f"at temperature {temperature} token {worst} should come with a share of "
            f"{expected[worst]:.3f}, but came with {got[worst]:.3f}"
        )


def test_temperature_zero_takes_the_likeliest(gpt: "GPT") -> None:
    """At temperature 0 the token with the highest logit is chosen.

    It is the limit of ever lower temperatures, and the way to ask for no chance at all.
    """
    logits = several_logits()
    expected = np.argmax(logits, axis=-1)
    got = chosen(gpt, logits, temperature=0.0)
    alone = np.concatenate([chosen(gpt, row[None], temperature=0.0) for row in logits[:3]])
    wrong = [*np.nonzero(got != expected)[0], *np.nonzero(alone != expected[:3])[0]]
    assert not wrong, (
        f"row {wrong[0]}: at temperature 0 token {expected[wrong[0]]} has the highest logit, "
        f"but another one was chosen"
    )


def test_temperature_zero_ignores_the_seed(gpt: "GPT") -> None:
    """At temperature 0 every seed chooses the same.

    Nothing is left to chance, so nothing may depend on it.
    """
    first, *others = (chosen(gpt, several_logits(), temperature=0.0, seed=seed) for seed in (1, 2))
    assert np.array_equal(first, others[0]), "at temperature 0 seeds 1 and 2 chose different tokens"


def test_options_that_allow_all_remove_nothing(gpt: "GPT") -> None:
    """With top_k = V and top_p = 1 every token can still come.

    The k most likely of V are all of them, and so are those that together reach 1.
    """
    probs = np.full(8, 1 / 8)
    kept = support(gpt, probs, temperature=0.5, top_k=8, top_p=1.0)
    assert len(kept) == 8, (
        f"8 equally likely tokens with top_k = 8 and top_p = 1: only {sorted(kept)} ever came"
    )


def test_top_k_keeps_the_k_likeliest(gpt: "GPT") -> None:
    """With top_k the k most likely tokens come, and no others.

    Of these, all come in many draws; of the others, none ever does.
    """
    kept = support(gpt, PROBS, top_k=3)
    assert kept == {4, 1, 5}, f"top_k = 3: tokens 1, 4, 5 are likeliest, but {sorted(kept)} came"


def test_top_k_decides_between_equals(gpt: "GPT") -> None:
    """Exactly k tokens are kept, even if the next one is just as likely.

    Equal logits are common in low precision. Which of the equals stay is free, how many is not.
    """
    probs = np.array([0.08, 0.3, 0.08, 0.08, 0.08, 0.08, 0.3])
    kept = support(gpt, probs, top_k=4)
    assert len(kept) == 4 and {1, 6} <= kept, (
        f"top_k = 4, with tokens 1 and 6 in front and five equals behind: tokens 1, 6 and two of "
        f"the equals should come, but {sorted(kept)} came"
    )


def test_nucleus_reaches_p(gpt: "GPT") -> None:
    """With top_p the tokens that come have a probability of at least p together.

    The nucleus is the smallest set that reaches p, so the token that crosses p belongs to it.
    """
    for p in (0.6, 0.8):
        kept = support(gpt, PROBS, top_p=p)
        mass = PROBS[list(kept)].sum()
        assert mass >= p, f"top_p = {p}: only {sorted(kept)} came, together {mass:.2f}"


def test_nucleus_is_no_larger_than_needed(gpt: "GPT") -> None:
    """With top_p no token comes that the others do not need to reach p.

    Of four equals two are exactly one half, and that is enough.
    """
    kept = support(gpt, PROBS, top_p=0.3)
    assert kept == {4}, f"top_p = 0.3: token 4 alone has 0.35, but {sorted(kept)} came"
    kept = support(gpt, np.full(4, 0.25), top_p=0.5)
    assert len(kept) == 2, f"top_p = 0.5: two of four equals are enough, but {len(kept)} came"


def test_top_p_counts_what_top_k_left(gpt: "GPT") -> None:
    """After top_k the probabilities sum to one again before top_p is applied.

    Of the two likeliest the first has 0.35 / 0.65, more than one half.
    """
    kept = support(gpt, PROBS, top_k=2, top_p=0.5)
    assert kept == {4}, f"top_k = 2 and top_p = 0.5: only token 4 should come, not {sorted(kept)}"


def test_generation_adds_the_tokens_asked_for(gpt: "GPT") -> None:
    """A generated text is the prompt and max_new_tokens more.

    They follow the prompt, which stays as it was given.
    """
    cfg, params = cases.model(gpt)
    prompts = cases.tokens(length=3)
    text = generated(gpt, params, cfg, prompts, 4)
    assert text.shape == (cases.B, 7), (
        f"prompts of 3 tokens and 4 new ones: the shape should be {(cases.B, 7)}, not {text.shape}"
    )
    assert np.array_equal(text[:, :3], prompts), "the text does not begin with the prompt"


def test_next_token_comes_from_the_last_row(gpt: "GPT") -> None:
    """At temperature 0 each new token has the highest logit in the last row of the text so far.

    Row t of the logits says what may follow token t, so only the last one is about new text.
    """
    cfg, params = cases.model(gpt)
    text = generated(gpt, params, cfg, cases.tokens(rows=4, length=3), 3, temperature=0.0)
    for t in range(3, 6):
        expected = cases.logits_of(gpt, params, cfg, text[:, :t])[:, -1].argmax(axis=-1)
        assert np.array_equal(text[:, t], expected), (
            f"after {t} tokens the likeliest ones are {expected}, but {text[:, t]} were chosen"
        )


def test_long_text_is_read_from_its_end(gpt: "GPT") -> None:
    """Of a text longer than max_seq_len the model reads the last tokens.

    They say most about what comes next, and the new tokens are among them.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    longest = cases.SIZES["max_seq_len"]
    prompts = cases.tokens(rows=20, length=longest + 3)
    text = generated(gpt, params, cfg, prompts, 1, temperature=0.0)
    expected = cases.logits_of(gpt, params, cfg, prompts[:, -longest:])[:, -1].argmax(axis=-1)
    new = text[:, longest + 3]
    apart = np.nonzero(new != expected)[0]
    assert not apart.size, (
        f"after the last {longest} tokens of prompt {apart[0]} token {expected[apart[0]]} is "
        f"likeliest, but {new[apart[0]]} was chosen"
    )


def test_every_step_draws_anew(gpt: "GPT") -> None:
    """One seed does not make all steps of a text draw alike.

    Where all token vectors are zero, all tokens are equally likely, whatever came before. Twelve
    draws of eleven tokens are never all the same.
    """
    cfg, params = cases.model(gpt, n_layers=1)
    params["wte"][:] = 0.0
    text = generated(gpt, params, cfg, cases.tokens(rows=1, length=1), 12)
    new = set(text[0, 1:].tolist())
    assert len(new) > 2, f"12 steps with equal logits chose among the tokens {sorted(new)} only"


def test_stopped_row_stays_stopped(gpt: "GPT") -> None:
    """After its stop token a row holds nothing but stop tokens.

    Its text is over; the batch goes on for the others. A stop token in the prompt stops nothing.
    """
    text = counted(gpt)
    rows = [[4, 5, 6, 7, STOP, STOP, STOP, STOP, STOP], [7] + [STOP] * 8]
    expected = np.array(rows)[:, : text.shape[1] - 3]
    got = text[:, 3:]
    assert np.array_equal(got, expected), (
        f"stop token {STOP}: the rows should go on {expected.tolist()}, but are {got.tolist()}"
    )


def test_generation_ends_with_the_last_row(gpt: "GPT") -> None:
    """Generation ends as soon as every row has chosen the stop token.

    A row that has stopped waits for the others; once all have, nothing is left to do.
    """
    steps = counted(gpt).shape[1] - 3
    assert steps == 5, f"the rows stop at steps 2 and 5, but generation ended after step {steps}"


def counted(gpt: "GPT") -> np.ndarray:
    """Two texts of a model that counts: after token i comes i + 1. The second row stops first."""
    cfg, params = cases.model(gpt, **COUNTING)
    cases.silence_attention(params)
    cases.silence_mlp(params)
    V, C = params["wte"].shape
    params["wpe"][:] = 0.0
    params["wte"] = np.eye(V, C)
    params["ln_f"] = {"g": np.ones(C), "b": np.zeros(C)}
    params["w_lm"] = 10.0 * np.roll(np.eye(C, V), 1, axis=1)
    params["w_lm"][V:] = 0.0
    prompts = np.array([[STOP, 2, 3], [1, STOP, 6]])
    return generated(gpt, params, cfg, prompts, 9, temperature=0.0, stop_token=STOP)


def generated(
    gpt: "GPT",
    params: dict[str, Any],
    cfg: Any,
    prompts: np.ndarray,
    max_new_tokens: int,
    **options: Any,
) -> np.ndarray:
    """Prompts and what follows, without a cache, which is the business of other detectors."""
    __tracebackhide__ = True
    with cases.optional("use_cache", *options):
        try:
            text = gpt.generate(params, cfg, prompts, max_new_tokens, use_cache=False, **options)
        except (ValueError, IndexError) as error:
            T = prompts.shape[1]
            raise AssertionError(
                f"generate could not add {max_new_tokens} tokens to {T}: {error}"
            ) from None
    return np.asarray(text)


def several_logits() -> np.ndarray:
    """Rows of logits that differ, [16, V]."""
    return np.random.default_rng(cases.SEED).normal(size=(16, len(PROBS)))


def chosen(gpt: "GPT", logits: np.ndarray, **options: Any) -> np.ndarray:
    """Token ids [B] for logits [B, V]."""
    __tracebackhide__ = True
    with cases.optional(*options):
        ids = np.asarray(gpt.sample_next(logits, **options))
    V = logits.shape[1]
    assert ids.shape == logits.shape[:1], (
        f"sample_next must return one token a row, {logits.shape[:1]}, not {ids.shape}"
    )
    assert ids.min() >= 0 and ids.max() < V, f"token {ids.max()} was chosen, there are {V}"
    return ids


def frequencies(gpt: "GPT", **options: Any) -> np.ndarray:
    """How often each token of `PROBS` comes, [V]."""
    __tracebackhide__ = True
    logits = np.tile(np.log(PROBS) + SHIFT, (DRAWS, 1))
    return np.bincount(chosen(gpt, logits, **options), minlength=len(PROBS)) / DRAWS


def support(gpt: "GPT", probs: np.ndarray, **options: Any) -> set[int]:
    """The tokens that come at all."""
    __tracebackhide__ = True
    logits = np.tile(np.log(probs) + SHIFT, (FEW, 1))
    return set(chosen(gpt, logits, **options).tolist())
