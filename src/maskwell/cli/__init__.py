"""The command line: one command per verb, and one clear line on stderr when the input is wrong.

Exit codes: 0 done, 1 ``reproduce`` found an unexplained mismatch (or the reader of a pipe went away), 2 bad input, 70 a
mistake in Maskwell itself, 130 interrupted. Each command's heavy packages are imported when it runs, so that ``--help``
and most errors come at once.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer
from typer.main import get_command

from maskwell import __version__
from maskwell.cli.audit import audit, designs
from maskwell.cli.compare import compare
from maskwell.cli.estimate import estimate
from maskwell.cli.hypotheses import hypothesis
from maskwell.cli.mask import mask
from maskwell.cli.output import in_options
from maskwell.cli.plan import plan
from maskwell.cli.release import release
from maskwell.cli.risk import risk
from maskwell.cli.showcase import demo, reproduce
from maskwell.errors import MaskwellError

__all__ = ["app", "main"]

BAD_INPUT, INTERNAL, INTERRUPTED, TERMINATED = 2, 70, 130, 143

# The base of Typer's own errors about options; found this way it is right whether Typer brings its own click or not.
_OPTION_ERROR: Any = typer.BadParameter.__mro__[2]

# Plain help: square brackets and quotes in the examples must come out as they are.
app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"maskwell {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _front_door(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Ask a sensitive question without learning anyone's answer, and still estimate the population.

    \b
    A survey from end to end, as one pipe:
      maskwell plan --categories "yes,no,unsure" --epsilon 1 -o design.json
      maskwell mask answers.csv --column used_drugs --design design.json -o - | maskwell estimate -

    Every command has --help with examples, and --json for programs.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (plan, mask, estimate, audit, compare, designs, risk, release, reproduce, demo):
    app.command()(command)
app.command("test")(hypothesis)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A label that the terminal cannot show must not end the program.
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    if args is None:
        # Without this a terminated process would leave its temporary file behind.
        signal.signal(signal.SIGTERM, _terminate)
    try:
        code = get_command(app).main(args=args, prog_name="maskwell", standalone_mode=False)
        sys.stdout.flush()
    except _OPTION_ERROR as error:
        where = error.ctx.command_path if getattr(error, "ctx", None) else "maskwell"
        return _fail(f"{error.format_message().rstrip('.')}; see {where} --help.")
    except MaskwellError as error:
        return _fail(in_options(str(error)))
    except typer.Abort:
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; the interpreter's own last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(_of_system(error))
    except Exception as error:
        return _internal(error)
    if code == INTERRUPTED:
        return _fail("interrupted; no half file is left.", INTERRUPTED)
    return int(code or 0)


def _terminate(*_: object) -> NoReturn:
    raise SystemExit(TERMINATED)


def _fail(message: str, code: int = BAD_INPUT) -> int:
    print("maskwell:", " ".join(message.splitlines()), file=sys.stderr)
    return code


def _of_system(error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return f"{os.path.basename(str(error.filename))!r}: {reason}." if error.filename else f"{reason}."


def _internal(error: Exception) -> int:
    """The message of an unforeseen error may quote a true value, so only its kind is shown unless asked for."""
    if os.environ.get("MASKWELL_DEBUG"):
        raise error
    return _fail(
        f"internal error ({type(error).__name__}); please report it. MASKWELL_DEBUG=1 shows where, "
        "possibly with values from the data.",
        INTERNAL,
    )
