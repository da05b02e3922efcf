"""run_cases.py tensorflow|tensorbraid OUTPUT [WORD...]: runs the cases with that package and writes the results."""

import inspect
import os
import pickle
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import registry  # noqa: E402

MODULES = ("", "math", "nn", "random", "strings", "sparse", "image", "linalg", "io", "bitwise", "lookup", "train", "layers",
           "losses", "metrics", "initializers", "summary", "data", "app", "flags", "gfile", "logging", "feature_column")


def callables(tf):
    """The public callables of the module and of its modules, as dotted names."""
    names = []
    for module in MODULES:
        try:
            space = getattr(tf, module) if module else tf
            members = [name for name in dir(space) if not name.startswith("_") and name != "keras"]
            found = [(name, getattr(space, name)) for name in members]
        except ImportError:  # parts of TensorFlow need another version of Keras than the one that is installed
            continue
        names += [f"{module}.{name}" if module else name for name, value in found
                  if callable(value) and not inspect.ismodule(value)]
    return names


def plain(value):
    """A value of NumPy or Python that both packages can be compared by."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    return array.tolist() if array.dtype.kind == "O" else array


def flatten(tf, value, path=""):
    """Pairs of a path and a leaf: tensors, operations, or plain values."""
    if isinstance(value, tf.SparseTensor):
        value = {"indices": value.indices, "values": value.values, "dense_shape": value.dense_shape}
    elif isinstance(value, tf.IndexedSlices):
        value = {"values": value.values, "indices": value.indices, "dense_shape": value.dense_shape}
    if isinstance(value, dict):
        for key in sorted(value):
            yield from flatten(tf, value[key], f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        if hasattr(value, "_fields"):
            yield path + ".fields", list(value._fields)
        for i, item in enumerate(value):
            yield from flatten(tf, item, f"{path}[{i}]")
    else:
        yield path, value


def described(tf, value):
    """What is known of a leaf before a step."""
    if isinstance(value, tf.Tensor):
        shape = value.get_shape()
        return {"kind": "tensor", "name": value.name, "dtype": value.dtype.base_dtype.name,
                "shape": None if shape.ndims is None else shape.as_list()}
    if isinstance(value, tf.Operation):
        return {"kind": "operation", "name": value.name}
    if isinstance(value, tf.TensorShape):
        return {"kind": "shape", "value": None if value.ndims is None else value.as_list()}
    if isinstance(value, tf.DType):
        return {"kind": "dtype", "value": value.name}
    if isinstance(value, tf.Variable):
        return {"kind": "variable", "name": value.name}
    return {"kind": "value", "value": plain(value)}


def gradients(tf, leaves, wrt):
    """The gradients of the sum of all float outputs, as tensors."""
    outputs = [tf.real(v) for _, v in leaves if isinstance(v, tf.Tensor) and (v.dtype.is_floating or v.dtype.is_complex)]
    if not outputs or not wrt:
        return []
    return [(f"gradient[{i}]", None if g is None else tf.convert_to_tensor(g))
            for i, g in enumerate(tf.gradients(outputs, wrt))]


def run(tf, case):
    """The record of a case: a dict with the leaves, or with the error."""
    stage = "build"
    record = {}
    try:
        with tf.Graph().as_default() as graph:
            result = case.function(tf)
            if not isinstance(result, registry.Result):
                result = registry.Result(result)
            leaves = list(flatten(tf, result.outputs))
            record["leaves"] = [(path, described(tf, value)) for path, value in leaves]
            stage = "gradient"
            try:
                grads = gradients(tf, leaves, result.wrt)
            except Exception as error:  # an op has no gradient
                grads = []
                record["no gradient"] = str(error)[:300]
            stage = "run"
            fetches = {path: v for path, v in leaves if isinstance(v, (tf.Tensor, tf.Operation, tf.Variable))}
            fetches.update({path: v for path, v in grads if v is not None})
            record["none"] = [path for path, v in grads if v is None]
            prepare = list(graph.get_collection("table_initializer"))
            prepare += [v.initializer for v in graph.get_collection("variables")]
            record["values"] = []
            with tf.Session() as session:
                for first in prepare:
                    session.run(first)
                for _ in range(result.steps if fetches else 0):
                    values = session.run(fetches, result.feed)
                    record["values"].append({path: plain(value) for path, value in values.items()})
    except Exception as error:
        record["error"] = (stage, [c.__name__ for c in type(error).__mro__], f"{type(error).__name__}: {error}"[:600])
    return record


def main():
    package, output = sys.argv[1:3]
    words = sys.argv[3:]
    if package == "tensorflow":
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        tf.logging.set_verbosity(tf.logging.ERROR)
    else:
        import tensorbraid as tf
    with open(output, "wb") as out:
        pickle.dump(("callables", callables(tf) if package == "tensorflow" else []), out)
        for case in registry.read():
            if words and not any(word in name for word in words for name in case.covers + [case.label]):
                continue
            pickle.dump(("case", case.label), out)
            out.flush()  # the comparison names the case in which a process ended
            pickle.dump(("record", case.label, run(tf, case)), out)
        pickle.dump(("end",), out)


main()
