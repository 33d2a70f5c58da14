"""compile(arm) -> Model: the words users say, and what becomes of them."""
