"""Value labels: from codes to categories in the order of their codes, and back.

Missing values that a file tells apart (``.a`` and ``.b``, or 98 and 99) are entries of the dictionary as well: with
their label if they have one in a column of labels, else empty. So they survive whatever is done with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def labelled(
    codes: Any, labels: Mapping[Any, str], is_missing: Callable[[Any], bool], plain: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """A column from an Arrow array of codes, and the codes of its dictionary (None if it has none).

    It becomes a column of labels if every code that occurs has one of its own. Otherwise codes stay what they are;
    ``plain`` gives them their type.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    present = codes.unique().drop_null().to_pylist()
    missing = [code for code in present if is_missing(code)]
    ordinary = [code for code in present if not is_missing(code)]
    named = [labels[code] for code in present if code in labels]
    if named and all(code in labels for code in ordinary) and len(set(named)) == len(named):
        entries = sorted({*present, *labels} if len(set(labels.values())) == len(labels) else present)
        values = pa.array([labels.get(code) for code in entries], pa.string())
    elif missing:
        entries = sorted(present)
        values = plain(pa.array([None if is_missing(code) else code for code in entries], codes.type))
    else:
        return plain(codes), None
    in_codes = pa.array(entries, codes.type)
    return pa.DictionaryArray.from_arrays(pc.index_in(codes, value_set=in_codes), values), in_codes


def whole(column: Any) -> Any:
    """Floats as whole numbers if they all are: 2, where a file that knows floats alone holds 2.0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type) or column.null_count == len(column):
        return column
    fit = pc.and_(pc.equal(column, pc.round(column)), pc.less(pc.abs(column), 2.0**53))
    return column.cast(pa.int64()) if pc.all(fit).as_py() else column


def whole_codes(codes: Any) -> list[int] | None:
    """The codes as whole numbers, each once; None if they are not."""
    import pyarrow as pa

    if codes is None or not pa.types.is_floating(codes.type):
        return None
    numbers = codes.to_pylist()
    fit = all(number is not None and number == int(number) and abs(number) < 2**31 - 200 for number in numbers)
    return [int(number) for number in numbers] if fit else None
