"""The measured tables of docs/papers, one module a page."""
