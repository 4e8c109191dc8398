"""What is written to standard output, in the process of the tests."""

from __future__ import annotations

import pytest
from envcore_cli import output
from rich.progress import TextColumn
from rich.table import Table


def test_text_is_written_as_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    output.write("[red] :smile: " * 4 + "\n\tmore")
    assert capsys.readouterr().out == "[red] :smile: " * 4 + "\n\tmore\n"


def test_a_message_is_not_wrapped_and_its_markup_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    output.say("[red] :smile: " * 4)
    assert capsys.readouterr().out == "[red] :smile: " * 4 + "\n"


def test_a_table_contains_what_was_written_into_it(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("name", box=None, pad_edge=False)
    table.add_row("[red] :smile:")
    output.show(table)
    assert capsys.readouterr().out.split() == ["name", "[red]", ":smile:"]


def test_a_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with output.progress_bar() as usual:
        usual.update(usual.add_task("[red]task", total=2), completed=1)
    assert capsys.readouterr().out.split()[0::2] == ["[red]task", "50%"]
    with output.progress_bar(TextColumn("just {task.description}")) as own:
        own.add_task("this")
    assert capsys.readouterr().out == "just this\n"
    with output.progress_bar(is_shown=False) as hidden:
        hidden.add_task("task")
    assert capsys.readouterr().out == ""
