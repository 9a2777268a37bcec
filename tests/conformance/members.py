"""Every named design with every one of its examples: a new entry of ``DESIGNS`` is tested by being there.

Products have no name of their own in the registry; a few of unlike designs stand for them.
"""

from typing import Any

from maskwell import designs
from maskwell.designs import DESIGNS, Design, Entry


def build(entry: Entry, parameters: dict[str, Any]) -> Design:
    """An example's design; ``k`` says for how many categories where the function has no default."""
    given = dict(parameters)
    categories = [given.pop("k")] if "k" in given else []
    return entry.function(*categories, **given)


def _title(name: str, parameters: dict[str, Any], position: int) -> str:
    plain = all(
        isinstance(value, (int, float, str)) or value.__class__.__name__ == "Fraction" for value in parameters.values()
    )
    return f"{name}({', '.join(f'{k}={v}' for k, v in parameters.items())})" if plain else f"{name} example {position}"


MEMBERS: dict[str, Design] = {
    _title(name, example, position): build(entry, example)
    for name, entry in DESIGNS.items()
    for position, example in enumerate(entry.examples)
}

PRODUCTS: dict[str, Design] = {
    "gamma_diagonal x minimax": designs.product(
        designs.gamma_diagonal(["a", "b", "c"], epsilon=1.5), designs.minimax(4, epsilon=0.5), names=["one", "two"]
    ),
    "warner x uniform_subsets x direct": designs.product(
        designs.warner(truth_prob=0.8), designs.uniform_subsets(4), designs.direct(2)
    ),
    "rappor x kuk": designs.product(
        designs.rappor([True, False], epsilon=1.0), designs.kuk(red_if_yes=0.8, red_if_no=0.4, draws=3)
    ),
}
EVERY = {**MEMBERS, **PRODUCTS}

# One column of a matrix is one chi-square.
TRUTHS = sum(design.k for design in EVERY.values())

# Named designs that scale: the same function at any k, from its last example's parameters.
SCALABLE: dict[str, dict[str, Any]] = {
    name: {key: value for key, value in entry.examples[-1].items() if key != "k"}
    for name, entry in DESIGNS.items()
    if "k" in entry.examples[-1] and build(entry, entry.examples[-1]).kind == "subsets"
}


def build_large(name: str, k: int) -> Design:
    """A named design at another number of categories."""
    return build(DESIGNS[name], {"k": k, **SCALABLE[name]})
