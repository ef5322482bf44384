"""Handouts: every student of a course gets a bug of their own.

roster, formats          who takes the course
secret, draw, pool,      secret + assignment + student -> which bugs, which form id: a pure
variant, form, plan      function, so that who joins late changes nothing for the others
copy, wording, renaming  a mutant in the student's words, and the teaching texts in the same
bench, texts, answers    one hunt: program, tests, worksheet, forms; the key and its record
terms, manifest          what was decided for all, and what was handed out
request, make, single    from the command line to an order, and from the order to folders
desk, folder             where all of it lies, never half made
lookup                   from the form id on a page back to the student
"""
