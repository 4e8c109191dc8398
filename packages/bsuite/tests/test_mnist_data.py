"""Where MNIST's images come from, and which files are rejected. A server on this computer stands in for the web."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mnist_files
import numpy as np
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


@pytest.mark.parametrize("packed", [True, False])
def test_the_users_own_images(tmp_path: Path, packed: bool) -> None:
    expected = mnist_files.random_images()
    mnist = load_mnist(str(mnist_files.write(tmp_path, expected, packed=packed)))
    for array, like in zip(mnist, expected, strict=True):
        np.testing.assert_array_equal(array, like, strict=True)
        assert not array.flags.writeable


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


IMAGE = mnist_files.idx(np.zeros((2, 28, 28), np.uint8))
LABEL = mnist_files.idx(np.array([3, 9], np.uint8))


@pytest.mark.parametrize(
    ("images", "labels", "problem"),
    [
        (IMAGE, None, f"has no file {LABELS}.gz or {LABELS}. A dataset in MNIST's format has {IMAGES} and {LABELS}"),
        (IMAGE[:-1], LABEL, f"{IMAGES} is truncated"),
        (mnist_files.idx(np.zeros((2, 28, 27), np.uint8)), LABEL, "images of 28x28 pixels, but they are (28, 27)"),
        (IMAGE, mnist_files.idx(np.zeros(3, np.uint8)), "it holds 2 images and 3 labels"),
        (IMAGE, mnist_files.idx(np.array([0, 10], np.uint8)), "labels from 0 to 9, but it holds 10"),
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
