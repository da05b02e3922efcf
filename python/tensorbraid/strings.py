"""The namespace tf.strings."""

from tensorbraid.ops.string_ops import (  # noqa: F401
    as_string, format, lower, reduce_join, regex_full_match, regex_replace, string_join as join, string_length as
    length, string_strip as strip, string_to_hash_bucket as to_hash_bucket, string_to_hash_bucket_fast as
    to_hash_bucket_fast, string_to_hash_bucket_strong as to_hash_bucket_strong, string_to_number as to_number,
    strings_split as split, substr, unicode_script, unicode_transcode, unsorted_segment_join,
    upper)

__all__ = [
    "as_string", "format", "join", "length", "lower", "reduce_join", "regex_full_match", "regex_replace", "split",
    "strip", "substr", "to_hash_bucket", "to_hash_bucket_fast", "to_hash_bucket_strong", "to_number", "unicode_script",
    "unicode_transcode", "unsorted_segment_join", "upper"]
