"""XLA's compiler for GPUs, on a machine that needs none: the dependency group `gpu-compiler`."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
from collections.abc import Callable
from typing import Any

import jax
from jax.experimental import topologies
from jax.sharding import NamedSharding, PartitionSpec


@dataclasses.dataclass(frozen=True)
class Target:
    """What XLA's compiler asks of a GPU, by NVIDIA's data sheets and programming guide.

    Attributes:
      description: NVIDIA's name.
      capability: its compute capability.
      cores: streaming multiprocessors.
      lanes: float32 units of each.
      shared_memory: bytes of a core.
      l2: bytes of the second cache.
      memory: bytes.
      bandwidth: bytes per second.
      clock: GHz.
    """

    description: str
    capability: tuple[int, int]
    cores: int
    lanes: int
    shared_memory: int
    l2: int
    memory: int
    bandwidth: float
    clock: float

    def config(self) -> str:
        """The text of the `GpuTargetConfigProto`."""
        major, minor = self.capability
        return f"""
          gpu_device_info {{
            cuda_compute_capability {{ major: {major} minor: {minor} }}
            core_count: {self.cores} fpus_per_core: {self.lanes} clock_rate_ghz: {self.clock}
            threads_per_warp: 32 threads_per_block_limit: 1024 threads_per_core_limit: 2048
            registers_per_core_limit: 65536 registers_per_block_limit: 65536
            shared_memory_per_core: {self.shared_memory} shared_memory_per_block: 49152
            shared_memory_per_block_optin: {self.shared_memory - 1024}
            block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
            thread_dim_limit_x: 1024 thread_dim_limit_y: 1024 thread_dim_limit_z: 64
            l2_cache_size: {self.l2} device_memory_size: {self.memory} memory_bandwidth: {self.bandwidth:.0f}
            runtime_version: "12.8.0" driver_version: "12.8.0"
          }}
          platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 7 }}
          device_description_str: "{self.description}"
        """


TARGETS = {
    "h100": Target("NVIDIA H100 80GB HBM3", (9, 0), 132, 128, 233_472, 52_428_800, 84_942_979_072, 3.352e12, 1.98),
    "h200": Target("NVIDIA H200 141GB HBM3e", (9, 0), 132, 128, 233_472, 52_428_800, 151_397_597_184, 4.8e12, 1.98),
    "a100": Target("NVIDIA A100-SXM4-80GB", (8, 0), 108, 64, 167_936, 41_943_040, 85_100_068_864, 2.039e12, 1.41),
}


def is_installed() -> bool:
    """Whether the dependency group `gpu-compiler` is there."""
    return importlib.util.find_spec("jax_cuda12_plugin") is not None


def compile_for(target: str, fun: Callable[..., Any], *structs: Any) -> Any:
    """Compiles a function to the machine code of a GPU.

    Args:
      target: of `TARGETS`.
      fun: what `jax.jit` takes.
      *structs: arguments, or their shapes and dtypes.

    Returns:
      A `jax.stages.Compiled`, which can be read but not run.

    Raises:
      SystemExit: the compiler is not installed.
    """
    sharding = _sharding(target)
    traced = jax.jit(fun, in_shardings=sharding, out_shardings=sharding).trace(*structs)
    return traced.lower(lowering_platforms=("cuda",)).compile()


@functools.cache
def _sharding(target: str) -> NamedSharding:
    if not is_installed():
        raise SystemExit("error: XLA's compiler for GPUs is not installed; use `uv run --group gpu-compiler`")
    jax.devices()  # loads the plugin, which finds no driver
    topology = topologies.get_topology_desc(
        topology_name=target, platform="cuda", target_config=TARGETS[target].config(), topology="1x1x1"
    )
    return NamedSharding(topologies.make_mesh(topology, (1,), ("device",)), PartitionSpec())
