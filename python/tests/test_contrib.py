"""tf.contrib: layers, slim and rnn."""

import unittest

import numpy as np
import tensorbraid as tf

slim = tf.contrib.slim


class ContribTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.image = tf.placeholder(tf.float32, [2, 8, 8, 3])

    def test_variables_have_the_names_of_contrib(self):
        net = slim.conv2d(self.image, 4, [3, 3], scope="conv1")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        self.assertEqual(net.shape.as_list(), [2, 4, 4, 4])
        net = slim.flatten(net, scope="flat")
        net = slim.fully_connected(net, 5, activation_fn=None)
        self.assertEqual(net.shape.as_list(), [2, 5])
        names = ["conv1/weights:0", "conv1/biases:0", "fully_connected/weights:0", "fully_connected/biases:0"]
        self.assertEqual([v.name for v in tf.trainable_variables()], names)
        self.assertEqual([v.name for v in slim.get_model_variables()], names)

    def test_a_scope_gives_default_arguments(self):
        with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=None,
                            weights_regularizer=slim.l2_regularizer(0.1)) as scope:
            with slim.arg_scope([slim.conv2d], padding="VALID"):
                self.assertEqual(slim.conv2d(self.image, 4, 3).shape.as_list(), [2, 6, 6, 4])
                self.assertEqual(slim.conv2d(self.image, 4, 3, padding="SAME").shape.as_list(), [2, 8, 8, 4])
        self.assertEqual(len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), 2)
        with slim.arg_scope(scope):
            self.assertEqual(slim.conv2d(self.image, 4, 3).op.type, "BiasAdd")
        self.assertEqual(slim.conv2d(self.image, 4, 3).op.type, "Relu")
        with self.assertRaisesRegex(ValueError, "not decorated"), slim.arg_scope([tf.nn.relu], name="x"):
            pass

    def test_layers_compute_what_tf_layers_computes(self):
        x = tf.constant(np.arange(6.0).reshape(2, 3).astype(np.float32))
        ones = tf.ones_initializer()
        pairs = [(tf.contrib.layers.fully_connected(x, 2, weights_initializer=ones, biases_initializer=ones),
                  tf.layers.dense(x, 2, tf.nn.relu, kernel_initializer=ones, bias_initializer=ones)),
                 (tf.contrib.layers.batch_norm(x, scale=True, decay=0.99),
                  tf.layers.batch_normalization(x, training=True)),
                 (tf.contrib.layers.dropout(x, 0.6, seed=3), tf.layers.dropout(x, 0.4, seed=3, training=True)),
                 (tf.contrib.layers.dropout(x, 0.6, is_training=False), x)]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for got, wanted in session.run(pairs):
                np.testing.assert_allclose(got, wanted, rtol=1e-6)

    def test_collections_have_each_variable_of_a_layer_once(self):
        names = ["bn/gamma:0", "bn/beta:0", "bn/moving_mean:0", "bn/moving_variance:0"]
        for keys, expected in ((["k", tf.GraphKeys.MODEL_VARIABLES], {"k": names}), ("k", {"k": names}),
                               ([tf.GraphKeys.GLOBAL_VARIABLES], {}),
                               ({"beta": ["b"], "moving_mean": ["m", tf.GraphKeys.GLOBAL_VARIABLES]},
                                {"b": ["bn/beta:0"], "m": ["bn/moving_mean:0"]})):
            tf.reset_default_graph()
            for reuse in (None, True):
                tf.contrib.layers.batch_norm(tf.ones([2, 3, 3, 4]), scale=True, variables_collections=keys, scope="bn",
                                             reuse=reuse)
            expected = {**expected, tf.GraphKeys.MODEL_VARIABLES: names, tf.GraphKeys.GLOBAL_VARIABLES: names}
            for key, variables in expected.items():
                self.assertEqual([v.name for v in tf.get_collection(key)], variables, (keys, key))

    def test_batch_norm_can_update_its_averages_at_once(self):
        x = tf.constant([[1.0], [3.0]])
        y = tf.contrib.layers.batch_norm(x, decay=0.5, updates_collections=None)
        self.assertEqual(tf.get_collection(tf.GraphKeys.UPDATE_OPS), [])
        mean = [v for v in tf.global_variables() if v.name == "BatchNorm/moving_mean:0"][0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(y)
            self.assertEqual(session.run(mean).tolist(), [1.0])

    def test_batch_norm_of_rows_averages_the_unbiased_variance(self):
        x = tf.placeholder_with_default([[1.0], [3.0]], [None, 1])
        outputs = [tf.contrib.layers.batch_norm(x, decay=0.5, updates_collections=None, data_format=layout, fused=fused)
                   for layout in ("NHWC", "NCHW") for fused in (None, True, False)]
        variances = [v for v in tf.global_variables() if v.op.name.endswith("moving_variance")]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for y in session.run(outputs):
                np.testing.assert_allclose(y, [[-1], [1]], rtol=1e-3)
            self.assertEqual([v.tolist() for v in session.run(variances)], [[1.5], [1.5], [1.0]] * 2)
        self.assertEqual([y.shape.as_list() for y in outputs], [[None, 1]] * 6)
        with self.assertRaisesRegex(ValueError, "undefined"):
            tf.contrib.layers.batch_norm(tf.placeholder(tf.float32, [2, None]))

    def test_gradients_of_gradients_of_batch_norm_of_rows_are_exact(self):
        random = np.random.RandomState(0)
        values, weights = random.randn(5, 3).astype(np.float32), tf.constant(random.randn(5, 3).astype(np.float32))
        x = tf.placeholder(tf.float32, [5, 3])
        slopes = tf.gradients(tf.contrib.layers.batch_norm(x, scale=True) * weights, x)[0]
        penalty = tf.reduce_sum(tf.square(slopes - weights))
        gradient = tf.gradients(penalty, x)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            got, step = session.run(gradient, {x: values}), np.float32(1e-2)
            for i in range(3):
                moved = step * (np.arange(15).reshape(5, 3) == 4 * i)
                difference = session.run(penalty, {x: values + moved}) - session.run(penalty, {x: values - moved})
                self.assertAlmostEqual(got[i, i], difference / (2 * step), delta=1e-2 * np.abs(got).max())
        np.testing.assert_allclose(got.sum(axis=0), np.zeros(3), atol=1e-5 * np.abs(got).max())

    def test_regularizers_and_initializers_follow_their_formulas(self):
        x = tf.constant([1.0, -2.0])
        values = [tf.contrib.layers.l1_regularizer(0.5)(x), tf.contrib.layers.l2_regularizer(0.5)(x)]
        normal = tf.contrib.layers.variance_scaling_initializer(seed=1)([1000, 100], tf.float32)
        uniform = tf.contrib.layers.variance_scaling_initializer(1.0, "FAN_OUT", True, seed=1)([10, 100], tf.float32)
        with tf.Session() as session:
            self.assertEqual(session.run(values), [1.5, 1.25])
            self.assertAlmostEqual(float(session.run(normal).std()), np.sqrt(2.6 / 1000) * 0.8796, delta=2e-3)
            self.assertLess(float(np.abs(session.run(uniform)).max()), np.sqrt(3 / 100))
        self.assertIsNone(tf.contrib.layers.l2_regularizer(0.0)(x))
        with self.assertRaisesRegex(ValueError, "integer"):
            tf.contrib.layers.l2_regularizer(1)

    def test_cells_can_project_their_output(self):
        cell = tf.contrib.rnn.OutputProjectionWrapper(tf.contrib.rnn.BasicLSTMCell(4), output_size=2)
        outputs, _ = tf.contrib.rnn.static_rnn(cell, [tf.zeros([3, 5])] * 2, dtype=tf.float32)
        self.assertEqual([output.shape.as_list() for output in outputs], [[3, 2], [3, 2]])
        self.assertEqual(len(cell.trainable_variables), 4)


class PlacementTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_variables_are_balanced_by_their_sizes(self):
        greedy = tf.contrib.training.GreedyLoadBalancingStrategy(2, tf.contrib.training.byte_size_load_fn)
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=greedy)):
            variables = [tf.get_variable("v%d" % i, [size], dtype) for i, (size, dtype) in enumerate(
                ((10, tf.float32), (3, tf.float64), (1, tf.float32), (1, tf.float32), (1, tf.float32)))]
            product = variables[0] * 2.0
        self.assertEqual([v.device for v in variables], ["/job:ps/task:%d" % task for task in (0, 1, 1, 1, 1)])
        self.assertEqual(product.device, "/job:worker")
        self.assertEqual(tf.contrib.training.byte_size_load_fn(product.op), 40)
        with self.assertRaises(ValueError):
            tf.contrib.training.byte_size_load_fn(tf.placeholder(tf.float32, [None]).op)
        self.assertIn(tf.contrib.training.RandomStrategy(3)(product.op), range(3))


    def test_values_and_gradients_may_travel_in_other_types(self):
        def types(wire):
            tf.reset_default_graph()
            with tf.device(tf.train.replica_device_setter(ps_tasks=1, wire=wire)):
                attrs = tf.get_variable("v", [2]).op.node_def.attr
            return [attrs[f"_wire_{part}"].s.decode() if f"_wire_{part}" in attrs else None
                    for part in ("parameters", "gradients")]

        self.assertEqual([types(wire) for wire in (None, "int8", "bfloat16", ("bfloat16", "topk"), ("", "1bit"))],
                         [[None, None], [None, "int8"], ["bfloat16", "bfloat16"], ["bfloat16", "topk"], [None, "1bit"]])
        for wire, kind, text in (("int4", ValueError, "the argument 'wire': wire type 'int4' does not exist; use float32"),
                                 (("topk", "int8"), ValueError, "the argument 'wire': wire type 'topk' is for gradients"),
                                 (3, TypeError, "the argument 'wire' must be the name of a type"),
                                 (["int8"] * 3, TypeError, "the argument 'wire' must be the name of a type")):
            with self.assertRaisesRegex(kind, f"replica_device_setter: {text}"):
                types(wire)


