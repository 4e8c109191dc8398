"""The reference: a page a public module, drawn from its docstrings."""

from __future__ import annotations

from pathlib import Path

_ALGORITHMS = {
    "ppo": "PPO",
    "pqn": "PQN",
    "sac": "SAC",
    "dqn": "DQN",
    "es": "ES",
    "bootstrapped_dqn": "BootstrappedDQN",
}
_PAGES = {
    "environment": ("The contract", ["envcore.environment"]),
    "spaces": ("Spaces", ["envcore.spaces"]),
    "registration": ("make and the registry", ["envcore.registration"]),
    "wrappers": ("Wrappers", ["envcore.wrappers"]),
    "rollout": ("Rollouts", ["envcore.rollout"]),
    "runs": ("Long rollouts", ["envcore_runs.run"]),
    "native": ("Compiled steps, and rollouts in one kernel", ["envcore_native"]),
    "agents": ("Agents", ["envcore_baselines", "envcore_baselines.learner", "envcore_baselines.curve"]),
    "loggers": ("Loggers", ["envcore_baselines.loggers"]),
    "viewer": ("Animations", ["envcore_viewer"]),
    "bsuite": (
        "bsuite's runner",
        ["envcore_baselines.bsuite.runner", "envcore_baselines.bsuite.agents", "envcore_bsuite.sweep"],
    ),
    "ray": ("Training with Ray Tune", ["envcore_ray"]),
    "adapters": (
        "Adapters",
        [
            "envcore_adapters.gymnasium",
            "envcore_adapters.gymnasium.adapter",
            "envcore_adapters.dm_env",
            "envcore_adapters.brax",
        ],
    ),
    "gymnax": ("The drop-in for gymnax", ["envcore_gymnax.alias"]),
    "random": ("Random numbers", ["envcore.random"]),
    "testing": ("Conformance kit", ["envcore_testing", "envcore_testing.kit", "envcore_testing.lockstep"]),
    "bridges": ("Bridges", ["envcore_bridges", "envcore_bridges.base", "envcore_bridges.libraries"]),
    "plugins": ("Plugins", ["envcore.plugins", "envcore.specs"]),
    "pictures": ("Pictures", ["envcore.painting", "envcore.rendering"]),
    "errors": ("Errors", ["envcore.errors"]),
}


def write_pages(folder: Path) -> None:
    """Writes a page for each entry, and their list."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, modules) in _PAGES.items():
        lines = [f"# {title}", ""]
        for module in modules:
            imported = "\n   :imported-members:" if module in _PACKAGES else ""
            lines += [f"```{{eval-rst}}\n.. automodule:: {module}{imported}\n```", ""]
        (folder / f"{name}.md").write_text("\n".join(lines))
    lines = ["# Algorithms", ""]
    for module, name in _ALGORITHMS.items():
        path = f"envcore_baselines.{module}.{name}"
        lines += [f"## {module}", "", f"```{{eval-rst}}\n.. autoclass:: {path}\n.. autoclass:: {path}Config\n```", ""]
    (folder / "algorithms.md").write_text("\n".join(lines))
    rows = ["# Reference", "", "```{toctree}", *_PAGES, "algorithms", "```", ""]
    (folder / "index.md").write_text("\n".join(rows))


_PACKAGES = (
    "envcore.wrappers",
    "envcore_testing",
    "envcore_bridges.base",
    "envcore_native",
    "envcore_baselines",
    "envcore_viewer",
    "envcore_ray",
    "envcore_adapters.gymnasium",
)
