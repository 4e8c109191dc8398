"""`envcore bsuite`: runs an agent on bsuite's experiments, and scores it. Imports no JAX."""

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

app = typer.Typer(help="Run an agent on bsuite's experiments, and score it.", no_args_is_help=True)

Logs = Annotated[Path, typer.Argument(parser=path, metavar="DIR", help="The folder of an agent's logs.")]

_AGENTS = {"random": "random_agent", **{name: name for name in ("dqn", "bootstrapped_dqn", "ppo", "recurrent_ppo")}}


@app.command()
def run(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help=f"The agent: {', '.join(_AGENTS)}, or your MODULE:FUNCTION.")
    ],
    out: Annotated[Path, typer.Option(parser=path, metavar="DIR", help="The folder of the logs.")],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An experiment or an id, such as deep_sea/11; can be repeated."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Play all 468 settings of bsuite, or those of --only, and write bsuite's logs.

    FUNCTION(env) returns an envcore_baselines.bsuite.Agent for an environment, three functions that can be compiled by
    jit. To continue an interrupted run, give the same command again.
    """
    named = None if agent in _AGENTS else imported_function("AGENT", agent, list(_AGENTS))
    runner, agents = (_imported(f"envcore_baselines.bsuite.{name}") for name in ("runner", "agents"))
    make_agent = named or getattr(agents, _AGENTS[agent])
    ids = only or runner.SWEEP
    with output.progress_of("bsuite", 1) as show:
        runner.run(make_agent, out, ids, seed=seed, progress=lambda played, total: show(played / total))


@app.command()
def score(folder: Logs) -> None:
    """Print the score of an agent in each experiment that it has played, and the means by tag."""
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
