"""Scripts, styles and pictures, and nothing else that lies in the same folder."""

import os
from pathlib import PurePosixPath

from starlette.staticfiles import StaticFiles

_SERVED = {".css", ".ico", ".js", ".json", ".md", ".mjs", ".png", ".svg", ".ts", ".woff2"}


class Assets(StaticFiles):
    """The files of a folder that browsers ask for."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Where a file lies; nowhere if it is none that is served."""
        return super().lookup_path(path) if PurePosixPath(path).suffix in _SERVED else ("", None)
