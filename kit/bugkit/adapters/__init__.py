"""Other people's implementations, seen through the contract: one file a shape.

    recognise   which shape a module has
    shape       what the shapes share
    mini_gpt    a class MiniGPT with arrays as attributes
    layered     a class GPT with get_parameters and backward
    pytorch     PyTorch modules: what their layouts share
    layouts     nanoGPT, minGPT, GPT-2 of Hugging Face

An adapter offers what the description of its shape promises and nothing beyond: what a right
implementation of the shape may do in another way is not asked for.
"""
