"""What decoding and training cost, as ratios measured in one run.

    python tests/benchmarks/decoding.py [--longest 4096] [--repeats 5]

The time of one more token after T others, with the keys and values of those others kept and
without; then the time of one training step, whole and in micro-batches, and of its parts. Ratios
between ways of computing different numbers would mean nothing, so equality is checked first.
Every time is the shortest of several, taken in turns: whatever else the machine does only adds.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from typing import Any

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # before NumPy is imported

import numpy as np  # noqa: E402

from bugkit import correct  # noqa: E402

SHORTEST = 64
"""Tokens of the first row; each row has twice as many as the one before."""

DECODER = {"vocab_size": 64, "d_model": 64, "n_layers": 2, "n_heads": 4}
GROUPED = {"n_kv_heads": 1, "rotary": True}

TRAINED = {"vocab_size": 64, "d_model": 64, "n_layers": 4, "n_heads": 4, "max_seq_len": 64}
ROWS = 16
"""Of a training batch."""

ROUNDING = 1e-9
"""How far equal logits, or gradients, may lie apart."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What decoding and training cost.")
    parser.add_argument("--longest", type=int, default=4096, help="tokens of the last row")
    parser.add_argument("--repeats", type=int, default=5, help="of which the shortest counts")
    parser.add_argument("--only", choices=["decoding", "training"])
    arguments = parser.parse_args()
    if arguments.longest < SHORTEST or arguments.repeats < 1:
        parser.error(f"--longest must be at least {SHORTEST}, and --repeats at least 1")
    print(
        f"NumPy {np.__version__}, Python {platform.python_version()}, one thread, float64, "
        f"shortest of {arguments.repeats}; all results equal.\n"
    )
    if arguments.only != "training":
        decoding(arguments.longest, arguments.repeats)
    if arguments.only is None:
        print()
    if arguments.only != "decoding":
        training(arguments.repeats)


def decoding(longest: int, repeats: int) -> None:
    """The table of one more token."""
    lengths = [SHORTEST]
    while 2 * lengths[-1] <= longest:
        lengths.append(2 * lengths[-1])
    rows = [one_token(length, repeats) for length in lengths]
    first = rows[0]
    print(
        "| T | cached, ms | next to the first | one key head, rotary, ms | uncached, ms "
        "| next to the first | uncached : cached |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for length, (cached, grouped, uncached) in zip(lengths, rows, strict=True):
        print(
            f"| {length} | {1e3 * cached:.2f} | {cached / first[0]:.1f} x | {1e3 * grouped:.2f} "
            f"| {1e3 * uncached:.1f} | {uncached / first[2]:.1f} x | {uncached / cached:.0f} x |"
        )


def one_token(length: int, repeats: int) -> list[float]:
    """Seconds for the last of so many tokens: cached, cached with one key head, uncached."""
    cached, uncached = [], []
    for choice in ({}, GROUPED):
        cfg = correct.GPTConfig(**DECODER, **choice, max_seq_len=length)
        params = correct.init_params(cfg)
        token_ids = np.random.default_rng(0).integers(0, cfg.vocab_size, (1, length))
        # In pieces, so that the prompt's own maps, T by T, need not fit into the memory.
        cache = correct.init_cache(cfg, 1)
        for start in range(0, length - 1, SHORTEST):
            piece = token_ids[:, start : min(start + SHORTEST, length - 1)]
            _, cache = correct.forward_cached(params, cfg, piece, cache)
        cached.append(partial(last_cached, params, cfg, token_ids, cache))
        uncached.append(partial(last_uncached, params, cfg, token_ids))
        assert_same(cached[-1](), uncached[-1]())
    return shortest([*cached, uncached[0]], repeats)


def last_cached(params: Any, cfg: Any, token_ids: np.ndarray, cache: Any) -> np.ndarray:
    """Logits of the last token, given a cache of those before it."""
    logits, _ = correct.forward_cached(params, cfg, token_ids[:, -1:], cache)
    last: np.ndarray = logits[:, -1]
    return last


def last_uncached(params: Any, cfg: Any, token_ids: np.ndarray) -> np.ndarray:
    """The same, from all tokens."""
    last: np.ndarray = correct.gpt_forward(params, cfg, token_ids)[:, -1]
    return last


def training(repeats: int) -> None:
    """The table of one step."""
    cfg = correct.GPTConfig(**TRAINED)
    params = correct.init_params(cfg)
    data = np.random.default_rng(0).integers(0, cfg.vocab_size, 1000)
    token_ids, targets = correct.get_batch(data, ROWS, cfg.max_seq_len, seed=0)
    loss, grads = correct.loss_and_grads(params, cfg, token_ids, targets)
    state = correct.init_adamw(params)
    for rows in (1, ROWS // 4):
        other, accumulated = correct.accumulate_grads(params, cfg, token_ids, targets, rows)
        assert_same(np.array(other), np.array(loss))
        correct.tree.map_tree(assert_same, accumulated, grads)
    step = partial(correct.train, params, cfg, data, 1, batch_size=ROWS)
    names: dict[str, Callable[[], Any]] = {
        "forward pass": lambda: correct.gpt_forward(params, cfg, token_ids),
        "loss and gradients": lambda: correct.loss_and_grads(params, cfg, token_ids, targets),
        "clipping": lambda: correct.clip_grads(grads, 0.1),
        "AdamW": lambda: correct.adamw_step(params, grads, state, 1e-3),
        "whole step": step,
        f"whole step, micro-batches of {ROWS // 4}": partial(step, micro_batch_size=ROWS // 4),
        "whole step, micro-batches of 1": partial(step, micro_batch_size=1),
    }
    seconds = dict(zip(names, shortest(list(names.values()), repeats), strict=True))
    print(f"| {ROWS} rows of {cfg.max_seq_len} tokens | ms | next to the forward pass |")
    print("| --- | --- | --- |")
    for name, value in seconds.items():
        print(f"| {name} | {1e3 * value:.1f} | {value / seconds['forward pass']:.2f} x |")


def shortest(ways: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Seconds that each takes at best; in turns, so that a slow moment meets all of them."""
    best = [float("inf")] * len(ways)
    for _ in range(repeats):
        for i, way in enumerate(ways):
            start = time.perf_counter()
            way()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def assert_same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal up to rounding."""
    np.testing.assert_allclose(got, expected, rtol=ROUNDING, atol=ROUNDING)


if __name__ == "__main__":
    main()
