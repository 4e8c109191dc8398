"""The command lines of `envcore render` and `envcore play`.

`choose` looks ids up before JAX is imported, so an unknown id is reported at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from envcore_cli.assignments import choose
from envcore_cli.options import EnvId, Options, Params, Policy, Seed, path


def render(
    env_ids: Annotated[
        list[str], typer.Argument(metavar="ID...", help="One or more environment ids, or your own MODULE:CLASS.")
    ],
    out: Annotated[Path, typer.Option(parser=path, metavar="PATH", help="Output file: .gif, .webp, .png or .mp4.")],
    policy: Policy = "random",
    steps: Annotated[
        int | None, typer.Option(min=1, max=10**6, help="Number of frames. The default is eight seconds.")
    ] = None,
    num_envs: Annotated[int, typer.Option(min=1, max=10**4, help="Copies of each environment to show.")] = 1,
    height: Annotated[int, typer.Option(help="Height of each environment in pixels.")] = 256,
    fps: Annotated[
        float | None,
        typer.Option(help="Frames per second. The default is the environment's."),
    ] = None,
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Show step, action, reward and return below each environment.")
    ] = False,
    names: Annotated[bool, typer.Option("--names", help="Show the id below each environment.")] = False,
    columns: Annotated[int | None, typer.Option(min=1, help="Number of columns, with several environments.")] = None,
    option: Options = None,
    set_: Params = None,
    seed: Seed = 0,
) -> None:
    """Render environments to a GIF, WebP, PNG or MP4 file.

    To use your own policy, write FUNCTION(policy_params, obs, key) so that it returns an action and works under jit.
    policy_params is None. If envcore-baselines is installed, you can also use its trained agents: trained for the
    published agent of each environment, and trained:DIR for the first agent of your own run. With several ids, --option
    and --set apply to all of them.
    """
    choices = [choose(env_id, option or (), set_ or ()) for env_id in env_ids]
    from envcore_viewer.render import render as render_environments

    render_environments(choices, out, policy, steps, num_envs, fps, columns, seed, height, overlay=overlay, names=names)


def play(
    env_id: EnvId,
    fps: Annotated[
        float | None,
        typer.Option(help="Steps per second. The default is the environment's."),
    ] = None,
    option: Options = None,
    set_: Params = None,
    seed: Seed = 0,
) -> None:
    """Play an environment in the terminal with your keyboard.

    Press any key to start. If an environment has no action that does nothing, the game waits for a key at each step.
    With --fps it keeps running and repeats your last action.
    """
    choice = choose(env_id, option or (), set_ or ())
    from envcore_viewer.play import play as play_environment

    play_environment(choice, fps, seed)
