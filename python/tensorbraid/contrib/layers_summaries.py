"""Summaries of tensors, variables and activations."""

import re

import tensorbraid as tf
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = ["summarize_activation", "summarize_activations", "summarize_biases", "summarize_collection",
           "summarize_tensor", "summarize_tensors", "summarize_variables", "summarize_weights"]


def _tagged(tag):
    existing = tf.get_collection(GraphKeys.SUMMARIES)
    return any(tag in summary.op.name for summary in existing)


def summarize_activation(op):
    """Summarises an activation: how many elements are 0, or above 6, and its histogram."""
    name = re.sub(r"^.*/|:\d+$", "", op.op.name) if hasattr(op, "op") else op.name
    if op.op.type in ("Relu", "Softplus", "Relu6"):
        tf.summary.scalar(f"{name}/zeros", tf.reduce_mean(tf.cast(tf.less(op, tf.cast(0.0, op.dtype)), tf.float32)))
    if op.op.type == "Relu6":
        tf.summary.scalar(f"{name}/sixes", tf.reduce_mean(tf.cast(tf.greater(op, tf.cast(6.0, op.dtype)), tf.float32)))
    return tf.summary.histogram(f"{name}/activation", op)


def summarize_tensor(tensor, tag=None):
    """A summary of a tensor: its value or its histogram; None if it has one with this tag, or is no number."""
    value = tf.convert_to_tensor(tensor)
    tag = tag or tensor.op.name
    if _tagged(tag) or value.dtype == tf.string or value.dtype.is_complex:
        return None
    if value.dtype == tf.bool:
        value = tf.cast(value, tf.float32)
    return tf.summary.scalar(tag, value) if value.shape.ndims == 0 else tf.summary.histogram(tag, value)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    """The summaries of several tensors."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """The summaries of the tensors of a collection whose names match."""
    return summarize_tensors([tensor for tensor in tf.get_collection(collection)
                              if name_filter is None or re.match(name_filter, tensor.op.name)], summarizer)


def summarize_variables(name_filter=None, summarizer=summarize_tensor):
    """The summaries of the global variables whose names match."""
    return summarize_collection(GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(name_filter=None, summarizer=summarize_tensor):
    """The summaries of the collection of weights."""
    return summarize_collection(GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(name_filter=None, summarizer=summarize_tensor):
    """The summaries of the collection of biases."""
    return summarize_collection(GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """The summaries of the collection of activations."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)
