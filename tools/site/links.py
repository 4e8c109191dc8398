"""Finds links of the built pages that lead nowhere, without a network: pages, anchors, pictures, scripts and styles."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = "https://envcore.github.io/envcore/"
"""Where the pages will be; links to there, as notebooks have them, are links within the site."""


class _Page(HTMLParser):
    """The links of a page, and the anchors that others may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.add(value)


def broken(folder: Path) -> Iterator[str]:
    """The broken links below a folder, one line each: the page and the link."""
    pages = {path: _Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            start = folder if link.startswith(SITE) else path.parent
            parts = urlsplit(link.removeprefix(SITE))
            if parts.scheme or parts.netloc:
                continue
            target = (start / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].anchors):
                yield f"{path.relative_to(folder)}: {link}"
