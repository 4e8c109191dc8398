"""Ctrl-C through a pseudo-terminal, at chosen places and, marked slow, at many moments of whole commands.

SIGTERM and SIGHUP take the same way; what differs is tested with pipes.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from textwrap import dedent

import pytest
from ctrl_c import SOON, envcore, interrupt, interrupt_at_any_moment
from terminal import Terminal

INSTALL = "from envcore_runs import interrupt\ninterrupt.install()\n"
# Native code that ignores signals, like XLA's compiler. `at_once` leaves no bytecode between its calls at which Ctrl-C
# could raise; `print` checks for signals after it has written.
NATIVE = """
import os
from functools import partial
from hashlib import pbkdf2_hmac
from operator import call
native = partial(pbkdf2_hmac, "sha256", b"", b"", 2**31 - 1)
ready = partial(os.write, 1, b"ready\\n")
at_once = lambda *calls: list(map(call, calls))
"""
ALTERNATE_SCREEN = 1049 << 5  # in pyte's numbering


def program(body: str) -> Terminal:
    return Terminal(INSTALL + NATIVE + dedent(body))


@pytest.mark.parametrize(
    "body",
    [
        "native()",
        """
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
        """,
        "import time; time.sleep(100)",
        "input()",
        "import threading; threading.Thread(target=native).start()",  # Python waits for it at exit
        "import atexit, time; atexit.register(time.sleep, 100)",
    ],
    ids=["native", "swallows", "sleeps", "reads", "thread", "atexit"],
)
def test_outside_interruptible_it_ends_the_process_at_once(body):
    with program(f"print('ready')\n{dedent(body)}") as terminal:
        terminal.wait_for("ready")
        assert interrupt(terminal) < SOON


def test_before_anything_is_installed_it_is_one_line_too():
    slow = """
        class Slow:
            def find_spec(self, name, path=None, target=None):
                if name == "envcore_runs.interrupt":
                    print("importing", flush=True)
                    while True: pass
        sys.meta_path.insert(0, Slow())
        main()
    """
    with Terminal("import sys\nfrom envcore_cli import main\n" + dedent(slow)) as terminal:
        terminal.wait_for("importing")
        interrupt(terminal)


LOOP = """
done = 0
try:
    with interrupt.interruptible():
        while True:
            done += 1
            {}
except KeyboardInterrupt:
    print(f"collected {{done > 0}}")
    {}
    interrupt.end()
