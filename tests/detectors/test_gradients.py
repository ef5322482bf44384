"""The backward pass: each gradient against central differences, and gradients of small batches.

A gradient says how the loss changes along a small step. So two more forward passes, a step ahead
and a step back, check it without any second opinion on how it is computed. The models are tiny,
and whatever a detector is not about is silenced or made neutral, so that it tells where to look.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from . import cases
from .slopes import Case, assert_slopes, near

if TYPE_CHECKING:
    from bugkit.contract import GPT

pytestmark = pytest.mark.level(2)

SMALL = {"vocab_size": 7, "d_model": 6, "n_layers": 1, "n_heads": 3, "max_seq_len": 5}
T = 4
TOKEN_IDS = np.array([[3, 1, 3, 0], [5, 3, 1, 5]])
"""Words that occur twice in a row, in both rows, or once; 2, 4 and 6 are never read."""

DROPOUT_SEED = 7


def test_gradients_of_the_head(gpt: "GPT") -> None:
    """Gradients of the head, of the last norm and of what feeds it are slopes of the loss.

    The last norm has gains of its own and several tokens in a row: the mean and the variance of a
    token depend on each of its features, and on no other token.
    """
    case = make_case(gpt, tie_word_embeddings=False)
    everything = {"w_lm": ..., "ln_f.g": ..., "ln_f.b": ..., "blocks.0.mlp.w2": ...}
    assert_slopes(gpt, case, everything)


def test_gradients_of_the_mlp(gpt: "GPT") -> None:
    """Gradients of the MLP and its norm are slopes of the loss.

    The sequences have one token, and the last norm has gains of one: what could be wrong there
    does not matter here.
    """
    case = make_case(gpt, token_ids=np.array([[3], [1], [5], [0], [6]]), tie_word_embeddings=False)
    cases.make_gains_one(case.params)
    paths = [f"blocks.0.{path}" for path in ("mlp.w1", "mlp.b1", "mlp.w2", "mlp.b2")]
    paths += ["blocks.0.ln2.g", "blocks.0.ln2.b"]
    assert_slopes(gpt, case, dict.fromkeys(paths, ...))


def test_gradients_of_values(gpt: "GPT") -> None:
    """Gradients of what attention gathers and writes are slopes of the loss.

    Values and the output projection; the MLP is silent.
    """
    case = make_case(gpt, tie_word_embeddings=False)
    cases.make_gains_one(case.params)
    cases.silence_mlp(case.params)
    assert_slopes(gpt, case, values_and_output())


def test_gradients_of_queries_and_keys(gpt: "GPT") -> None:
    """Gradients of what decides where attention looks are slopes of the loss.

    Queries, keys, and the norm before them; the MLP is silent. A key's bias adds the same to every
    score of a query, so the loss does not change with it and its gradient is zero.
    """
    case = make_case(gpt, tie_word_embeddings=False)
    cases.make_gains_one(case.params)
    cases.silence_mlp(case.params)
    norm = {"blocks.0.ln1.g": ..., "blocks.0.ln1.b": ...}
    assert_slopes(gpt, case, queries_and_keys() | norm)


def test_gradients_of_embeddings(gpt: "GPT") -> None:
    """Gradients of the embeddings are slopes of the loss.

    Every branch is silent, so that the stream carries the gradient from the head down to the
    embeddings. A word that occurs several times adds up what each of its places says.
    """
    case = make_case(gpt, tie_word_embeddings=False)
    cases.make_gains_one(case.params)
    cases.silence_attention(case.params)
    cases.silence_mlp(case.params)
    assert_slopes(gpt, case, {"wte": ..., "wpe": ...})


def test_gradients_of_words_that_were_read(gpt: "GPT") -> None:
    """In a tied model, a word that was read gets its gradient from both ends.

    One matrix is used twice: to read a word and to score it. Its gradient is the sum.
    """
    case = make_tied_case(gpt)
    assert_slopes(gpt, case, {"wte": np.unique(TOKEN_IDS)})


def test_gradients_of_words_never_read(gpt: "GPT") -> None:
    """In a tied model, a word that was not read gets a gradient from the head.

    Each word is scored at every position, so each one's vector moves the loss.
    """
    case = make_tied_case(gpt)
    assert_slopes(gpt, case, {"wte": np.setdiff1d(np.arange(SMALL["vocab_size"]), TOKEN_IDS)})


def test_gradients_of_values_under_dropout(gpt: "GPT") -> None:
    """With dropout, gradients of what attention gathers are slopes of the loss.

    The backward pass drops what the forward pass has dropped: with the same seed, both have the
    same masks.
    """
    case = make_case(gpt, tie_word_embeddings=False, dropout=0.3)
    cases.make_gains_one(case.params)
    assert_slopes(gpt, case, values_and_output())


def test_gradients_of_queries_and_keys_under_dropout(gpt: "GPT") -> None:
    """With dropout, gradients of what decides where attention looks are slopes of the loss.

    Weights are dropped after the softmax, so the softmax has its own weights to go back with, from
    before dropout, and gets the gradient of those that were kept.
    """
    case = make_case(gpt, tie_word_embeddings=False, dropout=0.3)
    cases.make_gains_one(case.params)
    assert_slopes(gpt, case, queries_and_keys())


def test_gradients_of_norms_under_dropout(gpt: "GPT") -> None:
    """With dropout, gradients of what feeds a branch are slopes of the loss.

    A branch is dropped where the stream takes it up, and its gradient passes the same mask on the
    way back to the norm that the branch begins with.
    """
    case = make_case(gpt, tie_word_embeddings=False, dropout=0.3)
    cases.make_gains_one(case.params)
    names = ("ln1.g", "ln1.b", "ln2.g", "ln2.b", "mlp.w1", "mlp.b1", "mlp.w2", "mlp.b2")
    assert_slopes(gpt, case, {f"blocks.0.{name}": ... for name in names})


def test_gradients_have_the_type_of_the_parameters(gpt: "GPT") -> None:
    """float32 parameters get float32 gradients.

    The backward pass is two thirds of the work of training. One float64 scalar on the way, and all
    that comes after it takes twice the memory.
    """
    case = make_case(gpt)
    params = cases.as_float32(case.params)
    _, grads = gpt.loss_and_grads(params, case.cfg, case.token_ids, case.targets)
    for path, grad in cases.leaves(grads):
        assert grad.dtype == np.float32, f"{path} is float32, its gradient is {grad.dtype}"


def test_small_batches_add_up_to_a_large_one(gpt: "GPT") -> None:
    """Gradients gathered from small batches are those of the whole batch.

    Four rows, two at a time.
    """
    assert_accumulated(gpt, rows=4, micro_batch_size=2)


def test_small_batches_count_by_their_rows(gpt: "GPT") -> None:
    """A smaller last batch has a smaller share of the gradient.

    Five rows, three at a time: the mean over five is not the mean of a mean over three and one over
    two.
    """
    assert_accumulated(gpt, rows=5, micro_batch_size=3)


def test_small_batches_have_the_loss_of_the_large_one(gpt: "GPT") -> None:
    """The loss gathered from small batches is that of the whole batch.

    It must not depend on how much memory there is.
    """
    case = make_case(gpt, token_ids=cases.tokens(5, T, SMALL["vocab_size"]))
    whole, _ = gpt.loss_and_grads(case.params, case.cfg, case.token_ids, case.targets)
    for size in (2, 3):
        loss, _ = gpt.accumulate_grads(case.params, case.cfg, case.token_ids, case.targets, size)
        assert near(loss, whole), (
            f"the loss of 5 rows is {whole:.6g}, but {loss:.6g} when gathered {size} rows at a time"
        )


def test_training_moves_norms_and_matrices(gpt: "GPT") -> None:
    """One step of training moves every matrix, and every gain and bias of the norms.

    What is not moved keeps the value it was made with, and the loss falls all the same.
    """
    case = make_case(gpt, n_layers=2)
    data = np.arange(40) ** 2 % SMALL["vocab_size"]
    trained, _ = gpt.train(
        case.params, case.cfg, data, steps=1, seq_len=T, max_lr=1e-2, weight_decay=0.0
    )
    after = dict(cases.leaves(trained))
    for path, before in cases.leaves(case.params):
        if before.ndim == 2 or path.split(".")[-1] in ("g", "b"):
            moved = np.abs(after[path] - before).max()
            assert not moved < 1e-6, f"a step with a learning rate of 0.01 did not move {path}"


def make_case(gpt: "GPT", token_ids: np.ndarray = TOKEN_IDS, **changes: Any) -> Case:
    """A small model with random parameters, and targets for these tokens."""
    cfg, params = cases.model(gpt, **{**SMALL, **changes})
    targets = np.random.default_rng(cases.SEED).integers(0, SMALL["vocab_size"], token_ids.shape)
    options = {"dropout_seed": DROPOUT_SEED} if "dropout" in changes else {}
    return Case(cfg, params, token_ids, targets, options)


def make_tied_case(gpt: "GPT") -> Case:
    """Nothing but embedding, last norm and a tied head."""
    case = make_case(gpt)
    cases.make_gains_one(case.params)
    cases.silence_attention(case.params)
    cases.silence_mlp(case.params)
    return case


def values_and_output() -> dict[str, Any]:
    """The columns that make values, and the output projection."""
    C = SMALL["d_model"]
    values = {f"blocks.0.attn.{name}": np.s_[..., 2 * C :] for name in ("w_qkv", "b_qkv")}
    return values | {"blocks.0.attn.w_o": ..., "blocks.0.attn.b_o": ...}


def queries_and_keys() -> dict[str, Any]:
    """The columns that make queries and keys."""
    C = SMALL["d_model"]
    return {f"blocks.0.attn.{name}": np.s_[..., : 2 * C] for name in ("w_qkv", "b_qkv")}


def assert_accumulated(gpt: "GPT", rows: int, micro_batch_size: int) -> None:
    """Gradients of so many rows, a few at a time, are those of all rows at once."""
    __tracebackhide__ = True
    case = make_case(gpt, token_ids=cases.tokens(rows, T, SMALL["vocab_size"]))
    batch = (case.params, case.cfg, case.token_ids, case.targets)
    _, whole = gpt.loss_and_grads(*batch)
    _, gathered = gpt.accumulate_grads(*batch, micro_batch_size)
    got = dict(cases.leaves(gathered))
    for path, expected in cases.leaves(whole):
        axes = ("row", "column") if expected.ndim == 2 else ("entry",)
        what = f"gradient of {path}, {rows} rows {micro_batch_size} at a time"
        cases.assert_same(got[path], expected, what, axes)
