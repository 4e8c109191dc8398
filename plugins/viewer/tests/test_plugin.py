"""What the viewer announces, and what it imports to do so."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import envcore
import pytest
from envcore_viewer.plugin import envcore_commands


def test_the_installed_viewer_is_announced() -> None:
    (viewer,) = [each for each in envcore.registry.plugins if each.distribution == "envcore-viewer"]
    assert viewer.status == "loaded"
    assert [command.name for command in viewer.specs] == ["render", "play"]
    assert viewer.specs == tuple(envcore_commands())


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import envcore_viewer, envcore_viewer.plugin", {"jax", "numpy", "PIL", "rich", "typer"}),
        ("import envcore_viewer.commands", {"jax", "numpy", "PIL"}),
    ],
)
def test_announcing_and_options_import_nothing_heavy(statement: str, unwanted: set[str]) -> None:
    code = f"import sys; {statement}; print(sorted({unwanted} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_the_visualizer_needs_no_command_line(tmp_path) -> None:
    code = f"""
        import sys
        sys.modules["typer"] = sys.modules["envcore_cli"] = None
        import envcore, jax
        from envcore_viewer import Visualizer
        env, params = envcore.make("CartPole-v1")
        _, state = env.reset(jax.random.key(0), params)
        print(Visualizer(env, params, [state], height=16).animate({str(tmp_path / "a.gif")!r}))
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=False)
    assert done.stdout == f"{tmp_path / 'a.gif'}\n", done.stderr


def test_a_misspelled_name() -> None:
    import envcore_viewer

    assert "Visualizer" in dir(envcore_viewer)
    with pytest.raises(AttributeError, match="module 'envcore_viewer' has no attribute 'Visualiser'"):
        envcore_viewer.Visualiser  # noqa: B018
