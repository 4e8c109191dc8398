"""The commands and their options. Other modules and plugins do the work.

Commands look up ids with `choose` before they import JAX, so an unknown id is reported at once.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

import typer
from envcore import registry
from envcore.plugins import Announced
from envcore.specs import CommandSpec
from typer.core import TyperCommand, TyperGroup

from envcore_cli import commands
from envcore_cli.assignments import choose
from envcore_cli.errors import CommandError, Interrupted
from envcore_cli.given import given_to
from envcore_cli.options import (
    Coordinator,
    Devices,
    EnvId,
    NumProcesses,
    Options,
    Params,
    Policy,
    ProcessId,
    Seed,
    path,
)
from envcore_cli.output import write

_FIRST = ("train", "evaluate", "render", "play")
"""What most users look for, if the plugins are installed."""


class _Commands(TyperGroup):
    """The commands below, then those of plugins. A plugin's command is imported only when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        found = [*super().list_commands(ctx), *self._of_plugins]
        return sorted(found, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """For the help, returns a plugin's command with its name and summary, without importing it."""
        if cmd_name in self.commands or cmd_name not in self._of_plugins:
            return super().get_command(ctx, cmd_name)
        summary = self._of_plugins[cmd_name].spec.summary
        return TyperCommand(cmd_name, help=summary, short_help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, *rest = args
        if name in self.commands:
            return super().resolve_command(ctx, args)
        found = registry.announced(CommandSpec).find(name, CommandError)
        if found is None:
            return ctx.fail(commands.unknown(name, self.list_commands(ctx)))
        return name, commands.load(found), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None

    @functools.cached_property
    def _of_plugins(self) -> dict[str, Announced[CommandSpec]]:
        found = registry.announced(CommandSpec).items()
        return {each.qualified_name if name in self.commands else name: each for name, each in found}


app = typer.Typer(
    name="envcore",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from envcore_cli.versions import versions

        write(versions())
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the versions and exit.")
    ] = False,
) -> None:
    """Reinforcement learning environments as pure JAX functions."""


@app.command("list")
def list_command(
    group: Annotated[
        str,
        typer.Argument(
            help="Show only a distribution, such as minatar, or the members of a family, such as bsuite/deep_sea."
        ),
    ] = "",
) -> None:
    """List the installed environments, one line per family."""
    from envcore_cli.catalogue import show_environments

    show_environments(group)


@app.command()
def plugins() -> None:
    """List the plugins, including broken and disabled ones."""
    from envcore_cli.catalogue import show_plugins

    show_plugins()


@app.command()
def info(env_id: EnvId, option: Options = None, set_: Params = None) -> None:
    """Show an environment's options, params, spaces and rules."""
    choice = choose(env_id, option or (), set_ or ())
    from envcore_cli.describe import show_environment

    show_environment(choice)


@app.command()
def rollout(
    context: typer.Context,
    env_id: EnvId,
    num_envs: Annotated[int, typer.Option(help="Number of environments to run in parallel.")] = 2048,
    steps: Annotated[
        int | None,
        typer.Option(
            help="Steps per environment. By default, as many as its episodes take.",
        ),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option(help="Episodes per environment to measure, 1 by default."),
    ] = None,
    policy: Policy = "random",
    out: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="DIR", help="Save the rollout in DIR. Run the same command to continue it."),
    ] = None,
    record: Annotated[
        str, typer.Option(metavar="NAMES", help="Values to record at every step, such as obs,action,reward,done.")
    ] = "",
    option: Options = None,
    set_: Params = None,
    seed: Seed = 0,
    devices: Devices = None,
    coordinator: Coordinator = None,
    num_processes: NumProcesses = None,
    process_id: ProcessId = None,
) -> None:
    """Run many environments in parallel, and report returns and speed.

    The mean return covers the first --episodes episodes of every environment, however long they are. Without --steps,
    the rollout runs until all environments have finished them. Without both, it stops waiting after a minute.

    FUNCTION(policy_params, obs, key) returns the action for one environment. It must work under vmap and jit, and its
    policy_params is None. envcore-baselines adds two policies: trained, its agent for each environment, and
    trained:DIR, the first agent of your own run. The same seed gives the same episodes on any number of devices.
    The reported speed is the speed of the compiled program, including observations.

    With --out, statistics.json and a checkpoint are saved in DIR. If the rollout is interrupted, run the same command
    to continue it. The results are the same as without an interruption, bit for bit. --record takes field names of
    envcore.rollout.Transition and keys of info.
    """
    choice = choose(env_id, option or (), set_ or ())
    from envcore_runs import distributed

    # Before importing a module of the user, which might start JAX.
    distributed.start(given_to(context), devices, coordinator, num_processes, process_id)
    from envcore_cli.rollout_report import report_rollout

    report_rollout(
        choice,
        steps,
        episodes,
        num_envs=num_envs,
        policy=policy,
        seed=seed,
        devices=devices,
        out=out,
        record=record,
    )
