"""The commands that the viewer adds to `envcore`, and their options. Their work is done in the sibling modules.

Ids are looked up here, by `choose`, before a command imports JAX, so an unknown id is reported at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from envcore_cli.assignments import choose
from envcore_cli.options import EnvId, Options, Params, Policy, Seed, path


def render(
    env_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="An environment's id or your MODULE:CLASS, or several.")
    ],
    out: Annotated[Path, typer.Option(parser=path, metavar="PATH", help="The file: .gif, .webp, .png or .mp4.")],
    policy: Policy = "random",
    steps: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="Frames; by default eight seconds of them.")
    ] = None,
    num_envs: Annotated[int, typer.Option(min=1, max=10**4, help="Copies of each environment, side by side.")] = 1,
    height: Annotated[int, typer.Option(help="Height of one environment's picture, in pixels.")] = 256,
    fps: Annotated[
        float | None,
        typer.Option(help="Frames per second; by default those of the environment."),
    ] = None,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Write step, action, reward and return below the picture.")
    ] = False,
    names: Annotated[bool, typer.Option("--names", help="Write the id of each environment below its picture.")] = False,
    columns: Annotated[int | None, typer.Option(min=1, help="Columns of a mosaic of several environments.")] = None,
    option: Options = None,
    set_: Params = None,
    seed: Seed = 0,
) -> None:
    """Write an animation of environments.

    FUNCTION(policy_params, obs, key) returns an action; policy_params is None, and the function must work under jit.
    envcore-baselines announces two policies: trained, its agent for each environment, and trained:DIR, the first agent
    of your own run. With several ids, --option and --set apply to all of them.
    """
    choices = [choose(env_id, option or (), set_ or ()) for env_id in env_ids]
    from envcore_viewer.render import render as render_environments

    render_environments(choices, out, policy, steps, num_envs, fps, columns, seed, height, overlay=overlay, names=names)


def play(
    env_id: EnvId,
    fps: Annotated[
        float | None,
        typer.Option(help="Steps per second; by default those of the environment."),
    ] = None,
    option: Options = None,
    set_: Params = None,
    seed: Seed = 0,
) -> None:
    """Play an environment in the terminal, with the keyboard. The first key starts the game.

    If every action does something, the game waits for a key at each step; with --fps it continues by itself and
    repeats the last action.
    """
    choice = choose(env_id, option or (), set_ or ())
    from envcore_viewer.play import play as play_environment

    play_environment(choice, fps, seed)
