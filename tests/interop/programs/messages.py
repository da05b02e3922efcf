"""Texts of errors that TensorFlow's tests and its users' programs look for."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops


def _unknown(value):
    return tf1.placeholder_with_default(value, None)


def tensor_arrays(s):
    def array(size=3, dtype=tf.float32, **kwargs):
        made = raw.TensorArrayV3(size=size, dtype=dtype, tensor_array_name="foo", **kwargs)
        return made.handle, made.flow

    def write(made, index, value):
        handle, flow = made
        return handle, raw.TensorArrayWriteV3(handle=handle, index=index, value=value, flow_in=flow)

    def read(made, index, dtype=tf.float32):
        return raw.TensorArrayReadV3(handle=made[0], index=index, flow_in=made[1], dtype=dtype)

    def gradient(made):
        g = raw.TensorArrayGradV3(handle=made[0], flow_in=made[1], source="s")
        return g.grad_handle, g.flow_out

    def concat(made):
        return raw.TensorArrayConcatV3(handle=made[0], flow_in=made[1], dtype=tf.float32).value

    def split(made, value, lengths):
        return raw.TensorArraySplitV3(handle=made[0], value=_unknown(np.float32(value)),
                                      lengths=_unknown(np.array(lengths, np.int64)), flow_in=made[1])

    s.run(write(array(), 0, "text")[1], text="TensorArray dtype is float.* but Op is trying to write dtype string")
    s.run(read(array(), 0, tf.float64), text="TensorArray dtype is float but Op requested dtype double.")
    s.run(write(array(), -1, 1.0)[1], text="index -1")
    s.run(write(array(), 3, 1.0)[1], text="Tried to write to index 3 but array is not resizeable and size is: 3")
    s.run(read(array(), 3), text="Tried to read from index 3 but array size is: 3")
    s.run(write(write(array(), 2, 1.0), 2, 1.0)[1],
          text="TensorArray foo_.*: Could not write to TensorArray index 2 because it has already been written to.")
    s.run(write(array(element_shape=[2]), 0, _unknown(np.float32([1])))[1], text="Could not write to TensorArray")
    s.run(write(write(gradient(array()), 1, 1.0), 1, _unknown(np.float32([1])))[1],
          text=r"Could not aggregate to TensorArray index 1 because the existing shape is \[\] but the new input shape "
               r"is \[1\]")
    made = write(array(), 0, 1.0)
    with tf1.control_dependencies([read(made, 0)]):
        s.run(read(made, 0), text=r"Could not read index 0 twice because it was cleared after a previous read \(perhaps "
                                  r"try setting clear_after_read = false\?\)")
    s.run(concat(write(array(1), 0, 1.0)), text="Concat saw a scalar shape at index 0 but requires at least vectors")
    s.run(concat(array(0)), text="TensorArray has size zero, but element_shape_except0 <unknown> is not fully defined")
    s.run(raw.TensorArrayGatherV3(handle=made[0], indices=_unknown(np.zeros(0, np.int32)), flow_in=made[1],
                                  dtype=tf.float32, element_shape=None),
          text="TensorArray has size zero, but element shape <unknown> is not fully defined. Currently only static shapes "
               "are supported when packing zero-size TensorArrays.")
    s.run(split(array(), [1, 2, 3], 1), text=r"Expected lengths to be a vector, received shape: \[\]")
    s.run(split(array(), [1, 2, 3], [1]),
          text=r"Expected sum of lengths to be equal to values.shape\[0\], but sum of lengths is 1 and value's shape is: "
               r"\[3\]")
    s.run(split(array(), 1, [1]), text=r"Expected value to be at least a vector, but received shape: \[\]")
    s.run(split(array(2), [1], [1]), text=r"size is not equal to the size of lengths \(2 vs. 1\), and the TensorArray is "
                                          "not marked as dynamically resizeable")


def tensor_lists(s):
    def reserved(size=3, dtype=tf.float32):
        return raw.TensorListReserve(element_shape=-1, num_elements=size, element_dtype=dtype)

    def written(index, value, lists=None):
        return raw.TensorListSetItem(input_handle=reserved() if lists is None else lists, index=index, item=value)

    def concat(*values):
        lists = reserved(len(values))
        for i, value in enumerate(values):
            lists = written(i, np.float32(value), lists)
        return raw.TensorListConcatV2(input_handle=lists, element_shape=-1, leading_dims=np.zeros(0, np.int64),
                                      element_dtype=tf.float32).tensor

    def length(lists):
        return raw.TensorListLength(input_handle=lists)

    def item(lists, index, dtype=tf.float32):
        return raw.TensorListGetItem(input_handle=lists, index=index, element_shape=-1, element_dtype=dtype)

    def split(value, lengths):
        return length(raw.TensorListSplit(tensor=_unknown(np.float32(value)), element_shape=-1,
                                          lengths=_unknown(np.array(lengths, np.int64))))

    s.run(length(written(0, "text", _unknown_list(reserved()))),
          text="Invalid data types; op elements string but list elements float")
    for index in (-1, 3):
        s.run(length(written(index, 1.0)), text=f"Trying to modify element {index} in a list with 3 elements.")
        s.run(item(reserved(), index), text=f"Trying to access element {index} in a list with 3 elements.")
    s.run(concat(1.0, 2.0), text="Concat saw a scalar shape at index 0 but requires at least vectors")
    s.run(concat([1.0], [[1.0]]), text="Incompatible ranks")
    s.run(raw.TensorListStack(input_handle=reserved(0), element_shape=-1, element_dtype=tf.float32),
          text="Tried to stack elements of an empty list with non-fully-defined element_shape")
    s.run(split([1, 2, 3], 1), text=r"Expected lengths to be a vector, received shape: \[\]")
    s.run(split([1, 2, 3], [1]), text="Unused values in tensor. Length of tensor: 3 Values used: 1")


def _unknown_list(lists):
    """The same list, of which nobody knows what it holds."""
    return raw.TensorListResize(input_handle=lists, size=3)


def slices(s):
    v = tf1.get_variable("v", initializer=np.arange(6, dtype=np.float32), use_resource=False)
    scalar = tf1.get_variable("scalar", initializer=0.0, use_resource=True)
    s.init()
    s.run(tf1.scatter_nd_update(v, [[2], [6]], [1.0, 2.0]), text=r"indices\[1\] = \[6\] does not index into shape \[6\]")
    s.run(tf1.scatter_nd_add(v, [[-1], [0]], [1.0, 2.0]), text=r"indices\[0\] = \[-1\] does not index into shape \[6\]")
    s.run(raw.ResourceScatterNdUpdate(ref=scalar.handle, indices=_unknown([[0]]), updates=_unknown([0.5])),
          text="Output must be at least 1-D")
    rows = _unknown(np.array([[[0, 1], [1, 2]]], np.int32))
    s.run(raw.GatherNd(params=np.ones([2, 2]), indices=rows), text=r"indices\[0,1\] = \[1, 2\] does not index into param "
                                                                   r"shape \[2,2\]")
    s.run(raw.ScatterNd(indices=rows, updates=_unknown(np.ones([1, 2])), shape=_unknown([2, 2])),
          text=r"indices\[0,1\] = \[1, 2\] does not index into shape \[2,2\]")
    s.run(raw.ScatterNd(indices=_unknown(np.zeros([2, 2, 2], np.int32)), updates=_unknown(np.zeros([2, 2, 2])),
                        shape=_unknown([0, 3, 2])), text="Indices and updates specified for empty output")
    s.run(tf.gather([1.0, 2.0], _unknown([[0, 1], [1, 2]])), text=r"indices\[1,1\] = 2 is not in \[0, 2\)")
    s.run(tf.dynamic_partition(np.zeros([2, 3]), _unknown([[0, 0, 0], [0, 17, 0]]), 7),
          text=r"partitions\[1,1\] = 17 is not in \[0, 7\)")
    s.run(tf.dynamic_partition(np.zeros([2]), _unknown(17), 7), text=r"partitions = 17 is not in \[0, 7\)")


def a_variable_that_is_not_there(s):
    other = tf1.get_variable("other", initializer=1.0, use_resource=True)
    v = tf1.get_variable("var5", initializer=1.0, use_resource=True)
    s.run(other.initializer)
    s.run(v.read_value(), text="Resource .*/var5/.* does not exist")


def a_state_that_is_none(s):
    reader = tf1.IdentityReader(name="test_reader")
    s.run(reader.restore_state(b"junk"), text="Could not parse state for IdentityReader 'test_reader'")
