"""Sphinx's settings for the documentation."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import docstrings
from envcore.version import __version__

project = "envcore"
author = "the authors of envcore"
copyright = f"2026, {author}"  # noqa: A001  # Sphinx's name for it
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "envcore"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "source_repository": "https://github.com/envcore/envcore/",
    "source_branch": "main",
    "source_directory": "tools/site/pages/",
}
pygments_dark_style = "github-dark"

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

# Notebooks run while the pages are built, and an error in one of them fails the build.
nb_execution_mode = os.environ.get("ENVCORE_SITE_NOTEBOOKS", "cache")
nb_execution_timeout = 1200
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_use_ivar = True

# Inventories are on the network: a build without one must give the same pages, with fewer links.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "jax": ("https://docs.jax.dev/en/latest", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "gymnasium": ("https://gymnasium.farama.org", None),
    }
    if os.environ.get("ENVCORE_SITE_ONLINE")
    else {}
)

suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]


def setup(app: Any) -> None:
    """Makes our docstrings reStructuredText, before napoleon reads their sections, and shows whole signatures."""

    def convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        lines[:] = docstrings.restructured(lines)
        if what == "property":  # napoleon takes what is before a colon for the type
            lines[:1] = [line.replace(": ", ", ", 1) for line in lines[:1]]

    def sign(app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str) -> Any:
        """The constructor's own signature, where a metaclass hides it."""
        if what == "class" and signature and signature.startswith("(*args"):
            _, *parameters = inspect.signature(obj.__init__).parameters.values()
            plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
            return str(inspect.Signature(plain)), returns
        return None

    def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> Any:
        """Leaves out the fields of named tuples, which their classes' docstrings describe."""
        return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field number") else None

    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", convert, priority=400)
    app.connect("autodoc-process-signature", sign)
