"""What is written to standard output, in the process of the tests."""

from __future__ import annotations

import pytest
from envcore_cli import output


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
