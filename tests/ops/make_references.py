#!/usr/bin/env python3
"""Writes references/*.jsonl: what TensorFlow computes for the rows in cases/*.py, and its op definitions; and the names
of all of TensorFlow's ops to src/cli/tensorflow_ops.inc.

scripts/update_op_files runs it, after it has written docs/ops.md, which names the ops of this build.
The build never runs this; the files it writes are committed.
"""
import glob
import importlib.util
import json
import math
import os
import re
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels, op_def_library, op_def_registry, test_ops

HERE = os.path.dirname(os.path.abspath(__file__))


def scalar(v):
    if isinstance(v, bytes):
        try:
            return v.decode()
        except UnicodeDecodeError:
            return {"hex": v.hex()}
    if isinstance(v, str):
        return v
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (int, np.integer)):
        return int(v)
    if isinstance(v, (complex, np.complexfloating)):
        return [scalar(float(str(v.real))), scalar(float(str(v.imag)))]
    v = float(v)
    if math.isnan(v):
        return "nan"
    if math.isinf(v):
        return "inf" if v > 0 else "-inf"
    return v


def tensor(a):
    a = np.array(a, object) if isinstance(a, bytes) else np.asarray(a)  # asarray drops zeros at the end
    if a.dtype.kind in "OSU":
        return {"dtype": "string", "shape": list(a.shape), "values": [scalar(v) for v in a.reshape(-1).tolist()]}
    if a.dtype.kind in "fV" and a.dtype.itemsize == 4:  # the shortest text that reads back as the same number
        values = [scalar(np.float64(str(v))) for v in a.reshape(-1)]
    else:
        values = [scalar(v) for v in a.reshape(-1)]
    return {"dtype": a.dtype.name, "shape": list(a.shape), "values": values}


def attr(v, kind):
    if kind == "list(string)":
        return {"strings": list(v)}
    if kind == "list(shape)":
        return {"shapes": [tf.TensorShape(s).as_list() for s in v]}
    if kind == "list(type)":
        return {"types": [tf.as_dtype(t).name for t in v]}
    if kind == "tensor":
        return {"tensor": tensor(v)}
    if isinstance(v, tf.DType):
        return {"type": v.name}
    if isinstance(v, tf.TensorShape):
        return {"shape": [-1 if d is None else d for d in v.as_list()]}
    if isinstance(v, (list, tuple)):
        if v and isinstance(v[0], float):
            return {"floats": list(v)}
        return {"ints": list(v)}
    return v


def with_defaults(definition, attrs):
    """`attrs` with the default values of the other attributes, because apply_op does not fill in all of them."""
    inferred = {n for a in definition.input_arg for n in (a.type_attr, a.number_attr, a.type_list_attr)}
    attrs = dict(attrs)
    for a in definition.attr:
        kind = a.default_value.WhichOneof("value")
        if kind is not None and a.name not in inferred:
            value = getattr(a.default_value, kind)
            attrs.setdefault(a.name, list(value.i) if kind == "list" else value)
    return attrs


def fed_by(feeds):
    """Makes placeholders of unknown shape in place of constants, and puts their values into `feeds`."""
    def make(value):
        constant = tf.constant(value)
        result = tf.compat.v1.placeholder(constant.dtype)
        feeds[result] = tf.make_ndarray(constant.op.get_attr("value"))
        return result
    return make


def apply(op, inputs, attrs, make=tf.constant):
    """Adds a node to the default graph. Returns its results, and the constants that are its inputs, as two flat
    lists."""
    definition = op_def_registry.get(op)
    attrs = with_defaults(definition, attrs)
    arguments = [[make(t) for t in v] if isinstance(v, list) else make(v) for v in inputs]
    named = {a.name: t for a, t in zip(definition.input_arg, arguments)}
    result = op_def_library.apply_op(op, **named, **attrs)
    results = tf.nest.flatten(result)
    return results, [t for a in arguments for t in (a if isinstance(a, list) else [a])]


def variable_inputs(op):
    """The numbers of the inputs that are variables, by reference or by handle."""
    return [i for i, a in enumerate(op_def_registry.get(op).input_arg)
            if a.is_ref or a.type == tf.resource.as_datatype_enum]


def types_of_variables(op, inputs):
    """The type attributes of the variable behind a handle that do not follow from the types of the inputs."""
    definition = op_def_registry.get(op)
    shown = {a.type_attr for a in definition.input_arg}
    return {a.name: tf.constant(inputs[0]).dtype for a in definition.attr
            if a.name in ("T", "dtype") and a.name not in shown}


