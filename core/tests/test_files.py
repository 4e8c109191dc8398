"""Files that are read whole and replaced in one step."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from envcore.errors import DatasetError, FileError
from envcore.files import read, remove_unfinished, replace, replacing

KILLED = """
import os, sys
from pathlib import Path
from envcore.files import replace
os.fsync = lambda descriptor: os.kill(os.getpid(), 9)
replace(Path(sys.argv[1]), b"new")
"""


LIMITED = """
import resource, sys
from pathlib import Path
from envcore.files import replace
resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999))
replace(Path(sys.argv[1]), bytes(99_999))
"""

REPEAT = """
import sys
from pathlib import Path
from envcore.files import replace
print(flush=True)
while True:
    replace(Path(sys.argv[1]), bytes(10**6))
"""


def test_what_is_read_and_what_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "five").write_bytes(b"12345")
    assert read(tmp_path / "five", "", most_bytes=5) == b"12345"
    with pytest.raises(FileError, match=r"five is damaged: it has 5 bytes, more than 4. Do this.$"):
        read(tmp_path / "five", "Do this.", most_bytes=4)
    with pytest.raises(DatasetError, match="none does not exist"):
        read(tmp_path / "none", "", DatasetError)
    with pytest.raises(FileError, match=r"is not a file. Do this."):
        read(tmp_path, "Do this.")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="is not a file"):
        read(tmp_path / "pipe", "")
    with pytest.raises(FileError, match="cannot be read: File name too long"):
        read(tmp_path / ("x" * 1000), "")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    replace(tmp_path / "a.json", b"old")
    return tmp_path / "a.json"


def test_a_file_is_replaced(path: Path) -> None:
    replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"cannot write .*a\.json: No space left on device\.$"):
        replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_kill_leaves_can_be_removed(path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 2
    (path.parent / ".hidden").touch()
    remove_unfinished(path.parent)
    assert sorted(each.name for each in path.parent.iterdir()) == [".hidden", "a.json"]


def test_only_what_a_killed_process_of_this_user_left_is_removed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results"
    (folder / ".0123456789abcdee.unfinished").mkdir(parents=True)
    (folder / ".0123456789abcdef.unfinished").symlink_to(path)
    for name in (".notes.unfinished", "0123456789abcdef.unfinished", ".0123456789abcdef.unfinished.txt"):
        (folder / name).touch()
    before = sorted(folder.iterdir())
    (ours := folder / ".0123456789abcdea.unfinished").touch()
    monkeypatch.setattr(os, "geteuid", lambda: ours.stat().st_uid + 1)
    remove_unfinished(folder)
    assert ours.exists()
    monkeypatch.undo()
    remove_unfinished(folder)
    assert sorted(folder.iterdir()) == before
    assert path.read_bytes() == b"old"


def test_a_block_that_fails_leaves_the_old_file(path: Path) -> None:
    def fail() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_system_that_takes_no_more_bytes_leaves_the_old_file(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr.endswith(f"envcore.errors.FileError: cannot write {path}: File too large.\n")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_kills_at_any_moment_leave_the_old_file_or_the_new_one(path: Path) -> None:
    command = [sys.executable, "-c", REPEAT, str(path)]
    for number in range(5):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.011 * number)
            process.kill()
        assert path.read_bytes() in (b"old", bytes(10**6))
    remove_unfinished(path.parent)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_nobody_leads_a_write_to_another_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (victim := path.with_name("victim")).write_bytes(b"precious")
    path.with_name(f".{path.name}.{os.getpid()}.unfinished").symlink_to(victim)
    with replacing(path), replacing(path):
        assert len(list(path.parent.iterdir())) == 3 + 2  # each has a name of its own
    path.with_name(".0123456789abcdef.unfinished").symlink_to(victim)
    monkeypatch.setattr(secrets, "token_hex", lambda _: "0123456789abcdef")  # a lucky guess
    with pytest.raises(FileError, match="File exists"):
        replace(path, b"new")
    assert victim.read_bytes() == b"precious"
    assert len([each for each in path.parent.iterdir() if each.is_symlink()]) == 2


def test_threads_replace_one_file(path: Path) -> None:
    contents = {bytes([number]) * 1000 for number in range(8)}

    def repeat(content: bytes) -> None:
        for _ in range(20):
            replace(path, content)
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(repeat, contents))
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a" * 245, "a" * 255, "\N{SNOWMAN}" * 85], ids=["245", "255", "85 of 3 bytes"])
def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path, name: str) -> None:
    for content in (b"old", b"new"):
        replace(tmp_path / name, content)
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(FileError, match="File name too long"):
        replace(tmp_path / (name + "a" * 11), b"")


@pytest.mark.skipif(os.name == "nt", reason="needs permissions")
class TestPermissions:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
    def test_those_of_an_existing_file_stay(self, path: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
        path.chmod(mode)
        seen: list[int] = []
        monkeypatch.setattr(Path, "replace", lambda new, old: seen.append(new.stat().st_mode) or os.replace(new, old))  # noqa: PTH105
        with replacing(path):
            (new,) = set(path.parent.iterdir()) - {path}
            assert new.stat().st_mode & ~mode & 0o777 == 0  # never open to more people
        assert [stat.S_IMODE(each) for each in (*seen, path.stat().st_mode)] == [mode, mode]

    @pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
    def test_those_of_a_new_file_follow_the_umask(self, tmp_path: Path, mask: int) -> None:
        before = os.umask(mask)
        try:
            replace(tmp_path / "new", b"")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask

    def test_the_owner_stays_where_the_system_allows_it(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[int, int]] = []

        def chown(descriptor: int, user: int, group: int) -> None:
            asked.append((user, group))
            if user != -1:
                raise PermissionError

        monkeypatch.setattr(os, "fchown", chown)
        replace(path, b"new")
        found = path.stat()
        assert asked == [(found.st_uid, found.st_gid), (-1, found.st_gid)]

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away")
    def test_a_superuser_leaves_a_file_to_its_owner(self, path: Path) -> None:
        os.chown(path, 12345, 54321)
        path.chmod(0o4640)
        replace(path, b"new")
        found = path.stat()
        assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 54321, 0o640)


@pytest.mark.skipif(os.name == "nt", reason="needs links")
class TestLinks:
    @pytest.mark.parametrize("is_there", [True, False])
    def test_a_link_stays_and_its_target_is_replaced(self, tmp_path: Path, is_there: bool) -> None:
        (tmp_path / "here").mkdir()
        (tmp_path / "there").mkdir()
        link, second = tmp_path / "here" / "a", tmp_path / "there" / "b"
        target = tmp_path / "there" / "c"
        link.symlink_to("../there/b")
        second.symlink_to(target)
        if is_there:
            target.write_bytes(b"old")
            target.chmod(0o600)
        replace(link, b"new")
        assert target.read_bytes() == b"new"
        assert sorted(tmp_path.glob("*/*")) == [link, second, target]
        assert link.is_symlink()
        assert second.is_symlink()
        if is_there:
            assert stat.S_IMODE(target.stat().st_mode) == 0o600

    @pytest.mark.parametrize(("target", "message"), [("a", "Too many"), ("no/b", "No such file"), ("f/b", "Not a")])
    def test_a_link_that_leads_nowhere_is_an_error(self, tmp_path: Path, target: str, message: str) -> None:
        (tmp_path / "f").touch()
        (tmp_path / "a").symlink_to(target)
        with pytest.raises(FileError, match=f"cannot write .*a: {message}"):
            replace(tmp_path / "a", b"")
        assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "f"]

    @pytest.mark.parametrize("name", ["pipe", "folder", "link to a pipe", "link to a terminal"])
    def test_what_is_not_a_regular_file_stays(self, tmp_path: Path, name: str) -> None:
        controller, terminal = os.openpty()  # a device, in a folder that takes no files: safe if this test fails
        try:
            os.mkfifo(tmp_path / "pipe")
            (tmp_path / "folder").mkdir()
            (tmp_path / "link to a pipe").symlink_to("pipe")
            (tmp_path / "link to a terminal").symlink_to(os.ttyname(terminal))
            before = sorted((each.name, each.lstat().st_ino, each.stat().st_mode) for each in tmp_path.iterdir())
            with pytest.raises(FileError, match=rf"cannot write .*{name}: it exists and is not a regular file; choose"):
                replace(tmp_path / name, b"new")
            after = sorted((each.name, each.lstat().st_ino, each.stat().st_mode) for each in tmp_path.iterdir())
            assert after == before
        finally:
            os.close(controller)
            os.close(terminal)


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot sync a folder")
def test_file_and_folder_are_synced(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    move = Path.replace

    def sync(descriptor: int) -> None:
        events.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    def moved(new: Path, old: Path) -> Path:
        events.append("moved")
        return move(new, old)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", moved)
    replace(path, b"new")
    assert events == ["file", "moved", "folder"]
