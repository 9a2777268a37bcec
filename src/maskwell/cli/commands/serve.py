"""``maskwell serve``: the service that collects masked reports."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from maskwell.cli.shared.output import CommandError, emit_json

_SQLITE = "sqlite:///"


def serve(
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            help="sqlite:///FILE, or postgresql://USER@HOST/NAME; sqlite:///maskwell.db if not said, or with --demo "
            "one that is thrown away.",
            metavar="URL",
        ),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 for any free port.")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; put a server with https before any other.")
    ] = "127.0.0.1",
    public_url: Annotated[
        str, typer.Option("--public-url", help="The address that respondents see, if another server stands before.")
    ] = "",
    proxy: Annotated[
        str,
        typer.Option(
            "--proxy",
            help="The address of the server that stands before, or several with commas: it is believed about who asks "
            "and whether by https.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    rate: Annotated[
        float, typer.Option("--rate", min=0, help="Requests a second that one address may go on sending; 0: no limit.")
    ] = 100,
    burst: Annotated[
        int, typer.Option("--burst", min=0, help="Requests that one address may send at once; 0: no limit.")
    ] = 10_000,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new administrator's token; the old one ends.")
    ] = False,
    backup: Annotated[
        Path | None,
        typer.Option("--backup", help="Copy the database to this new file, also while a service runs, and end."),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option("--restore", help="Make the database, which must be new, from such a copy, and end."),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Start with a sample survey that simulated respondents answer.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Say addresses and tokens as one line of JSON.")] = False,
) -> None:
    """Collect masked reports: surveys, the respondents' page and the studio.

    The administrator's token is printed once, when the database is new. Whoever has it can publish surveys; each survey
    has an owner's token of its own. Stop with Ctrl-C: whatever was acknowledged is stored.

    \b
    Examples:
      maskwell serve
      maskwell serve --database sqlite:///health.db --port 8080
      maskwell serve --database postgresql://survey@localhost/survey --public-url https://survey.example.org
      maskwell serve --demo
      maskwell serve --database sqlite:///health.db --backup health-copy.db
      maskwell serve --database sqlite:///again.db --restore health-copy.db
    """
    from maskwell.collect import create_app
    from maskwell.collect.needed import require_service

    require_service()
    if backup is not None or restore is not None:
        _copy(database or f"{_SQLITE}maskwell.db", backup, restore, json)
        return
    from maskwell.collect.access import new_token as fresh_token
    from maskwell.collect.running import listening
    from maskwell.collect.running import serve as run

    listener = listening(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    token = fresh_token() if new_token else None
    seen = public_url or address
    with tempfile.TemporaryDirectory() as folder:
        throwaway = demo and database is None
        database = f"{_SQLITE}{folder}/sample.db" if throwaway else database or f"{_SQLITE}maskwell.db"
        app = create_app(
            database, administrator_token=token, public_url=public_url, rate=rate, burst=burst if rate else 0
        )
        about = {"url": seen, "administrator_token": token or app.state.administrator_token}
        with _sample(app, address, seen, about) if demo else nullcontext(lambda: None) as begin:

            def ready() -> None:
                if json:
                    emit_json({**about, "output": []}, indent=None)
                else:
                    typer.echo("\n".join(_lines(about)))
                begin()

            run(app, listener, ready, quiet=demo, proxies=proxy)
    if not json:
        typer.echo("Stopped; the sample is gone." if throwaway else "Stopped; whatever was acknowledged is stored.")


def _lines(about: dict[str, Any]) -> list[str]:
    """What a person is told when the service is ready."""
    url = about["url"]
    lines = [f"The service is at {url}, its studio at {url}/studio/", f"What can be asked of it: {url}/docs"]
    if about["administrator_token"]:
        lines.append(f"The administrator's token, shown this once: {about['administrator_token']}")
    if "respond_url" in about:
        lines += [
            f"A sample survey, which simulated respondents answer: {about['respond_url']}",
            f"To watch it, sign in at {url}/studio/ with its owner's token, shown this once: {about['owner_token']}",
            "Stop with Ctrl-C.",
        ]
    return lines


@contextmanager
def _sample(app: Any, address: str, seen: str, about: dict[str, Any]) -> Iterator[Callable[[], None]]:
    """Publish the sample survey and note how to open it; gives what begins to answer it."""
    from maskwell.collect.sample import SimulatedRespondents, document

    published, token = app.state.service.publish(document())
    about |= {"respond_url": f"{seen}/respond/{published.id}", "owner_token": token}
    respondents = SimulatedRespondents(address, published.id)
    yield respondents.start
    respondents.stop()


def _copy(database: str, backup: Path | None, restore: Path | None, json: bool) -> None:
    from maskwell.collect.store import backup as copies

    if backup is not None and restore is not None:
        raise CommandError("give --backup or --restore, and not both.")
    if backup is not None:
        copies.backup(database, backup)
        written, said = [str(backup)], f"The database is copied to {backup}."
    elif restore is not None:
        copies.restore(database, restore)
        # The address of another database may hold a password.
        written = [database.removeprefix(_SQLITE)] if database.startswith(_SQLITE) else []
        said = "The database is made from the copy; start the service with it."
    if json:
        emit_json({"output": written}, indent=None)
    else:
        typer.echo(said)
