"""Write the stored C code of the built-in two_link anew: `python tests/golden/two_link_c`."""

from pathlib import Path

import dynarm

dynarm.export_c(dynarm.compile(dynarm.load("two_link")), Path(__file__).parent, force=True)
