"""Variables with a row for each word, when the words have changed."""

import collections

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op

__all__ = []


class VocabInfo(collections.namedtuple("VocabInfo", [
        "new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer",
        "axis"])):
    """The files of the vocabularies of a variable now and in a checkpoint. `axis` 1 means its columns.

    The checkpoint's first `old_vocab_size` words count, or all if it is -1. New words, and words out of the
    vocabulary, get values of `backup_initializer`, by default zeros.
    """

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1, backup_initializer=None,
                axis=0):
        if axis != 0 and axis != 1:
            raise ValueError(f"The only supported values for the axis argument are 0 and 1. Provided axis: {axis}")
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size,
                               backup_initializer, axis)


def remapped(chain, name, part, vocabulary, first):
    """The values of a matrix of the CheckpointChain, whose words from `first` on are those of a part of a variable."""
    rows = part.shape.as_list()
    if len(rows) != 2 or part.dtype != dtypes.float32:
        raise ValueError(f"a variable with a VocabInfo must be a float32 matrix: {part.name}")
    axis, count = vocabulary.axis, part.shape.as_list()[vocabulary.axis]
    known = max(0, min(count, vocabulary.new_vocab_size - first))  # the rest is for words out of the vocabulary
    mapping = make_op("GenerateVocabRemapping", [vocabulary.new_vocab, vocabulary.old_vocab], "vocab_remapping",
                      new_vocab_offset=first, num_new_vocab=known, old_vocab_size=vocabulary.old_vocab_size).outputs[0]
    if known < count:
        mapping = make_op("ConcatV2", [[mapping, graphs.constant([-1] * (count - known), dtypes.int64)], 0],
                          "with_buckets").outputs[0]
    initial = _backup(vocabulary, part)
    if chain.increments:  # LoadAndRemapMatrix reads one checkpoint
        known = make_op("GreaterEqual", [mapping, graphs.constant(0, dtypes.int64)]).outputs[0]
        places = make_op("Maximum", [mapping, graphs.constant(0, dtypes.int64)]).outputs[0]
        values = make_op("GatherV2", [chain.read(name, part.dtype), places, axis]).outputs[0]
        mask = make_op("Reshape", [known, [-1, 1] if axis == 0 else [1, -1]]).outputs[0]
        return make_op("SelectV2", [mask, values, initial], "load_and_remap_matrix").outputs[0]
    unchanged = graphs.constant([] if axis == 0 else list(range(rows[0])), dtypes.int64)
    maps = [mapping, unchanged] if axis == 0 else [unchanged, mapping]
    missing = make_op("Where", [make_op("Less", [mapping, graphs.constant(0, dtypes.int64)]).outputs[0]]).outputs[0]
    missing = make_op("Reshape", [missing, [-1]]).outputs[0]
    fill = make_op("GatherV2", [initial, missing, axis]).outputs[0]
    return make_op("LoadAndRemapMatrix", [chain.path, name, *maps, make_op("Reshape", [fill, [-1]]).outputs[0]],
                   "load_and_remap_matrix", num_rows=rows[0], num_cols=rows[1]).outputs[0]


def _backup(vocabulary, part):
    """A matrix of the size of the part with the values of new words."""
    size = part.shape.as_list()
    if vocabulary.backup_initializer is None:
        return make_op("Fill", [size, graphs.constant(0.0)], "zeros").outputs[0]
    return graphs.convert_to_tensor(vocabulary.backup_initializer(size, dtype=dtypes.float32))
