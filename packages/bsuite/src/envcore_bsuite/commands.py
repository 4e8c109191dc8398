"""`envcore bsuite`: runs an agent on bsuite's experiments, scores it, and draws its radar plot.

The only module of the suite that needs envcore-cli, which is installed wherever it is called. Imports no JAX itself.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from envcore.files import replacing
from envcore_cli import output
from envcore_cli.errors import CommandError
from envcore_cli.options import Seed, integer, path

from envcore_bsuite.errors import ResultsError, RunError
from envcore_bsuite.sweep import EPISODES, EXPERIMENTS, SWEEP

app = typer.Typer(help="Run an agent on bsuite's experiments, and score it.", no_args_is_help=True)

Logs = Annotated[Path, typer.Argument(parser=path, metavar="DIR", help="The folder of an agent's logs.")]


@app.command()
def run(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="random, or your MODULE:FUNCTION.")],
    out: Annotated[Path, typer.Option(parser=path, metavar="DIR", help="The folder of the logs.")],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="An experiment or an id, such as deep_sea/11; can be repeated."),
    ] = None,
    seed: Seed = 0,
    num_seeds: Annotated[
        int, typer.Option(parser=integer, metavar="<int>", help="Repetitions of every id, each in its own folder.")
    ] = 1,
    workers: Annotated[
        int, typer.Option(parser=integer, metavar="<int>", help="Number of programs that run at the same time.")
    ] = 1,
) -> None:
    """Play all 468 settings of bsuite, or those of --only, and write bsuite's logs.

    FUNCTION(env) returns an envcore_bsuite.agents.Agent for an environment, three functions that can be compiled by
    jit. To continue an interrupted run, give the same command again.
    """
    ids = _ids(only or ["all"])
    make_agent = _make_agent(agent)
    from envcore_bsuite.runner import run as run_agent

    total = num_seeds * sum(EPISODES[each] for each in dict.fromkeys(ids))
    with output.progress_of("bsuite", total) as show:
        run_agent(
            make_agent,
            out,
            ids,
            seed=seed,
            num_seeds=num_seeds,
            workers=workers,
            progress=lambda played, total: show(played),
        )


@app.command()
def score(folder: Logs) -> None:
    """Print the score of an agent in each experiment that it has played, and the means by tag."""
    from rich.table import Table

    analysis = _analysis()
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


@app.command()
def radar(
    folders: Annotated[
        list[Path], typer.Argument(parser=path, metavar="DIR...", help="The folders of one or more agents.")
    ],
    out: Annotated[
        Path | None, typer.Option(parser=path, metavar="PATH", help="The file; by default radar.png in the first DIR.")
    ] = None,
) -> None:
    """Draw the scores by tag of agents, named by their folders. Tags that none of them has played are left out."""
    analysis = _analysis()
    tags = {
        name: analysis.score_by_tag(analysis.score(analysis.load_results(folder)))
        for name, folder in zip(_names(folders), folders, strict=True)
    }
    played = {tag for scores in tags.values() for tag in scores.dropna().index}
    figure = analysis.plot_radar({name: scores[scores.index.isin(played)] for name, scores in tags.items()})
    out = folders[0] / "radar.png" if out is None else out
    try:
        with replacing(out) as file:
            figure.savefig(file, format=out.suffix[1:] or "png")
    except ValueError as error:  # matplotlib has no such format
        raise ResultsError(f"cannot write {out}: {error}") from error
    output.say(f"{out} shows the scores of {', '.join(tags)}.")


def _ids(names: Iterable[str]) -> list[str]:
    """The ids that are named: by experiment, one by one, or by "all"."""
    ids: list[str] = []
    for name in (each.removeprefix("bsuite/") for each in names):
        if name == "all":
            ids += SWEEP
        elif name in EXPERIMENTS:
            ids += EXPERIMENTS[name].ids
        elif name in SWEEP:
            ids.append(name)
        else:
            raise RunError(
                f"bsuite has no experiment and no id {name!r}; `envcore list` shows its experiments, "
                "`envcore list bsuite/deep_sea` the ids of one."
            )
    return ids


def _make_agent(name: str) -> Any:
    if name == "random":
        from envcore_bsuite.agents import random_agent

        return random_agent
    from envcore_runs.user_modules import imported_function

    return imported_function("AGENT", name)


def _names(folders: list[Path]) -> list[str]:
    """The names of the agents: of their folders, or the full paths if two are the same."""
    names = [folder.resolve().name for folder in folders]
    counts = collections.Counter(names)
    return [name if counts[name] == 1 else str(folder) for name, folder in zip(names, folders, strict=True)]


def _analysis() -> Any:
    try:
        from envcore_bsuite import analysis
    except ModuleNotFoundError as error:
        if "bsuite[analysis]" not in str(error):
            raise
        raise CommandError(f"{error}.") from error
    return analysis
