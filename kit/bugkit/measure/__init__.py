"""Evidence: what a person sees when a bug is trained.

The correct GPT and every mutant are trained by the same small script, on the same text and from
the same seed. What came of it is one small file a bug.

    text        what they are trained on
    settings    how
    script      the script itself, and what it tells while it runs
    differences the largest differences from the correct GPT on one fixed batch
    pictures    numbers to draw, on the same kind of parameters
    comparison  two rows or maps of numbers beside each other, and their JSON
    child       the process that runs the three
    run         the parent's side: several at a time, none for longer than it may
    evidence    what came of it: Evidence, its JSON, and what counts as the same
    store       where evidence lies, and whether it is of today's sources
    update      what has to be measured or checked, and the files that follow
    silence     how much of a bug the losses show
    plot        learning curves for a terminal
    story       the evidence in words
"""
