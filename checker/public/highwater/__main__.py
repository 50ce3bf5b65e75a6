"""The command line as `python -m highwater`; the commands `highwater` and `explore` run it too."""

import signal

__all__ = ["explore_main", "main"]

_NEW_OBJECTS = 50_000


def _quiet_interrupts() -> None:
    """Until the command line can say that it was interrupted, Ctrl-C ends the process silently."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _look_seldom() -> None:
    """Look for unused cycles once in 50,000 new objects: a start makes many, and keeps them."""
    import gc

    gc.set_threshold(_NEW_OBJECTS)


def main() -> None:
    """The entry point of `highwater`."""
    _quiet_interrupts()
    _look_seldom()
    from checker.commands.cli import main as run

    run()


def explore_main() -> None:
    """The entry point of `explore`."""
    _quiet_interrupts()
    _look_seldom()
    from checker.commands.cli import explore_main as run

    run()


if __name__ == "__main__":
    main()
