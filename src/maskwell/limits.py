"""Every bound on what may be built or read, with its reason. They are checked before anything of that size is made.

A design is built by whoever writes its parameters and read by whoever gets its file, so a small file or a slip of the
hand must not fill memory or keep a machine busy. The bounds lie far above what a survey asks.
"""

MOST_CATEGORIES = 1_000_000
"""Labels of a design, or joint categories of several variables: each is a Python object (about 100 MB in all)."""

MOST_WEIGHTS = 1 << 20
"""Cells of an explicit matrix, or sets times categories: about 1,000 x 1,000 exact integers, built in seconds."""

MATRIX_CELLS = 10_000_000
"""Cells of a table that is only counted in floats or bits, such as the blocks of a block design: some 100 MB."""

MOST_LABEL_CHARACTERS = 10_000
"""Of one label, which stands in messages and tables as a whole."""

MOST_NAME_CHARACTERS = 200
"""Of a design's name, which stands in the first line of every view."""

MOST_BITS = 4096
"""Of an exact numerator or denominator: a float needs 1,075; all further arithmetic multiplies the length."""

MOST_DOCUMENT_CHARACTERS = 1 << 26
"""Of a design as JSON: a matrix of ``MOST_WEIGHTS`` cells with 20 digits each takes half of it."""

MOST_PLAN_CHARACTERS = 1 << 28
"""Of the plan of a release, which may hold ``MOST_CHANCES`` weights of post-randomization with 20 digits each."""

MOST_CHANCES = 4_000_000
"""Entries of all matrices of a step of post-randomization, as many as 2,000 values have; their plan takes 0.1 GB."""

MOST_COLUMNS = 2048
"""Different columns that are compared two by two, each as long as ``MOST_WEIGHTS`` allows: some seconds at worst."""

MOST_BREAKPOINTS = 1000
"""Jumps of the curves of an InformationPrivacy demand: between each two of them a curve is followed by itself."""

MOST_RESPONDENTS = 10**18
"""Of a plan: more than there are, and few enough digits for every view."""

MOST_STEPS = 2_000_000
"""Operations on exact fractions or integers in one question about a design: some seconds at worst."""
