"""Generation: the choice of a token, the cache, and one token after another."""

import math
import re
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bugkit import correct

Params = dict[str, Any]
RandomParams = Callable[[Any, int], Params]

ROUNDING = 1e-11
"""What another order of summation may change in float64, relative to logits near 10."""

CHI_SQUARE = 34.5
"""A right sampler is above it once in ten thousand seeds, with nine degrees of freedom or fewer
(33.7 for nine); the seed is fixed, so it never is."""

DRAWS = 20000
"""Enough to see a probability that is wrong by one in a hundred."""

SEED = 6
"""Any other does as well."""

SIZES = {"vocab_size": 11, "d_model": 24, "n_layers": 2, "n_heads": 6, "max_seq_len": 8}
CHOICES: dict[str, dict[str, Any]] = {
    "learned": {},
    "untied": {"tie_word_embeddings": False},
    "rotary": {"rotary": True},
    "grouped": {"n_kv_heads": 2},
    "rotary, grouped": {"rotary": True, "n_kv_heads": 2, "rope_theta": 30.0},
}
CONFIGS = {name: correct.GPTConfig(**SIZES, **choice) for name, choice in CHOICES.items()}
CFG = CONFIGS["learned"]

configs = pytest.mark.parametrize("cfg", CONFIGS.values(), ids=CONFIGS.keys())
cached_or_not = pytest.mark.parametrize("use_cache", [True, False], ids=["cached", "uncached"])

LOGITS = np.array([[0.5, 2.0, -1.0, 2.0, 0.0, 1.5, -3.0, 2.0, 0.25, 1.0]])
"""Three words are equally likely, and likeliest."""


# What is refused.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -0.1}, "temperature must be 0 or more, got -0.1"),
        ({"temperature": math.nan}, "temperature must be 0 or more, got nan"),
        ({"top_k": 0}, "top_k must be at least 1, got 0"),
        ({"top_k": -3}, "top_k must be at least 1, got -3"),
        ({"top_k": 2.5}, "top_k must be a whole number, got 2.5"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1, got 0.0"),
        ({"top_p": 1.1}, "top_p must be above 0 and at most 1, got 1.1"),
        ({"top_p": math.nan}, "top_p must be above 0 and at most 1, got nan"),
    ],
    ids=str,
)
def test_an_option_without_a_meaning_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.sample_next(LOGITS, **options)
    # Even if the temperature is 0 and neither top-k nor top-p matter.
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.sample_next(LOGITS, **{"temperature": 0.0, **options})
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.generate(correct.init_params(CFG), CFG, [[1, 2]], 1, **options)


@cached_or_not
@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ([[]], "T must be from 1 to max_seq_len = 8, got 0"),
        ([[1, 11]], "token ids must be from 0 to 10, got 1 to 11"),
        ([[1, -1]], "token ids must be from 0 to 10, got -1 to 1"),
        ([[1.0]], "token_ids must be integers, got float64"),
        ([1, 2], "token_ids must have shape (B, T), got shape (2,)"),
        ([[[1, 2]]], "token_ids must have shape (B, T), got shape (1, 1, 2)"),
    ],
    ids=str,
)
def test_a_prompt_that_cannot_be_read_is_refused(
    prompt: list[Any], message: str, use_cache: bool
) -> None:
    token_ids = np.array(prompt, dtype=int if prompt == [[]] else None)
    with pytest.raises(ValueError, match=re.escape(message)):
        correct.generate(correct.init_params(CFG), CFG, token_ids, 2, use_cache=use_cache)


@pytest.mark.parametrize("max_new_tokens", [-1, -10])
def test_fewer_than_no_new_tokens_are_refused(max_new_tokens: int) -> None:
    with pytest.raises(ValueError, match=f"max_new_tokens must be 0 or more, got {max_new_tokens}"):
        correct.generate(correct.init_params(CFG), CFG, [[1, 2]], max_new_tokens)


def test_more_tokens_than_the_model_can_read_are_refused(random_params: RandomParams) -> None:
    params, token_ids = random_params(CFG, SEED), tokens(2, 8)
    _, cache = correct.forward_cached(params, CFG, token_ids[:, :6], correct.init_cache(CFG, 2))
    with pytest.raises(ValueError, match="6 cached tokens and 3 new ones are more than 8"):
        correct.forward_cached(params, CFG, token_ids[:, :3], cache)


