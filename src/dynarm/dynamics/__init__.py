"""The equations of motion: the papers, recursions of our own, and the table of all of them."""
