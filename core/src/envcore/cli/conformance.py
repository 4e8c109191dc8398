"""`envcore check`."""

from __future__ import annotations

from rich.console import Console

from envcore import testing
from envcore.cli.choice import Choice
from envcore.cli.options import key_of
from envcore.errors import ConformanceError
from envcore.text import printable


def check_environment(choice: Choice, seed: int) -> None:
    """Prints one line a rule as soon as it is checked.

    Raises:
      ConformanceError: the environment breaks a rule.
    """
    console, key = Console(), key_of(seed)
    env, params = choice.make()
    broken: list[str] = []
    for result in testing.check_rules(env, params, key=key):
        if result.error is not None:
            mark, text = "[red]broken[/]", str(result.error)
            broken.append(result.rule)
        elif result.skipped is not None:
            mark, text = "[dim]skipped[/]", result.skipped
        else:
            mark, text = "[green]ok[/]", " ".join(result.summary.split())
        console.print(mark, result.rule, style="bold", end=" ", highlight=False)
        console.print(printable(text, multiline=True), markup=False, highlight=False)
    if broken:
        raise ConformanceError(f"{choice.title} breaks {len(broken)} of the rules: {', '.join(broken)}.")
    console.print(f"{choice.title} keeps the contract.", markup=False)
