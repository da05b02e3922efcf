"""Compares the protobuf messages of the package and of the C++ library with TensorFlow's, and exchanges graphs.

Both packages are in one process, TensorFlow first. With `package-first`, the package is imported first.

usage: compare_messages.py [package-first]

Needs a Python with TensorFlow, the package tensorbraid in PYTHONPATH, and protoc.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


# The .proto files of C++ with TensorFlow's messages. TensorFlow's package lacks those of its master service; its clients
# are tested with servers instead.
CPP_FILES = ["checkpoint/checkpoint_state.proto", "checkpoint/saved_tensor_slice.proto", "checkpoint/tensor_bundle.proto",
             "cluster/protobuf/cluster_def.proto", "cluster/protobuf/config.proto", "graph/format/graph.proto",
             "io/example.proto", "io/summary.proto", "train/checkpoints/meta_graph.proto"]
# Options of DeepRec's programs, which TensorFlow does not have.
OF_DEEPREC = {("OptimizerOptions", name) for name in (
    "do_op_fusion", "micro_batch_num", "do_smart_stage", "do_smart_stage_gpu", "do_async_embedding",
    "stage_multi_stream", "stage_subgraph_on_cpu")} | {("ConfigProto", "executor_policy")}


def same_type(ours, theirs):
    """Whether two fields have the same encoding: an enum may be declared as an integer, and a message as bytes."""
    pair = {ours.type, theirs.type}
    return len(pair) == 1 or pair in ({ours.TYPE_INT32, ours.TYPE_ENUM}, {ours.TYPE_BYTES, ours.TYPE_MESSAGE})



def compare(ours, theirs, seen):
    """The differences of two descriptors: fields that only we have, or whose number or type is another."""
    if ours.full_name in seen:
        return []
    seen.add(ours.full_name)
    found = []
    for field in ours.fields:
        other = theirs.fields_by_name.get(field.name)
        if other is None and (ours.name, field.name) not in OF_DEEPREC:
            found.append(f"{ours.full_name}.{field.name} is not in TensorFlow")
        if other is None:
            continue
        if field.number != other.number or not same_type(field, other) or field.is_packed != other.is_packed:
            found.append(f"{ours.full_name}.{field.name}: {field.number} {field.type}, not {other.number} {other.type}")
        if field.message_type is not None and other.message_type is not None:
            found += compare(field.message_type, other.message_type, seen)
        if field.enum_type is not None and other.enum_type is not None:
            for value in field.enum_type.values:
                if other.enum_type.values_by_name[value.name].number != value.number:
                    found.append(f"{value.full_name} is {value.number}")
    return found


def compare_cpp(theirs, seen):
    """The differences between TensorFlow's messages and those that the C++ library reads and writes."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    source = pathlib.Path(__file__).resolve().parents[2] / "src"
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["protoc", f"-I{source}", "--include_imports", f"--descriptor_set_out={file.name}", *CPP_FILES],
                       check=True)
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
    pool, found = descriptor_pool.DescriptorPool(), []
    for file in files:
        for message in pool.AddSerializedFile(file.SerializeToString()).message_types_by_name.values():
            found += compare(message, theirs.FindMessageTypeByName(f"tensorflow.{message.name}"), seen)
    return found


def exchange(tf, real):
    """Runs a graph of TensorFlow in the package, and the package's graph in TensorFlow. Returns the differences."""
    x = real.placeholder(real.float32, [2], name="x")
    y = real.identity(real.nn.softmax(x * 2 + [1.0, 2.0]), name="y")
    real.while_loop(lambda i: i < 5, lambda i: i + 1, [real.constant(0)], name="loop")
    fed, fetched = tf.import_graph_def(real.get_default_graph().as_graph_def(), return_elements=["x:0", "y:0"])
    metadata = real.RunMetadata()
    with tf.Session(config=real.ConfigProto(allow_soft_placement=True)) as session:
        ours = session.run(fetched, {fed: [1, 2]}, real.RunOptions(trace_level=real.RunOptions.FULL_TRACE), metadata)
    if not metadata.step_stats.dev_stats:
        return ["the metadata has no trace"]
    graph_def = real.GraphDef.FromString(tf.get_default_graph().as_graph_def().SerializeToString())
    again, = real.import_graph_def(graph_def, return_elements=["import/y:0"], name="again")
    with real.Session() as session:
        theirs = session.run([y, again], {x: [1, 2], "again/import/x:0": [1, 2]})
    return [f"{value} is not {ours}" for value in theirs if abs(value - ours).max() > 1e-6]


def main():
    if len(sys.argv) == 1:
        subprocess.run([sys.executable, __file__, "package-first"], check=True)
    else:
        from tensorbraid import proto

        proto.GraphDef()
    from google.protobuf import descriptor_pool

    import tensorflow.compat.v1 as tf
    from tensorboard.plugins.projector import projector_config_pb2  # noqa: F401
    from tensorflow.core.framework import tensor_slice_pb2  # noqa: F401
    from tensorflow.core.protobuf import (  # noqa: F401
        control_flow_pb2, named_tensor_pb2, queue_runner_pb2, saved_model_pb2, tensor_bundle_pb2)
    from tensorflow.core.util import saved_tensor_slice_pb2  # noqa: F401
    from tensorflow.python.framework import cpp_shape_inference_pb2  # noqa: F401
    from tensorflow.python.training import checkpoint_state_pb2  # noqa: F401

    from tensorbraid import proto

    seen, found = set(), []
    for name in dir(proto):
        if hasattr(getattr(proto, name), "DESCRIPTOR") and hasattr(getattr(proto, name), "FromString"):
            ours = getattr(proto, name).DESCRIPTOR
            found += compare(ours, descriptor_pool.Default().FindMessageTypeByName(ours.full_name), seen)
    found += compare_cpp(descriptor_pool.Default(), seen)
    config = tf.ConfigProto(device_count={"CPU": 2}, inter_op_parallelism_threads=3)
    ours = proto.message("ConfigProto", config)
    if ours.SerializeToString(deterministic=True) != config.SerializeToString(deterministic=True):
        found.append("a ConfigProto of TensorFlow does not become ours")
    import tensorbraid

    tf.disable_v2_behavior()
    found += exchange(tensorbraid, tf)
    print(f"{len(seen)} messages compared")
    if found or len(seen) < 100:
        sys.exit("\n".join(found) or "too few messages")


if __name__ == "__main__":
    main()
