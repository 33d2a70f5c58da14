"""The papers' algorithms line by line, as their figures and tables list them: what `count(...).as_printed` counts."""
