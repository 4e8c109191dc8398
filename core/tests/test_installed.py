"""Finding distributions of which some are damaged, left over from an interrupted pip, or installed twice."""

from __future__ import annotations

import gc
import importlib.metadata
import os
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile_files
import importlib_metadata
import pytest
from envcore.errors import PluginError
from envcore.installed import Copy, announcing
from envcore.plugins import discover
from fake_site import FakeSite, metadata_of

OURS = b"[envcore.plugins]\nmain = good_suite_plugin\n"
DAMAGED = {
    "a truncated line": b"[console_scripts]\ntool",
    "bytes that are not UTF-8": b"[console_scripts]\nt\xf6\xf6l = tool:main\n",
    "UTF-16": "[console_scripts]\ntool = tool:main\n".encode("utf-16"),
    "rubbish": b"[x]\n\x00\x01\x02\xff\n",
}


def found() -> dict[str, Copy]:
    copies = announcing("envcore.plugins")
    assert [copy.name for copy in copies] == sorted(copy.name for copy in copies)
    return {copy.name: copy for copy in copies}


def the_good_one() -> Copy:
    """The good suite's distribution, which must be found exactly once, undamaged."""
    copy = found()["good-suite"]
    assert copy.damage is None
    assert copy.metadata is not None
    assert len(copy.entry_points) == 1
    return copy


# Damage.


@pytest.mark.parametrize("name", ["METADATA", "entry_points.txt"])
@pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)
def test_any_metadata(site: FakeSite, name: str, mutations: int) -> None:
    site.add_suite("good-suite", "A-v0")
    folder = site.add_metadata("other_suite-3.0.dist-info", metadata_of("other-suite", "3.0"), OURS)

    def read(content: bytes) -> None:
        (folder / name).write_bytes(content)
        by_name = {record.distribution: record for record in discover()}
        assert by_name.pop("good-suite").status == "loaded"
        for record in by_name.values():
            if record.error:
                raise PluginError(record.error)

    hostile_files.check(read, hostile_files.of_bytes((folder / name).read_bytes()), mutations)


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_entry_points_of_an_unrelated_distribution(site: FakeSite, case: str) -> None:
    site.add_metadata("stranger-3.0.dist-info", metadata_of("Stranger", "3.0"), DAMAGED[case])
    site.add_suite("good-suite", "A-v0")
    the_good_one()
    stranger = found()["stranger"]
    assert (stranger.version, stranger.entry_points, stranger.names_group) == ("3.0", (), False)
    assert isinstance(stranger.damage, TypeError | UnicodeDecodeError)


@pytest.mark.parametrize("case", sorted(set(DAMAGED) - {"UTF-16"}))  # which encodes the name of the group differently
def test_damaged_entry_points_that_name_the_group(site: FakeSite, case: str) -> None:
    site.add_metadata("other_suite-3.0.dist-info", metadata_of("other-suite"), OURS + DAMAGED[case])
    site.add_suite("good-suite", "A-v0")
    the_good_one()
    other = found()["other-suite"]
    assert other.names_group
    assert isinstance(other.damage, TypeError | UnicodeDecodeError)


