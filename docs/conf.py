"""How Sphinx makes the site of these pages; `make docs` calls it."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import maskwell  # noqa: E402

project = "Maskwell"
version = release = maskwell.__version__
copyright = "the authors of Maskwell"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "tools.docs_site.extension"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["node_modules"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# Two dashes are the beginning of an option.
smartquotes = False

html_theme = "furo"
html_title = f"Maskwell {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
# The one script that draws formulas: a file of the site, since no page asks another machine for anything.
mathjax_path = "tex-svg.js"

autodoc_default_options = {
    "members": True,
    "inherited-members": "Exception, object, tuple, str, dict",
    "member-order": "bysource",
}
# Names of the reference in every page's navigation would double the time of a build.
toc_object_entries = False
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
