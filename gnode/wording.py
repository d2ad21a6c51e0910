"""Small helpers for sentences that people read."""

__all__ = ["plural"]


def plural(count: int, noun: str) -> str:
    """Returns a count with its noun.

    >>> plural(1, "epoch"), plural(3, "epoch")
    ('1 epoch', '3 epochs')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
