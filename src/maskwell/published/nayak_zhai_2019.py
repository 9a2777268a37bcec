"""Nayak & Zhai (2019): what parity bounds cost, and local l-diversity beside them.

The tables are transcribed as printed; the figures of the running text and the statements that need a correction follow.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from math import comb

import numpy as np

from maskwell import designs
from maskwell.auditing import audit
from maskwell.errors import DesignError
from maskwell.planning.matching import match_local_diversity
from maskwell.published.errata.nayak_zhai_2019 import ERRATA, KEY
from maskwell.published.model import EXACT, Explanation, Row, Value
from maskwell.published.quantities import best_guess, total_variance

# Added variance of the minimax design: a row per γ, a column per k.
TABLE_1 = """
γ     2       3       5         10       20        50        100       150       200
1.1   220     640     1441.333  3571.2   7959.1    21129.05  43125.92  65124.08  87121.7
1.5   12      32      76        193.5    432.25    1151.5    2351.25   3551.167  4751.125
2     4       10      25.333    64.2857  143.6484  383.2656  783.1343  1183.06   1583.067
3     1.5     3.5     9         23.7857  53.2      143.1798  293.04    443.0614  593.02
5     0.625   1.375   3.25      9.3515   21.70     59.0807   121.5399  184.015   246.5202
10    0.2469  0.5185  1.1358    3.1111   7.9883    22.7995   47.4115   72.1117   96.7882
20    0.1108  0.2271  0.4765    1.1967   3.0526    9.7502    20.7440   31.8096   42.9131
30    0.0713  0.1451  0.2996    0.7277   1.7621    5.9575    13.0144   20.1314   27.2974
50    0.0416  0.0841  0.1716    0.4048   0.9338    3.0204    7.1749    11.3367   15.5002
80    0.0256  0.0516  0.1045    0.2423   0.5419    1.6331    4.0926    6.6071    9.2567
100   0.0204  0.0410  0.0828    0.1910   0.4226    1.2399    3.0101    5.1851    7.0862
"""

# γ and, in parentheses, q of the minimax design that is as precise as local l-diversity: a row per l, a column per k.
TABLE_2 = """
l   10    15        20        50        100       200        500
5   6(2)  10.11(1)  14.19(1)  38.50(1)  78.96(1)  159.87(1)  402.58(1)
10  NA    3.73(3)   5.83(3)   18.02(3)  38.23(3)  78.60(3)   199.71(3)
15  NA    NA        3.00(5)   11.25(4)  24.63(4)  51.34(4)   131.44(4)
20  NA    NA        NA        7.88(6)   17.96(5)  37.98(5)   97.99(5)
25  NA    NA        NA        5.83(7)   13.94(7)  30.01(6)   78.04(6)
30  NA    NA        NA        4.44(9)   11.25(8)  24.63(8)   64.69(8)
"""

_CUT_OFF = Explanation("digits beyond the last printed one were cut off, as in no other cell", truncated=True)
_TRUNCATED = {("5", 10), ("30", 20)}
_SHORTER = {"21.70": "0.01", "25.333": "0.001"}

Entries = tuple[tuple[str, ...], ...]

_POPULATION = (0.4, 0.2, 0.2, 0.1, 0.1)
_REVEALING = (("1/2", "0"), ("0", "1/2"), ("1/2", "1/2"))
_BLURRING = (("7/10", "2/10"), ("3/10", "8/10"))


def _cells(table: str) -> Iterator[tuple[str, int, str]]:
    """Row head, column head and text of every cell."""
    head, *body = (line.split() for line in table.strip().splitlines())
    for first, *texts in body:
        yield from ((first, int(column), text) for column, text in zip(head[1:], texts, strict=True))


def _last_digit(text: str) -> str:
    """What Table 1 is printed to: four decimals, or seven digits, without zeros at the end. Two cells have fewer."""
    before, _, _ = text.partition(".")
    return _SHORTER.get(text, f"1e-{min(4, 7 - len(before))}")


def _added_variance(k: int, gamma: str) -> float:
    return designs.minimax(k, gamma=Fraction(gamma)).added_variance


def table_1() -> list[Row]:
    """99 cells; two of them were not rounded."""
    return [
        Row(
            KEY,
            "Table 1: added variance of the minimax design",
            f"γ={gamma}, k={k}",
            text,
            partial(_added_variance, k, gamma),
            _CUT_OFF if (gamma, k) in _TRUNCATED else None,
            unit=_last_digit(text),
        )
        for gamma, k, text in _cells(TABLE_1)
    ]


def _matched_gamma(k: int, l: int) -> Value:
    try:
        return match_local_diversity(k, l).gamma
    except DesignError:
        return "NA"


def _matched_sizes(k: int, l: int) -> str:
    return " or ".join(map(str, match_local_diversity(k, l).sizes))


def _larger_size(k: int, l: int) -> str:
    return str(match_local_diversity(k, l).sizes[-1])


def table_2() -> list[Row]:
    """γ and q of 30 cells, and 12 cells where no design is l-diverse because l is not below k."""
    rows = []
    for l, k, text in _cells(TABLE_2):
        place, what, numbers = "Table 2: minimax designs as precise as l-diversity", f"l={l}, k={k}", (k, int(l))
        gamma, _, size = text.removesuffix(")").partition("(")
        ours = partial(_matched_gamma, *numbers)
        rows.append(Row(KEY, place, f"{what}: γ" if size else what, gamma, ours, unit="0.01"))
        if size:
            tie = Explanation("an exact tie: at γ=6 both sizes add 7.2", partial(_larger_size, *numbers))
            explanation = tie if numbers == (10, 5) else None
            rows.append(Row(KEY, place, f"{what}: q", size, partial(_matched_sizes, *numbers), explanation))
    return rows


def _distance(matrix: Entries) -> float:
    return audit(designs.from_matrix(matrix)).l1


def _average_security(matrix: Entries) -> float:
    return audit(designs.from_matrix(matrix)).average_security


def _revealed(matrix: Entries) -> float:
    """The chance, for the first category, of a report that no other category gives."""
    rows = designs.from_matrix(matrix).matrix(exact=True)
    return float(sum(own for own, *others in rows if not any(others)))


def average_security() -> list[Row]:
    """Section 3.1: a design that reveals and one that only blurs are equally secure on average."""

    def row(what: str, printed: str, compute: Callable[[], Value]) -> Row:
        return Row(KEY, "Section 3.1: average security of two designs", what, printed, compute, unit=EXACT)

    return [
        row("l1(P1)", "1.0", partial(_distance, _REVEALING)),
        row("l1(P2)", "1.0", partial(_distance, _BLURRING)),
        row("φ of P1", "1.5", partial(_average_security, _REVEALING)),
        row("φ of P2", "1.5", partial(_average_security, _BLURRING)),
        row("chance that P1 reveals the truth", "0.5", partial(_revealed, _REVEALING)),
    ]


def cost_of_parity() -> list[Row]:
    """Section 3.2: added variance in relation to sampling variance."""

    def row(what: str, printed: str, compute: Callable[[], Value]) -> Row:
        return Row(KEY, "Section 3.2: cost of parity bounds", what, printed, compute)

    def sampling() -> float:
        return total_variance(designs.direct(5), _POPULATION)

    def masked(gamma: str) -> float:
        return total_variance(designs.minimax(5, gamma=Fraction(gamma)), _POPULATION)

    return [
        row("γ=20, k=20: V_R", "3.0526", partial(_added_variance, 20, "20")),
        row("γ=20, k=100: V_R, a bound on V_R/V_S", "20.74", partial(_added_variance, 100, "20")),
        row("π=(.4,.2,.2,.1,.1): V_S", "0.74", sampling),
        row("γ=20, k=5: V_R", "0.4765", partial(_added_variance, 5, "20")),
        row("γ=20, π=(.4,.2,.2,.1,.1): V_R/V_S", "0.644", lambda: masked("20") / sampling() - 1),
        row("γ=20, π=(.4,.2,.2,.1,.1): (V_R+V_S)/V_S", "1.644", lambda: masked("20") / sampling()),
        row("γ=20: ε", "2.996", lambda: designs.minimax(5, gamma=20).epsilon),
        row("γ=20, π=(.4,.2,.2,.1,.1): increase", "64.4%", lambda: 100 * (masked("20") / sampling() - 1)),
        row("γ=10, π=(.4,.2,.2,.1,.1): increase", "153.49%", lambda: 100 * (masked("10") / sampling() - 1)),
    ]


def _in_report(members: tuple[int, ...]) -> float:
    """The chance that a report of local 3-diversity holds these of five categories."""
    design = designs.local_diversity(5, l=3)
    held = [set(members) <= set(report) for report in design.report_labels()]
    return float((design.matrix() @ np.array(_POPULATION))[held].sum())


def _variance_of_the_first() -> float:
    design = designs.local_diversity(5, l=3)
    return float(design.scores("linear").second_moment_diagonal(np.array(_POPULATION))[0]) - _POPULATION[0] ** 2


def local_diversity() -> list[Row]:
    """Section 4: the formulas of local l-diversity, k=5 and l=3."""

    k, l, first, second = 5, 3, *_POPULATION[:2]
    place = "Section 4: formulas at k=5, l=3, π=(.4,.2,.2,.1,.1)"

    def row(what: str, printed: str, compute: Callable[[], Value], value: float) -> Row:
        return Row(KEY, place, what, printed, compute, kind="formula", formula=lambda: value)

    single = first + (1 - first) * (l - 1) / (k - 1)
    rest = (1 - first - second) * (l - 1) * (l - 2) / ((k - 1) * (k - 2))
    added = (k - 1) * (l - 1) / (k - l)
    sampling = 1 - sum(share**2 for share in _POPULATION)
    # With b = (l-1)/(k-1), a share is estimated by (fraction of reports that hold it - b) / (1 - b).
    slope = (k - 1) / (k - l)
    return [
        row("reports", "C(k,l)", lambda: float(designs.local_diversity(5, l=3).report_count()), float(comb(k, l))),
        row("(4.2): chance that a report holds category 1", "π1+(1-π1)(l-1)/(k-1)", lambda: _in_report((0,)), single),
        row(
            "Section 4.2: chance that it holds 1 and 2",
            "(π1+π2)(l-1)/(k-1) + …",
            lambda: _in_report((0, 1)),
            (first + second) * (l - 1) / (k - 1) + rest,
        ),
        row(
            "Section 4.2: n × variance of the first share",
            "((k-1)/(k-l))² λ(1-λ)",
            _variance_of_the_first,
            slope**2 * single * (1 - single),
        ),
        row(
            "(4.4): n × summed variances",
            "V_S+(k-1)(l-1)/(k-l)",
            lambda: total_variance(designs.local_diversity(5, l=3), _POPULATION),
            sampling + added,
        ),
    ]


def worked_examples() -> list[Row]:
    """Section 4.3: two designs as precise as local l-diversity. The paper goes on from γ rounded to two decimals."""
    first, second = partial(match_local_diversity, 20, 5), partial(match_local_diversity, 50, 10)
    rounded_20 = partial(designs.minimax, 20, gamma=Fraction("14.19"))
    rounded_50 = partial(designs.minimax, 50, gamma=Fraction("18.02"))

    def row(
        what: str,
        printed: str,
        compute: Callable[[], Value],
        explanation: Explanation | None = None,
        unit: str | None = None,
    ) -> Row:
        return Row(KEY, "Section 4.3: worked examples", what, printed, compute, explanation, unit=unit)

    def from_rounded(gamma: str, leads_to: Callable[[], Value]) -> Explanation:
        return Explanation(f"follows from γ already rounded to {gamma}", leads_to)

    return [
        row("k=20, l=5: γ", "14.19", lambda: first().gamma),
        row("k=20, l=5: q", "1", partial(_matched_sizes, 20, 5)),
        row("k=20, l=5: 1/γ", "0.0705", lambda: 1 / first().gamma),
        row(
            "k=20, l=5: ε",
            "2.6525",
            lambda: first().epsilon,
            from_rounded("14.19", lambda: rounded_20().epsilon),
        ),
        row("k=20, l=5: p", "0.4275", lambda: first().truth_prob),
        row("k=20, l=5: guess, minimax", "0.4275", lambda: first().guess_probability),
        row("k=20, l=5: guess, l-diversity", "0.2", lambda: best_guess(designs.local_diversity(20, l=5)), unit=EXACT),
        row("k=50, l=10: γ", "18.02", lambda: second().gamma),
        row("k=50, l=10: q", "3", partial(_matched_sizes, 50, 10)),
        row(
            "k=50, l=10: ε",
            "2.8915",
            lambda: second().epsilon,
            from_rounded("18.02", lambda: rounded_50().epsilon),
        ),
        row(
            "k=50, l=10: p",
            "0.5349",
            lambda: second().truth_prob,
            from_rounded("18.02", lambda: rounded_50().inclusion_probabilities()[0]),
        ),
        row(
            "k=50, l=10: 1-p",
            "0.4651",
            lambda: 1 - second().truth_prob,
            from_rounded("18.02", lambda: 1 - rounded_50().inclusion_probabilities()[0]),
        ),
        row("k=50, l=10: guess, l-diversity", "0.1", lambda: best_guess(designs.local_diversity(50, l=10)), unit=EXACT),
        row("k=50, l=10: guess, minimax", "0.1783", lambda: second().guess_probability),
    ]


ROWS = (*average_security(), *table_1(), *cost_of_parity(), *table_2(), *local_diversity(), *worked_examples(), *ERRATA)
