"""Error messages: the texts that TensorFlow's tests and its users' programs look for."""
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
    s.run(concat(array(0)), text="element_shape_except0")
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
    """The same list, but the graph knows nothing of its elements."""
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
    for params, indices, batch_dims, text in (
            ([2, 3], [], 1, r"Expected batch_dims in the range \[0, 0\], but got 1"),
            ([2, 3], [2, 3], -3, r"Expected batch_dims in the range \[-2, 2\], but got -3"),
            ([2, 3], [2, 3, 1], 2, r"batch_dims \(2\) must be less than rank\(params\) \(2\)"),
            ([2, 3, 4], [2, 3], 2, r"batch_dims \(2\) must be less than or equal to axis \(1\)"),
            ([2, 3], [4, 1], 1, r"params.shape\[0\]: 2 should be equal to indices.shape\[0\]: 4")):
        s.run(raw.GatherV2(params=_unknown(np.zeros(params)), indices=_unknown(np.zeros(indices, np.int32)),
                           axis=_unknown(1), batch_dims=batch_dims), text=text)
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


def places_and_axes(s):
    x = np.float32([[1, 2, 3], [4, 5, 6]])
    axis = _unknown(np.array([-30], np.int32))
    s.run(tf.reverse(x, axis), text="is out of valid range")
    s.run(tf.reverse(x, _unknown(np.array([0, -2], np.int32))), text="axis 0 specified more than once")
    s.run(tf.cumsum(x, _unknown(-3)), text=r"Expected scan axis in the range \[-2, 2\)")
    s.run(tf.argmax(_unknown(np.zeros([0, 2])), 0), text=r"Reduction axis 0 is empty in shape \[0,2\]")
    s.run(_unknown(np.int32([1, 2]))[1:, 1:], text="out of range")
    s.run(tf.split(np.zeros([5, 30]), [4, 11, 15], axis=_unknown(np.zeros([0], np.int32))),
          text="must have exactly one element")
    s.run(tf.ensure_shape(tf.multiply(_unknown([[1], [2]]), 2, name="doubled"), [None, 3, 3]),
          text=r"Shape of tensor doubled \[2,1\] is not compatible with expected shape \[\?,3,3\].")
    s.run(tf.unravel_index(_unknown(-5), _unknown([1 << 28, 1 << 28])), text="dims product is causing integer overflow")
    s.run(tf.gather_nd(_unknown(np.zeros([0, 3])), _unknown([[0, 0]])),
          text="Requested more than 0 entries, but params is empty.")
    offsets = [([[2, 3]], [[2, 7]], "should be a vector", 1), ([2, 3, 5], [2, 7, 5], "Concat dim is out of range: 4 vs. 3", 4),
               ([2, 3, 5], [2, 7, 5, 10], "should contain 3 elem", 1),
               ([2, 3, 5], [2, 7, 10], r"All dimensions except 1 must match. Input 1 has shape \[2 7 10\] and doesn't match "
                                       r"input 0 with shape \[2 3 5\].", 1)]
    for first, second, text, dimension in offsets:
        s.run(raw.ConcatOffset(concat_dim=dimension, shape=[_unknown(np.int32(first)), _unknown(np.int32(second))]),
              text=text)
    s.run(raw.ReverseSequence(input=_unknown(x), seq_lengths=[1, 2], seq_dim=0, batch_dim=0), text="batch_dim == seq_dim")
    s.run(tf.linalg.diag(_unknown(0.0)), text="diagonal must be at least 1-dim")
    s.run(tf.linalg.diag_part(_unknown(0.0)), text="input must be at least 2-dim")
    s.run(tf.linalg.inv(_unknown(np.ones([2, 2]))), text="Input is not invertible.")
    s.run(tf.linalg.solve(_unknown(np.ones([2, 2])), np.ones([2, 1])), text="Input matrix is not invertible.")
    handle = tf1.get_variable("handle", initializer=1.0, use_resource=True).handle
    s.run(raw.Identity(input=raw.GuaranteeConst(input=handle)), text="cannot be a resource variable")


def ragged_splits(s):
    for splits, values, text in [([2, 3], [1, 2, 3], "First value of ragged splits must be 0"),
                                 ([0, 5], [], "Final value of ragged splits must match"),
                                 ([], [], "ragged splits may not be empty")]:
        s.run(raw.RaggedTensorToSparse(rt_nested_splits=[_unknown(np.array(splits, np.int64))],
                                       rt_dense_values=_unknown(np.float32(values))).sparse_indices, text=text)


