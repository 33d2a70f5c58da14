"""What each kind of log file holds, as named columns: one file a format."""
