"""Worksheets: one bug on one leaf, and its answer key.

    Bug + evidence + row of the matrix -> Sheet -> HTML, PDF, Markdown, notebook
                                       -> Key   -> the same, never beside the sheet

A Sheet holds nothing that a student may not see; the answers are in the Key alone.
"""
