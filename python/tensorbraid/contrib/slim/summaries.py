"""tf.contrib.slim.summaries: summaries that can also be printed, and summaries of several tensors."""

import tensorbraid as tf

__all__ = ["add_histogram_summaries", "add_histogram_summary", "add_image_summaries", "add_image_summary",
           "add_scalar_summaries", "add_scalar_summary", "add_zero_fraction_summaries", "add_zero_fraction_summary"]


def _name(tensor, name, prefix):
    name = name or tensor.op.name
    return f"{prefix}/{name}" if prefix else name


def add_histogram_summary(tensor, name=None, prefix=None):
    """A summary of the distribution of a tensor. The default of its name is the tensor's name."""
    return tf.summary.histogram(_name(tensor, name, prefix), tensor)


def add_image_summary(tensor, name=None, prefix=None, print_summary=False):
    """A summary of images. With `print_summary`, each run also prints the tensor."""
    return _printed(tf.summary.image, tensor, _name(tensor, name, prefix), print_summary)


def add_scalar_summary(tensor, name=None, prefix=None, print_summary=False):
    """A summary of a scalar. With `print_summary`, each run also prints its value."""
    return _printed(tf.summary.scalar, tensor, _name(tensor, name, prefix), print_summary)


def _printed(make, tensor, name, print_summary):
    collections = [] if print_summary else None
    made = make(name, tensor, collections=collections)
    if print_summary:
        made = tf.Print(made, [tensor], name)
        tf.add_to_collection(tf.GraphKeys.SUMMARIES, made)
    return made


def add_zero_fraction_summary(tensor, name=None, prefix=None, print_summary=False):
    """A summary of the fraction of a tensor's elements that are 0."""
    name = _name(tensor, name or f"Fraction of Zero Values/{tensor.op.name}", prefix)
    return add_scalar_summary(tf.nn.zero_fraction(tensor), name, print_summary=print_summary)


def add_histogram_summaries(tensors, prefix=None):
    """A summary of the distribution of each tensor."""
    return [add_histogram_summary(tensor, prefix=prefix) for tensor in tensors]


def add_image_summaries(tensors, prefix=None):
    """A summary of the images of each tensor."""
    return [add_image_summary(tensor, prefix=prefix) for tensor in tensors]


def add_scalar_summaries(tensors, prefix=None, print_summary=False):
    """A summary of each scalar."""
    return [add_scalar_summary(tensor, prefix=prefix, print_summary=print_summary) for tensor in tensors]


def add_zero_fraction_summaries(tensors, prefix=None):
    """A summary of the fraction of zeros of each tensor."""
    return [add_zero_fraction_summary(tensor, prefix=prefix) for tensor in tensors]