def test_a_cache_of_another_batch_or_model_is_refused(random_params: RandomParams) -> None:
    params = random_params(CFG, SEED)
    for rows in (1, 3):
        with pytest.raises(ValueError, match=f"the cache is for {rows} rows, token_ids have 2"):
            correct.forward_cached(params, CFG, tokens(2, 3), correct.init_cache(CFG, rows))
    for layers in (0, 1, 3):
        cache = (correct.init_cache(CFG, 2) * 2)[:layers]
        with pytest.raises(ValueError, match=f"the cache has {layers} layers, the model has 2"):
            correct.forward_cached(params, CFG, tokens(2, 3), cache)


# The cache.


@configs
def test_cached_logits_are_the_usual_ones_however_the_prompt_is_cut(
    random_params: RandomParams, cfg: Any
) -> None:
    params, token_ids = random_params(cfg, SEED), tokens(2, 6)
    expected = correct.gpt_forward(params, cfg, token_ids)
    cuts = list(compositions(6))
    assert len(cuts) == 32
    for cut in cuts:
        cache, parts = correct.init_cache(cfg, 2), []
        for start, stop in pairwise(np.cumsum([0, *cut])):
            logits, cache = correct.forward_cached(params, cfg, token_ids[:, start:stop], cache)
            assert logits.shape == (2, stop - start, 11)
            parts.append(logits)
        np.testing.assert_allclose(
            np.concatenate(parts, axis=1), expected, rtol=ROUNDING, atol=ROUNDING, err_msg=str(cut)
        )


@configs
def test_a_cache_grows_by_the_new_tokens_and_is_never_changed(
    random_params: RandomParams, cfg: Any
) -> None:
    params, token_ids = random_params(cfg, SEED), tokens(3, 6)
    empty = correct.init_cache(cfg, 3)
    _, four = correct.forward_cached(params, cfg, token_ids[:, :4], empty)
    kept = [{name: array.copy() for name, array in layer.items()} for layer in four]
    for layer in four:
        for array in layer.values():
            array.flags.writeable = False
    # One cache may go on in two ways.
    one, six = correct.forward_cached(params, cfg, token_ids[:, 4:], four)
    other, _ = correct.forward_cached(params, cfg, (token_ids[:, 4:] + 1) % 11, four)
    again, _ = correct.forward_cached(params, cfg, token_ids[:, 4:], four)
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)
    np.testing.assert_equal(four, kept)
    for length, cache in ((0, empty), (4, four), (6, six)):
        assert len(cache) == 2
        for layer in cache:
            assert set(layer) == {"k", "v"}
            assert {array.shape for array in layer.values()} == {
                (3, cfg.n_kv_heads or 6, length, 4)
            }


def test_a_grouped_cache_is_smaller_by_the_size_of_the_groups() -> None:
    def numbers(cfg: Any) -> int:
        cache = correct.forward_cached(
            correct.init_params(cfg), cfg, tokens(1, 5), correct.init_cache(cfg, 1)
        )[1]
        return sum(array.size for layer in cache for array in layer.values())

    assert numbers(CFG) == 3 * numbers(CONFIGS["grouped"])


def test_the_maps_are_not_kept_unless_they_are_asked_for() -> None:
    """They are what grows with the square of the length; here a layer's take 1 MiB."""
    cfg = correct.GPTConfig(5, 4, 24, 2, 256)
    params, token_ids = correct.init_params(cfg), np.zeros((1, 256), dtype=int)
    one_layer = 2 * 256 * 256 * 8

    def peak(function: Callable[..., Any], *args: Any) -> int:
        tracemalloc.start()
        try:
            function(params, cfg, token_ids, *args)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(correct.gpt_forward, True) > 24 * one_layer
    assert peak(correct.gpt_forward) < 8 * one_layer
    assert peak(correct.forward_cached, correct.init_cache(cfg, 1)) < 8 * one_layer
    assert peak(correct.loss_and_grads, token_ids) < 16 * one_layer


# One token after another.


