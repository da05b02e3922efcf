"""Methods and arguments of TensorFlow 1.15's tf.keras that the library has not, and copies of models."""

import unittest

import numpy as np
import tensorbraid as tf
from test_layers import KerasTestCase, layers, names


class Doubled(layers.Layer):
    def call(self, inputs):
        return self.twice(inputs)

    @layers.Layer.with_name_scope
    def twice(self, inputs):
        return tf.multiply(inputs, 2.0, name="twice")


def with_tanh(layer):
    config = layer.get_config()
    return type(layer).from_config({**config, "activation": "tanh"} if isinstance(layer, layers.Dense) else config)


class MethodsTest(KerasTestCase):
    def test_signatures(self):
        spec = tf.TensorSpec([None, 3], tf.float32)
        self.assertEqual(layers.Dense(4).compute_output_signature(spec), tf.TensorSpec([None, 4], tf.float32))
        self.assertEqual(layers.Concatenate().compute_output_signature([spec, spec]),
                         tf.TensorSpec([None, 6], tf.float32))
        self.assertEqual(Doubled().compute_output_signature(spec), spec)
        with self.assertRaisesRegex(TypeError, "takes tf.TensorSpec"):
            Doubled().compute_output_signature([None, 3])

    def test_a_method_in_the_scope_of_the_layer(self):
        layer, x = Doubled(name="scaled"), tf.keras.Input((3,))
        self.assertEqual(layer(x).name, "scaled/twice:0")
        self.assertEqual(layer.twice(x).name, "scaled/twice_1:0")

    def test_a_model_is_not_run_eagerly(self):
        model = tf.keras.Sequential([layers.Dense(1, input_shape=(2,))])
        self.assertIs(model.run_eagerly, False)
        model.run_eagerly = False
        with self.assertRaisesRegex(NotImplementedError, "run_eagerly=True of the model sequential"):
            model.run_eagerly = True

    def test_initial_values_of_an_untruncated_distribution(self):
        initializer = tf.keras.initializers.VarianceScaling(2.0, "fan_avg", "untruncated_normal", seed=1)
        values = tf.keras.backend.eval(initializer((300, 200)))
        self.assertAlmostEqual(values.std(), np.sqrt(2 / 250), 2)
        self.assertGreater(abs(values).max(), 3 * values.std())
        again = tf.keras.initializers.deserialize(tf.keras.initializers.serialize(initializer))
        self.assertEqual(again.get_config(), {"scale": 2.0, "mode": "fan_avg", "distribution": "untruncated_normal",
                                              "seed": 1})


class CopiesTest(KerasTestCase):
    def functional(self):
        a, b = tf.keras.Input((4,), name="a"), tf.keras.Input((4,), name="b")
        total = layers.Add()([layers.Dense(3, activation="relu")(a), layers.Dense(3)(tf.nn.relu(b) * 2.0)])
        return tf.keras.Model([a, b], [total, layers.Dense(1)(total)], name="both")

    def test_a_functional_model(self):
        model = self.functional()
        copy = tf.keras.models.clone_model(model)
        self.assertEqual((copy.name, copy.input_names, len(copy.layers)), ("both", ["a", "b"], len(model.layers)))
        self.assertFalse(set(names(copy.weights)) & set(names(model.weights)))
        copy.set_weights(model.get_weights())
        x = [np.random.rand(5, 4), np.random.rand(5, 4)]
        for found, wanted in zip(copy.predict(x), model.predict(x)):
            np.testing.assert_array_equal(found, wanted)

    def test_inputs_and_layers_may_be_given(self):
        model, x = self.functional(), tf.ones([2, 4])
        copy = tf.keras.models.clone_model(model, [x, tf.keras.Input((4,))], with_tanh)
        self.assertIs(copy.inputs[0], x)
        self.assertEqual({layer.activation.__name__ for layer in copy.layers if isinstance(layer, layers.Dense)},
                         {"tanh"})
        with self.assertRaisesRegex(ValueError, "clone_model of both: it has 2 inputs, and input_tensors are 1"):
            tf.keras.models.clone_model(model, [x])

    def test_a_layer_that_is_called_twice_is_copied_once(self):
        x, shared = tf.keras.Input((3,)), layers.Dense(3)
        copy = tf.keras.models.clone_model(tf.keras.Model(x, shared(shared(x))))
        self.assertEqual(len(copy.weights), 2)

    def test_sequential_models(self):
        for arguments in ({"input_shape": (4,)}, {}):
            model = tf.keras.Sequential([layers.Dense(3, **arguments), layers.Dense(1)])
            copy = tf.keras.models.clone_model(model, clone_function=with_tanh)
            self.assertEqual(copy.built, model.built)
            self.assertEqual(copy(tf.ones([2, 4])).op.type, "Tanh")

    def test_a_function_that_makes_no_layer_is_an_error(self):
        model = self.functional()
        for made in (model, tf.keras.Sequential([layers.Dense(1, input_shape=(2,))])):
            with self.assertRaisesRegex(TypeError, "clone_function of clone_model has returned None for the layer"):
                tf.keras.models.clone_model(made, clone_function=lambda layer: None)

    def test_a_subclass_of_model_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "clone_model takes a functional or sequential model"):
            tf.keras.models.clone_model(type("Net", (tf.keras.Model,), {})())


if __name__ == "__main__":
    unittest.main()
