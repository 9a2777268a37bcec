"""The most informative post-randomization under differential privacy, with proof; the ε that a risk target needs."""
