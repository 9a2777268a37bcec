"""Results as a data frame of the reader's choice."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from maskwell.errors import DataError
from maskwell.extras import require

Backend = Literal["pandas", "polars", "pyarrow"]


def data_frame(columns: Mapping[str, Any], backend: Backend) -> Any:
    """Columns by name as a frame of pandas, Polars or Arrow."""
    import narwhals as nw

    if backend not in get_args(Backend):
        raise DataError(f"backend must be one of {', '.join(get_args(Backend))}; got {backend!r}.", parameter="backend")
    require(f"to_frame(backend={backend!r}) needs", backend)
    return nw.from_dict(columns, backend=backend).to_native()
