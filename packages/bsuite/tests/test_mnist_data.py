"""Where MNIST's images come from, and which files are rejected. A server on this computer stands in for the web."""

from __future__ import annotations

import functools
import gzip
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mnist_files
import numpy as np
import pooch
import pytest
from envcore.errors import DatasetError
from envcore_bsuite import mnist_data
from envcore_bsuite.mnist_data import IMAGES, LABELS, load_mnist

FILES = (f"mnist/{IMAGES}.gz", f"mnist/{LABELS}.gz")


class Web(http.server.ThreadingHTTPServer):
    """Serves a folder, and records the requests."""

    def __init__(self, folder: Path):
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                asked.append(self.path)

        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=folder))


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """MNIST can be downloaded, and is not on this computer."""
    with mnist_files.published(tmp_path / "web"), Web(tmp_path / "web") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path / "user"))
        monkeypatch.setattr(mnist_data, "URL", f"http://127.0.0.1:{server.server_port}/")
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(mnist_data, "URL", "http://127.0.0.1:9/")


def test_published_hashes() -> None:
    assert mnist_data.URL == "https://storage.googleapis.com/cvdf-datasets/"
    assert {name: sha256[:16] for name, sha256 in mnist_data.SHA256.items()} == dict(
        zip(FILES, ("440fcabf73cc546f", "3552534a0a558bbe"), strict=True)
    )


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


def test_where_mnist_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / project)
    monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path / "data"))
    assert mnist_data.locate() == (str(tmp_path / "data" / "mnist"), True)
    monkeypatch.setenv("ENVCORE_DATA_DIR", "")
    assert mnist_data.locate() == (str(tmp_path / "envcore" / "mnist"), True)
    assert mnist_data.locate(str(tmp_path)) == (str(tmp_path), False)


def test_found_in_the_users_cache(tmp_path: Path, offline: None) -> None:
    with mnist_files.published(tmp_path) as expected:
        np.testing.assert_array_equal(load_mnist().images, expected.images)


@pytest.mark.parametrize("there", [None, b"foreign"])
def test_what_is_absent_or_another_file_is_downloaded(tmp_path: Path, web: Web, there: bytes | None) -> None:
    (tmp_path / "user" / "mnist").mkdir(parents=True)
    shutil.copy(tmp_path / "web" / FILES[0], tmp_path / "user" / "mnist")
    if there is not None:
        (tmp_path / "user" / FILES[1]).write_bytes(there)
    np.testing.assert_array_equal(load_mnist().labels, mnist_files.random_images().labels)
    assert web.asked == [f"/{FILES[1]}"]
    assert sorted(path.name for path in (tmp_path / "user" / "mnist").iterdir()) == [f"{IMAGES}.gz", f"{LABELS}.gz"]


def test_offline(tmp_path: Path, offline: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVCORE_DATA_DIR", str(tmp_path))
    with pytest.raises(DatasetError) as caught:
        load_mnist()
    message = str(caught.value)
    assert "cannot be downloaded: ConnectionError. Download" in message
    for part in (*FILES, str(tmp_path / "mnist"), "http://127.0.0.1:9/", "ENVCORE_DATA_DIR", "folder="):
        assert part in message
    assert "\n" not in message
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


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
        (tmp_path / "web" / name).write_text("please log in")
    with pytest.raises(DatasetError, match=r"hash of downloaded file .* does not match"):
        load_mnist()
    assert not any(path.is_file() for path in (tmp_path / "user").rglob("*"))


def test_a_folder_that_cannot_be_made(tmp_path: Path, web: Web) -> None:
    (tmp_path / "user").write_text("a file")
    with pytest.raises(DatasetError, match=r"cannot be downloaded: (Not a directory|File exists)"):
        load_mnist()


IMAGE = mnist_files.idx(np.zeros((2, 28, 28), np.uint8))
LABEL = mnist_files.idx(np.array([3, 9], np.uint8))


@pytest.mark.parametrize(
    ("images", "labels", "problem"),
    [
        (IMAGE, None, f"has no file {LABELS}.gz or {LABELS}. A dataset in MNIST's format has {IMAGES} and {LABELS}"),
        (None, LABEL, f"has no file {IMAGES}.gz or {IMAGES}."),
        (b"", LABEL, f"{IMAGES} is truncated, or is not an IDX file of uint8 with 3 axes"),
        (LABEL, LABEL, f"{IMAGES} is truncated, or is not an IDX file"),
        (IMAGE, IMAGE, f"{LABELS} is truncated, or is not an IDX file of uint8 with 1 axes"),
        (IMAGE[:-1], LABEL, f"{IMAGES} is truncated"),
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


@pytest.mark.parametrize("packed", [b"no gzip", gzip.compress(IMAGE)[:-10]], ids=len)
def test_damaged_gzip(tmp_path: Path, packed: bytes) -> None:
    (tmp_path / f"{IMAGES}.gz").write_bytes(packed)
    (tmp_path / LABELS).write_bytes(LABEL)
    with pytest.raises(DatasetError, match=f"{IMAGES}.gz cannot be read: "):
        load_mnist(str(tmp_path))
