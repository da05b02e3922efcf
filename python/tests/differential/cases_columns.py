"""Feature columns: layers of them, and what is refused."""

import numpy as np
from registry import Type, case

BATCH = "the static shapes of C++ do not say how many rows a sparse lookup or SparseCross has"


def features(tf):
    """Features of two examples: numbers, ids, words, and sparse words with weights."""
    at = np.array([[0, 0], [1, 0], [1, 1]], np.int64)
    return {"a": tf.constant([[1.0], [2.0]]), "pair": tf.constant([[1.0, 5.0], [2.0, -1.0]]),
            "b": tf.constant([[1], [2]]), "s": tf.constant([["x"], ["y"]]),
            "v": tf.SparseTensor(at, ["x", "z", "q"], [2, 2]),
            "w": tf.SparseTensor(at, [1.0, 2.0, 3.0], [2, 2]), "dense_w": tf.constant([[2.0], [0.0]]),
            "n": tf.SparseTensor(at, np.array([5, 7, 9], np.int64), [2, 2]), "rank1": tf.constant([1, 2]),
            "rank3": tf.constant([[[1], [2]], [[3], [0]]])}


def counting(getter, *args, **kwargs):
    """A custom getter whose variables count upwards from 0."""
    def initializer(shape, dtype=None, partition_info=None):
        return np.arange(np.prod(shape)).reshape(shape).astype(np.float32) * 0.5

    return getter(*args, **{**kwargs, "initializer": initializer})


def int64(c):
    """tf.int64, from the module tf.feature_column."""
    return c.categorical_column_with_identity("n", 1).parse_example_spec["n"].dtype


COLUMNS = {
    "numeric_column": [
        lambda c: c.numeric_column("a"), lambda c: c.numeric_column("rank1"),
        lambda c: c.numeric_column("pair", shape=2),
        lambda c: c.numeric_column("pair", shape=(2,), normalizer_fn=lambda x: x * 2.0 + 1.0),
        lambda c: c.numeric_column("b")],
    "bucketized_column": [
        lambda c: c.bucketized_column(c.numeric_column("a"), [0.5, 1.5]),
        lambda c: c.bucketized_column(c.numeric_column("pair", shape=2), (0, 2, 5))],
    "indicator_column categorical_column_with_identity": [
        lambda c: c.indicator_column(c.categorical_column_with_identity("b", 4)),
        lambda c: c.indicator_column(c.categorical_column_with_identity("n", 9, default_value=3)),
        lambda c: c.indicator_column(c.categorical_column_with_identity("n", 10))],
    "indicator_column categorical_column_with_vocabulary_list": [
        lambda c: c.indicator_column(c.categorical_column_with_vocabulary_list("v", ["x", "y", "z"])),
        lambda c: c.indicator_column(c.categorical_column_with_vocabulary_list("v", ["x", "y"], default_value=1)),
        lambda c: c.indicator_column(c.categorical_column_with_vocabulary_list("v", ["x", "y"], num_oov_buckets=3)),
        lambda c: c.indicator_column(c.categorical_column_with_vocabulary_list("n", [9, 5], num_oov_buckets=2)),
        lambda c: c.indicator_column(c.categorical_column_with_vocabulary_list("b", [9, 1], dtype=int64(c)))],
    "indicator_column categorical_column_with_hash_bucket": [
        lambda c: c.indicator_column(c.categorical_column_with_hash_bucket("v", 10)),
        lambda c: c.indicator_column(c.categorical_column_with_hash_bucket("n", 10, dtype=int64(c)))],
    "indicator_column crossed_column": [
        lambda c: c.indicator_column(c.crossed_column(["s", "v"], 7)),
        lambda c: c.indicator_column(c.crossed_column(["s", "v"], 7, hash_key=12)),
        lambda c: c.indicator_column(c.crossed_column(["b", c.categorical_column_with_identity("n", 10)], 50)),
        lambda c: c.indicator_column(c.crossed_column(
            ["s", c.bucketized_column(c.numeric_column("pair", shape=2), [0, 3]),
             c.categorical_column_with_vocabulary_list("v", ["x", "y"])], 100)),
        lambda c: c.indicator_column(c.crossed_column([c.crossed_column(["s", "b"], 3), "v"], 20))],
    "indicator_column weighted_categorical_column": [
        lambda c: c.indicator_column(c.weighted_categorical_column(
            c.categorical_column_with_vocabulary_list("v", ["x", "y", "z"]), "w")),
        lambda c: c.indicator_column(c.weighted_categorical_column(c.categorical_column_with_identity("n", 10), "w"))],
    "embedding_column": [
        lambda c: c.embedding_column(c.categorical_column_with_identity("b", 4), 3),
        lambda c: c.embedding_column(c.categorical_column_with_vocabulary_list("v", ["x", "y", "z"]), 2,
                                     combiner="sum"),
        lambda c: c.embedding_column(c.weighted_categorical_column(
            c.categorical_column_with_hash_bucket("v", 6), "w"), 2, combiner="sqrtn", max_norm=3.0),
        lambda c: c.embedding_column(c.crossed_column(["s", "v"], 7), 2, trainable=False),
        lambda c: c.embedding_column(c.categorical_column_with_identity("n", 10), 2, use_safe_embedding_lookup=False)],
}


