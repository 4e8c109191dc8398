"""The command `envcore check`.

`choose` looks the id up before JAX is imported, so an unknown id is reported at once.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

import typer
from envcore_cli import output
from envcore_cli.assignments import choose
from envcore_cli.options import EnvId, Options, Params, Seed
from envcore_runs.choice import Choice

from envcore_testing.errors import ConformanceError


def check(
    env_id: EnvId,
    option: Options = None,
    set_: Params = None,
    except_for: Annotated[
        list[str] | None,
        typer.Option("--except-for", metavar="RULE", help="A rule that the environment may break (repeatable)."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Check an environment against every rule of the contract."""
    check_environment(choose(env_id, option or (), set_ or ()), seed, except_for or ())


def check_environment(choice: Choice, seed: int, except_for: Collection[str] = ()) -> None:
    """Checks the rules and prints each result as soon as it is known, with all problems found.

    Raises:
      ConformanceError: the environment breaks a rule that is not in `except_for`.
      InvalidArgumentError: `except_for` contains an unknown rule.
    """
    from envcore.random import key_of

    from envcore_testing.compilation import compile_quickly
    from envcore_testing.kit import check_rules

    compile_quickly()
    console, key = output.console(), key_of(seed)
    env, params = choice.make()
    broken: list[str] = []
    for result in check_rules(env, params, key=key, except_for=except_for):
        text = result.summary
        if result.error is not None and result.rule in except_for:
            mark = "[yellow]excepted[/]"
        elif result.error is not None:
            mark = "[red]broken[/]"
            broken.append(result.rule)
        elif result.skipped is not None:
            mark, text = "[dim]skipped[/]", result.skipped
        else:
            mark = "[green]ok[/]"
        console.print(mark, result.rule, style="bold", end=" ", markup=True, highlight=False)
        console.print(text, highlight=False)
        if result.error is not None:
            # No wrapping, so that terminals and editors can open locations. The first line is already printed.
            console.print(str(result.error).partition("\n")[2], highlight=False, soft_wrap=True)
    if broken:
        raise ConformanceError(f"{choice.title} breaks {len(broken)} of the rules: {', '.join(broken)}.")
    but = f", except for {', '.join(except_for)}" if except_for else ""
    console.print(f"{choice.title} keeps the contract{but}.")
