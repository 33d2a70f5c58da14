"""From a regressor to values: least squares and its relatives."""