def a_placeholder_that_is_not_fed(s):
    p = tf1.placeholder(tf.float32, [10, 10], name="images")
    s.run(p + 1, text=r"must feed a value for placeholder tensor '\S*images' with dtype float and shape \[10,10\]")


def segments(s):
    data = np.ones([4, 2], np.float32)
    for ids, text in [([-1, -1, 0, 0], r"Segment id -1 out of range \[0, 1\), possibly because 'segment_ids' input is not "
                                       "sorted."),
                      ([0, 1, 0, 1], "segment ids are not increasing"), ([0, 1, 2, 0], r"Segment id 1 out of range \[0, 1\)"),
                      ([0, 0, 0, -1], "segment ids must be >= 0")]:
        s.run(tf.math.segment_sum(data, _unknown(ids)), text=text)
        s.run(tf.sparse.segment_sum(data, [0, 1, 2, 3], _unknown(ids)), text=text)
    s.run(tf.math.segment_sum(data, _unknown([0, 1])), text="segment_ids should be the same size")
    s.run(tf.math.unsorted_segment_sum(data, _unknown([0, 1, 2, 1]), 2), text=r"segment_ids\[2\] = 2 is out of range \[0, 2\)")
    s.run(tf.sparse.segment_sum(data, _unknown([0, -1]), [0, 1]), text=r"indices\[1\] == -1 out of range \[0, 4\)")
    s.run(tf.sparse.segment_sum(data, [0, 1], _unknown([0, 4]), num_segments=3), text="segment ids must be < num_segments")
    for indices, ids, text in [([0, 10], [0, 1], r"Index 10 out of range \[0, 10\)"), ([0, 1], [0, 4], "Invalid number of segments"),
                               ([0, 1, 2], [0, -1, 1], r"Segment id -1 out of range \[0, 4\)")]:
        s.run(raw.SparseSegmentMeanGrad(grad=data, indices=_unknown(indices), segment_ids=_unknown(ids), output_dim0=10),
              text=text)


def records(s):
    def csv(line, defaults=(1, 2)):
        return tf.io.decode_csv(_unknown([line]), [[d] for d in defaults])

    s.run(csv("1"), text="Expect 2 fields but have 1 in record 0")
    s.run(csv("1,x"), text="Field 1 in record 0 is not a valid int32: x")
    s.run(tf.io.decode_csv(_unknown(["1,"]), [[1], np.zeros(0, np.int32)]), text="Field 1 is required but missing in record 0!")
    s.run(csv('1,a"b'), text="Unquoted fields cannot have quotes/CRLFs inside")
    s.run(csv('1,"b'), text="Quoted field has to end with quote followed")
    s.run(tf.io.decode_raw(_unknown(["short", "longer"]), tf.uint8),
          text="DecodeRaw requires input strings to all be the same size, but element 1 has size 5 != 6")
    s.run(tf.io.decode_raw(_unknown(["123"]), tf.int16),
          text="Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16")
    s.run(tf.io.parse_tensor(_unknown("bogus"), tf.uint8), text="Could not parse `serialized` as TensorProto")
    s.run(tf.io.parse_tensor(_unknown(["bogus"]), tf.uint8), text=r"Expected `serialized` to be a scalar, got shape: \[1\]")
    s.run(tf.io.parse_tensor(_unknown(tf.make_tensor_proto([1], tf.uint8).SerializeToString()), tf.uint16),
          text=r"Type mismatch between parsed tensor \(uint8\) and dtype \(uint16\)")
    example = tf.train.Example(features=tf.train.Features(feature={
        "a": tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2]))})).SerializeToString()

    def parsed(key, feature):
        return list(tf.io.parse_example(_unknown([example]), {key: feature}, example_names=["first"]).values())[0]

    s.run(parsed("c", tf.io.FixedLenFeature([2], tf.float32)), text=r"Name: first, Feature: c \(data type: float\) is required")
    s.run(parsed("a", tf.io.FixedLenFeature([3], tf.float32)), text="Name: first, Key: a, Index: 0.  Number of float val")
    s.run(parsed("a", tf.io.FixedLenSequenceFeature([3], tf.float32, allow_missing=True)),
          text="Name: first, Key: a, Index: 0.  Number of float values is not a multiple of stride length.")
    s.run(parsed("a", tf.io.FixedLenFeature([2], tf.int64)))


