"""The commands and their options; what they do is in the sibling modules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from envcore.cli.interrupt import Interrupted


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


def _path(text: str) -> Path:
    """An option's path; without this check the empty one, of a variable that is not set, would mean this folder."""
    if not text:
        raise typer.BadParameter("the path is empty.")
    return Path(text)


app = typer.Typer(
    name="envcore",
    cls=_Commands,
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
    gif: Annotated[
        Path | None,
        typer.Option(parser=_path, metavar="PATH", help="Write a picture of the first environment's first steps."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Roll many environments out with random actions, and report returns and speed."""
    from envcore.cli.rollouts import roll_out

    roll_out(env_id, num_envs, steps, gif, seed)


@app.command()
def render(
    env_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="An environment's id, or several.")],
    out: Annotated[Path, typer.Option(parser=_path, metavar="PATH", help="The file: .gif, .webp, .png or .mp4.")],
    policy: Annotated[str, typer.Option(help="Who plays: random, or your MODULE:FUNCTION.")] = "random",
    steps: Annotated[int | None, typer.Option(help="Frames; by default eight seconds of them.")] = None,
    num_envs: Annotated[int, typer.Option(help="Copies of each environment, side by side.")] = 1,
    height: Annotated[int, typer.Option(help="Of one environment's picture, in pixels.")] = 256,
    fps: Annotated[float | None, typer.Option(help="Frames per second; by default the environment's pace.")] = None,
    overlay: Annotated[bool, typer.Option("--overlay", help="Write step, action, reward and return below.")] = False,
    columns: Annotated[int | None, typer.Option(help="Of several environments, how many in a row.")] = None,
    seed: Seed = 0,
) -> None:
    """Write a moving picture of environments at work.

    FUNCTION(policy_params, obs, key) returns an action; policy_params is None, and jit has to be able to compile it.
    """
    from envcore.cli.render import render as render_environments

    render_environments(env_ids, out, policy, steps, num_envs, fps, columns, seed, height=height, overlay=overlay)


@app.command()
def gallery(
    out: Annotated[Path, typer.Option(parser=_path, metavar="PATH", help="The folder to write.")],
    env_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID...]", help="Which; by default all.")] = None,
    height: Annotated[int, typer.Option(help="Of a picture, in pixels.")] = 200,
    seed: Seed = 0,
) -> None:
    """Write a page that shows all installed environments at work."""
    from envcore.cli.gallery import gallery as write_gallery

    write_gallery(env_ids or [], out, height, seed)


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
