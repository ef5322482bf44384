"""A complete GPT in NumPy: the right answer.

Read it in this order; every file is one page. A backward pass stands below its forward pass.

    config      the sizes of a model
    init        the parameters and the values they start from
    embedding   token ids -> vectors
    norm        layer normalisation
    softmax     scores -> weights that sum to one
    linear      weighted sums
    dropout     values dropped at random in training
    rotary      positions as angles
    attention   causal self-attention with several heads
    mlp         GELU and the two-layer perceptron
    block       attention and MLP around the residual stream
    head        vectors -> one score for every word
    model       the whole forward pass

    loss        cross-entropy
    gradients   the whole backward pass
    tree        trees of arrays
    optimizer   AdamW, clipping, the learning rate
    data        text -> token ids -> batches
    train       the training loop
    evaluate    the loss of a text

    sampling    the choice of the next token
    cache       keys and values kept for the next step
    generate    one token after another

    checkpoint  parameters in a file
    gpt2        weights laid out like Hugging Face's GPT-2

Shape letters, used everywhere:

    B  batch                 C  d_model, the width of the residual stream
    T  time, in tokens       H  heads
    V  vocabulary            D  width of one head, C / H
    S  tokens seen so far    K  heads of keys and values

Parameters are a plain tree of dictionaries, lists and arrays (see `init`), functions are
pure, and no function changes its arguments.

Sources: Vaswani et al. 2017, "Attention is all you need", arXiv:1706.03762; Radford et al.
2019, "Language models are unsupervised multitask learners" (GPT-2).
"""

from .cache import forward_cached, init_cache
from .checkpoint import load_checkpoint, save_checkpoint
from .config import GPTConfig
from .data import build_vocabulary, decode, encode, get_batch, split_data
from .evaluate import evaluate, token_log_probs
from .generate import generate
from .gpt2 import load_gpt2
from .gradients import accumulate_grads, loss_and_grads
from .init import init_params
from .loss import cross_entropy
from .mlp import gelu
from .model import gpt_forward
from .norm import layer_norm
from .optimizer import adamw_step, clip_grads, init_adamw, learning_rate
from .rotary import apply_rotary
from .sampling import sample_next
from .softmax import softmax
from .train import train

__all__ = [
    "GPTConfig",
    "accumulate_grads",
    "adamw_step",
    "apply_rotary",
    "build_vocabulary",
    "clip_grads",
    "cross_entropy",
    "decode",
    "encode",
    "evaluate",
    "forward_cached",
    "gelu",
    "generate",
    "get_batch",
    "gpt_forward",
    "init_adamw",
    "init_cache",
    "init_params",
    "layer_norm",
    "learning_rate",
    "load_checkpoint",
    "load_gpt2",
    "loss_and_grads",
    "sample_next",
    "save_checkpoint",
    "softmax",
    "split_data",
    "token_log_probs",
    "train",
]