def lists(s):
    def made(values, shape):
        return raw.TensorListFromTensor(tensor=np.float32(values), element_shape=_unknown(np.array(shape, np.int32)))

    def split(value, shape):
        return raw.TensorListSplit(tensor=np.float32(value), element_shape=_unknown(np.array(shape, np.int32)),
                                   lengths=np.int64([1, 1]))

    s.run(raw.TensorListLength(input_handle=split([1, 2], [])), text=r"element_shape to be at least of rank 1, but saw: \[\]")
    s.run(raw.TensorListLength(input_handle=split([[1], [2]], [1])),
          text=r"tensor shape \[2,1\] is not compatible with element_shape \[1\]")
    s.run(raw.TensorListLength(input_handle=raw.TensorListResize(input_handle=made([1, 2], []), size=_unknown(-1))),
          text="expects size to be non-negative")
    both = tf.add_n([made(np.zeros([3]), []), made(np.zeros([3, 2]), [2])])
    s.run(raw.TensorListLength(input_handle=both), text="two lists of tensors with incompatible element shapes")
    batch = tf.stack([made([1, 2], []), made([3], [])])
    pushed = raw.TensorListPushBackBatch(input_handles=batch, tensor=_unknown(np.float32([[3], [4]])))
    s.run(raw.TensorListLength(input_handle=tf.unstack(pushed, 2)[0]), text="incompatible shape to a list at index 0")


def sparse_tensors(s):
    i = lambda *rows: np.array(rows, np.int64)
    sparse = tf.sparse.SparseTensor
    for indices, text in [([[1], [10]], r"indices\[1\] = \[10\] is out of bounds: need 0 <= index < \[5\]"),
                          ([[1], [1]], r"indices\[1\] = \[1\] is repeated"), ([[2], [1]], r"indices\[1\] = \[1\] is out of order")]:
        s.run(raw.SparseToDense(sparse_indices=_unknown(indices), output_shape=[5], sparse_values=[1.0, 2.0],
                                default_value=0.0), text=text)
    a, b = sparse(i([0, 0]), _unknown([1.0]), [3, 3]), sparse(i([0, 0]), _unknown([1.0]), [2, 3])
    s.run(tf.sparse.concat(1, [a, b]).values, text="Input shapes must match")
    s.run(tf.sparse.split(a, 3, axis=_unknown(i(0, 1)))[0].values, text="axis should be a scalar")
    s.run(tf.sparse.add(sparse(_unknown(i([0, 3])), [1.0], [2, 2]), np.zeros([2, 2], np.float32)), text="invalid index")
    s.run((a * _unknown(np.zeros([3, 4, 1], np.float32))).values,
          text="broadcasts dense to sparse only; got incompatible shapes")
    s.run(tf.sparse.maximum(a, b).values, text="Operands' shapes do not match")
    s.run(tf.sparse.maximum(a, sparse(i([0]), _unknown([1.0]), [2])).values, text="Operands do not have the same ranks")
    with tf.device(s.ps):
        put = [raw.AddSparseToTensorsMap(sparse_indices=i([0] * n), sparse_values=[1.0], sparse_shape=i(*[2] * n),
                                         container="", shared_name="sparse tensors") for n in (2, 3)]
        taken = tf1.placeholder(tf.int64)
        take = raw.TakeManySparseFromTensorsMap(sparse_handles=taken, dtype=tf.float32, container="",
                                                shared_name="sparse tensors", name="take")
    s.run(take.sparse_values, {taken: s.session.run(put)},
          text=r"rank prior to SparseTensor\[1\] was: 3 but rank of SparseTensor\[1\] is: 4")
    s.run(take.sparse_values, {taken: [10]}, text="Unable to find SparseTensor: 10")


