"""Plugins that hang, end the process, print, or change the process while they are imported."""

from __future__ import annotations

import importlib
import itertools
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from textwrap import dedent

import pytest
from envcore import plugins, watching
from envcore.errors import EnvironmentLoadError, PluginError, PluginWarning
from envcore.plugins import PluginRecord, discover, import_entry_point, problems
from envcore.registration import Registry
from fake_site import FakeSite, announcing, commands, hook

ROWS = announcing("A-v0")
PROGRAM = """
import sys
from envcore import plugins, watching
watching._PATIENCE = float(sys.argv[2])
sys.path[:] = [sys.argv[1], *(each for each in sys.path if "site-packages" not in each)]
print([(each.status, each.side_effects) for each in plugins.discover()])
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSite:
    return FakeSite(tmp_path, monkeypatch)


def started(site: FakeSite, patience: float = 1e6, **variables: str) -> subprocess.Popen[str]:
    """A process that discovers what is in the folder, and prints it."""
    command = [sys.executable, "-c", PROGRAM, str(site.folder), str(patience)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env={**os.environ, **variables})


def found(site: FakeSite, code: str) -> PluginRecord:
    """The record of a plugin with this code."""
    site.add("my-suite", dedent(code) + ROWS)
    (record,) = discover()
    return record


def add_module(site: FakeSite, monkeypatch: pytest.MonkeyPatch, code: str) -> str:
    """Adds a module of an environment, `Slow`, and returns its entry point."""
    (site.folder / "slow_module.py").write_text(dedent(code) + "\nSlow = None\n")
    monkeypatch.delitem(sys.modules, "slow_module", raising=False)
    importlib.invalidate_caches()
    return "slow_module:Slow"


# One that does not come back is named.


@pytest.mark.parametrize("code", ["import time; time.sleep(600)", "while True: pass", hook("while True: pass")])
def test_one_that_hangs_is_named(site: FakeSite, code: str) -> None:
    site.add_suite("good-suite", "A-v0")
    site.add("hanging-suite", code)
    with started(site, patience=0.2) as process:
        assert process.stderr is not None
        late = threading.Timer(60, process.kill)
        late.start()
        line = process.stderr.readline()
        late.cancel()
        process.kill()
    assert line == (
        "envcore: plugin hanging-suite is still being imported after 0.2 s; "
        "ENVCORE_DISABLE_PLUGINS=hanging-suite leaves it out\n"
    )


IMPORTING = """
import sys
from envcore import plugins, watching
from envcore.errors import EnvironmentLoadError
watching._LONG_PATIENCE = 0.2
sys.path.insert(0, sys.argv[1])
plugins.import_entry_point("slow_module:Slow", "Slow-v0 points there", EnvironmentLoadError)
"""


def test_a_module_of_an_environment_that_hangs_is_named(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    add_module(site, monkeypatch, "import time; print('\\x1b[2Jhello', flush=True); time.sleep(600)")
    command = [sys.executable, "-c", IMPORTING, str(site.folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        late = threading.Timer(60, process.kill)
        late.start()
        lines = [process.stderr.readline(), process.stderr.readline()]
        late.cancel()
        process.kill()
    assert lines == [
        "slow_module:Slow: \\x1b[2Jhello\n",
        "envcore: slow_module:Slow is still being imported after 0.2 s\n",
    ]


def test_one_that_is_quick_costs_no_line_and_leaves_no_thread(
    site: FakeSite, capsys: pytest.CaptureFixture[str]
) -> None:
    before = threading.enumerate()
    assert found(site, "").status == "loaded"
    assert set(threading.enumerate()) <= set(before)
    assert capsys.readouterr() == ("", "")


def test_one_that_ends_the_process_is_named_before(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    site.add("leaving-suite", "import os; os._exit(7)")
    with started(site, ENVCORE_TRACE_PLUGINS="1") as process:
        _, err = process.communicate()
    assert process.returncode == 7
    assert err.splitlines() == [
        "envcore: importing plugin good-suite 1.2 (good_suite_plugin)",
        "envcore: importing plugin leaving-suite 1.2 (leaving_suite_plugin)",
    ]


def test_what_is_made_is_named_before(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import_entry_point("toy:Counter", "x", ImportError)  # pyright: ignore[reportArgumentType]
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("ENVCORE_TRACE_PLUGINS", "1")
    import_entry_point("toy:Counter", "x", ImportError)  # pyright: ignore[reportArgumentType]
    assert capsys.readouterr().err == "envcore: importing toy:Counter\n"


def test_one_that_is_not_imported_is_not_named(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site.add_suite("newer-suite", "A-v0", requires="envcore>=99")
    site.add_suite("other-suite", "A-v0")
    monkeypatch.setenv("ENVCORE_TRACE_PLUGINS", "1")
    monkeypatch.setenv("ENVCORE_DISABLE_PLUGINS", "other-suite")
    discover()
    assert capsys.readouterr().err == ""


def test_the_copy_of_a_process_is_named(site: FakeSite) -> None:
    site.add("forking-suite", "import os; os.fork()\n" + ROWS)
    with started(site) as process:
        out, err = process.communicate()
    assert out.count("[('loaded', ())]") == 2
    assert err == "envcore: plugin forking-suite has forked the process while it was imported, and this is the copy\n"


# What one prints is shown with its name, and cannot steer the terminal.

PRINTED = {
    "a line": ("print('hello')", "plugin my-suite: hello\n"),
    "lines": ("print('one\\n\\ntwo')", "plugin my-suite: one\n\nplugin my-suite: two\n"),
    "parts of a line": ("print('one', end=' '); print('two', end='')", "plugin my-suite: one two\n"),
    "an error": ("import sys; sys.stderr.write('no disk\\n')", "plugin my-suite: no disk\n"),
    "lines at once": (
        "import sys; sys.stdout.writelines(['a\\n', 'b\\n'])",
        "plugin my-suite: a\nplugin my-suite: b\n",
    ),
    "bytes": ("import sys; sys.stdout.buffer.write(b'\\xff\\x1b[2J\\n')", "plugin my-suite: \\xff\\x1b[2J\n"),
    "the streams of Python": (
        "import sys; sys.__stdout__.write('\\x1b[1mone\\n'); print('two', file=sys.__stderr__)",
        "plugin my-suite: \\x1b[1mone\nplugin my-suite: two\n",
    ),
    "escape sequences": ("print('\\x1b]0;renamed\\x07\\r')", "plugin my-suite: \\x1b]0;renamed\\x07\\r\n"),
    "a line of a hook": (hook("print('hello'); return []", "envcore_env_specs()"), "plugin my-suite: hello\n"),
    "a line before an error": ("print('hello'); 1 / 0", "plugin my-suite: hello\n"),
}


@pytest.mark.parametrize("case", PRINTED)
def test_what_one_prints_is_quoted(site: FakeSite, capsys: pytest.CaptureFixture[str], case: str) -> None:
    code, shown = PRINTED[case]
    site.add("my-suite", code)
    (record,) = discover()
    assert capsys.readouterr() == ("", shown)
    assert record.side_effects == ()


def test_other_threads_print_as_before(site: FakeSite, capsys: pytest.CaptureFixture[str]) -> None:
    code = """
        import threading
        thread = threading.Thread(target=lambda: print("\\x1b[1mfrom a thread"))
        thread.start()
        thread.join()
    """
    assert found(site, code).status == "loaded"
    assert capsys.readouterr() == ("\x1b[1mfrom a thread\n", "")


def test_two_threads_import_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("slow_a", "slow_b"):
        (tmp_path / f"{name}.py").write_text("import time\ntime.sleep(0.05)\nmade = print(__name__)\ntime.sleep(0.05)")
    monkeypatch.syspath_prepend(tmp_path)
    before = sys.stdout, sys.stderr
    threads = [
        threading.Thread(target=import_entry_point, args=(f"{name}:made", "it", EnvironmentLoadError))
        for name in ("slow_a", "slow_b")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sys.stdout, sys.stderr) == before
    out, err = capsys.readouterr()
    assert out == ""
    assert sorted(err.splitlines()) == ["slow_a:made: slow_a", "slow_b:made: slow_b"]


def test_a_thread_that_waits_too_long_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "waits_for_another.py").write_text(
        "import threading\nfrom envcore.plugins import import_entry_point\n"
        "thread = threading.Thread(target=import_entry_point, args=('light_one:made', 'it', ValueError))\n"
        "thread.start()\nthread.join()\nmade = 2"
    )
    (tmp_path / "light_one.py").write_text("made = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(watching, "_LONG_PATIENCE", 0.2)
    assert import_entry_point("waits_for_another:made", "it", EnvironmentLoadError) == 2
    assert sys.modules["light_one"].made == 1


def test_a_stream_that_is_kept_works_later(site: FakeSite, capsys: pytest.CaptureFixture[str]) -> None:
    code = (
        "import logging\nimport sys\nhandler, out = logging.StreamHandler(), sys.stdout\nbuffer = sys.stdout.buffer\n"
    )
    assert found(site, code).side_effects == ()
    module = sys.modules["my_suite_plugin"]
    module.handler.emit(logging.makeLogRecord({"msg": "\x1b[1mlater"}))
    print("later, too", file=module.out)
    module.buffer.write(b"\x00bytes")
    module.out.flush()
    assert not module.out.isatty()
    assert capsys.readouterr() == ("later, too\n\x00bytes", "\x1b[1mlater\n")


# Its exceptions are described while it is watched, and are its own unless a signal has raised them.

HIDDEN = """
import sys
class Loud(BaseException):
    def __str__(self):
        print("\\x1b[1mloud")
        sys.stdout.close()
        return "loud"
