"""The command line: one command per verb, and one clear line on stderr when the input is wrong."""

from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    from maskwell.cli.program import run

    return run(args)
