"""Long simulations and enumerations: what the package promises, measured.

``python -m tests.evidence`` runs every topic at full size and writes ``docs/evidence``; ``tests/test_evidence.py``
runs the same topics reduced. A topic is a module with ``run(size) -> Result``; a result without failures met its
criterion.
"""
