from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# As envcore_ray.workers does it, which tests import after Ray.
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"

import ray
from ray.cluster_utils import Cluster

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20}


@pytest.fixture(scope="session")
def started_cluster() -> Generator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        # The processes of the tasks import `counting`.
        paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("RAY_worker_niceness", "0")  # by default, Ray gives way to the other tests
        found = Cluster(initialize_head=True, head_node_args=NODE)
        try:
            yield found
        finally:
            found.shutdown()


@pytest.fixture
def cluster(started_cluster: Any) -> Generator[Any]:
    """A Ray cluster of two nodes with one core each, which are processes of this machine; a test may remove one."""
    if not started_cluster.worker_nodes:
        started_cluster.add_node(**NODE)
    yield started_cluster
    ray.shutdown()
