"""A likely reason why a file cannot be read: it is compressed."""

__all__ = []


def hint(content):
    """The end of the message about a file with these bytes; "" unless they begin with gzip's magic number."""
    return "; it has the magic number of a gzip file: decompress it first" if content[:2] == b"\x1f\x8b" else ""
