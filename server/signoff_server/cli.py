"""The `signoff` command."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from signoff import __version__
from signoff.errors import ConfigurationError, SignoffError
from signoff.policy import Gate
from signoff.sources.scenario import Scenario

from . import logs, serving, targets
from .app import create_app
from .auth import SignedCookie
from .engine import Engine
from .http import Authenticate, Limits
from .options import (
    DEMO_STORE,
    SERVER_EPILOG,
    STORE,
    DemoStoreOption,
    HostOption,
    ModeOption,
    PortOption,
    StoreOption,
    VerboseOption,
)
from .settings import Settings, load_settings
from .store import Store

DEMO_SCENARIO = Path(__file__).parent / "demo_scenario.json"
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")

main: typer.Typer = typer.Typer(
    name="signoff",
    help="Approval of irreversible tool calls, between an agent and the chats people have.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
scenario: typer.Typer = typer.Typer(
    help="Scenario files: agents without a model.", no_args_is_help=True
)
main.add_typer(scenario, name="scenario")

out: Console = Console(highlight=False, soft_wrap=True)
err: Console = Console(stderr=True, highlight=False, soft_wrap=True)


@main.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        out.print(f"signoff {__version__}")
        raise typer.Exit


@main.command(epilog=SERVER_EPILOG)
def demo(
    scenario_file: Annotated[
        Path | None,
        typer.Option(
            "--scenario",
            metavar="FILE",
            help="What the agent says and calls. Default: a built-in script.",
        ),
    ] = None,
    store: DemoStoreOption = None,
    port: PortOption = None,
    host: HostOption = None,
    mode: ModeOption = None,
    executions: Annotated[
        Path | None,
        typer.Option("--executions", metavar="FILE", help="Append a line for each call that ran."),
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """Serve an agent without a model, in every protocol, with the two chat pages."""
    with _plain_errors(verbose=verbose):
        settings = load_settings()
        logs.configure("debug" if verbose else settings.log)
        script = Scenario.load(scenario_file or DEMO_SCENARIO)
        url = store or settings.store or DEMO_STORE
        engine = Engine(
            script.source(executions=executions),
            store=Store(url, migrate=True),
            gate=Gate(mode=mode or settings.mode),
        )
        address = host or settings.host
        app = create_app(
            engine,
            authenticate=SignedCookie(engine.server_key),
            limits=Limits(body_bytes=settings.body_bytes),
            allowed_origins=settings.allowed_origins,
            allowed_hosts=_own_names(address),
            pages=True,
            suggestions=script.suggestions,
        )
        if not serving.is_loopback(address):
            _warn("Whoever can reach this address may be anyone in the demo.")

        def announce(here: str) -> None:
            out.print(f"signoff demo on [bold]{here}[/]  (store {escape(url)}, Ctrl-C stops)")
            out.print(f"  {here}/vercel        useChat of the Vercel AI SDK")
            out.print(f"  {here}/copilotkit    CopilotKit over AG-UI")
            if script.suggestions:
                out.print(f"  Words to try: {escape(', '.join(script.suggestions))}")

        serving.run(
            app,
            host=address,
            port=_port(port, settings),
            announce=announce,
            before_stop=engine.close,
        )


@main.command(epilog=SERVER_EPILOG)
def serve(
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:APP",
            help="An ASGI application; or a run source, a mapping of run sources, or an Engine.",
        ),
    ],
    store: StoreOption = None,
    port: PortOption = None,
    host: HostOption = None,
    mode: ModeOption = None,
    authenticate: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="authenticate(request) -> Principal, for an agent that is no application yet.",
        ),
    ] = None,
    verbose: VerboseOption = False,
) -> None:
    """Serve your own agent.

    An application brings its own store, gate and authentication. Anything else is put into one, in
    every protocol; without --authenticate it listens to this machine only, and everyone is `demo`.
    """
    with _plain_errors(verbose=verbose):
        settings = load_settings()
        address = host or settings.host
        found = targets.load(target)
        # Not before: an application may set up its own logging when it is imported.
        logs.configure("debug" if verbose else settings.log)
        if targets.is_agent(found):
            engine = (
                found
                if isinstance(found, Engine)
                else Engine(
                    found,
                    store=store or settings.store or STORE,
                    gate=Gate(mode=mode or settings.mode),
                )
            )
            app = create_app(
                engine,
                authenticate=_authenticate(authenticate, address, engine),
                limits=Limits(body_bytes=settings.body_bytes),
                allowed_origins=settings.allowed_origins,
                allowed_hosts=_own_names(address) if authenticate is None else (),
            )
            serving.run(
                app,
                host=address,
                port=_port(port, settings),
                announce=_announce(target),
                before_stop=engine.close,
            )
            return
        if store or mode or authenticate:
            raise ConfigurationError(
                f"{target} is an application: --store, --mode and --authenticate are set in it."
            )
        if ignored := settings.set_for_agents:
            _warn(f"{target} is an application: {', '.join(ignored)} is not used, set it there.")
        serving.run(
            targets.as_application(found, target),
            host=address,
            port=_port(port, settings),
            announce=_announce(target),
        )


@scenario.command()
def check(file: Annotated[Path, typer.Argument(metavar="FILE")]) -> None:
    """Say what is wrong with a scenario file, or that nothing is."""
    with _plain_errors():
        checked = Scenario.load(file)
    for remark in checked.remarks:
        _warn(remark)
    tools, turns = len(checked.file.tools), len(checked.file.turns)
    out.print(f"{escape(str(file))}: fine. {tools} tools, {turns} turns.")


@main.command()
def migrate(store: StoreOption = None) -> None:
    """Bring a store's schema to this version, or make a new one. Stop its server first."""
    with _plain_errors():
        url = store or load_settings().store or STORE
        database = Store(url, migrate=True)
        is_new = not database.path.exists()
        asyncio.run(_migrate(database))
    if is_new:
        out.print(f"There was no database: a new one is at {escape(str(database.path.resolve()))}.")
    out.print(f"{escape(url)} has the schema of this version.")


async def _migrate(store: Store) -> None:
    await store.open()
    await store.close()


def _authenticate(target: str | None, host: str, engine: Engine) -> Authenticate:
    if target is not None:
        return targets.load_authenticate(target)
    if not serving.is_loopback(host):
        raise ConfigurationError(
            f"{host} can be reached from other machines. Say who is asking: "
            "--authenticate MODULE:FUNCTION."
        )
    _warn("No --authenticate: everyone on this machine is the same person.")
    return SignedCookie(engine.server_key)


def _announce(target: str) -> Callable[[str], None]:
    def announce(here: str) -> None:
        out.print(f"{escape(target)} on [bold]{here}[/]  (Ctrl-C stops)")

    return announce


def _own_names(host: str) -> tuple[str, ...]:
    """The names that a loopback server answers to; none are known for another one."""
    return (*_LOOPBACK_HOSTS, host) if serving.is_loopback(host) else ()


def _port(option: int | None, settings: Settings) -> int:
    return settings.port if option is None else option


@contextmanager
def _plain_errors(*, verbose: bool = False) -> Generator[None]:
    """What a user did wrong is a sentence, and a stack only for whoever wants one."""
    try:
        yield
    except SignoffError as error:
        if verbose:
            err.print(escape("".join(traceback.format_exception(error.__cause__ or error))))
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    for line in message.splitlines():
        err.print(f"[bold red]signoff:[/] {escape(line)}")
    raise typer.Exit(1)


def _warn(message: str) -> None:
    err.print(f"[yellow]signoff:[/] {escape(message)}")
