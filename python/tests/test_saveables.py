"""State other than variables in checkpoints: positions of iterators, SaveableObjects of the program."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.tensorflow_python.saver import BaseSaverBuilder


class Doubled(BaseSaverBuilder.SaveableObject):
    """Saves twice the value of a variable."""

    def __init__(self, variable, name):
        spec = BaseSaverBuilder.SaveSpec(lambda: variable * 2.0, "", name, tf.float32)
        super().__init__(variable, [spec, BaseSaverBuilder.SaveSpec(variable + 1.0, "", name + "_more")], name)

    def restore(self, restored_tensors, restored_shapes):
        return self.op.assign(restored_tensors[0] / 2.0 + 0.0 * restored_tensors[1])


class SaveablesTest(tf.test.TestCase):
    def test_an_object_of_the_program_is_saved_and_restored(self):
        v = tf.Variable([1.0, 2.0], name="v")
        saver = tf.train.Saver([Doubled(v, "twice")])
        with self.session() as session:
            session.run(v.initializer)
            path = saver.save(session, os.path.join(self.get_temp_dir(), "model"))
            session.run(v.assign([7.0, 7.0]))
            saver.restore(session, path)
            self.assertAllEqual(session.run(v), [1.0, 2.0])
        self.assertEqual(sorted(tf.train.list_variables(path)), [("twice", [2]), ("twice_more", [2])])
        self.assertAllEqual(tf.train.load_variable(path, "twice"), [2.0, 4.0])

    def test_the_collection_of_saveable_objects_is_saved_beside_the_variables(self):
        v = tf.Variable([1.0], name="v")
        w = tf.Variable([3.0], collections=[tf.GraphKeys.LOCAL_VARIABLES], name="w")
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, Doubled(w, "twice"))
        saver = tf.train.Saver()
        with self.session() as session:
            session.run([v.initializer, w.initializer])
            path = saver.save(session, os.path.join(self.get_temp_dir(), "model"))
        self.assertEqual([name for name, _ in tf.train.list_variables(path)], ["twice", "twice_more", "v"])

    def test_the_position_of_an_iterator_is_saved(self):
        for make in (tf.data.make_initializable_iterator, tf.data.make_one_shot_iterator):
            tf.reset_default_graph()
            iterator = make(tf.data.Dataset.range(20).shuffle(8, seed=3).repeat(2))
            element = iterator.get_next()
            tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
            saver = tf.train.Saver()
            with self.session() as session:
                if make is tf.data.make_initializable_iterator:
                    session.run(iterator.initializer)
                session.run([element] * 3)
                path = saver.save(session, os.path.join(self.get_temp_dir(), make.__name__))
                rest = [session.run(element) for _ in range(30)]
                saver.restore(session, path)
                self.assertEqual([session.run(element) for _ in range(30)], rest)
            with self.session() as session:  # another session, whose iterator has not been initialised
                saver.restore(session, path)
                self.assertEqual([session.run(element) for _ in range(30)], rest)
            self.assertEqual(tf.train.list_variables(path)[0][0], iterator._core.resource.name + "_STATE")

    def test_a_generator_has_no_position(self):
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.from_generator(lambda: iter([1, 2]), tf.int32))
        saver = tf.train.Saver([tf.contrib.data.make_saveable_from_iterator(iterator)])
        with self.session() as session:
            session.run(iterator.initializer)
            with self.assertRaises(tf.errors.OpError):
                saver.save(session, os.path.join(self.get_temp_dir(), "generator"))


def model_fn(features, labels, mode):
    seen = tf.get_variable("seen", [40], tf.int64, tf.zeros_initializer(), trainable=False)
    step = tf.train.get_global_step()
    add = tf.scatter_add(seen, features, tf.ones_like(features))
    with tf.control_dependencies([add]):
        train = tf.assign_add(step, 1)
    return tf.estimator.EstimatorSpec(mode, loss=tf.constant(0.0), train_op=train)


class CheckpointInputPipelineHookTest(unittest.TestCase):
    def train(self, folder, steps):
        config = tf.estimator.RunConfig(save_checkpoints_steps=4)
        estimator = tf.estimator.Estimator(model_fn, folder, config)
        hook = tf.data.experimental.CheckpointInputPipelineHook(estimator)
        estimator.train(lambda: tf.data.Dataset.range(40).shuffle(10, seed=5).batch(4), hooks=[hook], steps=steps)
        return estimator.get_variable_value("seen")

    def test_a_training_continues_at_the_position_of_its_input(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.train(folder, 4).sum(), 16)
            self.assertEqual(tf.train.latest_checkpoint(folder, "checkpoint_input"), os.path.join(folder, "input.ckpt-4"))
            self.assertEqual(tf.train.latest_checkpoint(folder), os.path.join(folder, "model.ckpt-4"))
            np.testing.assert_array_equal(self.train(folder, 6), np.ones([40], np.int64))  # each element once
            self.assertEqual(tf.train.latest_checkpoint(folder, "checkpoint_input"), os.path.join(folder, "input.ckpt-10"))


if __name__ == "__main__":
    unittest.main()
