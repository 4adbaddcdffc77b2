"""`store` and `recall` of `ask`, made of functions of one call."""


def each(keep):
    """A `store` that gives each outcome to `keep(model, call, outcome)`."""

    def store(batch):
        for completed in batch:
            keep(*completed)

    return store


def recalling(outcome_of):
    """A `recall` that asks `outcome_of(call)` of each call."""
    return lambda model, calls: [outcome_of(call) for call in calls]
