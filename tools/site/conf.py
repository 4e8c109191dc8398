"""Sphinx's settings for the documentation."""

from __future__ import annotations

import inspect
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import cards
import docstrings
from docutils import nodes
from envcore import painting
from envcore.version import __version__
from sphinx import addnodes

project = "envcore"
author = "the authors of envcore"
loop_on_dark = "rgb(122, 170, 228)"  # of the mark
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
    "sphinxext.opengraph",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "envcore"
html_baseurl = "https://envcore.github.io/envcore/"
ogp_site_url = html_baseurl
ogp_image = f"{html_baseurl}_static/preview.png"
ogp_description_length = 160
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/mark.svg"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": f"rgb{painting.BLUE}",
        "color-brand-content": f"rgb{painting.BLUE}",
        "color-foreground-primary": f"rgb{painting.INK}",
        "color-background-primary": "rgb(253, 252, 249)",
        "color-background-secondary": f"rgb{painting.PAPER}",
        "color-background-border": f"rgb{painting.SHADE}",
    },
    "dark_css_variables": {
        "color-brand-primary": loop_on_dark,
        "color-brand-content": loop_on_dark,
        "color-foreground-primary": f"rgb{painting.SHADE}",
        "color-background-primary": "rgb(22, 27, 36)",
        "color-background-secondary": "rgb(29, 35, 46)",
        "color-background-border": "rgb(52, 60, 75)",
    },
    "source_repository": "https://github.com/envcore/envcore/",
    "source_branch": "main",
    "source_directory": "tools/site/pages/",
}
pygments_dark_style = "github-dark"

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

# With --execute, tutorials run while the pages are built, and an error in one of them fails the build.
nb_execution_excludepatterns = ["*.ipynb"]  # they have their outputs
nb_execution_mode = os.environ.get("ENVCORE_SITE_NOTEBOOKS", "off")
nb_execution_timeout = 1200
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_mock_imports = ["brax", "ray", "stable_baselines3"]  # which take seconds to import, or gigabytes
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_use_ivar = True
napoleon_custom_sections = [(name, "params_style") for name in ("Returns", "Yields", "Class attributes for authors")]
default_role = "py:obj"  # a link, where there is such a name

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

_LONGEST_VALUE = 100  # characters of a value that is shown after its name
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]


def setup(app: Any) -> None:
    """Marks code in our docstrings, before napoleon reads their sections, and shows whole signatures."""

    def convert(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
        lines[:] = docstrings.restructured("\n".join(lines)).split("\n")
        if what == "property":  # napoleon takes what is before a colon for the type
            lines[:1] = [line.replace(": ", ", ", 1) for line in lines[:1]]

    def sign(app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str) -> Any:
        """Signatures as users call them: without marks of types, functions, and metaclasses that hide constructors."""
        if what == "class" and signature and signature.startswith("(*args"):
            _, *parameters = inspect.signature(obj.__init__).parameters.values()
            unmarked = [parameter.replace(annotation=parameter.empty) for parameter in parameters]
            return str(inspect.Signature(unmarked)), returns
        if not signature:
            return None
        plain = re.sub(r"(?:typing\.)?Annotated\[([^,]+), [^\]]*\]", r"\1", signature)
        return re.sub("<function .*?(<.*?>)?>", "...", plain), returns

    def shorten(app: Any, domain: str, objtype: str, content: nodes.Element) -> None:
        """Leaves out values that fill pages."""
        for value in list(content.parent.findall(addnodes.desc_annotation)):
            if value.astext().lstrip().startswith("=") and len(value.astext()) > _LONGEST_VALUE:
                value.parent.remove(value)

    def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> Any:
        """Leaves out the fields of named tuples, which their classes describe, and names of generic types."""
        is_field = (getattr(obj, "__doc__", None) or "").startswith("Alias for field number")
        return True if is_field or isinstance(obj, types.GenericAlias) else None

    app.set_translator("html", cards.Translator)
    app.connect("doctree-resolved", cards.label)
    app.connect("object-description-transform", shorten)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", convert, priority=400)
    app.connect("autodoc-process-signature", sign)
