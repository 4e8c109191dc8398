from __future__ import annotations

import threading

import pytest
from envcore import downloads
from envcore.errors import DownloadRefusedError


def test_a_download_is_refused_inside_the_context_alone() -> None:
    downloads.request("stars")
    with pytest.raises(DownloadRefusedError, match=r"^needs to download stars\.$"), downloads.refused():
        downloads.request("stars")
    downloads.request("stars")


def test_other_threads_may_go_on() -> None:
    done: list[str] = []

    def download() -> None:
        downloads.request("stars")
        done.append("stars")

    with downloads.refused():
        thread = threading.Thread(target=download)
        thread.start()
        thread.join()
    assert done == ["stars"]
