"""What comes from outside is checked here, once: files, text, numbers, arrays."""
