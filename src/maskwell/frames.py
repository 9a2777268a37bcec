"""Results as a data frame of the reader's choice."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from maskwell.errors import DataError

Backend = Literal["pandas", "polars", "pyarrow"]


def data_frame(columns: Mapping[str, Any], backend: Backend) -> Any:
    """Columns by name as a frame of pandas, Polars or Arrow."""
    import narwhals as nw

    if backend not in get_args(Backend):
        raise DataError(f"backend must be one of {', '.join(get_args(Backend))}; got {backend!r}.", parameter="backend")
    try:
        return nw.from_dict(columns, backend=backend).to_native()
    except ImportError:
        raise DataError(f"to_frame(backend={backend!r}) needs {backend} to be installed; pyarrow always is.") from None
