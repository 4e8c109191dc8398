"""The command `envcore bsuite`: runs an agent on bsuite and scores it. Imports no JAX."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer
from envcore.suggestions import how_to_install
from envcore_cli import output
from envcore_cli.errors import CommandError
from envcore_cli.options import Seed, path
from envcore_runs.user_modules import imported_function

app = typer.Typer(help="Run an agent on bsuite and score it.", no_args_is_help=True, rich_markup_mode=None)

Logs = Annotated[Path, typer.Argument(parser=path, metavar="DIR", help="Folder with the logs of an agent.")]

_AGENTS = {"random": "random_agent", **{name: name for name in ("dqn", "bootstrapped_dqn", "ppo", "recurrent_ppo")}}


@app.command()
def run(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help=f"Agent: {', '.join(_AGENTS)}, or MODULE:FUNCTION for your own.")
    ],
    out: Annotated[Path, typer.Option(parser=path, metavar="DIR", help="Folder for the logs.")],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Experiment or id, such as deep_sea or deep_sea/11 (repeatable)."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Run an agent on all 468 settings of bsuite, or on those you pick with --only, and write bsuite's logs.

    FUNCTION(env) must return an envcore_baselines.bsuite.Agent, three functions that work under jax.jit. To continue an
    interrupted run, repeat the command.
    """
    named = None if agent in _AGENTS else imported_function("AGENT", agent, list(_AGENTS))
    runner, agents = (_imported(f"envcore_baselines.bsuite.{name}") for name in ("runner", "agents"))
    make_agent = named or getattr(agents, _AGENTS[agent])
    ids = only or runner.SWEEP
    with output.progress_of("bsuite", 1) as show:
        runner.run(make_agent, out, ids, seed=seed, progress=lambda played, total: show(played / total))
    output.say(f"{out}: finished. For the scores: envcore bsuite score {out}")


@app.command()
def score(folder: Logs) -> None:
    """Print an agent's score in each experiment that it has played, and the mean score per tag."""
    from rich.table import Table

    analysis = _imported("envcore_bsuite.analysis")
    scores = analysis.score(analysis.load_results(folder))
    by_experiment = Table("experiment", "score", "tags", "", box=None, pad_edge=False)
    for each in scores.itertuples():
        note = "" if each.finished else "unfinished"
        by_experiment.add_row(each.bsuite_env, f"{each.score:.3f}", ", ".join(each.tags), note)
    by_tag = Table("tag", "mean score", box=None, pad_edge=False)
    for tag, mean in analysis.score_by_tag(scores).dropna().items():
        by_tag.add_row(str(tag), f"{mean:.3f}")
    output.show(by_experiment)
    output.write("")
    output.show(by_tag)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise CommandError(f"envcore bsuite needs {missing}: {how_to_install('envcore-bsuite[analysis]')}.") from error
