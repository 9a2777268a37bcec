"""A chart as a file: a picture, or a page that needs no network."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from maskwell.errors import MaskwellError
from maskwell.extras import require
from maskwell.views.charts import style
from maskwell.views.pages.layout import Figure, Section, page
from maskwell.whole_files import complete_file

_PICTURES = (".png", ".svg", ".html")


def save_chart(chart: Any, path: str | PathLike[str]) -> None:
    """Write a chart as .png, .svg or self-contained .html, whole or not at all."""
    suffix = Path(path).suffix.lower()
    if suffix not in _PICTURES:
        raise MaskwellError(f"charts are saved as {', '.join(_PICTURES)}; got {Path(path).name!r}.")
    content = rendered(chart, suffix)
    try:
        with complete_file(path) as file:
            file.write(content)
    except OSError as error:
        raise MaskwellError(f"{Path(path).name!r} could not be written: {error.strerror or error}.") from None


def rendered(chart: Any, suffix: str) -> bytes:
    """A chart as the bytes of a .png, .svg or .html file."""
    if suffix == ".html":
        return page(_title_text(chart.to_dict()), [Section("", [Figure(chart)])]).encode()
    require("Pictures and pages with pictures need", "vl_convert")
    import vl_convert

    spec, version = chart.to_dict(), style.vega_lite_version()
    spec["background"] = "white"
    if suffix == ".png":
        return bytes(vl_convert.vegalite_to_png(spec, vl_version=version, scale=2))
    return str(vl_convert.vegalite_to_svg(spec, vl_version=version)).encode()


def _title_text(spec: dict[str, Any]) -> str:
    title = spec.get("title", "Maskwell")
    return str(title["text"] if isinstance(title, dict) else title)
