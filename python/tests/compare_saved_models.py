"""Compares SavedModels with TensorFlow's: what the package saves, TensorFlow serves, and the other way round.

The models have a table that is filled from a file, variables and a conditional. The file that they were made with is
removed before they are loaded. Further models have growing tables, which TensorFlow does not have.

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


def click_features(known):
    """Features whose keys a training of click_model has seen twice, or others."""
    words, ids = ([["a"], [""], ["b"]], [[5], [2**40], [5]]) if known else ([["x"], ["y"], [""]], [[6], [-9], [7]])
    return {"word": np.array(words, object), "id": np.array(ids),
            "item": np.array([[3, -1], [4, 3], [11, 4]]) + (0 if known else 100)}


def export_click_model(tf, folder):
    """Trains an Estimator whose columns have growing tables. Returns its export, and its logits of known keys.

    One table has strings in two parts, one a filter, and one a matrix of initial rows with a weighted lookup.
    """
    option = tf.EmbeddingVariableOption
    fc = tf.feature_column
    word = fc.categorical_column_with_embedding("word", partition_num=2)
    filtered = fc.categorical_column_with_embedding(
        "id", dtype=tf.int64, ev_option=option(filter_option=tf.CounterFilter(2),
                                               init_option=tf.InitializerOption(default_value_no_permission=-3.0)))
    columns = [fc.embedding_column(word, 4), fc.embedding_column(filtered, 2)]

    def model(features, labels, mode):
        items = tf.get_embedding_variable(
            "items", 3, ev_option=option(init_option=tf.InitializerOption(default_value_dim=8)))
        item = tf.to_int64(features["item"])
        where = tf.where(tf.greater_equal(item, 0))
        sparse = tf.SparseTensor(where, tf.gather_nd(item, where), tf.shape(item, out_type=tf.int64))
        weights = tf.SparseTensor(where, tf.to_float(where[:, 1]) + 1.0, sparse.dense_shape)
        found = tf.nn.safe_embedding_lookup_sparse(items, sparse, weights, combiner="mean")
        x = tf.concat([fc.input_layer(features, columns), tf.reshape(found, [-1, 3])], 1)
        logits = tf.layers.dense(x, 1)
        loss = None if labels is None else tf.reduce_mean(tf.square(logits - labels))
        train = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits}, loss=loss, train_op=train)

    def batches(known=True, with_labels=True):
        features = {key: tf.constant(value) for key, value in click_features(known).items()}
        return tf.data.Dataset.from_tensors((features, tf.ones([3, 1])) if with_labels else features)

    def receiver():
        inputs = {"word": tf.placeholder(tf.string, [None, 1]), "id": tf.placeholder(tf.int64, [None, 1]),
                  "item": tf.placeholder(tf.int64, [None, 2])}
        return tf.estimator.export.ServingInputReceiver(inputs, inputs)

    estimator = tf.estimator.Estimator(model, folder + "_training")
    estimator.train(lambda: batches().repeat(5))
    logits = [found["logits"] for found in estimator.predict(lambda: batches(with_labels=False))]
    return estimator.export_saved_model(folder, receiver), np.array(logits)


def serve_click_model(tf, folder, known):
    with tf.Session(graph=tf.Graph()) as session:
        meta_graph = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder)
        signature = meta_graph.signature_def["serving_default"]
        feeds = {signature.inputs[key].name: value for key, value in click_features(known).items()}
        return session.run(signature.outputs["logits"].name, feeds)


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
        clicks, logits = export_click_model(ours, os.path.join(scratch, "clicks"))
        found_logits = {f"{name}, keys that are {'known' if known else 'new'}":
                            (serve_click_model(tf, clicks, known),
                             logits if known else serve_click_model(ours, clicks, known))
                        for known in (True, False) for name, tf in (("Tensorbraid", ours), ("TensorFlow", real))}
    wanted = found["resources when saved"]
    wrong = [f"{how}: {values}, not {wanted}" for how, values in found.items()
             if not np.allclose(values[0], wanted[0], rtol=1e-6) or list(values[1]) != list(wanted[1])]
    wrong += [f"growing tables in {how}: {values}, not {rows.tolist()}" for how, values in found_rows.items()
              if not np.array_equal(np.asarray(values, np.float32), rows.astype(np.float32))]
    wrong += [f"the exported Estimator in {how}: {values}, not {expected}"
              for how, (values, expected) in found_logits.items() if not np.allclose(values, expected, rtol=1e-6)]
    print(f"{len(found) + len(found_rows) + len(found_logits)} outputs compared")
    if wrong or list(wanted[1]) != [1, 2]:
        sys.exit("\n".join(wrong) or "the file was not read")


if __name__ == "__main__":
    main()