def scalars_and_vectors(s):
    x = np.arange(10)
    for begin, size in [(2, 3), ([2], 3), (2, [3])]:
        s.run(tf.slice(x, _unknown(begin), _unknown(size)), text="Expected begin and size arguments to be 1-D tensors")
    s.run(tf.tile(_unknown([7]), _unknown(2)), text="Expected multiples to be 1-D")
    s.run(tf.pad(_unknown(7), _unknown([[1, 2]])), text="The first dimension of paddings must be the rank of inputs")
    s.run(tf.math.unsorted_segment_sum(_unknown(7), _unknown(1), _unknown([4])), text="num_segments should be a scalar")
    s.run(tf.strings.reduce_join(["a", "b"], axis=_unknown(-2)), text="reduction dimension -2")
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
    for reduce in (tf1.sparse.reduce_sum, tf1.sparse.reduce_max):
        s.run(reduce(sparse, _unknown(-3)), text="Invalid reduction dimension -3")
    for shape in ([3, 3], [2, 4]):
        s.run(tf.linalg.set_diag(_unknown(np.zeros([2, 3, 3])), _unknown(np.ones(shape))),
              text="first dimensions of diagonal don't match")
    s.run(_unknown(1) // _unknown(0), text="Integer division by zero")
    s.run(tf.random.uniform([3], _unknown(0), _unknown(0), tf.int32), text="Need minval < maxval, got 0 >= 0")
    s.run(tf1.multinomial(_unknown(np.zeros([5, 0])), 7), text="num_classes should be positive")
    for source, target, text in [("12345678", "87654321", "Source format must be of length 4 or 5"),
                                 ("1233", "4321", "Destination and source format must determine a permutation"),
                                 ("1234", "5321", "Destination and source format must determine a permutation")]:
        for op in (raw.DataFormatDimMap, raw.DataFormatVecPermute):
            s.run(op(x=_unknown([0, 1, 2, 3]), src_format=source, dst_format=target), text=text)
    for index in (-1, 10):
        s.run(raw.SparseFillEmptyRowsGrad(reverse_index_map=_unknown(np.int64([2, index])), grad_values=[0, 1, 2, 3]),
              text=r"Elements in reverse index must be in \[0, 4\)")
    for i, v, text in [([[0]], [[10.0]], "must be a vector"), ([0], [10.0], "x and v shape doesn't match"),
                       ([0, 1], [[10.0]], "i and x shape doesn't match")]:
        s.run(raw.InplaceUpdate(x=_unknown([[1.0]]), i=_unknown(np.int32(i)), v=_unknown(v)), text=text)


def windows(s):
    """Convolutions and pooling refuse these windows and inputs."""
    x = _unknown(np.zeros([1, 2, 2, 6], np.float32))
    one, valid = [1, 1, 1, 1], dict(padding="VALID")
    depth = "MaxPooling supports exactly one of pooling across depth or pooling across width/height"
    for ksize, strides, text in (
            ([1, 2, 2, 2], [1, 2, 2, 2], depth), ([1, 2, 1, 2], [1, 1, 1, 2], depth),
            ([1, 1, 1, 2], one, "Depthwise max pooling requires the depth window to equal the depth stride"),
            ([1, 1, 1, 4], [1, 1, 1, 4], "Depthwise max pooling requires the depth window to evenly divide the input depth"),
            ([2, 1, 1, 1], one, "Pooling is not yet supported on the batch dimension")):
        s.run(raw.MaxPool(input=x, ksize=ksize, strides=strides, **valid), text=text)
        s.run(raw.AvgPool(value=x, ksize=ksize, strides=strides, **valid), text=text)
    s.run(raw.MaxPool(input=x, ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], **valid))
    s.run(raw.AvgPool(value=x, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], **valid),
          text="Non-spatial pooling is not yet supported")
    for shape in ([1, 0, 2, 6], [1, 2, 0, 6]):
        empty = _unknown(np.zeros(shape, np.float32))
        for pool in (raw.MaxPool(input=empty, ksize=[1, 2, 2, 1], strides=one, **valid),
                     raw.Conv2D(input=empty, filter=np.ones([2, 2, 6, 1], np.float32), strides=one, **valid)):
            s.run(pool, text="Computed output size would be negative")
    for shape in ([0, 2, 2, 6], [1, 0, 2, 6], [1, 2, 2, 0]):
        empty = _unknown(np.zeros(shape, np.float32))
        same = dict(ksize=[1, 2, 2, 1], strides=one, padding="SAME")
        s.run(raw.MaxPoolWithArgmax(input=empty, **same).output, text="tensor_in must not be empty")
        s.run([raw.MaxPool(input=empty, **same), raw.AvgPool(value=empty, **same), raw.LRN(input=empty),
               raw.MaxPoolGrad(orig_input=empty, orig_output=empty, grad=empty, **same),
               raw.AvgPoolGrad(orig_input_shape=shape, grad=empty, **same)])
    f = _unknown(np.zeros([0, 3, 6, 1], np.float32))
    s.run(raw.Conv2D(input=x, filter=f, strides=one, padding="SAME"), text="filter must not have zero elements")


