"""run_cases.py tensorflow|tensorbraid OUTPUT LABELS: runs cases with that package and writes the results.

LABELS is a file with the labels of the cases, a list in JSON.
"""

import json
import os
import pickle
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import registry  # noqa: E402
import tracing  # noqa: E402

CALLABLES = []  # the names of the package's callables


def plain(value):
    """A value of NumPy or Python that both packages can be compared by."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    array = np.asarray(value)
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    if array.dtype.kind == "O" and array.ndim == 0:
        return f"a {type(value).__name__}"
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
    outputs = [tf.real(v) for _,
               v in leaves if isinstance(v, tf.Tensor) and (v.dtype.is_floating or v.dtype.is_complex)]
    if not outputs or not wrt:
        return []
    return [(f"gradient[{i}]", None if g is None else tf.convert_to_tensor(g))
            for i, g in enumerate(tf.gradients(outputs, wrt))]


def fetched(session, fetches, feed):
    return {path: plain(value) for path, value in session.run(fetches, feed).items()}


def exceptions(tf):
    """Pairs of a name and a class of the exceptions among the callables."""
    found = {name: registry.lookup(tf, name) for name in CALLABLES if name.endswith("Error")}
    return [(name, kind) for name, kind in found.items() if isinstance(kind, type) and issubclass(kind, Exception)]


def run(tf, case, traced, noted):
    """The record of a case: a dict of its leaves, or of its error. The case uses `traced`, which adds to `noted`."""
    stage = "build"
    record = {}
    noted.clear()
    try:
        with tf.Graph().as_default() as graph:
            result = case.function(traced)
            if not isinstance(result, registry.Result):
                result = registry.Result(result)
            leaves, late = list(flatten(tf, result.outputs)), list(flatten(tf, result.after, "after"))
            record["leaves"] = [(path, described(tf, value)) for path, value in leaves + late]
            stage = "gradient"
            try:
                grads = gradients(tf, leaves, result.wrt)
            except Exception as error:  # an op has no gradient
                grads = []
                record["no gradient"] = str(error)[:300]
            stage = "run"
            fetches, fetched_late = ({path: v for path,
                                      v in some if isinstance(v, (tf.Tensor, tf.Operation, tf.Variable))}
                                     for some in (leaves, late))
            fetches.update({path: v for path, v in grads if v is not None})
            record["none"] = [path for path, v in grads if v is None]
            prepare = list(graph.get_collection("table_initializer"))
            prepare += [v.initializer for key in ("variables", "local_variables") for v in graph.get_collection(key)]
            record["values"] = []
            with tf.Session() as session:
                for first in prepare:
                    session.run(first)
                for _ in range(result.steps if fetches else 0):
                    record["values"].append(fetched(session, fetches, result.feed))
                if fetched_late:
                    record["values"].append(fetched(session, fetched_late, result.feed))
    except Exception as error:
        record["error"] = (stage, [c.__name__ for c in type(error).__mro__], f"{type(error).__name__}: {error}"[:600])
        record["raised"] = [name for name, kind in exceptions(tf) if type(error) is kind]
    record["calls"] = sorted(noted)
    return record


def main():
    package, output = sys.argv[1:3]
    with open(sys.argv[3]) as file:
        labels = set(json.load(file))
    if package == "tensorflow":
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        tf.logging.set_verbosity(tf.logging.ERROR)
    else:
        import tensorbraid as tf
    noted = set()
    traced = tf if package == "tensorflow" else tracing.TracedModule(tf, noted)
    with open(output, "wb") as out:
        CALLABLES.extend(tracing.callables(tf) if package == "tensorbraid" else [])
        pickle.dump(("package", tf.__version__ if package == "tensorflow" else "", CALLABLES), out)
        for case in registry.read():
            if case.label not in labels:
                continue
            pickle.dump(("case", case.label), out)
            out.flush()  # the comparison names the case in which a process ended
            pickle.dump(("record", case.label, run(tf, case, traced, noted)), out)
        pickle.dump(("end",), out)


main()
