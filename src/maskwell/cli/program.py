"""The program: its commands, and the one line and the exit code in which every error ends.

Each command's heavy packages are imported when it runs, so that ``--help`` and most errors come at once.
"""

import contextlib
import errno
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from maskwell import __version__
from maskwell.cli.commands.audit import audit
from maskwell.cli.commands.compare import compare
from maskwell.cli.commands.demo import demo
from maskwell.cli.commands.designs import designs
from maskwell.cli.commands.estimate import estimate
from maskwell.cli.commands.mask import mask
from maskwell.cli.commands.merge import merge
from maskwell.cli.commands.plan import plan
from maskwell.cli.commands.recode import recode
from maskwell.cli.commands.release import release
from maskwell.cli.commands.reproduce import reproduce
from maskwell.cli.commands.risk import risk
from maskwell.cli.commands.serve import serve
from maskwell.cli.commands.surveys.compliance import compliance
from maskwell.cli.commands.surveys.handover import handover
from maskwell.cli.commands.surveys.questionnaire import questionnaire
from maskwell.cli.commands.surveys.reports import reports
from maskwell.cli.commands.tally import tally
from maskwell.cli.commands.test import hypothesis
from maskwell.cli.exit_codes import BAD_INPUT, INTERNAL, INTERRUPTED, READER_GONE, TERMINATED
from maskwell.cli.interrupts import handle
from maskwell.cli.shared.option_names import naming_options
from maskwell.cli.shared.streams import flush_error, open_standard_streams
from maskwell.errors import MaskwellError, RecurrenceWarning, SimulationWarning

# What only writing fails with. Whoever writes to a file names it, so without a name this is about standard output.
_WRITING = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)

# The base of Typer's own errors about options; found this way it is right whether Typer brings its own click or not.
_OPTION_ERROR: Any = typer.BadParameter.__mro__[2]

# Plain help: square brackets and quotes in the examples must come out as they are.
app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


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


for command in (
    *(plan, questionnaire, mask, reports, tally, merge, estimate, compliance, audit, compare, designs, handover),
    *(risk, recode, release, reproduce, demo, serve),
):
    app.command()(naming_options(command))
app.command("test")(naming_options(hypothesis))


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    was_open = open_standard_streams()
    if args is None:
        # Without this a terminated process would leave its temporary file behind.
        handle(signal.SIGTERM, SystemExit(TERMINATED))
    try:
        if not was_open:
            return _fail("standard output is closed; send it to a file, or to /dev/null if it is not wanted.")
        code = _command(args)
        failed = flush_error(sys.stdout)
        return code if failed is None else _undelivered(failed)
    except KeyboardInterrupt:
        return _interrupted()
    finally:
        flush_error(sys.stderr)


def _command(args: Sequence[str] | None) -> int:
    """The exit code of a command, whose errors become one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RecurrenceWarning)
            # What it warns of is in the output of every command that can meet it.
            warnings.simplefilter("ignore", SimulationWarning)
            warnings.showwarning = _warned
            code = int(get_command(app).main(args=args, prog_name="maskwell", standalone_mode=False) or 0)
        # Typer turns an interrupt into this code and says nothing.
        return _interrupted() if code == INTERRUPTED else code
    except _OPTION_ERROR as error:
        where = error.ctx.command_path if getattr(error, "ctx", None) else "maskwell"
        return _fail(f"{error.format_message().rstrip('.')}; see {where} --help.")
    except MaskwellError as error:
        return _fail(str(error))
    except typer.Abort:
        return _interrupted()
    except SystemExit as stop:
        # The packages that print leave in this way when their reader has left.
        if isinstance(stop.__context__, BrokenPipeError):
            return _undelivered(stop.__context__)
        raise
    except OSError as error:
        ours = isinstance(error, BrokenPipeError) or (error.filename is None and error.errno in _WRITING)
        return _undelivered(error) if ours else _fail(_of_system(error))
    except Exception as error:
        return _internal(error)


def _warned(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning in one line, without the place in the code where it came up."""
    _fail(f"warning: {message}")


def _undelivered(error: OSError) -> int:
    """Whoever read our output has enough, which is not an error; or it cannot be written."""
    flush_error(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return READER_GONE
    return _fail(f"standard output could not be written: {error.strerror or type(error).__name__}.")


def _interrupted() -> int:
    return _fail("interrupted; no half file is left.", INTERRUPTED)


def _fail(message: str, code: int = BAD_INPUT) -> int:
    with contextlib.suppress(OSError):
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
