"""Robot files: URDF and TOML, read and written."""
