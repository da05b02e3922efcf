"""Compares the messages of the package with TensorFlow's, in one process and in both orders of import.

usage: compare_messages.py [package-first]

Needs a Python with TensorFlow, and the package tensorbraid in PYTHONPATH.
"""

import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def compare(ours, theirs, seen):
    """The differences of two descriptors: fields that only we have, or whose number or type is another."""
    if ours.full_name in seen:
        return []
    seen.add(ours.full_name)
    found = []
    for field in ours.fields:
        other = theirs.fields_by_name.get(field.name)
        if other is None:
            found.append(f"{ours.full_name}.{field.name} is not in TensorFlow")
            continue
        same_type = field.type == other.type or {field.type, other.type} == {field.TYPE_INT32, field.TYPE_ENUM}
        if field.number != other.number or not same_type or field.is_packed != other.is_packed:
            found.append(f"{ours.full_name}.{field.name}: {field.number} {field.type}, not {other.number} {other.type}")
        if field.message_type is not None:
            found += compare(field.message_type, other.message_type, seen)
        if field.enum_type is not None:
            for value in field.enum_type.values:
                if other.enum_type.values_by_name[value.name].number != value.number:
                    found.append(f"{value.full_name} is {value.number}")
    return found


def main():
    if len(sys.argv) == 1:
        subprocess.run([sys.executable, __file__, "package-first"], check=True)
    else:
        from tensorbraid import proto

        proto.GraphDef()
    from google.protobuf import descriptor_pool

    import tensorflow.compat.v1 as tf
    from tensorflow.core.framework import tensor_slice_pb2  # noqa: F401
    from tensorflow.core.protobuf import (  # noqa: F401
        control_flow_pb2, named_tensor_pb2, queue_runner_pb2, saved_model_pb2)
    from tensorflow.python.training import checkpoint_state_pb2  # noqa: F401

    from tensorbraid import proto

    seen, found = set(), []
    for name in dir(proto):
        if hasattr(getattr(proto, name), "DESCRIPTOR") and hasattr(getattr(proto, name), "FromString"):
            theirs = descriptor_pool.Default().FindMessageTypeByName("tensorflow." + name)
            found += compare(getattr(proto, name).DESCRIPTOR, theirs, seen)
    config = tf.ConfigProto(device_count={"CPU": 2}, inter_op_parallelism_threads=3)
    ours = proto.message("ConfigProto", config)
    if ours.SerializeToString(deterministic=True) != config.SerializeToString(deterministic=True):
        found.append("a ConfigProto of TensorFlow does not become ours")
    print(f"{len(seen)} messages compared")
    if found or len(seen) < 50:
        sys.exit("\n".join(found) or "too few messages")


if __name__ == "__main__":
    main()
