"""What goes wrong in peers, shown by running them: each function returns the figures that the page quotes."""

import math
import random
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bench.frame.stages import Stage
from bench.peers import EPSILON

N = 20_000
GRID = [(k, epsilon) for k in range(2, 104) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0)]


def order_of_sets() -> Iterator[Stage]:
    """multi-freq-ldpy: where the truth stands in a subset that holds it."""
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

    def run() -> dict[str, float]:
        reports = [SS_Client(6, 10, EPSILON).tolist() for _ in range(N)]
        holding = [report for report in reports if 6 in report]
        return {"holding": len(holding) / N, "first": sum(report[0] == 6 for report in holding) / len(holding)}

    yield Stage("run", N, run, warm=False)


def bits_never_cleared() -> Iterator[Stage]:
    """pure-ldp: how often the truth's bit of a RAPPOR report is 1."""
    from pure_ldp.frequency_oracles import RAPPORClient

    def run() -> dict[str, float]:
        client = RAPPORClient(0.0, 8, [[lambda text: int(text)]], num_of_cohorts=1)
        client.f = client.convert_eps_to_f(EPSILON)
        kept = sum(client.privatise(4)[0][3] for _ in range(N))  # it counts categories from 1
        return {"f": client.f, "asked": 1 - client.f / 2, "kept": kept / N}

    yield Stage("run", N, run, warm=False)


def unary_before_1_2() -> Iterator[Stage]:
    """pure-ldp 1.1.1: how often the truth's bit of optimized unary encoding is 1, and the ε that follows."""
    sys.path.insert(0, str(Path(sys.prefix) / "pure-ldp-1.1.1"))
    from pure_ldp.frequency_oracles.unary_encoding.ue_client import UEClient

    def run() -> dict[str, float]:
        client = UEClient(EPSILON, 8, use_oue=True)
        kept = sum(client.privatise(4)[3] for _ in range(N)) / N
        return {"asked": client.p, "kept": kept, "epsilon": math.log(kept / (1 - kept) * (1 - client.q) / client.q)}

    yield Stage("run", N, run, warm=False)


def float_thresholds() -> Iterator[Stage]:
    """pure-ldp: designs of direct encoding whose real ratio of chances is above e^ε.

    A float of ``random.random()`` is a whole number of 2^-53, so that the chance of the truth is exactly
    ``ceil(2^53 p) / 2^53``.
    """
    from decimal import Decimal, localcontext

    from pure_ldp.frequency_oracles import DEClient

    def run() -> dict[str, float]:
        above = 0
        for k, epsilon in GRID:
            stay = Fraction(math.ceil(Fraction(DEClient(epsilon, k).p) * 2**53), 2**53)
            parity = stay * (k - 1) / (1 - stay)
            with localcontext() as context:
                context.prec = 60
                above += Decimal(parity.numerator) / Decimal(parity.denominator) > Decimal(epsilon).exp()
        return {"designs": len(GRID), "above": above}

    yield Stage("run", len(GRID), run, warm=False)


def order_of_bits() -> Iterator[Stage]:
    """OpenDP: where an estimate lands if bits are packed as in the example of its documentation."""
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def run() -> dict[str, float]:
        mask = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=0.2)
        vector = np.packbits(np.arange(8) == 2).tobytes()
        answers = [mask(vector) for _ in range(N // 10)]
        found = np.asarray(dp.m.debias_randomized_response_bitvec(answers, 0.2)) / len(answers)
        return {"largest": int(np.argmax(found)), "true_category": float(found[2])}

    yield Stage("run", N, run, warm=False)


def clipped() -> Iterator[Stage]:
    """multi-freq-ldpy: the mean estimate of a category that nobody is in."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client

    def run() -> dict[str, float]:
        found = []
        for _ in range(400):
            reports = [GRR_Client(i % 9, 10, EPSILON) for i in range(500)]
            found.append(GRR_Aggregator_MI(reports, 10, EPSILON)[9])
        return {"mean": float(np.mean(found)), "error": float(np.std(found, ddof=1) / 20), "least": float(min(found))}

    yield Stage("run", N, run, warm=False)


def seeded_by_anyone() -> Iterator[Stage]:
    """pure-ldp: whether two maskings after the same ``random.seed`` agree."""
    from pure_ldp.frequency_oracles import DEClient

    def run() -> dict[str, float]:
        client, twice = DEClient(EPSILON, 100), []
        for _ in range(2):
            random.seed(1)
            twice.append([client.privatise(1 + i % 100) for i in range(1000)])
        return {"equal": float(np.mean(np.equal(*twice)))}

    yield Stage("run", 1000, run, warm=False)


def lies_that_are_true() -> Iterator[Stage]:
    """OpenDP: how often the truth is reported, beside the chance that was asked for."""
    import opendp.prelude as dp

    dp.enable_features("contrib")

    def run() -> dict[str, float]:
        mask = dp.m.make_randomized_response([0, 1, 2, 3], 0.6)
        return {"asked": 0.6, "kept": sum(mask(1) == 1 for _ in range(N)) / N}

    yield Stage("run", N, run, warm=False)


def counts_and_labels() -> Iterator[Stage]:
    """pymasq: what PRAM makes of a share of 10 %, by where the alphabet puts the category, over 200 maskings.

    Its matrices are to keep the frequencies. Importing its package as a whole needs TensorFlow; PRAM does not.
    """
    folder = str(Path(sys.prefix) / "pymasq-0.6.5")
    sys.path.insert(0, folder)
    sys.modules["pymasq.mitigations"] = package = ModuleType("pymasq.mitigations")
    package.__path__ = [folder + "/pymasq/mitigations"]
    import pandas as pd
    from pymasq.mitigations.pram import pram

    def share_of_rare(rare: str, often: str) -> float:
        frame = pd.DataFrame({"answer": [rare] * 100 + [often] * 900})
        found = []
        for seed in range(200):
            np.random.seed(seed)
            found.append((pram(frame, perturb_cols=["answer"], alpha=1.0)["answer"] == rare).mean())
        return float(np.mean(found))

    def run() -> dict[str, float]:
        return {"first": share_of_rare("a", "b"), "last": share_of_rare("b", "a")}

    yield Stage("run", 1000, run, warm=False)


def lazy_frames() -> Iterator[Stage]:
    """Spark, in our environment: a plain function that draws, counted twice."""
    from bench.peers.spark import session

    def flip(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        drawn = np.random.default_rng()
        for batch in batches:
            answers = batch.column("answer").to_numpy(zero_copy_only=False).astype(bool)
            told = np.where(drawn.random(len(answers)) < 0.75, answers, ~answers)
            yield pa.record_batch([pa.array(told)], ["answer"])

    with session() as spark:
        frame = spark.range(N).selectExpr("id % 4 = 0 as answer").mapInArrow(flip, "answer boolean")

        def run() -> dict[str, float]:
            first, second = (frame.filter("answer").count() for _ in range(2))
            return {"first": first, "second": second}

        yield Stage("run", N, run, warm=False)
