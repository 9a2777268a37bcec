"""From where on something is said to tell who moved: every threshold of the detectors, with its reason.

Four detectors look at what stays in a file. ``revealing_columns`` finds what gives a key away whatever the draws are,
``released_file`` what tells moved records from others in one release, ``derived_columns`` what does so made of columns,
and ``record_numbers`` what recognises a record in other files. The shares are judgements, the chances are derived.
"""

# A column decides a key.

CERTAIN = 0.99
"""A guess that is right for this share of the records is certain, and a step that goes one way this often is in order:
what is left is what a few wrong entries in a file amount to."""
ALIKE = 0.9
"""Two records that agree in a column, or are of one group, decide a key if they agree in it this much more often than
two at random, as a share of what is possible: one that differs is then likely one that moved."""
NEAR = 0.25
"""An order gives a key away if neighbours agree this much more often than two records at random: 1 where a file is
sorted by the key, about 0 where its rows are in random order."""
DECIDES = 0.5
"""A column decides a key in one release if it tells this share of the moved records from those that stayed: most of
what the release does is then undone."""
FALSE_ALARM = 1e-4
"""The largest chance that any column of a file which has nothing to do with a key is said to decide one."""

# A derived column is worth an attack.

LEAST_GAIN = 0.1
"""What it must tell beyond its ingredients, as a share of what is possible; for less, the attack has these."""
STANDARD_ERRORS = 5
"""And beyond chance, as thousands are tried: each is then kept for nothing with a chance of about 3e-7."""

# A column numbers the records.

NEARLY_ALL = 0.99
"""It has another value in this share of the rows: a few numbers may have been entered twice."""

MOSTLY_ALONE = 0.9
"""Of a column that moves along a value shown twice stands out as a copy, if this share of the records had one of its
own in the true file: then most of the repeated ones are copies."""

# Too little to tell.

FEWEST_RECORDS = 10
"""Records, or steps from one to the next, that a share is computed from."""
FEWEST_NUMBERED = 20
"""In fewer rows than this any whole number may be unique."""
MANY_LEVELS = 100
"""A column of fewer values does not number records or groups, unless the file is so small that it has few of each."""
