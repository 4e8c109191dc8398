"""`envcore gallery`."""

from __future__ import annotations

import dataclasses
import html
import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import jax
from envcore import random
from envcore.errors import EnvcoreError
from envcore.files import replace
from envcore.painting import BLUE, INK, PAPER, SHADE
from envcore.random import key_of
from envcore.registration import Registration
from envcore.suggestions import how_to_install
from envcore_cli.catalogue import by_family
from envcore_cli.describe import describe
from envcore_cli.output import progress_bar, say
from envcore_runs import memory
from envcore_runs.choice import Choice
from envcore_runs.errors import NotEnoughMemoryError
from envcore_runs.policies import find_player
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from envcore_viewer.animation import save_animation
from envcore_viewer.errors import AnimationError, GalleryError
from envcore_viewer.recording import recorded_bytes, resampled, steps_in, visualizer

_SECONDS = 6
_FASTEST = 25  # frames per second in the files
_STAGES = 3  # of an environment: made, rendered, written
_PAGE, _PICTURES = "index.html", "pictures"


@dataclasses.dataclass(frozen=True)
class _Card:
    """The part of the page about one environment, or about a family by its first member."""

    title: str
    found: Registration
    facts: dict[str, str]
    picture: str  # its path in the folder; empty if there is none
    problem: str  # why there is no picture or no environment


def gallery(choices: Sequence[Choice], out: str | Path, height: int, seed: int) -> None:
    """Writes a folder with one page that shows environments: an animation, the spaces, options and params of each.

    Args:
      choices: the environments to show; if empty, all installed ones and the first of each family.
      out: the folder; it is created if necessary, and existing files in it are replaced.
      height: the height of a picture, in pixels.
      seed: the seed of the random key.

    Raises:
      EnvcoreError: the folder cannot be written to, or the height or seed is invalid.
    """
    key, out = key_of(seed), Path(out)
    if height < 1:
        raise GalleryError(f"--height must be at least 1, got {height}.")
    chosen = list(choices) or _installed()
    if not chosen:
        raise GalleryError(f"no environments are installed: {how_to_install('envcore[all]')}.")
    if (out / _PAGE).is_dir():
        raise GalleryError(f"cannot write {out / _PAGE}: it is a folder; choose another place.")
    try:
        (out / _PICTURES).mkdir(parents=True, exist_ok=True)
        cards = _cards(chosen, out, height, random.split(key, len(chosen)))
    except OSError as error:
        raise GalleryError(f"cannot write into {out}: {error.strerror or error}; choose another folder.") from error
    for problem in dict.fromkeys(card.problem for card in cards if card.problem):
        titles = ", ".join(card.title for card in cards if card.problem == problem)
        say(f"{titles}: {problem}", style="yellow")
    say(f"{out / _PAGE} shows {_environments(cards)}.")


def _installed() -> list[Choice]:
    families = by_family()
    alone = [Choice(env_id, found) for env_id, found in families.pop("").items()]
    firsts = [(f"{name}/... ({len(members)})", next(iter(members.values()))) for name, members in families.items()]
    return alone + [Choice(title, found) for title, found in firsts]


def _cards(chosen: Sequence[Choice], out: Path, height: int, keys: jax.Array) -> list[_Card]:
    """Makes the cards of all environments, one thread per core: compiling, rendering and encoding release the GIL.

    The page is written anew with every card, so that it can be looked at before the last one is made.
    """
    made: dict[int, _Card] = {}
    writing = threading.Lock()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    pool = ThreadPoolExecutor(_cores())
    with progress_bar(*columns) as progress:
        everything = progress.add_task("all", total=len(chosen))

        def make(number: int) -> None:
            choice = chosen[number]
            task = progress.add_task(choice.title, total=_STAGES)
            try:
                card = _card(choice, out, height, keys[number], lambda: progress.advance(task))
            finally:
                progress.remove_task(task)
            with writing:
                made[number] = card
                cards = [made[each] for each in sorted(made)]
                replace(out / _PAGE, _page(cards).encode())
                progress.advance(everything)
                if not progress.console.is_terminal:  # a log has no bar
                    say(f"{len(made)} of {len(chosen)}: {card.title}")

        try:
            for job in as_completed([pool.submit(make, number) for number in range(len(chosen))]):
                job.result()
            return [made[number] for number in range(len(chosen))]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # after an error or Ctrl-C, no new work starts


