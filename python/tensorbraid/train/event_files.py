"""Reads event files."""

from tensorbraid.python_io import tf_record_iterator

__all__ = ["summary_iterator"]


def summary_iterator(path):
    """The Event messages of an event file, one after another."""
    from tensorbraid import proto

    for record in tf_record_iterator(path):
        yield proto.Event.FromString(record)
