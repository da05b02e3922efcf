"""Recognises compressed files, for the messages of readers that cannot read them."""

__all__ = []


def hint(content):
    """A hint to append to an error message if `content` begins with gzip's magic number, otherwise ""."""
    return "; it has the magic number of a gzip file: decompress it first" if content[:2] == b"\x1f\x8b" else ""
