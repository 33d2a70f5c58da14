"""The smallest set of inertial parameters, by name and in closed form."""
