"""Write below the blocks of pages what they print now: ``python -m tools.docs_site docs/page.md …``.

Read the difference before it is committed: it is what readers will be told.
"""

import sys
import tempfile
from pathlib import Path

from tools.docs_site.running import with_outputs

for name in sys.argv[1:]:
    page = Path(name)
    with tempfile.TemporaryDirectory() as folder:
        page.write_text(with_outputs(page.read_text("utf-8"), page.name, Path(folder)), "utf-8")
