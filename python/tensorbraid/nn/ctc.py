"""CTC: losses and decoders for sequences whose labels are not aligned with the steps."""

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.ops import indexing, reductions
from tensorbraid.ops.control_flow import map_fn
from tensorbraid.ops.node import cast, op, reduce, shape_of, tensor
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["collapse_repeated", "ctc_beam_search_decoder", "ctc_beam_search_decoder_v2", "ctc_greedy_decoder",
           "ctc_loss", "ctc_loss_v2", "ctc_unique_labels"]


def ctc_loss(labels, inputs=None, sequence_length=None, preprocess_collapse_repeated=False, ctc_merge_repeated=True,
             ignore_longer_outputs_than_inputs=False, time_major=True, logits=None):
    """The CTC loss of each sequence. `labels` is a SparseTensor of int32."""
    arguments.check(hasattr(labels, "indices"), "labels", "a tf.SparseTensor", labels)
    inputs = tensor(logits if inputs is None else inputs)
    if not time_major:
        inputs = op("Transpose", [inputs, [1, 0, 2]])
    return make_op("CTCLoss", [inputs, labels.indices, labels.values, sequence_length],
                   preprocess_collapse_repeated=preprocess_collapse_repeated, ctc_merge_repeated=ctc_merge_repeated,
                   ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs).outputs[0]


def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """The most likely path, as a list of one SparseTensor, and its negated logits."""
    outputs = make_op("CTCGreedyDecoder", [inputs, sequence_length], merge_repeated=merge_repeated,
                      blank_index=-1 if blank_index is None else blank_index).outputs
    return [SparseTensor(*outputs[:3])], outputs[3]


def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1, merge_repeated=True):
    """The most likely label sequences, as SparseTensors, and their log probabilities."""
    outputs = make_op("CTCBeamSearchDecoder", [inputs, sequence_length], beam_width=beam_width, top_paths=top_paths,
                      merge_repeated=merge_repeated).outputs
    paths = zip(outputs[:top_paths], outputs[top_paths:2 * top_paths], outputs[2 * top_paths:3 * top_paths])
    return [SparseTensor(*path) for path in paths], outputs[-1]


def ctc_beam_search_decoder_v2(inputs, sequence_length, beam_width=100, top_paths=1):
    """ctc_beam_search_decoder that keeps repeated labels."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def ctc_loss_v2(labels, logits, label_length, logit_length, logits_time_major=True, unique=None, blank_index=None,
                name=None):
    """The CTC loss of each sequence, with dense labels [batch, length] or a SparseTensor, and any class as the blank.

    `unique` only makes TensorFlow faster. The op of the loss finds repeated labels itself.
    """
    sparse = isinstance(labels, SparseTensor)
    if sparse and blank_index is None:
        raise ValueError("Argument `blank_index` must be provided when labels is a SparseTensor.")
    with graphs.name_scope(name, "ctc_loss", [logits, label_length, logit_length]):
        logits = tensor(logits, name="logits")
        if not sparse:
            labels = _sparse_labels(cast(tensor(labels), "int32"), tensor(label_length))
        classes = logits.shape.as_list()[-1]
        blank = 0 if blank_index is None else blank_index
        blank = blank + classes if blank < 0 else blank
        values = cast(labels.values, "int32")
        if blank != classes - 1:
            parts = graphs.make_op("SplitV", [logits, [blank, 1, classes - blank - 1], 2], num_split=3).outputs
            logits = op("ConcatV2", [[parts[0], parts[2], parts[1]], 2])
            values = op("SelectV2", [op("Less", [values, blank]), values, op("Sub", [values, 1])])
        return ctc_loss(SparseTensor(labels.indices, values, labels.dense_shape), logits, logit_length,
                        time_major=logits_time_major)


def _sparse_labels(labels, lengths):
    """The first labels of each row, as a SparseTensor."""
    positions = op("Range", [0, op("StridedSlice", [shape_of(labels), [1], [2], [1]], shrink_axis_mask=1), 1])
    used = op("Less", [positions, op("ExpandDims", [cast(lengths, "int32"), 1])])
    indices = op("Where", [used])
    return SparseTensor(indices, op("GatherNd", [labels, indices]), op("Shape", [labels], out_type=dtypes.int64))


def ctc_unique_labels(labels, name=None):
    """The different labels of each row, filled up with 0, and for each label its position among them."""
    def row(values):
        found, positions = indexing.unique(values)
        missing = op("Sub", [reductions.size(values), reductions.size(found)])
        filled = op("Pad", [found, op("Reshape", [op("Pack", [[0, missing]]), [1, 2]])])
        return cast(filled, "int64"), positions

    with graphs.name_scope(name, "ctc_unique_labels", [labels]):
        labels = tensor(labels, name="labels")
        return map_fn(row, labels, dtype=(dtypes.int64, dtypes.int32))


def collapse_repeated(labels, seq_length, name=None):
    """Each row of labels without repetitions of the label before, filled up with 0, and the new lengths of the rows."""
    with graphs.name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels, seq_length = tensor(labels, name="labels"), tensor(seq_length, name="seq_length")
        first = op("Slice", [labels, [0, 0], [-1, 1]])
        differs = op("NotEqual", [op("Slice", [labels, [0, 1], [-1, -1]]),
                                  op("Slice", [labels, [0, 0], op("Sub", [shape_of(labels), [0, 1]])])])
        kept = op("ConcatV2", [[op("OnesLike", [op("Equal", [first, first])]), differs], 1])
        width = op("StridedSlice", [shape_of(labels), [1], [2], [1]], shrink_axis_mask=1)
        kept = op("LogicalAnd", [kept, _first_positions(seq_length, width)])
        lengths = reduce("Sum", cast(kept, seq_length.dtype), [1])
        target = _first_positions(lengths, reduce("Max", lengths, [0]))
        flat = op("GatherNd", [labels, op("Where", [kept])])
        collapsed = op("ScatterNd", [cast(op("Where", [target]), "int32"), flat, shape_of(target)])
        collapsed.set_shape([labels.shape.as_list()[0], None])
        return collapsed, lengths


def _first_positions(lengths, width):
    """True at the first positions of each row."""
    return op("Less", [op("Range", [0, cast(width, "int32"), 1]), op("ExpandDims", [cast(lengths, "int32"), 1])])
