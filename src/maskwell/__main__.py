"""``python -m maskwell``: the command line."""

import sys

from maskwell.cli import main

if __name__ == "__main__":
    sys.exit(main())
