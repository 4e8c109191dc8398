"""The commands and their options; what they do is in the sibling modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="envcore",
    help="Reinforcement learning environments as pure JAX functions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

EnvId = Annotated[str, typer.Argument(metavar="ID", help="An environment's id, for example CartPole-v1.")]
Seed = Annotated[int, typer.Option(help="Seed of the random key.")]


@app.command("list")
def list_command(
    family: Annotated[str, typer.Argument(help="Show the members of a family, such as bsuite/deep_sea.")] = "",
) -> None:
    """Show every installed environment, each family of them in one line."""
    from envcore.cli.catalogue import show_environments

    show_environments(family)


@app.command()
def plugins() -> None:
    """Show every plugin, also the broken and the disabled ones."""
    from envcore.cli.catalogue import show_plugins

    show_plugins()


@app.command()
def info(env_id: EnvId) -> None:
    """Show an environment's options, params, spaces and rules."""
    from envcore.cli.describe import show_environment

    show_environment(env_id)


@app.command()
def rollout(
    env_id: EnvId,
    num_envs: Annotated[int, typer.Option(help="How many environments step in parallel.")] = 2048,
    steps: Annotated[int, typer.Option(help="Steps of each environment.")] = 500,
    gif: Annotated[Path | None, typer.Option(help="Write a picture of the first environment's first steps.")] = None,
    seed: Seed = 0,
) -> None:
    """Roll many environments out with random actions, and report returns and speed."""
    from envcore.cli.rollouts import roll_out

    roll_out(env_id, num_envs, steps, gif, seed)


@app.command()
def check(env_id: EnvId, seed: Seed = 0) -> None:
    """Check an environment against every rule of the contract."""
    from envcore.cli.conformance import check_environment

    check_environment(env_id, seed)


@app.command()
def play(
    env_id: EnvId,
    fps: Annotated[float | None, typer.Option(help="Steps per second; by default the environment's own pace.")] = None,
    seed: Seed = 0,
) -> None:
    """Play an environment in the terminal, with the keyboard.

    Where every action does something, the game waits for a key at each step; with --fps it goes on by itself and
    repeats the last action.
    """
    from envcore.cli.play import play as play_environment

    play_environment(env_id, fps, seed)
