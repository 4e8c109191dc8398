"""The pages of the environments, one each, drawn from their docstrings, spaces and params."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, get_type_hints

import curves
import docstrings
import envcore
import fidelity
import history
import jax
import numpy as np
import playable
import rewards
import tables
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.registration import Registration
from envcore_baselines.trained import AboutAgent, names, path_of
from envcore_runs import checkpoint
from suites import SUITES, our_environments, without_downloads

_TEXTS = ("Observation", "Action", "Reward", "Termination", "Truncation")
_LICENCES = {"Gymnasium": "MIT", "bsuite": "Apache-2.0", "MinAtar": "GPL-3.0"}
_DATA = Path(__file__).with_name("data")
_BASELINES = "https://github.com/envcore/envcore/tree/main/plugins/baselines#returns"


def write_pages(folder: Path, modules: Path) -> None:
    """Writes a page for each environment and each suite, and one of all, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    returns = json.loads((_DATA / "returns.json").read_text())
    found: dict[str, list[Registration]] = {name: [] for name in SUITES}
    for each in our_environments():
        found[each.distribution].append(each)
    lines = ["# Environments", "", "A page for each, with its rules, its params and the returns of trained agents.", ""]
    for distribution, title in SUITES.items():
        for each in found[distribution]:
            with without_downloads(each.spec.id):
                page = _page(each, returns.get(each.spec.id), modules)
            (folder / f"{each.spec.id}.md").write_text(page)
        cards, ids = _cards(found[distribution]), [each.spec.id for each in found[distribution]]
        suite = [f"# {title}", "", f"The environments of `{distribution}`.", "", *cards]
        suite += ["```{toctree}", ":hidden:", "", *ids, "```", ""]
        (folder / f"{distribution}.md").write_text("\n".join(suite))
        lines += [f"## {title}", "", *cards]
    (folder / "index.md").write_text("\n".join([*lines, *_families()]))


def _cards(found: list[Registration]) -> list[str]:
    """A card for each environment, with its picture."""
    lines = ["::::{grid} 1 2 3 3", ":gutter: 2", ""]
    for each in found:
        lines += [f":::{{grid-item-card}} {each.spec.id}", f":link: {each.spec.id}", ":link-type: doc"]
        lines += [f":img-top: ../pictures/{each.spec.id}.webp", f":img-alt: {each.spec.id} is played", ""]
        lines += [each.spec.summary, ":::"]
    return [*lines, "::::", ""]


def _page(found: Registration, returns: Any, modules: Path) -> str:
    spec = found.spec
    said = json.dumps(spec.summary)  # by search engines, and programs that show a link
    lines = ["---", f"og:description: {said}", "myst:", "  html_meta:", f"    description: {said}", "---"]
    lines += [f"# {spec.id}", "", spec.summary, ""]
    lines += playable.lines(spec.id, "..", modules)
    lines += ["```python", "import envcore", "", f'env, params = envcore.make("{spec.id}")', "```", ""]
    env: Any
    params: Any
    env, params = envcore.make(spec.id)
    lines += _facts(found, env, params)
    cls = type(env.unwrapped)
    parts = docstrings.sections(cls.__doc__ or "")
    rules = docstrings.markdown(parts.pop("")).removeprefix(f"{spec.id}: ")
    notes = docstrings.markdown(parts.pop(docstrings.NOTES, ""))
    rules = (rules[0].upper() + rules[1:]).removeprefix(spec.summary).lstrip()
    lines += ["## Rules", "", *([rules, ""] if rules else [])]
    for title in _TEXTS:
        if title in parts:
            lines += [f"{title}\n: {_indented(_with_tables(title, parts[title], env, params))}", ""]
    for skipped in ("Attributes", "Raises", *_TEXTS):
        parts.pop(skipped, None)
    original, deviations = parts.pop("Original", ""), parts.pop("Deviations", "")
    for title, text in parts.items():
        lines += [f"{title}\n: {_indented(docstrings.markdown(text))}", ""]
    lines += [notes, ""] if notes else []
    options = {field.name: getattr(env, field.name) for field in dataclasses.fields(env) if field.name[0] != "_"}
    lines += _table("Options", "option", _meanings(cls), options)
    defaults = {field.name: getattr(params, field.name) for field in dataclasses.fields(params)}
    lines += _table("Params", "param", _meanings(type(params)), defaults)
    lines += _learning(spec.id, returns)
    lines += ["## Original", "", docstrings.markdown(original or spec.source), ""]
    lines += ["Deviations\n: " + _indented(docstrings.markdown(deviations or "none")), ""]
    compared = fidelity.sentence(spec.id)
    if compared:
        lines += [f"Compared\n: {compared} ([fidelity](../about/fidelity.md))", ""]
    lines += history.section(found)
    return "\n".join(lines)


