"""Other people's implementations, seen through the contract: one file a shape.

    recognise   which shape a module has
    mini_gpt    a class MiniGPT with its arrays as attributes
    layered     a class GPT of layers, with get_parameters and backward
    pytorch     PyTorch modules, through autograd
    layouts     nanoGPT, minGPT, and the GPT-2 of Hugging Face

    shape       what they share: sizes, the building blocks beside a class
    names       names of arrays -> their places in the tree
    maps, kept  where weights of attention may be had
    steps       gradients of a class that only takes steps
    generation  generate, in terms of somebody's own

An adapter offers what the description of its shape promises and nothing beyond: what a right
implementation of the shape may do in another way is not asked for.
"""
