"""Masking and counting beside other programs, at the same ε and on the same values, in alternating processes."""

from collections.abc import Iterator

from bench.frame import Bench, Goal, Measured, Row, Work

TITLE = "Masking and counting beside other programs"
ABOUT = (
    "ε = 1, the same values, each program in the way its documentation shows. Ours is `design.mask(values)` and "
    "`reports.tally()`, secure randomness and both cores; the peers mask and count record by record, with random "
    "numbers that can be predicted (but for OpenDP's). Subset selection is `minimax`, unary encoding "
    "`optimized_unary`, k-ary response `gamma_diagonal`. A goal is for the median of the rounds."
)
LIMIT = 420.0
PEERS = {
    "multi-freq-ldpy": "bench.peers.multi_freq_ldpy",
    "pure-ldp": "bench.peers.pure_ldp",
    "OpenDP": "bench.peers.opendp",
    "diffprivlib": "bench.peers.diffprivlib",
}
# What is masked: a design of ours, k, our records, and the records of each peer that has it. A peer gets as many as it
# masks in some tenths of a second: it has no fixed cost worth spreading over more.
CASES = (
    ("gamma_diagonal", "kary", 2, 10_000_000, {"diffprivlib": 20_000}),
    ("gamma_diagonal", "kary", 10, 10_000_000, {"multi-freq-ldpy": 300_000}),
    (
        "gamma_diagonal",
        "kary",
        100,
        10_000_000,
        {"multi-freq-ldpy": 300_000, "pure-ldp": 300_000, "OpenDP": 5_000},
    ),
    ("gamma_diagonal", "kary", 1000, 10_000_000, {"multi-freq-ldpy": 200_000}),
    ("minimax", "subsets", 10, 10_000_000, {"multi-freq-ldpy": 150_000}),
    ("minimax", "subsets", 100, 5_000_000, {"multi-freq-ldpy": 100_000}),
    ("minimax", "subsets", 1000, 1_000_000, {"multi-freq-ldpy": 10_000}),
    ("projective", "subsets", 100, 10_000_000, {"multi-freq-ldpy": 100_000}),
    ("projective", "subsets", 1000, 10_000_000, {"multi-freq-ldpy": 10_000}),
    ("optimized_unary", "unary", 1000, 1_000_000, {"multi-freq-ldpy": 20_000, "pure-ldp": 10_000, "OpenDP": 1_000}),
)
GOALS = {
    ("gamma_diagonal", "mask"): 100,
    ("gamma_diagonal", "tally"): 100,
    ("minimax", "mask"): 30,
    ("minimax", "tally"): 300,
    ("projective", "mask"): 300,
    ("projective", "tally"): 300,
    ("optimized_unary", "mask"): 20,
    ("optimized_unary", "tally"): 20,
}


def measure(bench: Bench) -> Iterator[Row]:
    """A row for each design, k, stage and peer."""
    for design, work, k, n, peers in CASES:
        works = {
            "ours": Work("bench.ours:mask_and_count", {"design": design, "k": k, "n": n // 10 if bench.quick else n})
        }
        for peer, records in peers.items():
            works[peer] = Work(f"{PEERS[peer]}:{work}", {"k": k, "n": records}, "peers")
        found = bench.alternate(works)
        for peer in peers:
            for stage in found[peer]:
                yield _row(f"{design}, k = {k}, {stage}", found["ours"][stage], found[peer][stage], peer, design, stage)


def _row(what: str, ours: Measured, theirs: Measured, peer: str, design: str, stage: str) -> Row:
    goal = Goal(at_least=GOALS[design, stage]) if peer == "multi-freq-ldpy" else None
    return ours.rate_row(what, theirs, peer, goal)
