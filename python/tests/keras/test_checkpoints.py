"""tf.keras: checkpoints that `save_weights` writes restore into another model of the same layers."""

import os
import unittest

import numpy as np
import tensorbraid as tf

layers = tf.keras.layers
RNG = np.random.RandomState(0)


class Scores(layers.Layer):
    def build(self, input_shape):
        self.weight = self.add_weight(name="scores", shape=(int(input_shape[-1]), 1))
        super().build(input_shape)

    def call(self, inputs):
        return inputs * tf.matmul(inputs, self.weight)


class Blocks(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [layers.Dense(3), layers.Dense(3)]
        self.norm = layers.BatchNormalization()
        self.heads = {"a": layers.Dense(2)}

    def call(self, inputs):
        for block in self.blocks:
            inputs = block(inputs)
        return self.heads["a"](self.norm(inputs))


def sequential():
    return tf.keras.Sequential([layers.Dense(4, input_shape=(3,)), layers.BatchNormalization(), layers.Dense(1)])


def functional():
    inputs = tf.keras.Input((4,))
    hidden = layers.Bidirectional(layers.LSTM(3))(layers.Reshape((2, 2))(inputs))
    return tf.keras.Model(inputs, layers.Dense(2)(Scores()(hidden)))


class CheckpointsTest(tf.test.TestCase):
    def setUp(self):
        tf.keras.backend.clear_session()
        self.path = os.path.join(self.get_temp_dir(), self.id(), "weights")

    def test_weights_restore_into_a_model_whose_variables_have_other_names(self):
        for make, size in ((sequential, 3), (functional, 4)):
            first, second, x = make(), make(), RNG.rand(5, size)
            self.assertNotEqual(first.weights[0].name, second.weights[0].name)
            first.save_weights(self.path)
            self.assertEqual(tf.train.latest_checkpoint(os.path.dirname(self.path)), self.path)
            second.load_weights(self.path).assert_consumed()
            self.assertAllEqual(first.predict(x), second.predict(x))

    def test_a_model_that_was_never_called_reads_them_with_its_first_call(self):
        first, x = Blocks(), RNG.rand(5, 4).astype(np.float32)
        first(tf.zeros([1, 4]))
        first.save_weights(self.path)
        second = Blocks()
        second.load_weights(self.path)
        self.assertAllEqual(first.predict(x), second.predict(x))

    def test_keys_are_those_of_tensorflow(self):
        value = "/.ATTRIBUTES/VARIABLE_VALUE"
        for make, keys in (
                (sequential, ["layer_with_weights-0/kernel", "layer_with_weights-1/moving_mean",
                              "layer_with_weights-2/bias"]),
                (functional, ["layer_with_weights-0/backward_layer/cell/recurrent_kernel", "layer_with_weights-1/scores",
                              "layer_with_weights-2/kernel"]),
                (Blocks, ["blocks/0/kernel", "blocks/1/bias", "norm/gamma", "heads/a/kernel"])):
            model = make()
            if not model.inputs:
                model(tf.zeros([1, 4]))
            model.save_weights(self.path)
            saved = dict(tf.train.list_variables(self.path))
            self.assertIn("_CHECKPOINTABLE_OBJECT_GRAPH", saved)
            self.assertEqual(len(saved), len(model.weights) + 1)
            for key in keys:
                self.assertIn(key + value, saved)

    def test_a_checkpoint_by_names_is_read_as_well(self):
        model = sequential()
        tf.train.Saver(model.weights).save(tf.keras.backend.get_session(), self.path)
        expected = model.get_weights()
        model.set_weights([weight + 1 for weight in expected])
        model.load_weights(self.path)
        self.assertAllEqual(model.get_weights()[0], expected[0])

    def test_a_variable_that_a_checkpoint_lacks_is_an_error(self):
        tf.keras.Sequential([layers.Dense(4, input_shape=(3,))]).save_weights(self.path)
        with self.assertRaisesRegex(ValueError, "other layers; .*layer_with_weights-1/gamma"):
            sequential().load_weights(self.path)

    def test_saving_again_adds_no_operations(self):
        model = sequential()
        model.save_weights(self.path)
        count = len(tf.get_default_graph().get_operations())
        model.save_weights(self.path + "2")
        self.assertEqual(len(tf.get_default_graph().get_operations()), count)


if __name__ == "__main__":
    unittest.main()
