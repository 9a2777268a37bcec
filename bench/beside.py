"""Masking and counting beside other programs, at the same ε and on the same values, in alternating processes."""

from collections.abc import Iterator

from bench.frame import Bench, Goal, Row, Work

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
# Our designs: what peers call them, k, and our records.
DESIGNS = (
    ("gamma_diagonal", "kary", 2, 10_000_000),
    ("gamma_diagonal", "kary", 10, 10_000_000),
    ("gamma_diagonal", "kary", 100, 10_000_000),
    ("gamma_diagonal", "kary", 1000, 10_000_000),
    ("minimax", "subsets", 10, 10_000_000),
    ("minimax", "subsets", 100, 5_000_000),
    ("minimax", "subsets", 1000, 1_000_000),
    ("projective", "subsets", 10, 10_000_000),
    ("projective", "subsets", 100, 10_000_000),
    ("projective", "subsets", 1000, 10_000_000),
    ("optimized_unary", "unary", 1000, 1_000_000),
)
# What each peer has, and as many records as it masks in some tenths of a second: it has no fixed cost worth spreading
# over more.
PEER_RECORDS = {
    ("kary", 2): {"diffprivlib": 20_000},
    ("kary", 10): {"multi-freq-ldpy": 300_000},
    ("kary", 100): {"multi-freq-ldpy": 300_000, "pure-ldp": 300_000, "OpenDP": 5_000},
    ("kary", 1000): {"multi-freq-ldpy": 200_000},
    ("subsets", 10): {"multi-freq-ldpy": 150_000},
    ("subsets", 100): {"multi-freq-ldpy": 50_000},
    ("subsets", 1000): {"multi-freq-ldpy": 5_000},
    ("unary", 1000): {"multi-freq-ldpy": 10_000, "pure-ldp": 5_000, "OpenDP": 500},
}
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
    """A row for each design, k, peer and stage. Every round runs all of them, so that all have as many rounds."""
    works = {}
    for design, _, k, n in DESIGNS:
        arguments = {"design": design, "k": k, "n": n // 10 if bench.quick else n}
        works[f"{design} {k}"] = Work("bench.ours:mask_and_count", arguments)
    for (work, k), peers in PEER_RECORDS.items():
        for peer, records in peers.items():
            works[f"{peer} {work} {k}"] = Work(f"{PEERS[peer]}:{work}", {"k": k, "n": records}, "peers")
    found = bench.alternate(works)
    for design, work, k, _ in DESIGNS:
        for peer in PEER_RECORDS[work, k]:
            for stage, theirs in found[f"{peer} {work} {k}"].items():
                goal = Goal(at_least=GOALS[design, stage]) if peer == "multi-freq-ldpy" else None
                yield found[f"{design} {k}"][stage].rate_row(f"{design}, k = {k}, {stage}", theirs, peer, goal)
