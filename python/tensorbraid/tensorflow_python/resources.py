"""tensorflow.python.ops.resources: resources other than variables that a session must initialize."""

import collections

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops import control

__all__ = ["initialize_resources", "local_resources", "register_resource", "report_uninitialized_resources",
           "shared_resources"]

_Resource = collections.namedtuple("_Resource", ["handle", "create", "is_initialized", "is_shared"])


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Adds a resource to the graph's collection of shared or, with is_shared=False, of local resources."""
    graphs.add_to_collection(GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES,
                             _Resource(handle, create_op, is_initialized_op, is_shared))


def shared_resources():
    """The resources that all tasks share."""
    return graphs.get_collection(GraphKeys.RESOURCES)


def local_resources():
    """The resources of this task."""
    return graphs.get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list, name="init"):
    """An operation that creates the resources."""
    return control.group(*[resource.create for resource in resource_list], name=name)


def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """A string vector with the names of the resources that are not initialized."""
    import tensorbraid as tf

    resources = shared_resources() + local_resources() if resource_list is None else resource_list
    with tf.name_scope(name):
        if not resources:
            return tf.constant([], tf.string)
        exist = tf.stack([resource.is_initialized for resource in resources])
        return tf.boolean_mask(tf.constant([resource.handle.name for resource in resources]), tf.logical_not(exist))