@configs
@pytest.mark.parametrize("length", [1, 3, 8, 12], ids=lambda length: f"prompt of {length}")
@pytest.mark.parametrize(
    "options",
    [{"temperature": 0.0}, {"temperature": 1.3, "top_k": 7, "top_p": 0.9, "seed": SEED}],
    ids=["greedy", "sampled"],
)
def test_the_text_is_the_same_with_and_without_a_cache_past_the_longest_sequence_too(
    random_params: RandomParams, cfg: Any, length: int, options: dict[str, Any]
) -> None:
    params, prompts = random_params(cfg, SEED), tokens(2, length)
    cached = correct.generate(params, cfg, prompts, 14, **options)
    uncached = correct.generate(params, cfg, prompts, 14, use_cache=False, **options)
    np.testing.assert_array_equal(cached, uncached)
    assert cached.shape == (2, length + 14)
    np.testing.assert_array_equal(cached[:, :length], prompts)


@configs
@cached_or_not
def test_the_greedy_text_is_the_likeliest_token_after_the_last_ones(
    random_params: RandomParams, cfg: Any, use_cache: bool
) -> None:
    params, expected = random_params(cfg, SEED), tokens(3, 5)
    got = correct.generate(params, cfg, expected, 10, temperature=0.0, use_cache=use_cache)
    for _ in range(10):
        logits = correct.gpt_forward(params, cfg, expected[:, -cfg.max_seq_len :])
        expected = np.column_stack([expected, logits[:, -1].argmax(axis=-1)])
    np.testing.assert_array_equal(got, expected)


@configs
@cached_or_not
def test_a_prompt_goes_on_alone_as_in_a_batch(
    random_params: RandomParams, cfg: Any, use_cache: bool
) -> None:
    params, prompts = random_params(cfg, SEED), tokens(4, 5)
    together = correct.generate(params, cfg, prompts, 9, temperature=0.0, use_cache=use_cache)
    for row, prompt in enumerate(prompts):
        alone = correct.generate(params, cfg, prompt[None], 9, temperature=0.0, use_cache=use_cache)
        np.testing.assert_array_equal(alone[0], together[row])


@cached_or_not
def test_a_row_stops_at_the_stop_token_and_the_text_when_all_rows_have(
    random_params: RandomParams, use_cache: bool
) -> None:
    params, prompts = random_params(CFG, SEED), tokens(3, 4)
    options: dict[str, Any] = {"temperature": 4.0, "seed": SEED, "use_cache": use_cache}
    free = correct.generate(params, CFG, prompts, 20, **options)
    # A token that all rows come to, at different places, and that a prompt holds as well.
    stop = next(t for t in range(11) if stops(free, t) and (prompts == t).any())
    assert len(set(stops(free, stop))) > 1
    end = 4 + max(stops(free, stop))
    # Some text would go on with other tokens if it were not stopped.
    assert any(
        (row[4 + n : end] != stop).any() for row, n in zip(free, stops(free, stop), strict=True)
    )
    stopped = correct.generate(params, CFG, prompts, 20, stop_token=stop, **options)
    assert stopped.shape[1] == end
    for row, n in enumerate(stops(free, stop)):
        np.testing.assert_array_equal(stopped[row, : 4 + n], free[row, : 4 + n])
        assert np.all(stopped[row, 3 + n :] == stop)


@cached_or_not
def test_a_stop_token_that_never_comes_stops_nothing(
    random_params: RandomParams, use_cache: bool
) -> None:
    cfg = CONFIGS["untied"]
    params, prompts = random_params(cfg, SEED), tokens(2, 4)
    never = int(np.argmin(correct.gpt_forward(params, cfg, prompts)[:, -1].max(axis=0)))
    params["w_lm"][:, never] = 0.0
    options: dict[str, Any] = {"temperature": 0.0, "use_cache": use_cache}
    free = correct.generate(params, cfg, prompts, 6, **options)
    assert not (free[:, 4:] == never).any()
    stopped = correct.generate(params, cfg, prompts, 6, stop_token=never, **options)
    np.testing.assert_array_equal(stopped, free)


@pytest.mark.parametrize("length", [1, 8, 12])
def test_no_new_tokens_give_the_prompt_itself(length: int) -> None:
    prompts = tokens(2, length)
    got = correct.generate(correct.init_params(CFG), CFG, prompts, 0)
    np.testing.assert_array_equal(got, prompts)


def test_the_prompt_may_be_a_list_or_of_any_integer_type(random_params: RandomParams) -> None:
    params, prompts = random_params(CFG, SEED), tokens(2, 4)
    expected = correct.generate(params, CFG, prompts, 5)
    for given in (prompts.tolist(), prompts.astype(np.uint8), prompts.astype(np.uint64)):
        np.testing.assert_array_equal(correct.generate(params, CFG, given, 5), expected)


