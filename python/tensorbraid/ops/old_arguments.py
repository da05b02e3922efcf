"""Arguments that have an older name."""

__all__ = []


def renamed(new_name, new_value, old_name, old_value):
    """The value of an argument that also has an older name. ValueError if both are given."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old_value