def apply_to_variables(op, inputs, attrs, make=tf.constant, known_shapes=True):
    """Like apply, for ops on variables: makes variables with the given values for the inputs that must be variables.
    Returns the operations that initialize them, a function that adds the node and returns its results, and tensors that
    read the variables. With `known_shapes`, the client knows the shapes of resource variables."""
    definition = op_def_registry.get(op)
    arguments, initializers, reads = [], [], []
    for i, value in enumerate(inputs):
        if i not in variable_inputs(op):
            arguments.append(make(value))
            continue
        value = tf.constant(value)
        shape = value.shape if known_shapes else None
        if definition.input_arg[i].is_ref:
            arguments.append(tf.raw_ops.VariableV2(shape=value.shape, dtype=value.dtype))
            initializers.append(tf.raw_ops.Assign(ref=arguments[-1], value=value).op)
            reads.append(tf.identity(arguments[-1]))
        else:
            name = tf.compat.v1.get_default_graph().unique_name("variable")
            arguments.append(tf.raw_ops.VarHandleOp(shape=shape, dtype=value.dtype, shared_name=name))
            initializers.append(tf.raw_ops.AssignVariableOp(resource=arguments[-1], value=value))
            reads.append(tf.raw_ops.ReadVariableOp(resource=arguments[-1], dtype=value.dtype))

    def add():
        named = {a.name: v for a, v in zip(definition.input_arg, arguments)}
        return op_def_library.apply_op(op, **named, **types_of_variables(op, inputs), **with_defaults(definition, attrs))
    return initializers, add, reads


class Table:
    """The rows of one family."""

    def __init__(self):
        self.rows = []

    def case(self, op, *inputs, gradient=None, tf_gradient=None, grad_ys=None, expected=None, tolerance=None, **attrs):
        """Adds a row. Inputs are arrays, or lists of arrays for arguments such as "values: N * T". `gradient` lists the
        float64 inputs whose gradients are checked by finite differences. `tf_gradient` lists the inputs whose gradients
        must equal TensorFlow's. For these, `grad_ys` has the gradient of each output: an array, or None where no
        gradient flows; by default arbitrary numbers. `expected` is given where we differ from TensorFlow on purpose:
        arrays, or the name of an error."""
        row = {"op": op}
        if attrs:
            kinds = {a.name: a.type for a in op_def_registry.get(op).attr}
            row["attrs"] = {k: attr(v, kinds[k]) for k, v in attrs.items()}
        row["inputs"] = [[tensor(t) for t in i] if isinstance(i, list) else tensor(i) for i in inputs]
        if expected is None:
            expected = self.tensorflow(op, inputs, attrs)
        if isinstance(expected, str):
            row["error"] = expected
        else:
            row["outputs"] = [tensor(t) for t in expected]
        if gradient is not None:
            row["gradient"] = gradient
        if tf_gradient is not None:
            grad_ys = grad_ys if grad_ys is not None else arbitrary_gradients(expected)
            row["tf_gradient"] = {"inputs": tf_gradient,
                                  "grad_ys": [None if g is None else tensor(g) for g in grad_ys],
                                  "values": self.tensorflow_gradients(op, inputs, attrs, tf_gradient, grad_ys)}
        if tolerance is not None:
            row["tolerance"] = tolerance
        self.rows.append(row)

    def state(self, op, *inputs, tolerance=None, **attrs):
        """Adds a row for an op whose inputs of type Ref(T) or resource are variables. `inputs` has their values before
        the op."""
        row = {"op": op}
        if attrs or types_of_variables(op, inputs):
            kinds = {a.name: a.type for a in op_def_registry.get(op).attr}
            row["attrs"] = {k: attr(v, kinds[k]) for k, v in (attrs | types_of_variables(op, inputs)).items()}
        row["inputs"] = [tensor(t) for t in inputs]
        row["variables"] = variable_inputs(op)
        result = self.tensorflow_with_variables(op, inputs, attrs)
        if isinstance(result, str):
            row["error"] = result
        else:
            row["outputs"] = [tensor(t) for t in result[0]]
            row["values"] = [tensor(t) for t in result[1]]
        if tolerance is not None:
            row["tolerance"] = tolerance
        self.rows.append(row)

    @staticmethod
    def tensorflow_with_variables(op, inputs, attrs):
        with tf.Graph().as_default(), tf.device("/CPU:0"), tf.compat.v1.Session() as session:
            initializers, add, reads = apply_to_variables(op, inputs, attrs)
            session.run(initializers)
            try:
                result = add()
                outputs = [] if isinstance(result, tf.Operation) else [result]
                values = session.run(outputs or result)
                return values if outputs else [], session.run(reads)
            except ValueError:  # what shape inference refuses
                return "INVALID_ARGUMENT"
            except tf.errors.OpError as e:
                return error_name(e)

    @staticmethod
    def tensorflow_gradients(op, inputs, attrs, xs, grad_ys):
        with tf.Graph().as_default(), tf.device("/CPU:0"), tf.compat.v1.Session() as session:
            results, arguments = apply(op, inputs, attrs)
            pairs = [(y, tf.constant(g)) for y, g in zip(results, grad_ys) if g is not None]
            ys, gs = zip(*pairs)
            gradients = tf.compat.v1.gradients(list(ys), [arguments[i] for i in xs], list(gs))
            gradients = [None if g is None else tf.convert_to_tensor(g) for g in gradients]
            values = iter(session.run([g for g in gradients if g is not None]))
            return [None if g is None else tensor(next(values)) for g in gradients]

    @staticmethod
    def tensorflow(op, inputs, attrs):
        with tf.Graph().as_default(), tf.device("/CPU:0"):
            try:
                results, _ = apply(op, inputs, attrs)
                with tf.compat.v1.Session() as session:
                    return session.run(results)
            except ValueError:  # what shape inference refuses
                return "INVALID_ARGUMENT"
            except tf.errors.OpError as e:
                return error_name(e)