def test_entry_points_without_permission_are_not_treated_as_missing(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.add_suite("good-suite", "A-v0")
    secret = site.add_metadata("secret-1.0.dist-info", metadata_of("secret"), OURS) / "entry_points.txt"
    open_file = Path.open

    def refuse(self: Path, *args: Any, **kwargs: Any) -> Any:  # root may read everything
        if self == secret:
            raise PermissionError(13, "Permission denied")
        return open_file(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(importlib_metadata.PathDistribution, "read_text", lambda self, name: None)
    assert isinstance(found()["secret"].damage, PermissionError)


def test_entry_points_of_other_groups_do_not_matter(site: FakeSite) -> None:
    site.add_metadata("tool-1.0.dist-info", metadata_of("tool"), "[console_scripts]\ntool = tool:main\n")
    site.add_metadata("nothing-1.0.dist-info", metadata_of("nothing"))
    site.add_metadata("empty.dist-info", "")
    assert found() == {}


# Leftovers.


def test_what_pip_left_behind_does_not_count(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    site.add_metadata("~ood_suite-1.1.dist-info", metadata_of("good-suite", "1.1"), OURS)
    site.add_metadata("~ne-1.1.dist-info", metadata_of("one", "1.1"), OURS)
    assert the_good_one().version == "1.2"
    assert set(found()) == {"good-suite"}


@pytest.mark.parametrize("metadata", ["", "rubbish", "Metadata-Version: 2.1\n", b"Name: good-s\xfcite\n"])
@pytest.mark.parametrize("info", ["good_suite-0.1.dist-info", "good_suite-9.0.dist-info", "Good.Suite.egg-info"])
def test_a_copy_without_a_name_does_not_count_beside_a_complete_one(
    site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, info: str, metadata: str | bytes
) -> None:
    site.add_suite("good-suite", "A-v0")
    site.add_metadata(info, metadata, OURS)
    assert the_good_one().version == "1.2"
    front = tmp_path / "front"
    front.mkdir()
    FakeSite(front, monkeypatch).add_metadata(info, metadata, OURS)
    monkeypatch.setattr(sys, "path", [str(front), str(tmp_path)])
    assert the_good_one().version == "1.2"


@pytest.mark.parametrize("versions", [("1.10", "1.9"), ("1.9", "1.10"), ("1.10", "none"), ("none", "1.10")])
def test_the_newest_of_one_folder_counts(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch, versions: tuple[str, str]
) -> None:
    for version in versions:
        site.add_metadata(f"good_suite-{version}.dist-info", metadata_of("good-suite", version), OURS)
    listing = os.listdir
    for backwards in (False, True):  # the order of a folder's entries is the file system's
        monkeypatch.setattr(os, "listdir", lambda folder, b=backwards: sorted(listing(folder), reverse=b))
        importlib_metadata.MetadataPathFinder.invalidate_caches()
        assert the_good_one().version == "1.10"


def test_a_half_written_copy_does_not_count_beside_a_whole_one(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    site.add_metadata("good_suite-2.0.dist-info", metadata_of("good-suite", "2.0"))
    site.add_metadata("good_suite-3.0.dist-info", metadata_of("good-suite", "3.0"), OURS + b"main")
    assert the_good_one().version == "1.2"


def test_a_copy_in_a_folder_of_another_name_is_the_same_distribution(site: FakeSite) -> None:
    site.add_suite("good-suite", "A-v0")
    site.add_metadata("good_suite.bak-1.1.dist-info", metadata_of("good-suite", "1.1"), OURS)
    assert set(found()) == {"good-suite"}
    assert the_good_one().version == "1.2"


def test_the_first_folder_on_the_path_counts(site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("good-suite", "A-v0")
    front = tmp_path / "front"
    front.mkdir()
    FakeSite(front, monkeypatch).add_metadata("Good.Suite-1.0.dist-info", metadata_of("good-suite", "1.0"))
    monkeypatch.setattr(sys, "path", [str(front), str(tmp_path)])
    assert found() == {}  # that one has no plugin
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(front)])
    assert the_good_one().version == "1.2"


def test_an_editable_install_counts_once(site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("good-suite", "A-v0")
    source = tmp_path / "src"
    info = source / "good_suite.egg-info"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text(metadata_of("good-suite", "1.3"))
    (info / "entry_points.txt").write_bytes(OURS)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(source)])
    assert the_good_one().version == "1.2"
    monkeypatch.setattr(sys, "path", [str(source), str(tmp_path)])
    assert the_good_one().version == "1.3"


@pytest.mark.parametrize(
    ("info", "name"), [("good_suite-1.2.dist-info", "good-suite"), ("good_suite.egg-info", "good-suite")]
)
def test_the_name_in_the_path_is_used_where_the_metadata_has_none(site: FakeSite, info: str, name: str) -> None:
    site.add_metadata(info, "", OURS)
    assert (found()[name].metadata, found()[name].version) == (None, "?")


def test_names_and_versions_that_no_installer_writes_are_not_shown(site: FakeSite) -> None:
    site.add_metadata("\x1b[2J-1.2.dist-info", metadata_of("\x1b[2J", "1\x1b[2J"), OURS)
    assert (found()["?"].metadata, found()["?"].version) == (None, "?")


# Where distributions are searched for.


def test_strange_entries_of_the_path(site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("good-suite", "A-v0")
    file = tmp_path / "file.txt"
    file.write_text("text")
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\x03\x04 and no more")
    strange: list[Any] = ["", ".", "no/such/folder", str(file), str(broken), file, b"bytes", None, 3, [], "null\0"]
    monkeypatch.setattr(sys, "path", [*strange, str(tmp_path), str(tmp_path)])
    the_good_one()


def test_relative_entries_of_the_path(site: FakeSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("good-suite", "A-v0")
    monkeypatch.chdir(tmp_path)
    for entry in ("", ".", f"../{tmp_path.name}"):
        monkeypatch.setattr(sys, "path", [entry])
        the_good_one()


def test_a_zip_file_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "suites.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("good_suite-1.2.dist-info/METADATA", metadata_of("good-suite"))
        file.writestr("good_suite-1.2.dist-info/entry_points.txt", OURS)
        file.writestr("other_suite-1.2.dist-info/METADATA", metadata_of("other-suite"))
        file.writestr("other_suite-1.2.dist-info/entry_points.txt", DAMAGED["a truncated line"])
    assert list(importlib_metadata.distributions(path=[str(path)]))  # imports the reader of zip files
    monkeypatch.setattr(sys, "path", [str(path)])
    the_good_one()
    assert isinstance(found()["other-suite"].damage, TypeError)
    # Readers of zip files leave them open for as long as their caches remember them: here, not in some later test.
    for module in (importlib.metadata, importlib_metadata):
        vars(module)["FastPath"].__new__.cache_clear()
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()


def test_finders_that_fail(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    class Raising:
        def find_distributions(self, context: Any) -> Iterator[Any]:
            raise RuntimeError

    class Old:
        def find_distributions(self) -> Iterator[Any]:
            return iter(())

    class Mute:
        def find_distributions(self, context: Any) -> None: ...

    class Late:
        def find_distributions(self, context: Any) -> Iterator[Any]:
            yield object()  # not a distribution
            raise RuntimeError

    site.add_suite("good-suite", "A-v0")
    monkeypatch.setattr(sys, "meta_path", [Raising(), Old(), Mute(), Late(), object(), *sys.meta_path])
    the_good_one()


# Speed.


def test_the_metadata_of_unrelated_distributions_is_not_read(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.add_suite("good-suite", "A-v0")
    for number in range(50):
        site.add_metadata(f"lib_{number}-1.0.dist-info", metadata_of(f"lib-{number}"), "[console_scripts]\na = a:a\n")
    read: list[str] = []
    read_text = importlib_metadata.PathDistribution.read_text

    def record(self: Any, name: str) -> str | None:
        read.append(name)
        return read_text(self, name)

    monkeypatch.setattr(importlib_metadata.PathDistribution, "read_text", record)
    the_good_one()
    assert read.count("entry_points.txt") == 51
    assert read.count("METADATA") == 1
