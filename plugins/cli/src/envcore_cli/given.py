"""What a command was given, as one would type it, so that its processes can see whether they do the same."""

from __future__ import annotations

import typer
from envcore_runs.contents import digest_of_policy

from envcore_cli.assignments import parse_value

_OF_ONE = {"--coordinator", "--process-id", "--connect-timeout", "--cache"}
"""Options that each process may have of its own."""


def given_to(context: typer.Context) -> dict[str, str]:
    """The name of a command, and what was given for each parameter, or is its default.

    The keys are the names, with which a message says what another process was not given.
    """
    return {"command": str(context.info_name), **_parameters(context)}


def _parameters(context: typer.Context) -> dict[str, str]:
    """What was given for each parameter, or is its default."""
    found: dict[str, str] = {}
    for parameter in context.command.params:
        value, name = context.params.get(parameter.name or ""), parameter.opts[0]
        if _OF_ONE.intersection(parameter.opts) or value is None or value is False:
            continue
        texts = [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]
        shown = "" if parameter.param_type_name == "argument" else f"{name} "
        if value is True:
            found[name] = name
        elif isinstance(value, list | tuple) and all("=" in text for text in texts):
            pairs = ([part.strip() for part in text.split("=", 1)] for text in texts)
            found |= {f"{name} {key}": f"{shown}{key}={_canonical(text)}" for key, text in pairs}
        else:
            found[name] = shown + " ".join(texts)
        if name == "--policy" and (digest := digest_of_policy(str(value))):
            found["file of --policy"] = f"{name} {value} from a file with SHA-256 {digest}"
    return found


def _canonical(text: str) -> str:
    """The text of a value, however it was spelled."""
    try:
        return repr(parse_value(text))  # of a text too: '1' is not 1
    except OverflowError:
        return text
