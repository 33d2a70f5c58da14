"""One estimator a file: `solve(Problem) -> Solution`, and the record ESTIMATOR that names what it needs."""