def _cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _card(choice: Choice, out: Path, height: int, key: jax.Array, advance: Callable[[], None]) -> _Card:
    """Makes an environment and its picture; errors are shown on its card, so that the others are still made.

    Args:
      advance: called after each of the `_STAGES`: made, rendered, written.
    """
    found = choice.found
    picture = f"{_PICTURES}/{re.sub(r'[^A-Za-z0-9.-]+', '_', found.qualified_name)}.webp"
    facts: dict[str, str] = {}
    try:
        env, params = choice.make()
        facts = describe(env, params)
        steps = steps_in(_SECONDS, env)
        memory.check_total(
            "--height", height, steps * _cores() * recorded_bytes(env, params, height), memory.host_bytes()
        )
        advance()
        player = find_player("random", found.spec.id, env, params)
        with memory.explained("--height", height):
            frames = visualizer(env, params, player, key, num_steps=steps, height=height).frames
        advance()
    except Exception as error:  # a plugin may raise anything
        is_changed = choice.options or choice.params
        if isinstance(error, NotEnoughMemoryError) or (isinstance(error, EnvcoreError) and is_changed):
            raise  # the user's arguments are at fault
        problem = str(error) if isinstance(error, EnvcoreError) else f"{type(error).__name__}: {error}"
        return _Card(choice.title, found, facts, "", problem)
    fps = min(env.render_fps, _FASTEST)
    try:
        save_animation(out / picture, resampled(frames, env.render_fps, fps), fps)
        advance()
    except AnimationError as error:
        if isinstance(error.__cause__, OSError):  # the folder is at fault
            raise
        return _Card(choice.title, found, facts, "", str(error))
    return _Card(choice.title, found, facts, picture, "")


def _environments(cards: list[_Card]) -> str:
    return f"{len(cards)} environment{'s' * (len(cards) != 1)}"


# The page.

_COLORS = f"--ink: rgb{INK}; --paper: rgb{PAPER}; --shade: rgb{SHADE}; --blue: rgb{BLUE};"
_STYLE = """
:root { color-scheme: light; COLORS }
* { box-sizing: border-box; }
body { margin: 0; background: white; color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 1280px; margin: auto; padding: 24px; }
h1 { font-size: 28px; margin: 0; } h2 { font-size: 20px; margin: 32px 0 12px; }
nav a { margin-right: 16px; color: var(--blue); }
section { display: grid; gap: 20px; align-items: start; grid-template-columns: repeat(auto-fill, minmax(280px, 1fr)); }
article { border: 1px solid var(--shade); border-radius: 8px; overflow: hidden; }
figure { margin: 0; height: 200px; background: var(--paper); display: grid; place-items: center; }
figure img { max-width: 100%; max-height: 200px; display: block; }
figure p { margin: 16px; color: #8a3431; font-size: 13px; overflow-wrap: anywhere; }
.text { padding: 12px 16px 16px; }
h3 { margin: 0; font-size: 16px; overflow-wrap: anywhere; } .text > p { margin: 4px 0 8px; }
dl { margin: 0; display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; font-size: 13px; }
details { margin-top: 8px; } summary { color: #6b7280; font-size: 13px; cursor: pointer; }
dt { color: #6b7280; } dd { margin: 0; font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
""".replace("COLORS", _COLORS)


def _page(cards: list[_Card]) -> str:
    names = list(dict.fromkeys(card.found.distribution for card in cards))
    links = "\n".join(f'<a href="#{html.escape(name)}">{html.escape(name)}</a>' for name in names)
    suites = "\n".join(
        f'<h2 id="{html.escape(name)}">{html.escape(name)}</h2>\n<section>\n'
        + "\n".join(_article(card) for card in cards if card.found.distribution == name)
        + "\n</section>"
        for name in names
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>envcore gallery</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>envcore gallery</h1>
<p>{_environments(cards)}, played at random.</p>
<nav>
{links}
</nav>
</header>
<main>
{suites}
</main>
</body>
</html>
"""


def _article(card: _Card) -> str:
    title, summary = html.escape(card.title), html.escape(card.found.spec.summary)
    spaces, rest = (_list(card.facts, names) for names in (("observation", "action"), ("options", "params")))
    picture = (
        f'<img src="{html.escape(card.picture)}" alt="{title}: {summary}" loading="lazy">'
        if card.picture
        else f"<p>{html.escape(card.problem)}</p>"
    )
    return f"""<article id="{html.escape(card.found.qualified_name)}">
<figure>{picture}</figure>
<div class="text">
<h3>{title}</h3>
<p>{summary}</p>
{spaces}
<details><summary>options and params</summary>
{rest}
</details>
</div>
</article>"""


def _list(facts: dict[str, str], names: Iterable[str]) -> str:
    items = (f"<dt>{name}</dt><dd>{html.escape(facts[name])}</dd>" for name in names if name in facts)
    return "<dl>\n" + "\n".join(items) + "\n</dl>"
