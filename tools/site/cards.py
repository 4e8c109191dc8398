"""What Sphinx's HTML lacks: images that load when they come into sight, and tables that become cards on a phone.

Each cell of a wide table of text carries its column's title, which the stylesheet shows there.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

_LONG = re.compile('(?<=<span class="pre">)[^<]{28,}')  # names that may break after a dot
_WIDE = 74  # characters of a row, as many as make a phone's table scroll
_SENTENCE = 30  # characters of a cell that needs a line of its own where there are three columns


class Translator(HTML5Translator):
    """Loads images lazily, writes the label of a cell as an attribute, and breaks long names in tables after dots."""

    def visit_image(self, node: Any) -> None:
        node["loading"] = "lazy"
        node.setdefault("alt", "output of the code above")
        super().visit_image(node)

    def starttag(self, node: Any, tagname: str, suffix: str = "\n", empty: bool = False, **attributes: Any) -> str:
        if tagname == "td" and "label" in node:
            attributes["data-label"] = node["label"]
        return super().starttag(node, tagname, suffix, empty, **attributes)

    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802, docutils' name
        start = len(self.body)
        super().visit_Text(node)
        if self.protect_literal_text and isinstance(node.parent.parent.parent, nodes.entry):
            for i, part in enumerate(self.body[start:], start):
                self.body[i] = _LONG.sub(lambda name: re.sub(r"[.(](?=\w)", r"\g<0><wbr>", name[0]), part)


def label(app: Any, doctree: nodes.document, docname: str) -> None:
    """Labels the cells of the tables that are to be cards."""
    for table in doctree.findall(nodes.table):
        titles = [cell.astext() for head in table.findall(nodes.thead) for cell in head.findall(nodes.entry)]
        body = next(iter(table.findall(nodes.tbody)))
        rows = [list(row.findall(nodes.entry)) for row in body.findall(nodes.row)]
        widths = [sum(len(cell.astext()) for cell in column) / len(rows) for column in zip(*rows, strict=True)]
        if sum(widths) >= _WIDE or (len(widths) >= 3 and max(widths) >= _SENTENCE):
            table["classes"].append("cards")
            for row in rows:
                for title, cell in zip(titles, row, strict=True):
                    if cell.astext():  # an empty one is left out of the card
                        cell["label"] = title