"""


def test_what_an_exception_prints_is_quoted(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = found(site, HIDDEN + "raise Loud\n")
    assert (record.error, record.side_effects) == ("Loud: loud", ("sys.stdout",))
    assert capsys.readouterr() == ("", "plugin my-suite: \\x1b[1mloud\n")
    entry_point = add_module(site, monkeypatch, HIDDEN + "raise Loud\n")
    with pytest.raises(EnvironmentLoadError, match=r"^x, which cannot be imported: Loud: loud$"):
        import_entry_point(entry_point, "x", EnvironmentLoadError)
    assert capsys.readouterr().err == (
        "slow_module:Slow: \\x1b[1mloud\nenvcore: slow_module:Slow changes sys.stdout while it is imported, "
        "which is undone\n"
    )


def test_one_that_raises_an_interrupt_itself_is_broken(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(site, "raise KeyboardInterrupt\n").error == "KeyboardInterrupt"
    entry_point = add_module(site, monkeypatch, "raise KeyboardInterrupt")
    with pytest.raises(EnvironmentLoadError, match="cannot be imported: KeyboardInterrupt"):
        import_entry_point(entry_point, "x", EnvironmentLoadError)
    monkeypatch.setenv("ENVCORE_STRICT_PLUGINS", "1")
    monkeypatch.delitem(sys.modules, "my_suite_plugin", raising=False)
    with pytest.raises(PluginError) as error:
        discover()
    assert isinstance(error.value.__cause__, KeyboardInterrupt)


@pytest.mark.parametrize("after", ["", "\nraise KeyboardInterrupt"])
def test_a_signal_interrupts(site: FakeSite, monkeypatch: pytest.MonkeyPatch, after: str) -> None:
    before = signal.getsignal(signal.SIGINT)
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT)" + after
    with pytest.raises(KeyboardInterrupt):
        found(site, code + "\n")
    with pytest.raises(KeyboardInterrupt):
        import_entry_point(add_module(site, monkeypatch, code), "x", EnvironmentLoadError)
    assert signal.getsignal(signal.SIGINT) is before


def test_rows_that_come_slowly_without_an_end_are_cut_off(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count(0, 0.5)
    monkeypatch.setattr(plugins, "_clock", lambda: next(seconds))
    row = "EnvSpec(id=f'A-v{number}', entry_point='toy:Counter')"
    code = hook(f"return ({row} for number in itertools.count())")
    site.add("my-suite", "import itertools\n" + code)
    (record,) = discover()
    assert record.error == "envcore_env_specs() has announced 120 rows after 60 s, and more would follow"


def test_two_hooks_share_the_time(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.count(0, 20)
    monkeypatch.setattr(plugins, "_clock", lambda: next(seconds))
    code = hook("return [EnvSpec(id=f'A-v{number}', entry_point='toy:Counter') for number in range(2)]")
    code += commands("return [CommandSpec(each, 'x', 'a:b') for each in ('one', 'two')]")
    site.add("my-suite", code)
    (record,) = discover()
    assert record.error == "envcore_commands() has announced 1 rows after 60 s, and more would follow"


# What one changes in the process is changed back.

CHANGES = {
    "closed": ("import sys; sys.stdout.close()", ("sys.stdout",)),
    "closed as Python has opened them": (
        "import sys; sys.__stdout__.close(); sys.__stderr__.close()",
        ("sys.__stdout__", "sys.__stderr__"),
    ),
    "none": ("import sys; sys.stderr = None", ("sys.stderr",)),
    "deleted": ("import sys; del sys.stdout", ("sys.stdout",)),
    "wrapped": (
        "import io, sys; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8'); print('hello')",
        ("sys.stdout",),
    ),
    "the folder": ("import os; os.chdir('/')", ("the working directory",)),
    "a handler": ("import signal; signal.signal(signal.SIGINT, lambda *_: None)", ("the handler of SIGINT",)),
    "several": (
        "import os, signal; os.chdir('/'); signal.signal(signal.SIGTERM, lambda *_: None)",
        ("the working directory", "the handler of SIGTERM"),
    ),
}


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("case", CHANGES)
def test_what_one_changes_is_changed_back(
    site: FakeSite, capsys: pytest.CaptureFixture[str], case: str, fails: bool
) -> None:
    code, changed = CHANGES[case]

    def state() -> tuple[object, ...]:
        handlers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
        return sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__, Path.cwd(), handlers

    before = state()
    record = found(site, code + ("\n1 / 0\n" if fails else "\n"))
    assert state() == before
    print("still there")
    assert capsys.readouterr().out == "still there\n"
    assert record.side_effects == changed
    assert record.status == ("broken" if fails else "loaded")
    problem = next(problems([record]))
    assert problem == (
        f"plugin my-suite 1.2 (my_suite_plugin) changes {', '.join(changed)} while it is imported, which is undone. "
        "Fix it, or set ENVCORE_DISABLE_PLUGINS=my-suite."
    )


@pytest.mark.parametrize("code", ["os.close({0})", "os.dup2(os.open(os.devnull, os.O_WRONLY), {0})"])
@pytest.mark.parametrize("number", [1, 2])
def test_a_descriptor_is_opened_again(site: FakeSite, code: str, number: int) -> None:
    site.add("closing-suite", f"import os\n{code.format(number)}\n{ROWS}")
    site.add("printing-suite", f"print('hello')\n{ROWS}")
    with started(site) as process:
        out, err = process.communicate()
    assert out == f"[('loaded', ('file descriptor {number}',)), ('loaded', ())]\n"
    assert err == "plugin printing-suite: hello\n"


@pytest.mark.parametrize("number", [200, 5_000])
def test_descriptors_are_opened_again_unless_their_copies_are_closed_too(site: FakeSite, number: int) -> None:
    site.add("closing-suite", f"import os; os.closerange(0, {number})\n{ROWS}")
    with started(site) as process:
        out, err = process.communicate()
    if number == 200:
        assert out == "[('loaded', ('file descriptor 0', 'file descriptor 1', 'file descriptor 2'))]\n"
        assert process.returncode == 0
    else:
        assert out == ""
    assert err == ""


def test_a_folder_that_one_deletes_stays_away(
    site: FakeSite, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("doomed"))
    assert found(site, "import os; os.rmdir(os.getcwd())\n").side_effects == ("the working directory",)


def test_the_registry_warns_of_side_effects(site: FakeSite) -> None:
    site.add("my-suite", "import os; os.chdir('/')\n" + ROWS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert "A-v0" in Registry()
    assert [each.category for each in caught] == [PluginWarning]
