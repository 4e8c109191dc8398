from __future__ import annotations

import importlib.util
import os
from collections.abc import Generator
from typing import Any

import pytest

# Ray reads them at import. By default it copies the repository for `uv run`, and gives way to the other tests.
os.environ |= {"RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_worker_niceness": "0"}

collect_ignore = [] if importlib.util.find_spec("ray") else ["test_trainable.py"]


@pytest.fixture(scope="session")
def cluster() -> Generator[Any]:
    """A Ray cluster of two nodes with one core each, which are processes of this machine."""
    import ray
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    started = Cluster(initialize_head=True, head_node_args=node)
    started.add_node(**node)
    ray.init(started.address)
    yield started
    ray.shutdown()
    started.shutdown()
