"""Arguments that have an older name."""

__all__ = []


def renamed(new_name, new, old_name, old):
    """The value of an argument that has an old name as well; ValueError if both are given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old
