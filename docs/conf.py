# SPDX-License-Identifier: BSD-3-Clause
# The site: .ci/docs builds it. Reference pages are made from the sources and from the tool's own help.
import re
import sys
from pathlib import Path

here = Path(__file__).parent
sys.path.insert(0, str(here / "_ext"))

project = "gputest"
author = "the gputest authors"
copyright = author
version = release = re.search(r"VERSION (\S+)", (here.parent / "CMakeLists.txt").read_text().split("project(", 1)[1]).group(1)

extensions = ["myst_parser", "sphinxcontrib.moderncmakedomain", "gputest_reference"]
exclude_patterns = ["requirements.txt"]
myst_ref_domains = ["std"]  # the domain of CMake cannot be searched for a name alone
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
nitpicky = True
highlight_language = "none"
smartquotes = False  # an option such as --if-gpu keeps its hyphens

html_theme = "furo"
html_title = f"gputest {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