def test_generating_changes_none_of_its_arguments(random_params: RandomParams) -> None:
    params, prompts, logits = random_params(CFG, SEED), tokens(2, 4), LOGITS.copy()
    before = [array.copy() for _, array in leaves([params, prompts, logits])]
    for _, array in leaves([params, prompts, logits]):
        array.flags.writeable = False
    correct.generate(params, CFG, prompts, 9, top_k=3, top_p=0.8, stop_token=2)
    correct.sample_next(logits, top_k=3, top_p=0.8)
    np.testing.assert_equal([array for _, array in leaves([params, prompts, logits])], before)


def test_the_seed_decides_the_text_and_every_token_has_a_draw_of_its_own() -> None:
    # A model that finds all words equally likely.
    params = correct.init_params(CONFIGS["untied"])
    params["w_lm"][:] = 0.0
    prompts = tokens(3, 2)
    one, same, other = (
        correct.generate(params, CONFIGS["untied"], prompts, 40, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    # A draw that is used again would repeat itself along the text or down the rows.
    assert len({tuple(row) for row in one[:, 2:]}) == 3
    assert all(len(np.unique(row)) > 5 for row in one[:, 2:])


def test_no_prompts_give_no_texts_of_the_asked_length() -> None:
    got = correct.generate(correct.init_params(CFG), CFG, np.zeros((0, 3), dtype=int), 5)
    assert got.shape == (0, 8)


# The choice of a token.


@pytest.mark.parametrize("options", [{}, {"top_k": 3}, {"top_p": 0.5}], ids=str)
def test_temperature_zero_takes_the_likeliest_and_of_equals_the_lowest(
    options: dict[str, Any],
) -> None:
    for seed in range(20):
        chosen = correct.sample_next(LOGITS, temperature=0.0, seed=seed, **options)
        assert chosen.tolist() == [1]


@pytest.mark.parametrize("options", [{"top_k": 1}, {"top_p": 1e-12}], ids=str)
def test_one_candidate_is_no_choice(options: dict[str, Any]) -> None:
    logits = np.random.default_rng(SEED).normal(size=(50, 11))
    for temperature in (0.1, 1.0, 10.0):
        chosen = correct.sample_next(logits, temperature, seed=SEED, **options)
        np.testing.assert_array_equal(chosen, logits.argmax(axis=-1))


@pytest.mark.parametrize(
    ("k", "candidates"),
    [
        (1, {1}),
        (2, {1, 3}),
        (3, {1, 3, 7}),
        (4, {1, 3, 5, 7}),
        (10, set(range(10))),
        (99, set(range(10))),
    ],
)
def test_top_k_keeps_exactly_k_and_of_equals_the_lowest(k: int, candidates: set[int]) -> None:
    assert set(drawn(LOGITS[0], temperature=5.0, top_k=k)) == candidates


def test_of_many_equal_words_top_k_keeps_the_lowest() -> None:
    """So many, and in such an order, that a sort which is not stable mixes them."""
    logits = np.tile([0.0, 2.0, 1.0], 40)
    assert set(drawn(logits, top_k=5)) == {1, 4, 7, 10, 13}
    assert set(drawn(logits, top_k=42, temperature=9.0)) == {*range(1, 120, 3), 2, 5}


@pytest.mark.parametrize(
    ("p", "kept"),
    [(0.05, 1), (0.4, 1), (0.41, 2), (0.7, 2), (0.71, 3), (0.9, 3), (0.91, 4), (1.0, 4)],
)
def test_top_p_keeps_the_token_that_crosses(p: float, kept: int) -> None:
    # Not in the order of their size.
    logits = np.log([0.1, 0.4, 0.2, 0.3])
    assert set(drawn(logits, top_p=p - 1e-9)) == set([1, 3, 2, 0][:kept])


@pytest.mark.parametrize("words", [3, 10, 49, 1000])
def test_rounding_keeps_no_token_more(words: int) -> None:
    """Of equal words as many are kept as make up p, however their sums are rounded."""
    for kept in range(1, words + 1, max(1, words // 50)):
        probs = correct.sampling.next_probs(np.zeros((1, words)), 1.0, None, top_p=kept / words)
        assert np.count_nonzero(probs) == kept


def test_top_p_of_one_keeps_the_least_likely_too() -> None:
    logits = np.log([0.001, 0.999])
    assert set(drawn(logits, top_p=1.0)) == {0, 1}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.6},
        {"temperature": 2.5},
        {"top_k": 4},
        {"top_p": 0.8},
        {"temperature": 1.7, "top_k": 7, "top_p": 0.75},
    ],
    ids=str,
)
def test_tokens_come_as_often_as_they_should(options: dict[str, Any]) -> None:
    expected = probabilities(LOGITS[0].tolist(), **options)
    counts = np.bincount(drawn(LOGITS[0], **options), minlength=10)
    possible = np.array(expected) > 0.0
    assert not counts[~possible].any()
    wanted = DRAWS * np.array(expected)[possible]
    assert np.sum((counts[possible] - wanted) ** 2 / wanted) < CHI_SQUARE


def test_top_p_is_taken_of_what_temperature_and_top_k_have_left() -> None:
    logits = np.log([0.5, 0.2, 0.2, 0.1])
    # Of the first two alone, the first has 5/7: more than 0.6, though 0.5 is less.
    assert set(drawn(logits, top_p=0.6)) == {0, 1}
    assert set(drawn(logits, top_k=2, top_p=0.6)) == {0}
    # A temperature of 1/2 makes the first 25/34.
    assert set(drawn(logits, temperature=0.5, top_p=0.6)) == {0}


def test_the_seed_decides_the_choice_and_rows_are_independent() -> None:
    logits = np.zeros((1000, 11))
    one, same, other = (correct.sample_next(logits, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    for a, b in ((one, other), (one[1:], one[:-1])):
        # Equal by chance: one in eleven, give or take four standard deviations.
        assert abs(np.mean(a == b) - 1 / 11) < 4 * math.sqrt(10 / 121 / 1000)


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-300], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_temperature_near_zero_is_like_zero(temperature: float, dtype: str) -> None:
    logits = np.array([[5.0, -2.0, 300.0, 7.0], [1e3, 0.0, -1e3, 9e2]], dtype=dtype)
    with np.errstate(over="ignore"):
        assert correct.sample_next(logits, temperature, seed=SEED).tolist() == [2, 0]


def test_a_word_that_cannot_come_does_not() -> None:
    logits = np.array([-np.inf, 1.0, -np.inf, 1.0, -np.inf])
    for options in ({}, {"top_k": 3}, {"top_p": 1.0}, {"temperature": 3.0}):
        assert set(drawn(logits, **options)) == {1, 3}


def drawn(logits: np.ndarray, **options: Any) -> list[int]:
    """Many tokens, each from a row of its own."""
    rows = np.tile(logits, (DRAWS, 1))
    chosen: list[int] = correct.sample_next(rows, seed=SEED, **options).tolist()
    return chosen


def probabilities(
    logits: list[float],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
) -> list[float]:
    """What each token's probability should be, one number at a time."""
    weights = {token: math.exp(x / temperature) for token, x in enumerate(logits)}
    order = sorted(weights, key=lambda token: (-weights[token], token))[:top_k]
    total = math.fsum(weights[token] for token in order)
    kept: list[int] = []
    for token in order:
        if math.fsum(weights[other] for other in kept) < top_p * total:
            kept.append(token)
    total = math.fsum(weights[token] for token in kept)
    return [weights[token] / total if token in kept else 0.0 for token in weights]


def stops(text: np.ndarray, token: int) -> list[int]:
    """How many tokens each row of a text has after its prompt of four, up to and with this one;
    nothing unless all rows have it."""
    found = [np.flatnonzero(row[4:] == token) for row in text]
    return [int(places[0]) + 1 for places in found] if all(map(len, found)) else []


def compositions(n: int) -> Iterator[list[int]]:
    """Every way to write n as a sum of positive numbers, in order."""
    if n == 0:
        yield []
    for first in range(1, n + 1):
        for rest in compositions(n - first):
            yield [first, *rest]


def tokens(rows: int, length: int) -> np.ndarray:
    """Token ids, [rows, length]."""
    return np.random.default_rng(SEED).integers(0, 11, (rows, length))


def leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every array of a tree, with its path."""
    if not isinstance(tree, dict | list):
        yield path, tree
        return
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield from leaves(value, f"{path}.{key}")