def sequences_without_elements(s):
    def loss(shape, labels):
        return raw.CTCLoss(inputs=_unknown(np.zeros(shape, np.float32)),
                           labels_indices=_unknown(np.zeros([labels, 2], np.int64)),
                           labels_values=_unknown(np.zeros([labels], np.int32)),
                           sequence_length=_unknown(np.full([shape[1]], shape[0], np.int32))).loss
    s.run(loss([3, 2, 4], 0), text="Labels length is zero in batch 0")
    s.run(loss([3, 0, 4], 0), text="batch_size must not be 0")
    s.run(loss([0, 2, 4], 1), text="Max time or first dimension of input cannot be 0")
    for shape in ([0, 2, 4], [3, 0, 4], [3, 2, 0]):
        inputs = _unknown(np.zeros(shape, np.float32))
        lengths = _unknown(np.full([shape[1]], shape[0], np.int32))
        s.run(raw.CTCGreedyDecoder(inputs=inputs, sequence_length=lengths).log_probability, text="must not be")
        s.run(raw.CTCBeamSearchDecoder(inputs=inputs, sequence_length=lengths, beam_width=2, top_paths=1).log_probability,
              text="must not be")


def cells_without_elements(s):
    zeros = {name: _unknown(np.zeros(shape, np.float32))
             for name, shape in (("x", [2, 16]), ("cs_prev", [2, 0]), ("h_prev", [2, 0]), ("w", [16, 0]), ("wci", [5]),
                                 ("wcf", [16]), ("wco", [13]), ("b", [0]))}
    s.run(raw.LSTMBlockCell(**zeros).h, text="is empty")


def attributes_before_feeds(s):
    """Attributes that no input can satisfy are reported before a missing feed."""
    x = tf1.placeholder(tf.float32)
    s.run(raw.AvgPool(value=x, ksize=[1, 1, 1, 1], strides=[2, 1, 1, 1], padding="SAME"),
          text="Pooling is not yet supported on the batch")


def too_many_elements(s):
    size = _unknown(np.array([1879048192, 1879048192], np.int32))
    text = "Encountered overflow when multiplying"
    s.run(raw.ResizeNearestNeighborGrad(grads=np.ones([1, 2, 2, 3], np.float32), size=size), text=text)
    s.run(raw.ImageProjectiveTransformV2(images=np.ones([2, 5, 8, 3], np.float32), transforms=np.ones([2, 8], np.float32),
                                         output_shape=size, interpolation="BILINEAR"), text=text)
    s.run(raw.CropAndResize(image=np.ones([1, 1, 1, 3], np.float32), boxes=np.ones([1, 4], np.float32),
                            box_ind=np.array([0], np.int32), crop_size=size), text=text)


def images(s):
    boxes = _unknown(np.array([[np.inf, 0, 0, 0]], np.float32))
    s.run(raw.CropAndResize(image=np.ones([1, 1, 1, 1], np.float32), boxes=boxes, box_ind=np.array([0], np.int32),
                            crop_size=[1, 1]), text="Boxes contains at least one element that is not finite")
    s.run(raw.DataFormatVecPermute(x=_unknown(np.array([1, 2], np.int32)), src_format="1234", dst_format="1234"),
          text="Format specifier must contain H and W for 2D case")


