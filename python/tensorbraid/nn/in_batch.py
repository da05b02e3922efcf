"""A loss for models with two towers, in which the other items of a batch stand for all items."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.nn.losses import sparse_softmax_cross_entropy_with_logits
from tensorbraid.ops import arrays, diagonals, elementwise, indexing, linalg_ops, sequences

__all__ = ["in_batch_softmax_loss"]


def in_batch_softmax_loss(queries, candidates, sampling_probability=None, candidate_ids=None, temperature=1.0,
                          name=None) -> graphs.Tensor:
    """The loss [batch] of choosing, for each query, its own candidate out of those of the batch.

    `queries` and `candidates` are float[batch, dim], and row i of the one belongs to row i of the other. The score of a
    pair is its dot product divided by `temperature`; the loss is the cross entropy of its softmax over the batch.

    A frequent item is in more batches, so it is a negative too often. `sampling_probability`, float[batch], is how often
    each candidate is drawn, such as its part of all examples: its logarithm is subtracted from the scores (log-q
    correction). With `candidate_ids`, integers or strings [batch], the same item elsewhere in the batch is no negative.
    TensorFlow has no such function.
    """
    with graphs.name_scope(name, "in_batch_softmax_loss", [queries, candidates]):
        queries, candidates = (graphs.convert_to_tensor(values) for values in (queries, candidates))
        for what, values in (("queries", queries), ("candidates", candidates)):
            if values.shape.ndims not in (None, 2):
                raise ValueError(f"{what} of in_batch_softmax_loss must have the shape [batch, dim], got {values.shape}")
        scores = linalg_ops.matmul(queries, candidates, transpose_b=True) / temperature
        if sampling_probability is not None:
            probability = elementwise.cast(graphs.convert_to_tensor(sampling_probability), scores.dtype)
            scores -= elementwise.log(arrays.reshape(probability, [1, -1]))
        count = arrays.shape(scores)[0]
        if candidate_ids is not None:
            ids = arrays.reshape(graphs.convert_to_tensor(candidate_ids), [-1])
            same = elementwise.equal(arrays.expand_dims(ids, 0), arrays.expand_dims(ids, 1))
            own = elementwise.cast(diagonals.diag(arrays.ones([count], dtypes.int32)), dtypes.bool)
            hidden = elementwise.logical_and(same, elementwise.logical_not(own))
            scores = indexing.where(hidden, arrays.fill(arrays.shape(scores), scores.dtype.min / 2), scores)
        return sparse_softmax_cross_entropy_with_logits(labels=sequences.range(count), logits=scores)
