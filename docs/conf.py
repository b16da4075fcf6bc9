"""How Sphinx builds the site: make docs."""

from __future__ import annotations

import re
import warnings
from importlib.util import find_spec
from typing import Any

from sphinx.util.inspect import TypeAliasForwardRef

import smrmr

project = "smrmr"
author = "smrmr contributors"
copyright = "smrmr contributors"
version = release = smrmr.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "_static"]
default_role = "py:obj"  # `SmRMR` in a docstring leads to its page

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "exclude-members": "set_fit_request"}  # scikit-learn's
autodoc_type_aliases = {  # in signatures, in place of what they stand for
    name: name for name in ("Vector", "Matrix", "Indices", "Mask", "Data", "Kernel", "Progress")
}
python_maximum_signature_line_length = 88  # beyond, a line for each parameter
toc_object_entries_show_parents = "hide"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # "x, y" share a line, as they share a sentence
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_attr_annotations = False  # types are in the signature

plot_include_source = True
plot_html_show_source_link = plot_html_show_formats = False
plot_formats = [("png", 150)]

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # seconds differ from build to build
    "write_computation_times": False,
    "remove_config_comments": True,
    "image_srcset": ["2x"],  # sharp on fine screens
}

html_theme = "pydata_sphinx_theme"
html_title = "smrmr"
# formulas need no network; as an extension the package would make the build serial
mathjax_files = find_spec("sphinx-mathjax-offline")
html_static_path = ["_static", *(f"{at}/static" for at in mathjax_files.submodule_search_locations)]
mathjax_path = "mathjax/tex-chtml.js"
html_css_files = ["site.css"]
html_theme_options = {
    "github_url": "https://github.com/smrmr/smrmr",
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
html_sidebars = {"index": [], "start": []}  # which have no pages below them

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


ARRAY = re.compile(r"~?(?:numpy\.)?ndarray\[tuple\[.*?\], ~?(?:numpy\.)?dtype\[[^\]]*\]\]")


def readable(*event: Any) -> tuple[str, str] | None:
    """A signature in short: arrays by name, and dots for defaults that a factory makes."""
    signature, returned = event[-2:]
    if not signature:
        return None
    signature = ARRAY.sub("~numpy.ndarray", signature).replace("<factory>", "...")
    return signature, returned and ARRAY.sub("~numpy.ndarray", returned)


def setup(app: Any) -> None:
    TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # in tuple[Vector, ...]
    app.connect("autodoc-process-signature", readable)
