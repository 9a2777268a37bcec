"""``maskwell serve``: the service that collects masked reports."""

from typing import Annotated

import typer


def serve(
    database: Annotated[
        str, typer.Option("--database", help="sqlite:///FILE, or postgresql://USER@HOST/NAME.", metavar="URL")
    ] = "sqlite:///maskwell.db",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 for any free port.")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; put a server with https before any other.")
    ] = "127.0.0.1",
    public_url: Annotated[
        str, typer.Option("--public-url", help="The address that respondents see, if another server stands before.")
    ] = "",
    rate: Annotated[
        float, typer.Option("--rate", min=0, help="Requests a second that one address may go on sending; 0: no limit.")
    ] = 100,
    burst: Annotated[
        int, typer.Option("--burst", min=0, help="Requests that one address may send at once; 0: no limit.")
    ] = 10_000,
    new_token: Annotated[
        bool, typer.Option("--new-token", help="Make a new administrator's token; the old one ends.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Start with a sample survey that simulated respondents answer.")
    ] = False,
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
    """
    from maskwell.collect import create_app
    from maskwell.collect.extra import require_extra

    require_extra()
    from maskwell.collect.access import new_token as fresh_token
    from maskwell.collect.running import listening
    from maskwell.collect.running import serve as run

    listener = listening(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    token = fresh_token() if new_token else None
    app = create_app(database, administrator_token=token, public_url=public_url, rate=rate, burst=burst if rate else 0)
    shown = token or app.state.administrator_token

    def ready() -> None:
        typer.echo(f"The service is at {public_url or address}, its studio at {public_url or address}/studio/")
        typer.echo(f"What can be asked of it: {public_url or address}/docs")
        if shown:
            typer.echo(f"The administrator's token, shown this once: {shown}")

    run(app, listener, ready)
    typer.echo("Stopped; whatever was acknowledged is stored.")
