"""Training on a cluster, submitted from Python: `python submitit_train.py slurm`, or `local` to try it here."""

from __future__ import annotations

import subprocess
import sys

import submitit

COMMAND = ["envcore", "train", "ppo", "CartPole-v1", "--seeds", "32", "--out", "runs/cartpole"]
PORT = 12345


def work(command: list[str]) -> None:
    """What each task does."""
    job = submitit.JobEnvironment()
    where = f"{job.hostnames[0]}:{PORT}"
    flags = ["--coordinator", where, "--num-processes", str(job.num_tasks), "--process-id", str(job.global_rank)]
    subprocess.run([*command, *flags], check=True)


def submit(cluster: str, command: list[str], nodes: int = 1, tasks_per_node: int = 2) -> submitit.Job[None]:
    """Submits the command as one job of several tasks."""
    executor = submitit.AutoExecutor(folder="runs/jobs", cluster=cluster)
    executor.update_parameters(nodes=nodes, tasks_per_node=tasks_per_node, timeout_min=240)
    return executor.submit(work, command)


if __name__ == "__main__":
    job = submit(sys.argv[1], COMMAND)
    print("job", job.job_id)
    job.results()