"""


def test_interruptible_code_reports():
    with program(LOOP.format("done > 1 or ready()", "pass")) as terminal:
        terminal.wait_for("ready")
        assert interrupt(terminal) < SOON
        assert "collected True" in terminal.text


def test_an_interrupt_that_a_destructor_swallows_is_raised_again():
    class_ = """
        class Swallows:
            first = True
            def __del__(self):
                if Swallows.first:
                    print('inside')
                    while True: pass
        import signal
        original = interrupt._handle
        def handle(*args):
            first, Swallows.first = Swallows.first, False
            original(*args)
        signal.signal(signal.SIGINT, handle)
    """
    with program(dedent(class_) + LOOP.format("Swallows()", "pass")) as terminal:
        terminal.wait_for("inside")
        assert interrupt(terminal) < SOON
        assert "collected True" in terminal.text


@pytest.mark.slow
def test_interruptible_code_that_does_not_return_to_python_is_ended():
    with program(LOOP.format("at_once(ready, native)", "pass")) as terminal:
        terminal.wait_for("ready")
        assert 1 < interrupt(terminal) < SOON
        assert "collected" not in terminal.text


@pytest.mark.slow
def test_a_report_that_takes_too_long_is_ended():
    with program(LOOP.format("done > 1 or ready()", "native()")) as terminal:
        terminal.wait_for("ready")
        assert 1 < interrupt(terminal) < SOON
        assert "collected" in terminal.text


@pytest.mark.parametrize(
    ("listens", "reports"), [("at_once(ready, native)", "pass"), ("done > 1 or ready()", "native()")]
)
def test_a_second_one_ends_at_once(listens, reports):
    with program("interrupt._GRACE = 100\n" + LOOP.format(listens, reports)) as terminal:
        terminal.wait_for("ready")
        terminal.press(b"\x03")
        time.sleep(0.2)  # a signal that is still pending absorbs the next one
        assert interrupt(terminal) < SOON


def test_the_terminal_is_restored():
    with program("""
        import tty
        tty.setcbreak(0)
        with interrupt.alternate_screen():
            print("\\x1b[?1049h\\x1b[?25lready", end="", flush=True)
            native()
    """) as terminal:
        terminal.wait_for("ready")
        assert not terminal.echoes
        assert terminal.screen.cursor.hidden
        assert ALTERNATE_SCREEN in terminal.screen.mode
        interrupt(terminal)
        assert ALTERNATE_SCREEN not in terminal.screen.mode
        assert "ready" not in terminal.text  # the message has its own line


def test_a_dumb_terminal_gets_no_escape_codes(monkeypatch):
    monkeypatch.setattr("terminal.TERM", "dumb")
    with program("print('half a line', end='', flush=True); native()") as terminal:
        terminal.wait_for("half a line")
        interrupt(terminal)
        assert "half a line" in terminal.text


def piped(body: str, **pipes: int) -> subprocess.Popen[bytes]:
    # In the background of a shell SIGINT is ignored, after nohup SIGHUP, and both would stay so in the child.
    heed = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    heed += "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    command = [sys.executable, "-c", heed + INSTALL + NATIVE + dedent(body)]
    # Without a buffer, because `communicate` would not see what `readline` has put there.
    return subprocess.Popen(command, bufsize=0, **pipes)  # pyright: ignore


def test_buffered_output_is_written():
    with piped(
        "import os; print('unfinished', end=''); os.write(2, b'ready'); native()",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.read(5) == b"ready"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"unfinished", b"interrupted\n")


def test_a_pipe_that_nobody_reads_does_not_block_the_end():
    with piped(
        """
        import os
        os.set_blocking(2, False)
        try:
            while True: os.write(2, b"x" * 65536)
        except BlockingIOError:
            os.set_blocking(2, True)
        print("ready", flush=True)
        native()
        """,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130


ENDS = {
    signal.SIGINT: (130, "interrupted\n"),
    signal.SIGTERM: (143, "terminated\n"),
    signal.SIGHUP: (129, "hung up\n"),
}


def end_by(body: str, *signals: signal.Signals) -> tuple[int, str, str]:
    """Status, output and errors of a program that gets signals at its line "ready", half a second apart."""
    pipe = subprocess.PIPE
    with piped(body, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            for number, each in enumerate(signals):
                time.sleep(0.5 * bool(number))
                process.send_signal(each)
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("signum", ENDS)
def test_each_signal_has_its_status_and_its_line(signum):
    status, line = ENDS[signum]
    assert end_by("at_once(ready, native)", signum) == (status, "", line)
    assert end_by(LOOP.format("done > 1 or ready()", "pass"), signum) == (status, "collected True\n", line)


def test_code_that_closes_low_descriptors_leaves_the_handling():
    body = "import os; os.closerange(3, 200); at_once(ready, native)"
    assert end_by(body, signal.SIGTERM) == (143, "", "terminated\n")


@pytest.mark.parametrize(("signum", "saved"), [(signal.SIGTERM, "saved\n"), (signal.SIGINT, "")])
def test_a_scheduler_leaves_more_time_than_ctrl_c(signum, saved):
    report = "import time; time.sleep(2.5); print('saved')"
    found = end_by(LOOP.format("done > 1 or ready()", report), signum)
    assert found == (ENDS[signum][0], f"collected True\n{saved}", ENDS[signum][1])


@pytest.mark.parametrize("second", ENDS)
def test_another_signal_ends_at_once_with_the_status_of_the_first(second):
    found = end_by(LOOP.format("done > 1 or ready()", "native()"), signal.SIGTERM, second)
    assert found == (143, "collected True\n", "terminated\n")


def test_a_signal_that_is_sent_to_the_process_and_to_its_group_is_one():
    kill = "import ctypes; kill = partial(ctypes.CDLL(None).kill, os.getpid(), 15)"  # Python's could raise in between
    loop = LOOP.format("at_once(ready, kill, kill)", "import time; time.sleep(0.5); print('saved')")
    assert end_by(kill + loop)[1] == "collected True\nsaved\n"


@pytest.mark.parametrize("signum", ENDS)
def test_where_it_is_ignored_it_stays_ignored(signum):
    body = f"import os, time; os.kill(os.getpid(), {signum:d}); time.sleep(0.5); print('went on')"
    code = f"import signal\nsignal.signal({signum:d}, signal.SIG_IGN)\n{INSTALL}{body}"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "went on\n"


def test_a_terminal_that_is_gone_does_not_keep_a_command_from_saving(tmp_path):
    body = f"print('saved'); open({str(tmp_path / 'saved')!r}, 'w').close()"
    with program(LOOP.format("done > 1 or ready()", body)) as terminal:
        terminal.wait_for("ready")
        terminal.hang_up()
        assert terminal.program.wait(timeout=30) == 129
    assert (tmp_path / "saved").exists()


SHARED = """
done = 0
try:
    with interrupt.interruptible(is_shared=True):
        while done < 3:
            done += 1
            {}
        {}
except KeyboardInterrupt:
    print(f"collected {{done}}")
    interrupt.end()
"""


def test_what_several_processes_share_stops_where_they_agree():
    chunk = "ready() if done == 1 else time.sleep(0.5)"
    found = end_by("import time" + SHARED.format(chunk, "interrupt.agree(interrupt.noted())"), signal.SIGTERM)
    assert found == (143, "collected 3\n", "terminated\n")


def test_the_signal_of_another_process_ends_this_one_whose_own_comes_later():
    loop = LOOP.replace("interruptible()", "interruptible(is_shared=True)")
    body = "import time" + loop.format("ready(); interrupt.agree(15)", "time.sleep(0.5); print('saved')")
    assert end_by(body, signal.SIGTERM) == (143, "collected True\nsaved\n", "terminated\n")


def test_processes_that_do_not_come_to_agree_are_ended():
    body = "interrupt._LONG_GRACE = 0.5" + SHARED.format("at_once(ready, native)", "pass")
    assert end_by(body, signal.SIGTERM) == (143, "", "terminated\n")


def test_what_a_library_does_with_the_signals_can_be_undone():
    body = """
        import signal
        with interrupt.kept():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        at_once(ready, native)
    """
    assert end_by(body, signal.SIGTERM) == (143, "", "terminated\n")


@pytest.mark.slow
def test_a_rollout_reports_its_results_so_far():
    with envcore("rollout", "Counter-v0", "--num-envs", "16384", "--steps", "100000000") as terminal:
        terminal.wait_for("━")
        time.sleep(0.5)
        assert interrupt(terminal) < SOON
        assert "in parallel" in terminal.text
        assert "of each environment" in terminal.text


COMMANDS = {
    "rollout": (("--steps", "1000", "--gif", "{tmp}/a.gif"), 6),
    "info": ((), 3),
    "list": ((), 3),
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_at_any_moment(command, tmp_path):
    options, moments = COMMANDS[command]
    args = (command, *(() if command == "list" else ("Counter-v0",)), *options)
    interrupt_at_any_moment(args, moments, tmp_path)
