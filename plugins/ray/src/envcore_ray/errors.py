"""Errors of runs on a cluster. Imports neither Ray nor JAX."""

from envcore.errors import EnvcoreError


class ClusterError(EnvcoreError):
    """There is no cluster at the address, or it has no node for a task."""


class TasksFailedError(EnvcoreError):
    """Some tasks kept failing; the others have been completed.

    Attributes:
      reasons: why, by the name of the task.
      returns: of a sweep, the last mean return of each run.
    """

    def __init__(self, reasons: dict[str, str], num_tasks: int, attempts: int):
        self.reasons = reasons
        self.returns: dict[str, float] = {}
        each = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
        times = f"{attempts} times in a row" if attempts > 1 else "once"
        super().__init__(f"{len(reasons)} of {num_tasks} tasks failed {times}: {each}.")