def layer(tf, columns, **options):
    """An input layer, with the names of its variables."""
    with tf.variable_scope("model", custom_getter=counting):
        result = tf.feature_column.input_layer(features(tf), columns, **options)
    return [result, [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]]


def linear(tf, columns, **options):
    """A linear model, with the names of its variables."""
    with tf.variable_scope("model", custom_getter=counting):
        result = tf.feature_column.linear_model(features(tf), columns, **options)
    return [result, [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()]]


for names, makers in COLUMNS.items():
    covers = " ".join(f"feature_column.{name}" for name in names.split())
    for make in makers:
        case(f"{covers} feature_column.input_layer", lambda tf, make=make: layer(tf, make(tf.feature_column)),
             shapes=BATCH)
        case(f"{covers} feature_column.linear_model",
             lambda tf, make=make: linear(tf, [make(tf.feature_column)], units=2), shapes=BATCH)
        case(f"{covers} feature_column.make_parse_example_spec", lambda tf, make=make: [
            sorted((key, type(value).__name__, str(value)) for key, value in
                   tf.feature_column.make_parse_example_spec([make(tf.feature_column)]).items())])
        case(covers, lambda tf, make=make: [make(tf.feature_column).name])

for make in (lambda c: c.categorical_column_with_identity("b", 4),
             lambda c: c.categorical_column_with_identity("rank3", 4),
             lambda c: c.categorical_column_with_vocabulary_list("v", ["x", "y", "z"], num_oov_buckets=1),
             lambda c: c.categorical_column_with_hash_bucket("v", 10), lambda c: c.crossed_column(["s", "v"], 7),
             lambda c: c.weighted_categorical_column(c.categorical_column_with_hash_bucket("v", 10), "w"),
             lambda c: c.weighted_categorical_column(c.categorical_column_with_identity("b", 4), "dense_w")):
    for combiner in ("sum", "mean", "sqrtn"):
        case("feature_column.linear_model", lambda tf, make=make, combiner=combiner: linear(
            tf, [make(tf.feature_column)], sparse_combiner=combiner), shapes=BATCH)


def shared(tf, **options):
    c = tf.feature_column
    return c.shared_embedding_columns([c.categorical_column_with_hash_bucket("v", 10),
                                       c.categorical_column_with_hash_bucket("s", 10)], 2, **options)


case("feature_column.shared_embedding_columns feature_column.input_layer", lambda tf: layer(tf, shared(tf)),
     shapes=BATCH)
case("feature_column.shared_embedding_columns", lambda tf: layer(
    tf, shared(tf, combiner="sum", shared_embedding_collection_name="mine", trainable=False)), shapes=BATCH)
case("feature_column.shared_embedding_columns feature_column.linear_model", lambda tf: linear(tf, shared(tf)),
     shapes=BATCH)


def several(tf):
    """Columns whose order is not that of their names."""
    c = tf.feature_column
    return [c.numeric_column("pair", shape=2), c.indicator_column(c.categorical_column_with_identity("b", 4)),
            c.embedding_column(c.categorical_column_with_hash_bucket("v", 6), 2), c.numeric_column("a")]


def outputs_of_columns(tf):
    variables, tensors = {}, {}
    columns = several(tf)
    with tf.variable_scope("model", custom_getter=counting):
        tf.feature_column.input_layer(features(tf), columns, cols_to_vars=variables, cols_to_output_tensors=tensors)
    return [[tensors[column] for column in columns], [[v.name for v in variables[column]] for column in columns]]


def two_models(tf):
    variables = {}
    columns = several(tf)
    with tf.variable_scope("in", custom_getter=counting, partitioner=tf.fixed_size_partitioner(2)):
        first = tf.feature_column.linear_model(features(tf), columns)
        second = tf.feature_column.linear_model(features(tf), columns[1:], units=3, cols_to_vars=variables)
    return [first, second, [[v.name for v in variables[column]] for column in columns[1:]]]


