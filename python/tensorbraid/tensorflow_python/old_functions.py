"""Functions from before TensorFlow 1.0 whose arguments have other names today."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.summary_nodes import collected
from tensorbraid.ops import indexing, linalg_ops
from tensorbraid.summary import merge as merge_summary, merge_all as merge_all_summaries  # noqa: F401

__all__ = ["RegisterShape", "audio_summary", "batch_matmul", "histogram_summary", "image_summary", "merge_all_summaries",
           "merge_summary", "scalar_summary", "select"]


def batch_matmul(x, y, adj_x=None, adj_y=None, name=None):
    """The matrix products of two batches: tf.matmul with adjoint_a=adj_x and adjoint_b=adj_y."""
    return linalg_ops.matmul(x, y, adjoint_a=bool(adj_x), adjoint_b=bool(adj_y), name=name)


def select(condition, t, e, name=None):
    """tf.where: the elements, or the rows, of `t` where `condition` is true, and of `e` elsewhere."""
    return indexing.where(condition, t, e, name=name)


def scalar_summary(tags, values, collections=None, name=None):
    """A summary of scalars, one for each tag. Unlike tf.summary.scalar, it does not add the name scope to the tags."""
    return collected(make_op("ScalarSummary", [tags, values], name), collections)


def histogram_summary(tag, values, collections=None, name=None):
    """A summary of a distribution. Unlike tf.summary.histogram, it does not add the name scope to the tag."""
    return collected(make_op("HistogramSummary", [tag, values], name), collections)


def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    """A summary of images. Unlike tf.summary.image, it does not add the name scope to the tag."""
    return collected(make_op("ImageSummary", [tag, tensor], name, max_images=max_images), collections)


def audio_summary(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    """A summary of sound clips. Unlike tf.summary.audio, it does not add the name scope to the tag."""
    rate = graphs.convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
    return collected(make_op("AudioSummaryV2", [tag, tensor, rate], name, max_outputs=max_outputs), collections)


class RegisterShape:
    """A decorator of shape functions. It has no effect, as in TensorFlow since 1.0: each op has a shape function."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        return f