class TrainingTest(unittest.TestCase):
    def test_hyperparameters(self):
        params = tf.contrib.training.HParams(rate=0.1, layers=[64, 32], name="a", deep=False, steps=3)
        self.assertEqual((params.rate, params.layers, params.get("other", 5), "deep" in params),
                         (0.1, [64, 32], 5, True))
        self.assertIs(params.parse("rate=0.5, layers=[8,9],name=b,deep=true"), params)
        self.assertEqual(params.values(), {"rate": 0.5, "layers": [8, 9], "name": "b", "deep": True, "steps": 3})
        params.parse("layers[1]=7,rate=2")
        self.assertEqual((params.layers, params.rate), ([8, 7], 2.0))
        self.assertEqual(params.to_json(sort_keys=True),
                         '{"deep": true, "layers": [8, 7], "name": "b", "rate": 2.0, "steps": 3}')
        for wrong in ("steps=1.5", "unknown=1", "rate", "deep=maybe", "steps=1,steps=2"):
            with self.assertRaises(ValueError, msg=wrong):
                params.parse(wrong)

    def test_the_configuration_of_the_first_estimators(self):
        config = tf.contrib.learn.RunConfig(save_checkpoints_secs=30, num_cores=2)
        self.assertIsInstance(config, tf.estimator.RunConfig)
        self.assertEqual((config.save_checkpoints_secs, config.session_config.inter_op_parallelism_threads), (30, 2))
        with self.assertRaisesRegex(ValueError, "no effect with a session_config"):
            tf.contrib.learn.RunConfig(log_device_placement=True, session_config=tf.ConfigProto())


if __name__ == "__main__":
    unittest.main()
