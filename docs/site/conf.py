"""Settings of the documentation site; jobs/docs.sh builds it."""

import os

project = "dkmap"
version = release = os.environ.get("DKMAP_VERSION", "")
copyright = "the dkmap authors"

extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["site", "examples/README.md"]
nitpicky = True

html_theme = "furo"
html_title = "dkmap " + release
html_static_path = ["static"]
html_css_files = ["dkmap.css"]
html_extra_path = ["extra"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
highlight_language = "text"
smartquotes = False
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
myst_update_mathjax = False
mathjax2_config = {
    "showMathMenu": False,
    "messageStyle": "none",
    "tex2jax": {
        "inlineMath": [["\\(", "\\)"]],
        "displayMath": [["\\[", "\\]"]],
        "processClass": "tex2jax_process|mathjax_process|math",
    },
}
