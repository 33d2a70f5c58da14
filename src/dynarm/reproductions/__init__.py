"""What serves only to reproduce the papers' tables."""
