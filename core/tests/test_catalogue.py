"""Finding registrations by their ids, and their order; making an environment, with its options, and what is refused."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import toy
from envcore.catalogue import Catalogue, Registration
from envcore.environment import Environment, EnvParams
from envcore.errors import EnvironmentLoadError, InvalidArgumentError
from envcore.registration import Registry
from envcore.specs import EnvSpec
from envcore.spelling import nearest
from fake_site import FakeSite


def announced(*qualified_ids: str) -> list[Registration]:
    pairs = [each.split(":") for each in qualified_ids]
    return [Registration(distribution, EnvSpec(env_id, "toy:Counter")) for distribution, env_id in pairs]


def test_ids_are_found_with_and_without_their_distribution() -> None:
    b_x, a_x, a_y = rows = announced("b:X", "a:X", "a:Y")
    found = Catalogue(rows)
    assert found.find("X") == [a_x, b_x]
    assert found.find("b:X") == found.find("B:X") == [b_x]
    assert found.find("a:Y") == found.find("Y") == [a_y]
    assert [found.find(each) for each in ("x", "b:Y", ":Y", "Y:", "", "a:a:Y")] == [[]] * 6


def test_keys_of_entries_are_unique_and_as_short_as_possible() -> None:
    rows = announced("b:X", "a:X", "b:Y", "a:W")
    found = Catalogue(rows)
    assert list(found.entries) == ["W", "a:X", "b:X", "Y"]
    assert all(found.find(key) == [each] for key, each in found.entries.items())
    assert set(found.ids) == {"W", "X", "Y"}
    assert Catalogue(()).entries == {}


@pytest.mark.parametrize(
    "ids",
    [
        ["A-v0", "a-v1", "B-v0", "b-v0"],
        ["sea/0", "sea/1", "sea/2", "sea/9", "sea/10", "sea/11", "sea/20", "sea/100"],
        ["sea/2/10", "sea/10/2", "sea/10/10", "sea_10/1"],
        ["a", "a01", "a1", "a1b", "a2", "a010", "a10", "a11", "ab"],
        ["a0", "a00", "a000", "a1"],
        ["a7", "a" + 997 * "9", "a1" + 997 * "0", "a1" + 998 * "0"],  # as long as an id can be
    ],
)
def test_order_is_alphabetical_and_numbers_are_ordered_by_value(ids: list[str]) -> None:
    shuffled = random.Random(0).sample(ids, len(ids))
    assert list(Catalogue(announced(*(f"a:{each}" for each in shuffled))).entries) == ids


def cost(work: Callable[[], Any]) -> float:
    """The CPU seconds of the fastest of three calls: whatever else runs on the machine slows some of them."""
    seconds: list[float] = []
    for _ in range(3):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


@pytest.mark.slow
def test_a_hundred_thousand_ids_are_searched_and_sorted_faster_than_they_are_announced() -> None:
    def announce() -> list[Registration]:
        specs = [EnvSpec(f"Zoo{n % 977}-Task{n}-v{n % 5}", "toy:Counter", summary="A task.") for n in range(100_000)]
        return [Registration("good-suite", spec) for spec in specs]

    announced, rows = cost(announce), announce()

    def search() -> None:
        assert nearest("Zoo12-Taks12-v2", Catalogue(rows).ids)[0] == "Zoo12-Task12-v2"

    assert cost(search) < announced  # once it took six times as long, now a third

    def order() -> None:
        assert len(Catalogue(rows).entries) == 100_000

    assert cost(order) < announced

    found = Catalogue(rows)

    def look_up() -> None:
        for _ in range(100):
            assert len(found.entries) == len(found.find("Zoo12-Task12-v2")) * 100_000

    assert cost(look_up) < announced / 100


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