case("feature_column.input_layer", lambda tf: layer(tf, several(tf)), shapes=BATCH)
case("feature_column.input_layer",
     lambda tf: layer(tf, several(tf), trainable=False, weight_collections=["variables", "k"]), shapes=BATCH)
case("feature_column.input_layer", outputs_of_columns, shapes=BATCH)
case("feature_column.linear_model", lambda tf: linear(tf, several(tf), trainable=False), shapes=BATCH)
case("feature_column.linear_model", two_models, shapes=BATCH,
     known="a second model in the same scope has other names of nodes")


def reused(tf):
    table = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("b", 4), 2)
    with tf.variable_scope("q", custom_getter=counting):
        first = tf.feature_column.input_layer(features(tf), [table])
    with tf.variable_scope("q", reuse=True):
        second = tf.feature_column.input_layer(features(tf), [table])
    return [first, second, [v.name for v in tf.global_variables()]]


case("feature_column.input_layer", reused, shapes=BATCH)


def column(tf, name, arguments):
    arguments = [getattr(tf, value.name) if isinstance(value, Type) else value for value in arguments]
    return getattr(tf.feature_column, name)(*arguments)


for name, arguments in (
        ("numeric_column", [(1,), ("a", [0]), ("a", [1.5]), ("a", 2, [1]), ("a", 1, "x"),
                            ("a", 1, None, Type("string")), ("a", 1, None, Type("float32"), 3), ("a", 2, [1, 2.5],
                                                                                                 Type("int32"))]),
        ("categorical_column_with_identity", [("a", 0), ("a", 3, 3), (1, 3)]),
        ("categorical_column_with_hash_bucket", [("a", 0), ("a", None), ("a", 3, Type("float32"))]),
        ("categorical_column_with_vocabulary_list", [("a", []), ("a", ["x", "x"]), ("a", [1.5]), ("a", [1],
                                                                                                  Type("string")),
                                                     ("a", ["x"], None, 0, 1), ("a", ["x"], None, -1, -1)]),
        ("categorical_column_with_vocabulary_file", [("a", ""), ("a", "/no/such/file"), ("a", "/no/such/file", 0)]),
        ("crossed_column", [("ab", 3), (["a"], 3), (["a", "b"], 0), (["a", 3], 3)]),
        ("bucketized_column", [("a", [1])])):
    for given in arguments:
        case(f"feature_column.{name}", lambda tf, name=name, given=given: [str(column(tf, name, given))])


def refused(make, covers):
    case(" ".join(f"feature_column.{name}" for name in covers.split()), lambda tf: layer(tf, make(tf.feature_column)))


refused(lambda c: c.embedding_column(c.categorical_column_with_identity("b", 4), 0), "embedding_column")
refused(lambda c: c.embedding_column(c.categorical_column_with_identity("b", 4), 2, initializer=3), "embedding_column")
refused(lambda c: c.embedding_column(c.categorical_column_with_identity("b", 4), 2, ckpt_to_load_from="x"),
        "embedding_column")
refused(lambda c: c.indicator_column(c.numeric_column("a")), "indicator_column")
refused(lambda c: c.categorical_column_with_identity("b", 4), "input_layer")
refused(lambda c: [], "input_layer")
refused(lambda c: {"a": 1}, "input_layer")
refused(lambda c: ["a"], "input_layer")
refused(lambda c: c.numeric_column("missing"), "input_layer")
refused(lambda c: c.numeric_column("v"), "input_layer numeric_column")
refused(lambda c: c.numeric_column("a", shape=2), "input_layer numeric_column")
refused(lambda c: [c.numeric_column("a"), c.numeric_column("a", shape=(1, 1))], "input_layer")
refused(lambda c: c.indicator_column(c.categorical_column_with_identity("s", 4)), "indicator_column")
refused(lambda c: c.indicator_column(c.categorical_column_with_hash_bucket("b", 4)),
        "categorical_column_with_hash_bucket")
refused(lambda c: c.embedding_column(c.sequence_categorical_column_with_identity("b", 4), 2),
        "sequence_categorical_column_with_identity")
refused(lambda c: c.bucketized_column(c.numeric_column("a"), [2, 1]), "bucketized_column")
refused(lambda c: c.bucketized_column(c.numeric_column("rank3", shape=(2, 1)), [1]), "bucketized_column")
refused(lambda c: c.shared_embedding_columns([c.categorical_column_with_identity("b", 4),
                                              c.categorical_column_with_hash_bucket("v", 4)], 2),
                                              "shared_embedding_columns")
