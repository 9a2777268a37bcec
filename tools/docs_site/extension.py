"""The site's extension of Sphinx: before a page is read, what is made by the program is put into it.

Pictures are the charts that the page's own lines return; references are written from the program's docstrings and help.
"""

from __future__ import annotations

import re
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from maskwell.views.charts import style
from tools.docs_site import command_line, names
from tools.docs_site.blocks import PICTURE, blocks
from tools.docs_site.running import PageError, run
from tools.npm import npm_part

ROOT = Path(__file__).resolve().parents[2]
_FENCE = "`````"


def draws(text: str) -> bool:
    """Whether a page has pictures: such a page is run when the site is built, any other one by the tests."""
    return any(block.language == PICTURE for block in blocks(text))


def _fill(app: Sphinx, name: str, source: list[str]) -> None:
    text = source[0]
    if draws(text):
        text = _drawn(text, name)
    text = re.sub(r"```\{commands\}\n```", lambda _: command_line.reference(), text)
    if name == "index":
        text = text.replace("other_pages", "\n".join(_unlisted(text, Path(app.srcdir))))
    if name == "evidence/README":
        # The page is written by `make evidence`, with links to all others of its folder.
        text += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    source[0] = re.sub(
        r"```\{names\}\n(.*?)```", lambda found: names.reference(found[1].split(), app.srcdir), text, flags=re.DOTALL
    )


def _unlisted(text: str, folder: Path) -> list[str]:
    """Pages beside the index that it does not list, so that none is left out."""
    listed = re.findall(r"^\w+$", text, flags=re.MULTILINE)
    return sorted(page.stem for page in folder.glob("*.md") if page.stem not in [*listed, "index"])


def _drawn(text: str, name: str) -> str:
    """The page with each picture below the lines that draw it."""
    from maskwell.views.pages.layout import Figure

    with tempfile.TemporaryDirectory() as folder:
        try:
            charts = iter(run(text, name, Path(folder)).charts)
        except PageError as error:
            raise ExtensionError(str(error)) from error

    def with_figure(found: re.Match[str]) -> str:
        figure = Figure(next(charts)).html()
        return f"```python\n{found[1]}```\n\n{_FENCE}{{raw}} html\n{figure}\n{_FENCE}\n"

    return re.sub(rf"```{re.escape(PICTURE)}\n(.*?)```", with_figure, text, flags=re.DOTALL)


def _add_scripts(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """The scripts and the style of charts, on pages that have some."""
    if '<div class="chart">' in context.get("body", ""):
        app.add_js_file("vega.js", loading_method="defer")
        app.add_js_file("charts.js", loading_method="defer")
        app.add_css_file("charts.css")


def _dark_charts() -> str:
    """How charts look in the dark, which the reader's system or the button of the page asks for."""
    asked = {
        "@media screen and (prefers-color-scheme: dark)": 'body:not([data-theme="light"])',
        "@media screen": 'body[data-theme="dark"]',
    }
    return "".join(f"{when} {{\n{style.dark_rules(where)}\n}}\n" for when, where in asked.items())


def _write_scripts(app: Sphinx) -> None:
    """Scripts of installed packages, which are not kept in the repository."""
    import vl_convert

    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=style.vega_lite_version())
    # In a room of its own: Sphinx and the bundle both have a name `_`.
    (folder / "vega.js").write_text(f"(() => {{{bundle}\n}})();\n", "utf-8")
    drawing = files("maskwell.views.pages").joinpath("assets", "page.js").read_bytes()
    (folder / "charts.js").write_bytes(drawing)
    (folder / "charts.css").write_text(_dark_charts(), "utf-8")
    formulas = npm_part(ROOT / "tools" / "docs_site", "mathjax/es5/tex-svg.js").read_bytes()
    (folder / "tex-svg.js").write_bytes(formulas)


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("builder-inited", _write_scripts)
    app.connect("source-read", _fill)
    app.connect("html-page-context", _add_scripts)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
