"""Pictures for a terminal: intervals as lines of characters, and plain columns of text."""

from collections.abc import Sequence


def whisker(low: float, middle: float, high: float, truth: float, scale: tuple[float, float], width: int) -> str:
    """An interval drawn from ``├`` to ``┤`` around its estimate ``●``; ``│``, or ``┼`` on the line, is the truth.

    >>> whisker(2, 4, 6, 5, (0, 10), 11)
    '  ├─●┼┤    '
    """

    def column(value: float) -> int:
        start, stop = scale
        return min(max(round((value - start) / (stop - start) * (width - 1)), 0), width - 1)

    cells = [" "] * width
    first, last, true = column(low), column(high), column(truth)
    cells[first : last + 1] = "─" * (last + 1 - first)
    cells[first], cells[last] = "├", "┤"
    cells[true] = "┼" if low <= truth <= high else "│"
    cells[column(middle)] = "●"
    return "".join(cells)


def columns(rows: Sequence[Sequence[str]], align: str) -> list[str]:
    """Rows of text in columns; ``align`` has one of ``<`` and ``>`` per column.

    >>> columns([["a", "1"], ["bc", "20"]], "<>")
    ['a    1', 'bc  20']
    """
    widths = [max(len(row[j]) for row in rows) for j in range(len(align))]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)).rstrip()
        for row in rows
    ]
