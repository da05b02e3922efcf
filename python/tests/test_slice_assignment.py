"""`v[1:3].assign(x)`: assignments to slices of variables."""

import unittest

import numpy as np
import tensorbraid as tf

START = np.arange(12, dtype=np.float32).reshape(4, 3)


def reference_variable():
    """A reference variable, as in graphs that are imported from TensorFlow 1."""
    from tensorbraid import proto

    meta_graph = tf.MetaGraphDef()
    with tf.Graph().as_default() as graph:
        initial = tf.constant(START, name="v/initial_value")
        variable = tf.raw_ops.VariableV2(shape=[4, 3], dtype=tf.float32, name="v")
        tf.raw_ops.Assign(ref=variable, value=initial, name="v/Assign")
        tf.identity(variable, name="v/read")
        meta_graph.graph_def.CopyFrom(graph.as_graph_def())
    data = proto.VariableDef(variable_name="v:0", initializer_name="v/Assign", snapshot_name="v/read:0",
                             initial_value_name="v/initial_value:0")
    meta_graph.collection_def["variables"].bytes_list.value.append(data.SerializeToString())
    tf.train.import_meta_graph(meta_graph)
    return tf.global_variables()[0]


def resource_variable():
    return tf.get_variable("v", initializer=START)


class SliceAssignmentTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def each_kind(self):
        for make in (resource_variable, reference_variable):
            with self.subTest(make.__name__), tf.Graph().as_default(), tf.Session() as session:
                v = make()
                session.run(v.initializer)
                yield v, session

    def test_indices_of_all_kinds(self):
        for v, session in self.each_kind():
            expected = START.copy()
            at = tf.placeholder(tf.int32, [])
            for key, value, feeds in (
                    (1, [7, 8, 9], {}), (slice(1, 3), np.full((2, 3), 5), {}),
                    ((slice(1, 3), slice(None, None, 2)), [[1, 2], [3, 4]], {}), ((-1, ...), [6, 6, 6], {}),
                    ((..., 0), [1, 2, 3, 4], {}), ((2, 1), 40, {}), (slice(None, None, -1), START, {}),
                    ((slice(0, 2), 1), 3, {}), (at, [0, 0, 1], {at: 2})):
                assigned = v[key].assign(np.float32(value))
                new = session.run(assigned, feeds)
                expected[2 if key is at else key] = value
                np.testing.assert_array_equal(new, expected)
                np.testing.assert_array_equal(session.run(v), expected)

    def test_a_function_assigns_to_slices_too(self):
        for v, session in self.each_kind():
            at = tf.placeholder(tf.int32, [])
            new = session.run(tf.assign(v[at:at + 2], tf.ones([2, 3])), {at: 1})
            np.testing.assert_array_equal(new, [START[0], [1, 1, 1], [1, 1, 1], START[3]])

    def test_a_slice_is_read_and_updated_with_another_tensor(self):
        for v, session in self.each_kind():
            rows = v[1:3]
            self.assertEqual(rows.shape.as_list(), [2, 3])
            self.assertEqual(session.run(rows.assign(rows + 1.0))[:, 0].tolist(), [0, 4, 7, 9])
            with tf.control_dependencies([v[0].assign([9.0, 9.0, 9.0])]):
                total = tf.reduce_sum(v.read_value()[0])
            self.assertEqual(session.run(total), 27)

    def test_names_are_those_of_tensorflow(self):
        for v, _ in self.each_kind():
            v[0].assign([1.0, 2.0, 3.0])
            v[0].assign([1.0, 2.0, 3.0], name="given")
            updates = [op for op in v.graph.get_operations() if op.type.endswith("StridedSliceAssign")]
            self.assertEqual([op.name for op in updates], ["strided_slice/_assign", "given"])
            self.assertEqual(updates[0].colocation_groups(), [f"loc:@{v.op.name}".encode()])

    def test_strided_slice_with_a_variable(self):
        for v, session in self.each_kind():
            part = tf.strided_slice(v, [0, 0], [4, 1], [2, 1], var=v, name="part")
            self.assertEqual(session.run(part.assign([[1.0], [2.0]]))[:, 0].tolist(), [1, 3, 2, 9])
            self.assertFalse(hasattr(tf.strided_slice(v, [0], [1]), "assign"))

    def test_mistakes(self):
        for v, session in self.each_kind():
            with self.assertRaises(TypeError):
                v[0].assign(["text"])
            with self.assertRaisesRegex(TypeError, "int32"):
                v[0].assign(tf.constant([1, 2, 3]))
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"\[2\].*\[3\]"):
                session.run(v[0].assign([1.0, 2.0]))
            np.testing.assert_array_equal(session.run(v), START)
            for other in (v.value()[0], (v + 1.0)[0], v[tf.constant([True, False, True, False])]):
                self.assertFalse(hasattr(other, "assign"))

    def test_a_feed_of_the_variable_and_an_assignment_are_an_error(self):
        v = resource_variable()
        with tf.Session() as session:
            session.run(v.initializer)
            with self.assertRaises(tf.errors.InvalidArgumentError):
                session.run(v[0].assign([1.0, 1.0, 1.0]), {v: START})


if __name__ == "__main__":
    unittest.main()
