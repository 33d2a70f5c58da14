"""From recorded motion to the parameters of the model, with proof: logs, fits, statistics, excitation, payloads."""
