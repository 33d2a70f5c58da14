"""Where the wheel example-robot-data puts the URDFs of real robots."""

from benchmarks.collisions import example_robot as example_robot
from benchmarks.collisions import robots_folder as robots_folder
