"""python -m dynarm: the same as the command dynarm."""

from .cli import main

if __name__ == "__main__":
    main()
