"""Handouts: every student of a course gets a bug of their own.

    secret + assignment + student -> variant (slugs) and form id

Everything drawn is a pure function of these and of the pool of bugs, so nothing need be stored but
the secret and the roster, and a student who joins late changes nothing for the others.
"""
