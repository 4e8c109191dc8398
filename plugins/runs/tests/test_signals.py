from __future__ import annotations

import os
import signal
import time

import pytest
from envcore_runs import signals


def send(signum: int) -> None:
    os.kill(os.getpid(), signum)
    time.sleep(0.01)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_a_second_one_acts(signum: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signum)
    with signals.noted() as found:
        assert found() == 0
        send(signum)
        send(signum)  # an echo
        assert found() == signum
        monkeypatch.setattr(signals, "_ECHO", 0.0)
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)
        with pytest.raises(SystemExit) as leaving:
            send(signal.SIGTERM)
        assert leaving.value.code == 143
    assert signal.getsignal(signum) == before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals.noted() as found:
            send(signal.SIGINT)
            assert found() == 0
    finally:
        signal.signal(signal.SIGINT, before)
