"""The site, by Sphinx: `make docs` builds it from the pages in this folder into `_build/html`.

The theme is furo. It is maintained by one of Sphinx's own maintainers, reads well on a telephone, knows light and dark, and
uses the system's fonts: unlike pydata-sphinx-theme it brings no icon font and no framework, so there is little to serve and
nothing to request from elsewhere.
"""

import importlib.metadata
import os
import sys
import time
from pathlib import Path

from pygments.lexer import RegexLexer
from pygments.token import Comment, Text
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402
from check import times  # noqa: E402
from generate import notebooks, portrait, sources, tree  # noqa: E402

import gnode  # noqa: E402

project = "gnode"
author = "the authors of gnode"
version = release = gnode.__version__
language = "en"
html_title = f"gnode {version}"
html_last_updated_fmt = ""
html_show_copyright = False

extensions = ["myst_nb", "sphinx_copybutton", "sphinx.ext.mathjax"]
exclude_patterns = ["_build", "_templates", "**/.ipynb_checkpoints"]
nitpicky = True
# Annotations name types of other libraries, and classes that are private: these are text. Roles on pages are not exempt.
nitpick_ignore_regex = [("py:class", r"(?!gnode\.).*")]
suppress_warnings = [
    "myst.header"
]  # a section of generated results may begin two levels down; it is shown one level down
maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
highlight_language = "plain"

# Kernels have a configuration of their own, not that of who builds the site; a local one need not warn of eavesdroppers.
IPYTHON = HERE / "_build" / "ipython"
os.environ["IPYTHONDIR"] = str(IPYTHON)
nb_execution_mode = "cache"
KEPT = HERE / "_build" / f"notebooks-{notebooks.digest()}"
nb_execution_cache_path = str(KEPT)
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # otherwise fetched from elsewhere; portraits are frames here


def mathjax() -> Path:
    """MathJax as a single script with its glyphs inside, from a package: no fonts, and nothing is requested."""
    files = importlib.metadata.files("sphinx-mathjax-offline") or []
    return Path(
        str(next(file for file in files if file.name == "tex-svg.js" and file.parent.name == "mathjax").locate())
    )


mathjax_path = mathjax().name
mathjax3_config = {"options": {"enableMenu": False}}

html_theme = "furo"
html_static_path = ["_static", str(mathjax())]
html_extra_path = ["_build/extra"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
COLOURS = ("color-brand-primary", "color-brand-content", "color-api-name")
html_theme_options = {
    "light_css_variables": dict.fromkeys(COLOURS, "#1d5c85") | {"color-api-pre-name": "#5a6570"},
    "dark_css_variables": dict.fromkeys(COLOURS, "#7fb8dd") | {"color-api-pre-name": "#9ca3ab"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"


class Plain(RegexLexer):
    """Equations and command lines, which are indented text on our pages: only comments differ."""

    name = "plain"
    tokens = {"root": [(r"(?:(?<=\s)|^)#\s.*$", Comment), (r"[^#\n]+|\n|#", Text)]}  # noqa: RUF012


def setup(app: Sphinx) -> None:
    """Makes what is generated before Sphinx looks for pages."""
    app.add_lexer("plain", Plain)
    app.connect("config-inited", lambda app, config: make(Path(app.srcdir)), priority=100)
    app.connect("source-read", read)
    app.connect("html-collect-pages", lambda app: sources.pages(Path(app.srcdir)))
    began, from_nothing = time.monotonic(), not KEPT.exists()
    app.connect("build-finished", lambda app, problem: problem or written_down(app, began, from_nothing))


def make(docs: Path) -> None:
    """Writes the reference and the page that moves."""
    generate.write(docs)
    generate.write_if_different(
        IPYTHON / "profile_default" / "ipython_kernel_config.py", "get_config().IPKernelApp.log_level = 40\n"
    )
    portrait.write(docs / "_build" / "extra" / "live")


def written_down(app: Sphinx, began: float, from_nothing: bool) -> None:
    """Writes down how long the build took, and its notebooks, for the checks of the site."""
    known = getattr(app.env, "nb_metadata", {})
    times.write(Path(app.outdir), time.monotonic() - began, from_nothing, known)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds its folder to a page that stands for one, and mends links to what is beside the pages in the repository."""
    docs = Path(app.srcdir)
    source[0] = sources.with_links(page, tree.with_tree(page, source[0], docs), docs)
