"""The reference: a page a public module, drawn from its docstrings."""

from __future__ import annotations

from pathlib import Path

_PAGES = {
    "environment": ("The contract", ["envcore.environment"]),
    "spaces": ("Spaces", ["envcore.spaces"]),
    "registration": ("make and the registry", ["envcore.registration", "envcore.catalogue"]),
    "wrappers": ("Wrappers", ["envcore.wrappers"]),
    "rollout": ("Rollouts", ["envcore.rollout"]),
    "runs": ("Long rollouts", ["envcore_runs.run"]),
    "random": ("Random numbers", ["envcore.random"]),
    "testing": ("Conformance kit", ["envcore_testing", "envcore_testing.kit", "envcore_testing.lockstep"]),
    "bridges": ("Bridges", ["envcore_bridges", "envcore_bridges.base", "envcore_bridges.libraries"]),
    "plugins": ("Plugins", ["envcore.plugins", "envcore.specs"]),
    "export": ("Export and program cache", ["envcore_runs.export", "envcore_runs.program_cache"]),
    "pictures": ("Pictures", ["envcore.painting", "envcore.rendering"]),
    "errors": ("Errors", ["envcore.errors"]),
}


def write_pages(folder: Path) -> None:
    """Writes a page for each entry, and their list."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, modules) in _PAGES.items():
        lines = [f"# {title}", ""]
        for module in modules:
            imported = ":imported-members:\n" if module in _PACKAGES else ""
            lines += [f"```{{eval-rst}}\n.. automodule:: {module}\n   {imported and ':imported-members:'}\n```", ""]
        (folder / f"{name}.md").write_text("\n".join(lines))
    rows = ["# Reference", "", "```{toctree}", *_PAGES, "```", ""]
    (folder / "index.md").write_text("\n".join(rows))


_PACKAGES = ("envcore.spaces", "envcore.wrappers", "envcore_testing", "envcore.painting", "envcore_bridges.base")
