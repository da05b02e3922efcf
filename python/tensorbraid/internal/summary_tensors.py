"""Summaries of tensors and text, which a plugin of TensorBoard shows."""

from tensorbraid.internal import graphs, protobuf_messages
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.summary_nodes import collected, summary_scope

__all__ = ["all_v2_summary_ops", "get_summary_description", "tensor_summary", "text"]


def tensor_summary(name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None,
                   display_name=None):
    """A summary with the value of a tensor."""
    metadata = protobuf_messages.find("tensorbraid", "SummaryMetadata")()
    if summary_metadata is not None:
        metadata.ParseFromString(summary_metadata.SerializeToString())
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        from google.protobuf import json_format

        metadata.summary_description = json_format.MessageToJson(summary_description)
    with summary_scope(name, family, tensor) as (tag, scope):
        return collected(make_op("TensorSummaryV2", [tag, tensor, metadata.SerializeToString()], scope), collections)


def text(name, tensor, collections=None):
    """A summary of strings, which TensorBoard shows as text."""
    tensor = graphs.convert_to_tensor(tensor)
    if tensor.dtype != "string":
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype.name}")
    metadata = protobuf_messages.find("tensorbraid", "SummaryMetadata")()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def all_v2_summary_ops():
    """The summaries that the newer functions of TensorFlow make: none, since the package does not have these."""
    return []


def get_summary_description(node_def):
    """The SummaryDescription of the node of a TensorSummary."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format

    description = protobuf_messages.find("tensorbraid.summary", "SummaryDescription")()
    json_format.Parse(node_def.attr["description"].s.decode(), description)
    return description
