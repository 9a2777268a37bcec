"""The numerical mathematics that everything else computes with: laws of chance, linear programs, compiled loops.

A package of its own instead of SciPy, which would be a fifth of a bare install for some twenty functions; the tests
hold every one of them against SciPy. Quantiles of the beta law, which many limits need, take SciPy's where it is there.
"""
