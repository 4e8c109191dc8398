"""From an id to an environment: what `make` imports, which options it takes, and what it refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
import toy
from envcore.environment import Environment, EnvParams
from envcore.errors import EnvironmentLoadError, InvalidArgumentError
from envcore.registration import Registry
from fake_site import FakeSite


def local(registry: Registry, entry_point: str, **kwargs: Any) -> None:
    registry.register("X-v0", entry_point, kwargs=kwargs)


@dataclasses.dataclass(frozen=True)
class Grid(Environment[Any, EnvParams]):
    size: int
    walls: Any = ()

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size must be positive, got {self.size}")
        {"few": 1}[self.walls] if isinstance(self.walls, str) else None

    @property
    def default_params(self) -> EnvParams:
        return EnvParams()


@dataclasses.dataclass(frozen=True)
class Tidy(Grid):
    """Converts its argument to a tuple itself."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "walls", tuple(self.walls))


not_a_class = toy.Counter()


def count_to(goal: int, tags: Any = ()) -> toy.Counter:
    """An entry point that is a function."""
    if goal < 1:
        raise ValueError(f"goal must be positive, got {goal}")
    return toy.Counter(goal)


def make_params() -> Any:
    class Params:
        def __repr__(self) -> str:
            return "Params()"

    return Params()


def test_params_are_on_the_device(registry: Registry) -> None:
    """Otherwise each call of a compiled function would transfer them again."""
    local(registry, "toy:Counter")
    env, params = registry.make("X-v0")
    leaves = jax.tree.leaves(params)
    assert leaves
    assert all(isinstance(leaf, jax.Array) for leaf in leaves)
    assert not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(env.default_params))


def test_an_entry_point_may_be_a_function(registry: Registry) -> None:
    local(registry, f"{__name__}:count_to", goal=5)
    assert registry.make("X-v0") == (toy.Counter(goal=5), toy.CounterParams())
    assert registry.make("X-v0", goal=7)[0] == toy.Counter(goal=7)


def count_to_any(**options: Any) -> toy.Counter:
    return toy.Counter(**options)


def test_a_function_may_take_options_that_it_does_not_name(registry: Registry) -> None:
    local(registry, f"{__name__}:count_to_any")
    assert registry.make("X-v0", goal=7)[0] == toy.Counter(goal=7)
    with pytest.raises(InvalidArgumentError, match=r"^X-v0 refuses its options: .*'color'"):
        registry.make("X-v0", color=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": 1}, r"^X-v0 got an unexpected keyword argument 'color'; its options: goal, tags\.$"),
        ({"bonus": 1}, r"'bonus' is a parameter"),
        ({"goal": 0}, r"^X-v0 refuses its options: goal must be positive, got 0$"),
        ({"tags": [1]}, r"^X-v0's option 'tags' must be hashable, .* use a tuple, got \[1\]$"),
    ],
)
def test_wrong_options_of_a_function(registry: Registry, options: dict[str, Any], message: str) -> None:
    local(registry, f"{__name__}:count_to", goal=3)
    with pytest.raises(InvalidArgumentError, match=message):
        registry.make("X-v0", **options)


def test_options_of_make_win_over_the_specs(registry: Registry) -> None:
    local(registry, "toy:Counter", goal=5)
    assert registry.make("X-v0")[0] == toy.Counter(goal=5)
    assert registry.make("X-v0", goal=7)[0] == toy.Counter(goal=7)


def test_unknown_option(registry: Registry) -> None:
    local(registry, "toy:Counter")
    with pytest.raises(
        InvalidArgumentError, match=r"^X-v0 got an unexpected keyword argument 'gaol'; its options: goal\.$"
    ):
        registry.make("X-v0", gaol=3)


def test_an_option_that_is_a_parameter(registry: Registry) -> None:
    local(registry, "toy:Counter")
    with pytest.raises(InvalidArgumentError, match=r"'bonus' is a parameter: params = params\.replace\(bonus=\.\.\.\)"):
        registry.make("X-v0", bonus=1.0)


def test_an_option_that_is_a_parameter_of_an_environment_with_required_options(registry: Registry) -> None:
    local(registry, f"{__name__}:Grid", size=3)
    with pytest.raises(InvalidArgumentError, match="'max_steps_in_episode' is a parameter"):
        registry.make("X-v0", max_steps_in_episode=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": 1}, r"^X-v0 got an unexpected keyword argument 'color'; its options: size, walls\.$"),
        ({}, r"^X-v0 refuses its options: .* missing 1 required positional argument: 'size'$"),
        ({"size": 0}, r"^X-v0 refuses its options: size must be positive, got 0$"),
        ({"size": "3"}, r"^X-v0 refuses its options: '<' not supported"),
        ({"size": 3, "walls": "many"}, r"^X-v0 refuses its options: 'many'$"),
        ({"size": 3, "walls": [1, 2]}, r"^X-v0's option 'walls' must be hashable, .* use a tuple, got \[1, 2\]$"),
        ({"size": 3, "walls": ([1], 2)}, r"option 'walls' must be hashable"),
        ({"size": 3, "walls": np.zeros(2)}, r"option 'walls' must be hashable"),
    ],
)
def test_wrong_options(registry: Registry, options: dict[str, Any], message: str) -> None:
    local(registry, f"{__name__}:Grid")
    with pytest.raises(InvalidArgumentError, match=message):
        registry.make("X-v0", **options)


def test_an_environment_may_make_its_options_hashable(registry: Registry) -> None:
    local(registry, f"{__name__}:Tidy", size=3)
    assert registry.make("X-v0", walls=[1, 2])[0] == Tidy(size=3, walls=(1, 2))


@pytest.mark.parametrize(
    ("entry_point", "reason"),
    [
        ("no_such_module:X", "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("toy:Missing", "cannot be imported: AttributeError: module 'toy' has no attribute 'Missing'"),
        ("broken_module:X", "cannot be imported: OSError: two lines"),
        ("exiting_module:X", "cannot be imported: SystemExit: 3"),
        (f"{__name__}:not_a_class", "is neither a subclass of envcore.Environment nor a function"),
        ("toy:CounterState", "is neither a subclass of envcore.Environment nor a function"),
        (f"{__name__}:make_params", "returns Params() instead of an Environment"),
    ],
)
def test_an_entry_point_that_leads_nowhere(site: FakeSite, registry: Registry, entry_point: str, reason: str) -> None:
    (site.folder / "broken_module.py").write_text("raise OSError('two\\nlines')")
    (site.folder / "exiting_module.py").write_text("raise SystemExit(3)")
    local(registry, entry_point)
    with pytest.raises(EnvironmentLoadError) as caught:
        registry.make("X-v0")
    assert str(caught.value).startswith(f"local:X-v0 points at '{entry_point}', which ")
    assert reason in str(caught.value)
