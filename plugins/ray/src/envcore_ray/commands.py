"""The command line of `envcore sweep`, which checks its arguments before it imports Ray or JAX."""

from __future__ import annotations

import itertools
import os
import signal
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from envcore.errors import EnvcoreError
from envcore_baselines import algorithms
from envcore_baselines.errors import ConfigError
from envcore_cli.assignments import assignments
from envcore_cli.options import Seed, path
from envcore_runs.choice import choose


def sweep(
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGO", help=f"The algorithm: {algorithms.OURS}, a plugin's, or your MODULE:CLASS.")
    ],
    env_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Environments, for example CartPole-v1.")],
    out: Annotated[Path, typer.Option(parser=path, metavar="DIR", help="Folder for the Tune experiment.")],
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A setting to vary (repeatable). Tries all combinations."),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting for all trials (repeatable).")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Agents per trial, trained in parallel.")] = 1,
    seed: Seed = 0,
    cpus: Annotated[float, typer.Option(min=0, help="CPU cores per trial.")] = 1,
    gpus: Annotated[float, typer.Option(min=0, help="GPUs per trial. May be a fraction.")] = 0,
) -> None:
    """Train over environments and settings with Ray Tune.

    Uses the Ray cluster in the environment variable RAY_ADDRESS or the one this machine belongs to, or starts Ray on
    this machine. DIR gets a folder per trial. To continue an interrupted sweep, run the same command again.
    """
    varied: dict[str, list[Any]] = {}
    for text in vary or ():
        for name, value in assignments("--vary", [text], ConfigError).items():
            varied.setdefault(name, []).append(value)
    given = assignments("--setting", setting or (), ConfigError)
    for env_id, *values in itertools.product(env_ids, *varied.values()):
        changed = dict(zip(varied, values, strict=True))
        algorithms.config(algorithm, choose(env_id).found.spec.id, {**given, **changed})
    import ray
    from envcore_runs import signals
    from envcore_runs.folder import claimed
    from ray import tune

    from envcore_ray.training import trainable

    warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)  # JAX warns when Ray starts processes
    train = trainable(algorithm, env_ids[0], seeds=seeds, seed=seed, checkpoint_seconds=30, **given)
    train = tune.with_resources(train, {"cpu": cpus, "gpu": gpus})
    grid = {name: tune.grid_search(values) for name, values in {"env": env_ids, **varied}.items()}
    about = {"algorithm": algorithm, "env_ids": env_ids, "varied": varied, "settings": given}
    out = out.resolve()
    with claimed(out, {**about, "seeds": seeds, "seed": seed}):
        if tune.Tuner.can_restore(str(out)):
            tuner = tune.Tuner.restore(str(out), train, resume_errored=True)
        else:
            run_config = tune.RunConfig(
                name=out.name,
                storage_path=str(out.parent),
                failure_config=tune.FailureConfig(max_failures=3),
                checkpoint_config=tune.CheckpointConfig(num_to_keep=2),
            )
            tuner = tune.Tuner(train, param_space=grid, run_config=run_config)
        os.environ["TUNE_DISABLE_SIGINT_HANDLER"] = "1"
        ray.init(ignore_reinit_error=True)  # installs its own signal handlers
        # On SIGUSR1 Tune saves and ends. Ray swallows exceptions from handlers and exits with status 1.
        with signals.noted(then=lambda: signal.raise_signal(signal.SIGUSR1)) as signum:
            results = tuner.fit()
        if signum():
            signals.stop(signum())
    if results.num_errors:
        reason = str(results.errors[0]).strip().splitlines()[-1]  # last line of the traceback
        raise EnvcoreError(f"{results.num_errors} of {len(results)} trials failed: {reason}")
