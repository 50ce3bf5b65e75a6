"""The command line as `python -m highwater`; the commands `highwater` and `explore` run it too."""

from checker.cli import explore_main, main

__all__ = ["explore_main", "main"]

if __name__ == "__main__":
    main()
