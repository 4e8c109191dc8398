"""Where MNIST's images come from, and which files are rejected. A server on this computer stands in for the web."""

from __future__ import annotations

import functools
import gzip
import hashlib
import http.server
import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import mnist_files
import numpy as np
import pooch
import pytest
from envcore.errors import DatasetError
from envcore_bsuite import mnist_data
from envcore_bsuite.mnist_data import IMAGES, LABELS, URL, load_mnist

FILES = (f"{IMAGES}.gz", f"{LABELS}.gz")
PROCESSES = 3


class Web(http.server.ThreadingHTTPServer):
    """Serves a folder, and records the requests."""

    def __init__(self, folder: Path):
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                asked.append(self.path)

        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mnist/"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """MNIST can be downloaded, and is not on this computer."""
    with mnist_files.published(tmp_path / "web"), Web(tmp_path / "web") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path / "user"))
        monkeypatch.setattr(mnist_data, "URL", server.url)
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(mnist_data, "URL", "http://127.0.0.1:9/")


def test_published_hashes() -> None:
    assert URL == "https://storage.googleapis.com/cvdf-datasets/mnist/"
    assert list(mnist_data.SHA256) == list(FILES)
    assert [sha256[:16] for sha256 in mnist_data.SHA256.values()] == ["440fcabf73cc546f", "3552534a0a558bbe"]


@pytest.mark.parametrize("packed", [True, False])
def test_the_users_own_images(tmp_path: Path, packed: bool) -> None:
    expected = mnist_files.random_images()
    mnist = load_mnist(str(mnist_files.write(tmp_path, expected, packed=packed)))
    for array, like in zip(mnist, expected, strict=True):
        np.testing.assert_array_equal(array, like, strict=True)
        assert not array.flags.writeable


def test_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = mnist_files.write(tmp_path / "own", mnist_files.random_images())
    mnist = load_mnist(str(folder))
    shutil.rmtree(folder)
    monkeypatch.chdir(tmp_path)
    assert load_mnist("own") is mnist


def test_threads_share_one_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(mnist_files.write(tmp_path, mnist_files.random_images()))
    together = threading.Barrier(4)
    reads: list[Path] = []
    read_bytes = Path.read_bytes

    def slowly(path: Path) -> bytes:
        reads.append(path)
        time.sleep(0.02)
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", slowly)

    def load(_: int) -> mnist_data.Mnist:
        together.wait()
        return load_mnist(folder)

    with ThreadPoolExecutor(4) as pool:
        assert len({id(mnist) for mnist in pool.map(load, range(4))}) == 1
    assert len(reads) == len(FILES)


def test_where_mnist_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / project)
    monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path / "data"))
    assert mnist_data.locate() == (str(tmp_path / "data" / "mnist"), True)
    for unset in (lambda: monkeypatch.setenv("ENVCORE_DATA_DIR", ""), lambda: monkeypatch.delenv("ENVCORE_DATA_DIR")):
        unset()
        assert mnist_data.locate() == (str(tmp_path / "envcore" / "mnist"), True)
    assert mnist_data.locate(str(tmp_path)) == (str(tmp_path), False)


def test_found_in_the_users_cache(tmp_path: Path, offline: None) -> None:
    with mnist_files.published(tmp_path) as expected:
        np.testing.assert_array_equal(load_mnist().images, expected.images)


def test_download(tmp_path: Path, web: Web, caplog: pytest.LogCaptureFixture) -> None:
    logger = pooch.get_logger()
    logger.addHandler(caplog.handler)
    try:
        np.testing.assert_array_equal(load_mnist().labels, mnist_files.random_images().labels)
    finally:
        logger.removeHandler(caplog.handler)
    assert [record.getMessage() for record in caplog.records] == [
        f"Downloading MNIST's training set (10 MB) from {web.url} to {tmp_path / 'user' / 'mnist'}"
    ]
    assert caplog.records[0].levelno == logging.INFO
    assert not logger.disabled
    written = sorted((tmp_path / "user" / "mnist").iterdir())
    assert [path.name for path in written] == sorted(FILES)
    (new := tmp_path / "new").touch()
    assert {path.stat().st_mode for path in written} == {new.stat().st_mode}  # others may read it, if the umask says so


def test_only_what_is_absent_is_downloaded(tmp_path: Path, web: Web) -> None:
    (tmp_path / "user" / "mnist").mkdir(parents=True)
    shutil.copy(tmp_path / "web" / "mnist" / FILES[0], tmp_path / "user" / "mnist")
    load_mnist()
    assert web.asked == [f"/mnist/{FILES[1]}"]


def test_processes_download_at_once(tmp_path: Path, web: Web) -> None:
    code = (
        "from envcore_bsuite import mnist_data; "
        f"mnist_data.URL = {web.url!r}; mnist_data.SHA256.update({mnist_data.SHA256!r}); "
        "print(mnist_data.load_mnist().images.sum())"
    )
    command = [sys.executable, "-c", code]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    printed = [process.communicate()[0].strip() for process in started]
    assert printed == [str(mnist_files.random_images().images.sum())] * PROCESSES
    assert sorted(path.name for path in (tmp_path / "user" / "mnist").iterdir()) == sorted(FILES)


def test_offline(tmp_path: Path, offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path))
    with pytest.raises(DatasetError) as caught:
        load_mnist()
    message = str(caught.value)
    assert "cannot be downloaded: ConnectionError. Download" in message
    for part in (*FILES, str(tmp_path / "mnist"), "http://127.0.0.1:9/", "ENVCORE_DATA_DIR", "folder="):
        assert part in message
    assert "\n" not in message
    assert len(message) < 500 + 2 * len(str(tmp_path))
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_failed_download_is_not_retried_at_once(tmp_path: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "web" / "mnist" / FILES[0]).rename(tmp_path / "away")
    seen: list[tuple[str, int]] = []
    for _ in range(3):
        with pytest.raises(DatasetError) as error:
            load_mnist()
        seen.append((str(error.value), len(web.asked)))
    assert len(set(seen)) == 1
    (tmp_path / "away").rename(tmp_path / "web" / "mnist" / FILES[0])
    monkeypatch.setattr(mnist_data, "_RETRY_SECONDS", 0)  # a minute later
    assert len(load_mnist().labels)


def test_files_that_come_after_a_failure_are_read(
    tmp_path: Path, offline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mnist_files.published(tmp_path / "later"):
        monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path / "user"))
        with pytest.raises(DatasetError):
            load_mnist()
        shutil.copytree(tmp_path / "later", tmp_path / "user", dirs_exist_ok=True)
        assert len(load_mnist().labels)


def test_a_page_in_place_of_the_file(tmp_path: Path, web: Web) -> None:
    for name in FILES:
        (tmp_path / "web" / "mnist" / name).write_text("please log in")
    with pytest.raises(DatasetError, match="the downloaded file is not the published one"):
        load_mnist()
    assert not any(path.is_file() for path in (tmp_path / "user").rglob("*"))


def test_a_folder_that_cannot_be_made(tmp_path: Path, web: Web) -> None:
    (tmp_path / "user").write_text("a file")
    with pytest.raises(DatasetError, match=r"cannot be downloaded: (Not a directory|File exists)"):
        load_mnist()


@pytest.mark.parametrize("name", FILES)
def test_a_foreign_file_is_rejected_and_left_alone(tmp_path: Path, web: Web, name: str) -> None:
    path = tmp_path / "user" / "mnist" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"foreign")
    found, expected = hashlib.sha256(b"foreign").hexdigest(), mnist_data.SHA256[name]
    with pytest.raises(
        DatasetError, match=f"{found}, not {expected}. Delete it, and it is downloaded again; .*folder="
    ):
        load_mnist()
    assert path.read_bytes() == b"foreign"
    path.unlink()
    load_mnist()


IMAGE = mnist_files.idx(np.zeros((2, 28, 28), np.uint8))
LABEL = mnist_files.idx(np.array([3, 9], np.uint8))


@pytest.mark.parametrize(
    ("images", "labels", "problem"),
    [
        (IMAGE, None, f"has no file {LABELS}.gz or {LABELS}. A dataset in MNIST's format has {IMAGES} and {LABELS}"),
        (None, LABEL, f"has no file {IMAGES}.gz or {IMAGES}."),
        (b"", LABEL, f"{IMAGES} is not an IDX file of uint8 with 3 axes: it begins with nothing, not 00000803"),
        (IMAGE[:15], LABEL, "it begins with 00000803"),
        (LABEL, LABEL, "with 3 axes: it begins with 00000801, not 00000803"),
        (IMAGE, IMAGE, f"{LABELS} is not an IDX file of uint8 with 1 axes: it begins with 00000803, not 00000801"),
        (bytes((0, 0, 9, 3)) + IMAGE[4:], LABEL, "begins with 00000903"),
        (IMAGE[:-1], LABEL, "for its shape (2, 28, 28) it must have 1584 bytes, it has 1583"),
        (IMAGE + b"0", LABEL, "it must have 1584 bytes, it has 1585"),
        (IMAGE, LABEL[:-1], "for its shape (2,) it must have 10 bytes, it has 9"),
        (mnist_files.idx(np.zeros((2, 28, 27), np.uint8)), LABEL, "images of 28x28 pixels, its are (28, 27)"),
        (IMAGE, mnist_files.idx(np.zeros(3, np.uint8)), "it holds 2 images, 3 labels"),
        (
            mnist_files.idx(np.zeros((0, 28, 28), np.uint8)),
            mnist_files.idx(np.zeros(0, np.uint8)),
            "it holds 0 images, 0 labels",
        ),
        (IMAGE, mnist_files.idx(np.array([0, 10], np.uint8)), "labels from 0 to 9, it holds 10"),
    ],
)
def test_files_in_another_format(tmp_path: Path, images: bytes | None, labels: bytes | None, problem: str) -> None:
    for name, content in ((IMAGES, images), (LABELS, labels)):
        if content is not None:
            (tmp_path / name).write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        load_mnist(str(tmp_path))
    assert problem in str(caught.value)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    "packed", [b"no gzip", gzip.compress(IMAGE)[:-10], gzip.compress(IMAGE)[:10] + b"\xff" * 20], ids=len
)
def test_damaged_gzip(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / f"{IMAGES}.gz").write_bytes(packed)
    (tmp_path / LABELS).write_bytes(LABEL)
    with pytest.raises(DatasetError, match=f"{IMAGES}.gz cannot be read: "):
        load_mnist(str(tmp_path))


def test_no_more_is_decompressed_than_the_header_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{IMAGES}.gz").write_bytes(gzip.compress(IMAGE + bytes(10**8)))
    (tmp_path / f"{LABELS}.gz").write_bytes(gzip.compress(LABEL))
    read, taken = gzip.GzipFile.read, list[int]()

    def counted(self: gzip.GzipFile, size: int | None = -1) -> bytes:
        taken.append(len(found := read(self, size)))
        return found

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    with pytest.raises(DatasetError, match=f"{IMAGES}.gz is truncated or damaged: .* it has 1585 or more\\.$"):
        load_mnist(str(tmp_path))
    assert sum(taken) == len(IMAGE) + 1


def test_a_folder_in_place_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path))
    for name in FILES:
        (tmp_path / "mnist" / name).mkdir(parents=True)
    with pytest.raises(DatasetError, match="cannot be read: IsADirectoryError"):
        load_mnist()