def _with_tables(title: str, text: str, env: Any, params: Any) -> str:
    """A part of the rules as Markdown, its numbered lists as tables; that of an observation has the range of each row.

    Channels of MinAtar have their names in the original instead.
    """
    space = env.observation_space(params)
    is_picture = len(space.shape) == 3
    lines: list[str] = []
    is_first = True  # further lists are about other options
    for part in tables.split(text):
        if isinstance(part, str):
            lines += [docstrings.markdown(part), ""]
            continue
        rows = [(numbers, docstrings.markdown(meaning)) for numbers, meaning in part]
        heads, columns = ["action", "what it does"], []
        if title == "Observation":
            heads = ["channel" if is_picture else "element", "what it shows"]
            names, ranges = getattr(env, "channels", ()), tables.ranges(part, space)
            if names:
                heads, columns = [*heads, "name in the original"], [[f"`{name}`" for name in names]]
            elif ranges and is_first:
                heads, columns = [*heads, "range"], [ranges]
        lines += [*tables.markdown(rows, heads, *columns), ""]
        is_first = False
    return "\n".join(lines).strip()


def _facts(found: Registration, env: Any, params: Any) -> list[str]:
    limit = int(params.max_steps_in_episode)
    rows = {
        "distribution": f"`{found.distribution}`",
        "observation": _space(env.observation_space(params)),
        "action": _space(env.action_space(params)),
        "time limit": "none"
        if limit == NO_TIME_LIMIT
        else f"{limit:,} steps" + (", a termination as in the original" if env.time_limit_terminates else ""),
        "gradients": "of `step` with respect to state, action and params" if env.differentiable else "no",
    }
    rows["reward"] = rewards.sentence(found.spec.id)
    rows["since"] = history.last_change(found)
    licence = next((text for name, text in _LICENCES.items() if found.spec.source.startswith(name)), None)
    if licence:
        rows["licence of the original"] = f"{licence} ([originals](../about/licences.md))"
    return ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in rows.items()), ""]


def _learning(env_id: str, returns: Any) -> list[str]:
    """The returns of trained agents, and how they learned."""
    if returns is None:
        return []
    command = f"envcore train {returns['algorithm']} {env_id}"
    text = (
        f"**{returns['return']}**, by `{returns['algorithm']}` of [envcore-baselines]({_BASELINES}) after "
        f"{returns['steps']}: mean and standard deviation over five agents on one machine, each of which plays 200 "
        "episodes with its most probable actions."
    )
    if env_id in names():
        best = checkpoint.load(path_of(env_id), AboutAgent)[1].returns["mean_return"]
        text += f' `envcore_baselines.load("{env_id}")` is the best known agent. Its mean return is {best:.4g}.'
    text += fidelity.return_in_the_original(env_id)
    return [
        "## Learning results",
        "",
        text,
        "",
        *curves.section(env_id, command, returns["return"], returns.get("peers", {})),
    ]


def _space(space: spaces.Space) -> str:
    match space:
        case spaces.Discrete():
            return f"`Discrete({space.n})`"
        case spaces.Box():
            low, high = (np.unique(np.asarray(bound)) for bound in (space.low, space.high))
            has_bounds = low.size == high.size == 1 and space.dtype != bool
            bounds = f", {low[0]:g} to {high[0]:g}" if has_bounds else ""
            return f"{space.dtype.name} {space.shape}{bounds}"
        case _:
            return f"`{space!r}`"


def _meanings(cls: type) -> dict[str, str]:
    """What the annotations and the docstrings of a class and its bases say about its fields."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        found |= docstrings.attributes(each.__doc__)
    types = {name: docstrings.notation(hint) for name, hint in get_type_hints(cls, include_extras=True).items()}
    return {name: f"{types[name]}, {text}" if types.get(name) else text for name, text in found.items()}


def _table(title: str, head: str, texts: dict[str, str], values: dict[str, Any]) -> list[str]:
    if not values:
        return []
    rows = [
        f"| `{name}` | {_value(value)} | {texts.get(name, '').replace('|', '/')} |" for name, value in values.items()
    ]
    return [f"## {title}", "", f"| {head} | default | meaning |", "|---|---|---|", *rows, ""]


def _value(value: Any) -> str:
    if not isinstance(value, jax.Array | np.ndarray):
        return f"`{value!r}`"
    array = np.asarray(value)
    if array.size > 8:
        return f"{array.dtype} {array.shape}"
    plain = (array.astype(str).astype(float) if array.dtype.kind == "f" else array).tolist()
    return "none" if plain == NO_TIME_LIMIT else f"`{plain}`"


def _families() -> list[str]:
    """The families of our suites and of other libraries, a line each."""
    families: dict[str, list[Registration]] = {}
    for each in envcore.registry.values():
        if each.spec.family:
            families.setdefault(each.spec.family, []).append(each)
    rows = [
        f"| `{family}/...` | {len(members)} | `{members[0].distribution}` | {members[0].spec.source} |"
        for family, members in sorted(families.items())
    ]
    return ["## Families", "", "| ids | environments | distribution | source |", "|---|---|---|---|", *rows, ""]


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
