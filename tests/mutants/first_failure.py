"""A pytest plugin for who asks only whether a test fails: the first failing example is enough.

Hypothesis would make it smaller, which can take a minute.
"""


def pytest_configure() -> None:
    """Generate examples, the same in every run, and do no more with them."""
    from hypothesis import Phase, settings  # later: its own plugin is to import it first

    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("first-failure", settings.get_profile("ci"), phases=phases)
    settings.load_profile("first-failure")
