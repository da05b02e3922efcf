"""Compares SavedModels with TensorFlow's: what the package saves, TensorFlow serves, and the other way round.

The models have a table that is filled from a file, variables and a conditional. The file that they were made with is
removed before they are loaded. A further model has growing tables, which TensorFlow does not have.

Needs a Python with TensorFlow, and the package tensorbraid in PYTHONPATH.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

X, WORDS = [[1.0, 2.0], [3.0, -4.0]], [b"b", b"none"]
KEYS, OTHERS = [3, -7, 1003, 2**62], [4, -1]


def build(tf, folder, **variable_options):
    """Saves a model. Returns its outputs."""
    vocabulary = folder + ".txt"
    with open(vocabulary, "w") as file:
        file.write("a\nb\nc\n")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        words = tf.placeholder(tf.string, [None], name="words")
        index = tf.lookup.TextFileIndex
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(vocabulary, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER), 2)
        ids = table.lookup(words)
        with tf.variable_scope("layer"):
            kernel = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(2, 3), **variable_options)
            embedded = tf.gather(tf.get_variable("e", initializer=np.eye(3, dtype=np.float32), **variable_options), ids)
        y = tf.matmul(x, kernel) + embedded
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.sigmoid(y), lambda: -y)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(tf.assign_add(kernel, tf.ones_like(kernel)))
        tf.saved_model.simple_save(session, folder, {"x": x, "words": words}, {"y": y, "ids": ids},
                                   legacy_init_op=tf.tables_initializer())
        values = session.run([y, ids], {x: X, words: WORDS})
    os.remove(vocabulary)
    return values


def serve(tf, folder, scope=None):
    """The outputs of the model."""
    with tf.Session(graph=tf.Graph()) as session:
        meta_graph = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder, scope)
        signature = meta_graph.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        named = {key: tf.saved_model.get_tensor_from_tensor_info(info, import_scope=scope)
                 for key, info in [*signature.inputs.items(), *signature.outputs.items()]}
        return session.run([named["y"], named["ids"]], {named["x"]: X, named["words"]: WORDS})


def serve_2(folder):
    """The outputs of the model in TensorFlow 2, where a signature is a function."""
    import tensorflow as tf

    outputs = tf.saved_model.load(folder).signatures["serving_default"](x=tf.constant(X), words=tf.constant(WORDS))
    return [outputs["y"].numpy(), outputs["ids"].numpy()]


def build_growing_tables(tf, folder):
    """Saves a model with growing tables after some steps. Returns the rows of KEYS."""
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.placeholder(tf.int64, [None], name="ids")
        parts = tf.get_embedding_variable("users", 4, partitioner=tf.fixed_size_partitioner(3))
        rows = tf.concat([tf.nn.embedding_lookup(parts, ids),
                          tf.nn.embedding_lookup(tf.get_embedding_variable("items", 2), ids)], 1)
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows - 1)))
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train, {ids: KEYS})
        tf.saved_model.simple_save(session, folder, {"ids": ids}, {"rows": rows})
        return session.run(rows, {ids: KEYS})


def serve_growing_tables(tf, folder):
    """The rows of KEYS and OTHERS."""
    with tf.Session(graph=tf.Graph()) as session:
        meta_graph = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder)
        rows = meta_graph.signature_def["serving_default"].outputs["rows"].name
        return session.run(rows, {"ids:0": KEYS + OTHERS})


def main():
    if len(sys.argv) > 2:
        import tensorflow as tf

        signature = tf.saved_model.load(sys.argv[2]).signatures["serving_default"]
        print(signature(ids=tf.constant(KEYS + OTHERS, tf.int64))["rows"].numpy().tolist())
        return
    if len(sys.argv) > 1:  # in a process with TensorFlow 2's behaviour
        print([value.tolist() for value in serve_2(sys.argv[1])])
        return
    import tensorflow.compat.v1 as real

    import tensorbraid as ours

    real.disable_v2_behavior()
    with tempfile.TemporaryDirectory() as scratch:
        found = {}
        for name, tf, options in (("ours", ours, {}), ("resources", real, {"use_resource": True}),
                                  ("references", real, {})):
            folder = os.path.join(scratch, name)
            found[f"{name} when saved"] = build(tf, folder, **options)
            for scope in (None, "scope"):
                found[f"{name} in Tensorbraid, {scope}"] = serve(ours, folder, scope)
                found[f"{name} in TensorFlow, {scope}"] = serve(real, folder, scope)
        served = subprocess.run([sys.executable, __file__, os.path.join(scratch, "ours")], check=True,
                                stdout=subprocess.PIPE)
        found["ours in TensorFlow 2"] = eval(served.stdout)
        folder = os.path.join(scratch, "growing")
        rows = np.concatenate([build_growing_tables(ours, folder), np.zeros([len(OTHERS), 6])])
        served = subprocess.run([sys.executable, __file__, "growing", folder], check=True, stdout=subprocess.PIPE)
        found_rows = {"Tensorbraid": serve_growing_tables(ours, folder), "TensorFlow": serve_growing_tables(real, folder),
                      "TensorFlow 2": eval(served.stdout)}
    wanted = found["resources when saved"]
    wrong = [f"{how}: {values}, not {wanted}" for how, values in found.items()
             if not np.allclose(values[0], wanted[0], rtol=1e-6) or list(values[1]) != list(wanted[1])]
    wrong += [f"growing tables in {how}: {values}, not {rows.tolist()}" for how, values in found_rows.items()
              if not np.array_equal(np.asarray(values, np.float32), rows.astype(np.float32))]
    print(f"{len(found) + len(found_rows)} outputs compared")
    if wrong or list(wanted[1]) != [1, 2]:
        sys.exit("\n".join(wrong) or "the file was not read")


if __name__ == "__main__":
    main()
