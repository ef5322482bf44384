"""A complete GPT in NumPy: the right answer.

Read it in this order; every file is one page.

    config     the sizes of a model
    init       the parameters and the values they start from
    embedding  token ids -> vectors
    norm       layer normalisation
    softmax    scores -> weights that sum to one
    attention  causal self-attention with several heads
    mlp        GELU and the two-layer perceptron
    block      attention and MLP around the residual stream
    head       vectors -> one score for every word
    model      the whole forward pass

Shape letters, used everywhere:

    B  batch                 C  d_model, the width of the residual stream
    T  time, in tokens       H  heads
    V  vocabulary            D  width of one head, C / H

Parameters are a plain tree of dictionaries, lists and arrays (see `init`), functions are
pure, and no function changes its arguments.

Sources: Vaswani et al. 2017, "Attention is all you need", arXiv:1706.03762; Radford et al.
2019, "Language models are unsupervised multitask learners" (GPT-2).
"""

from .config import GPTConfig
from .init import init_params
from .mlp import gelu
from .model import gpt_forward
from .norm import layer_norm
from .softmax import softmax

__all__ = ["GPTConfig", "gelu", "gpt_forward", "init_params", "layer_norm", "softmax"]