def arbitrary_gradients(outputs):
    """Different numbers of both signs for the outputs that have gradients; None for the others."""
    next_number = 0.7

    def number():
        nonlocal next_number
        next_number = (next_number * 1.7 + 0.3) % 2.0 + 0.1
        return round(next_number - 0.9, 2)

    gradients = []
    for y in outputs:
        dtype = tf.as_dtype(y.dtype)
        if not (dtype.is_floating or dtype.is_complex):
            gradients.append(None)
            continue
        numbers = [complex(number(), number()) if dtype.is_complex else number() for _ in range(y.size)]
        gradients.append(np.array(numbers).reshape(y.shape).astype(y.dtype))
    return gradients


def error_name(e):
    """ "InvalidArgumentError" -> "INVALID_ARGUMENT" """
    if "No OpKernel" in e.message or "isn't a kernel" in e.message or "constant folding" in e.message:
        raise RuntimeError(f"TensorFlow cannot run this row; give `expected`: {e.message}")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", e.__class__.__name__.removesuffix("Error")).upper()


def arg_text(a):
    t = a.type_attr or a.type_list_attr or tf.as_dtype(a.type).name
    if a.number_attr:
        t = f"{a.number_attr} * {t}"
    if a.is_ref:
        t = f"Ref({t})"
    return f"{a.name}: {t}"


def op_definition(d):
    attrs = []
    for a in d.attr:
        row = {"name": a.name, "type": a.type}
        if a.HasField("default_value"):
            v = a.default_value
            kind = v.WhichOneof("value")
            row["default"] = (tf.as_dtype(v.type).name if kind == "type" else v.s.decode() if kind == "s"
                              else getattr(v, kind) if kind in ("b", "i", "f") else kind)
        allowed = [tf.as_dtype(t).name for t in a.allowed_values.list.type] + [s.decode() for s in a.allowed_values.list.s]
        if allowed:
            row["allowed"] = allowed
        attrs.append(row)
    return {"name": d.name, "inputs": [arg_text(a) for a in d.input_arg], "outputs": [arg_text(a) for a in d.output_arg],
            "stateful": d.is_stateful, "attrs": attrs}


def write(name, rows):
    with open(f"{HERE}/references/{name}.jsonl", "w") as out:
        for row in rows:
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
    print(f"{name}: {len(rows)} rows")


def write_all_ops():
    """Writes the names of all ops that TensorFlow registers, and whether each op is deprecated, is for TensorFlow's own
    tests, or has no kernel for CPUs."""
    ops = op_def_pb2.OpList()
    ops.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    for_cpus = {k.op for k in kernels.get_all_registered_kernels().kernel if k.device_type in ("CPU", "DEFAULT")}
    with open(test_ops.__file__) as module:
        of_tests = set(re.findall(r'apply_op_helper\(\s*"([^"]+)"', module.read()))
    with open(f"{HERE}/../../src/cli/tensorflow_ops.inc", "w") as out:
        out.write(f"// The ops that TensorFlow {tf.__version__} registers. Written by tests/ops/make_references.py.\n")
        for op in sorted(ops.op, key=lambda o: o.name):
            facts = [fact for fact, holds in [("kDeprecated", op.HasField("deprecation")),
                                              ("kForTests", op.name in of_tests),
                                              ("kNoCpuKernel", op.name not in for_cpus)] if holds]
            out.write(f'{{"{op.name}", {" | ".join(facts) or 0}}},\n')
    print(f"tensorflow_ops.inc: {len(ops.op)} ops")


def main():
    write_all_ops()
    for path in sorted(glob.glob(f"{HERE}/cases/*.py")):
        family = os.path.basename(path)[:-3]
        if len(sys.argv) > 1 and family not in sys.argv[1:]:
            continue
        spec = importlib.util.spec_from_file_location(family, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        table = Table()
        module.add_cases(table)
        write(family, table.rows)
    with open(f"{HERE}/../../docs/ops.md") as document:  # a test checks that it lists every registered op
        names = re.findall(r"^\| (\w+) \|", document.read(), re.MULTILINE)
    # Ops that TensorFlow's clients send, though the tables of the document leave them out.
    names += ["_ReadVariablesOp", "_VarHandlesOp", "PyFunc", "PyFuncStateless", "EagerPyFunc", "SqlDataset"]
    write("op_defs", [op_definition(op_def_registry.get(n)) for n in sorted(set(names)) if op_def_registry.get(n)])


if __name__ == "__main__":
    main()