def image_files(s):
    """Files of another format than the op's, and files that are damaged."""
    pixels = np.zeros([2, 3, 3], np.uint8)
    frame = b"\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0"
    files = {"JPEG": tf.io.encode_jpeg(pixels), "PNG": tf.io.encode_png(pixels),
             "GIF": b"GIF89a\1\0\1\0\x80\0\0" + bytes(6) + 2 * frame + b";",
             "BMP": b"BM" + bytes(8) + b"\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0" + bytes(28)}
    files = {name: _unknown(contents) for name, contents in files.items()}
    for name in ("JPEG", "PNG", "GIF"):
        s.run(raw.DecodeBmp(contents=files[name]),
              text=f"Trying to decode {name} format using DecodeBmp op. Use `decode_{name.lower()}` or `decode_image`")
    for op in ("DecodeJpeg", "DecodePng", "DecodeGif"):
        s.run(getattr(raw, op)(contents=files["BMP"]),
              text=f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: {op}")
    for name in ("PNG", "GIF", "BMP"):
        s.run(raw.DecodeAndCropJpeg(contents=files[name], crop_window=[1, 1, 2, 2]),
              text=f"DecodeAndCropJpeg operation can run on JPEG only, but detected {name}")
    for decode in (raw.DecodeJpeg, raw.DecodePng):
        s.run(decode(contents=files["GIF"]), text="Got 2 frames, but animated gifs can only be decoded by "
                                                  "tf.io.decode_gif or tf.io.decode_image")
    for window in ([-1, 0, 1, 1], [0, 0, 3, 1], [0, 0, 0, 1]):
        s.run(raw.DecodeAndCropJpeg(contents=files["JPEG"], crop_window=_unknown(np.int32(window))),
              text="Invalid JPEG data or crop window")
    s.run(raw.DecodeJpeg(contents=tf1.strings.substr(files["JPEG"], 0, 30)), text="Invalid JPEG data")
    s.run(raw.DecodePng(contents=tf1.strings.substr(files["PNG"], 0, 40)), text="Invalid PNG")
    s.run(raw.DecodeGif(contents=tf1.strings.substr(files["GIF"], 0, 30)), text="Invalid GIF data")
    s.run(raw.DecodeImage(contents=_unknown("")), text="Input is empty")
    s.run(raw.DecodeImage(contents=_unknown("text")), text="Unknown image file format")


def elements_by_order(s):
    x = _unknown(np.ones([2, 2], np.float32))
    s.run(raw.NthElement(input=x, n=_unknown(np.int32(-1))), text="non-negative but is -1")
    s.run(raw.NthElement(input=x, n=_unknown(np.int32(2))), text="must have last dimension > n = 2")
    s.run(raw.NthElement(input=_unknown(np.float32(5)), n=0), text="at least rank 1 but is rank 0")


def rows_without_elements(s):
    s.run(raw.SparseFillEmptyRows(indices=_unknown(np.array([[0, 0], [99, 0]])), values=np.ones(2), dense_shape=[2, 5],
                                  default_value=np.float64(0)).output_values, text=r"indices\(1, 0\) is invalid")
    gradient = np.ones([1, 2, 3, 2])
    for rows, columns, text in (([-10, 1, 2], [0, 1, 2, 3], "Row"), ([0, 1, 2], [0, 1, -3, 3], "Column")):
        s.run(raw.FractionalAvgPoolGrad(orig_input_tensor_shape=[2, 2, 2, 2], out_backprop=gradient,
                                        row_pooling_sequence=_unknown(np.array(rows)),
                                        col_pooling_sequence=_unknown(np.array(columns)), overlapping=True),
              text=f"{text} sequence tensor values must not be negative")


def ranks_of_sparse_tensors(s):
    for columns in (0, 2):
        indices = _unknown(np.zeros([1, columns], np.int64))
        for op in (raw.SparseSparseMaximum, raw.SparseSparseMinimum):
            s.run(op(a_indices=[[1]], a_values=[0], a_shape=[2], b_indices=indices, b_values=[1], b_shape=[2]).output_values,
                  text=r"Index rank .* and shape rank .* do not match")


def channels_of_batch_normalization(s):
    def floats(*shape):
        return _unknown(np.ones(shape, np.float32))

    def normalize(scale=2, offset=2, mean=2, variance=2, training=False, factor=1.0):
        return raw.FusedBatchNormV3(x=floats(2, 2, 2, 2), scale=floats(scale), offset=floats(offset), mean=floats(mean),
                                    variance=floats(variance), is_training=training, exponential_avg_factor=factor).y

    def gradient(y=2, scale=2, mean=2, variance=2):
        return raw.FusedBatchNormGradV2(y_backprop=floats(2, 2, 2, y), x=floats(2, 2, 2, 2), scale=floats(scale),
                                        reserve_space_1=floats(mean), reserve_space_2=floats(variance)).x_backprop

    words = " must have the same number of elements"
    s.run(normalize(scale=3), text="scale" + words)
    s.run(normalize(offset=3), text="offset" + words)
    s.run(normalize(mean=0), text="When is_training=false, mean" + words)
    s.run(normalize(variance=0), text="When is_training=false, variance" + words)
    s.run(normalize(mean=0, training=True, factor=0.5), text="When exponential_avg_factor != 1, mean" + words)
    s.run(normalize(variance=0, training=True, factor=0.5), text="When exponential_avg_factor != 1, variance" + words)
    s.run(gradient(y=3), text="x and y_backprop must have same shape,")
    s.run(gradient(scale=3), text="scale" + words)
    s.run(gradient(mean=3), text="reserve_space_1" + words)
    s.run(gradient(variance=3), text="reserve_space_2" + words)


def windows_of_fractional_pooling(s):
    value = _unknown(np.ones([1, 1, 1, 4]))
    s.run(raw.FractionalMaxPool(value=value, pooling_ratio=[1.0, 1.44, 1.73, 1.0]).output,
          text="Pooling ratio is higher than input dimension size for dimension 1")
    image, start = _unknown(np.ones([1, 7, 13, 1])), _unknown(np.int64(0))
    s.run(raw.FractionalMaxPoolGrad(orig_input=image, orig_output=image, out_backprop=image, row_pooling_sequence=start,
                                    col_pooling_sequence=start), text="must be a vector")


def crossed_columns(s):
    def cross(indices=((0, 0),), values=(0,), shape=(10, 10), dense=(), sep="_X_"):
        inputs = [_unknown(np.array(x, np.int64)) for x in (indices, values, shape)]
        return raw.SparseCrossV2(indices=inputs[:1], values=inputs[1:2], shapes=inputs[2:], sep=_unknown(sep),
                                 dense_inputs=[_unknown(np.zeros(d, np.int64)) for d in dense]).output_values

    s.run(cross(indices=0), text="Input indices should be a matrix")
    s.run(cross(values=0), text="Input values should be a vector")
    s.run(cross(shape=0), text="Input shapes should be a vector")
    s.run(cross(indices=[[0]], shape=[10]), text="Expected D2 of index to be 2")
    s.run(cross(dense=[[0]]), text="Dense inputs should be a matrix")
    s.run(cross(dense=[[5, 0]]), text="Expected batch size")
    s.run(cross(sep=["_X_"]), text="Input separator should be a scalar")


def strides_and_paddings(s):
    x = _unknown(np.ones([2, 4, 10, 10], np.float32))
    for strides in ([2, 1, 1, 1], [1, 1, 1, 2]):
        s.run(raw.Conv2D(input=x, filter=x, strides=strides, padding="SAME"), text="strides in the batch and depth")
        s.run(raw.DepthwiseConv2dNative(input=x, filter=x, strides=strides, padding="SAME"),
              text="strides in the batch and depth")
        s.run(raw.Conv2DBackpropFilter(input=x, filter_sizes=[2, 4, 10, 10], out_backprop=x, strides=strides,
                                       padding="SAME"), text="strides in the batch and depth")
    s.run(raw.Conv2DBackpropInput(input_sizes=[2, 4, 10, 10], filter=x, out_backprop=x, strides=[1, 1, 1, 1],
                                  padding="EXPLICIT", explicit_paddings=[0, 0, -1, 0, 0, 0, 0, 0]),
          text="All elements of explicit_paddings must be nonnegative")
    image = _unknown(np.ones([1, 3, 3, 1], np.float32))
    for paddings, text in (([1, 0, 0, 2], "Right"), ([1, 0, 2, 0], "Left"), ([2, 0, 0, 0], "Top"), ([0, 2, 0, 0], "Bottom")):
        s.run(raw.MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="EXPLICIT",
                          explicit_paddings=[0, 0] + paddings + [0, 0]),
              text=f"{text} padding 2 needs to be smaller than the window size 2")
    s.run(raw.AvgPoolGrad(orig_input_shape=[1, 1, 3, 1], grad=np.ones([3, 1, 3, 1], np.float32), ksize=[1, 1, 1, 1],
                          strides=[1, 1, 1, 2], padding="VALID"),
          text="Output only has 3 elements but computation requested would use element with index=6")
