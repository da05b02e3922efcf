"""TensorArrays and stacks: values, gradients and mistakes."""

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops


def _array(size=3, dtype=tf.float32, **kwargs):
    made = raw.TensorArrayV3(size=size, dtype=dtype, **kwargs)
    return made.handle, made.flow


def _write(handle, flow, index, value):
    return raw.TensorArrayWriteV3(handle=handle, index=index, value=value, flow_in=flow)


def _read(handle, flow, index, dtype=tf.float32):
    return raw.TensorArrayReadV3(handle=handle, index=index, flow_in=flow, dtype=dtype)


def _unknown(value):
    return tf1.placeholder_with_default(value, None)


def tensor_array_write_and_read(s):
    for dtype in (tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.float16, tf.bfloat16, tf.bool, tf.complex64):
        handle, flow = _array(2, dtype)
        value = tf.cast(tf.constant([[1, 0], [0, 1]]), dtype)
        flow = _write(handle, _write(handle, flow, 0, value), 1, value)
        s.run([_read(handle, flow, 1, dtype), flow])
    handle, flow = _array(1, tf.string)
    s.run(_read(handle, _write(handle, flow, 0, ["a", "", "long enough to be allocated"]), 0, tf.string))


def tensor_array_mistakes(s):
    def of(*indices, **kwargs):
        handle, flow = _array(**kwargs)
        for i in indices:
            flow = _write(handle, flow, i, [1.0, 2.0])
        return handle, flow

    s.run(_array(_unknown(np.int32(-1)))[1])
    s.run(_array(_unknown(np.array([1, 2], np.int32)))[1])
    for indices in ((0,), (3,), (-1,), (0, 0)):
        s.run(of(*indices)[1])
    s.run(of(5, dynamic_size=True)[1])
    for index in (0, 1, 3, -1):
        s.run(_read(*of(0), index))
        s.run(_read(*of(0, element_shape=[2]), index))
        s.run(_read(*of(0, identical_element_shapes=True), index))
    for keep in (True, False):
        handle, flow = of(0, clear_after_read=not keep)
        first = _read(handle, flow, 0)
        with tf1.control_dependencies([first]):
            s.run(_read(handle, flow, 0))
        handle, flow = of(0, clear_after_read=not keep)
        with tf1.control_dependencies([_read(handle, flow, 0)]):
            s.run(_write(handle, flow, 0, [1.0, 2.0]))
    handle, flow = _array()
    s.run(_write(handle, flow, 0, [1, 2]))
    s.run(_read(handle, _write(handle, flow, 0, [1.0]), 0, tf.int32))
    s.run(_write(handle, flow, _unknown(np.array([0], np.int32)), 1.0))
    handle, flow = _array(element_shape=[3])
    s.run(_write(handle, flow, 0, _unknown(np.float32([1, 2]))))


def tensor_array_gather_and_scatter(s):
    def gathered(indices, rows=((0, [1.0, 2.0]), (1, [3.0, 4.0]), (2, [5.0, 6.0])), shape=None, **kwargs):
        handle, flow = _array(**kwargs)
        for i, row in rows:
            flow = _write(handle, flow, i, row)
        return raw.TensorArrayGatherV3(
            handle=handle, indices=_unknown(np.array(indices, np.int32)), flow_in=flow, dtype=tf.float32, element_shape=tf.TensorShape(shape)
        )

    for indices in ([2, 0], [], [1, 1], [3], 1, [1]):
        s.run(gathered(indices))
    s.run(gathered([1, 1], clear_after_read=False))
    s.run(gathered([], element_shape=[2]))
    s.run(gathered([], shape=[2]))
    s.run(gathered([0, 1], shape=[3]))
    s.run(gathered([0, 1], rows=((0, [1.0]), (1, [1.0, 2.0]))))
    s.run(gathered([0, 1], rows=((0, [1.0]),)))

    def scattered(indices, value, **kwargs):
        handle, flow = _array(**kwargs)
        flow = raw.TensorArrayScatterV3(handle=handle, indices=indices, value=_unknown(np.float32(value)), flow_in=flow)
        return raw.TensorArrayGatherV3(handle=handle, indices=sorted(indices), flow_in=flow, dtype=tf.float32)

    two = [[1, 2], [3, 4]]
    for indices in ([2, 0], [2, 0, 1], [3, 0], [-1, 0], [0, 0]):
        s.run(scattered(indices, two))
    s.run(scattered([7, 0], two, dynamic_size=True))
    s.run(scattered([0], 3.0))


def tensor_array_concat_and_split(s):
    def joined(*rows, size=2, shape=None, **kwargs):
        handle, flow = _array(size, **kwargs)
        for i, row in enumerate(rows):
            flow = _write(handle, flow, i, tf.constant(row, tf.float32))
        return raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tf.float32, element_shape_except0=tf.TensorShape(shape))

    s.run(joined([1.0, 2.0], [3.0]))
    s.run(joined([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]))
    s.run(joined(1.0, 2.0))
    s.run(joined([[1.0, 2.0]], [[3.0]]))
    s.run(joined([1.0]))
    s.run(joined(size=0))
    s.run(joined(size=0, element_shape=[1, 2]))
    s.run(joined(size=0, shape=[2]))

    def split(value, lengths, **kwargs):
        handle, flow = _array(2, **kwargs)
        flow = raw.TensorArraySplitV3(handle=handle, value=_unknown(np.float32(value)), lengths=_unknown(np.array(lengths, np.int64)), flow_in=flow)
        return raw.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tf.float32)

    for lengths in ([1, 2], [0, 3], [1, 1], [1, 1, 1], [[1, 2]]):
        s.run(split([1, 2, 3], lengths))
    s.run(split([1, 2, 3], [1, 1, 1], dynamic_size=True))
    s.run(split(1.0, [1, 1]))


def tensor_array_size_and_close(s):
    handle, flow = _array(dynamic_size=True)
    s.run(raw.TensorArraySizeV3(handle=handle, flow_in=_write(handle, flow, 6, 1.0)))
    for use in (
        lambda h, f: _write(h, f, 0, 1.0),
        lambda h, f: _read(h, f, 0),
        lambda h, f: raw.TensorArraySizeV3(handle=h, flow_in=f),
        lambda h, f: raw.TensorArrayGradV3(handle=h, flow_in=f, source="g").flow_out,
        lambda h, f: raw.TensorArrayCloseV3(handle=h),
    ):
        handle, flow = _array()
        with tf1.control_dependencies([raw.TensorArrayCloseV3(handle=handle)]):
            s.run(use(handle, tf.identity(flow)))


def tensor_array_of_a_gradient(s):
    def made(**kwargs):
        handle, flow = _array(**kwargs)
        flow = _write(handle, flow, 0, [1.0, 2.0])
        gradient = raw.TensorArrayGradV3(handle=handle, flow_in=flow, source="g")
        return handle, flow, gradient.grad_handle, gradient.flow_out

    handle, flow, grad, grad_flow = made()
    s.run(_read(grad, _write(grad, _write(grad, grad_flow, 0, [1.0, 1.0]), 0, [2.0, 3.0]), 0))
    _, _, grad, grad_flow = made()
    s.run(_read(grad, grad_flow, 0))
    s.run(_read(grad, grad_flow, 1))
    s.run(_write(grad, _write(grad, grad_flow, 0, [1.0, 1.0]), 0, _unknown(np.float32([1]))))
    handle, flow, grad, grad_flow = made(dynamic_size=True)
    with tf1.control_dependencies([grad_flow]):
        s.run(_write(handle, flow, 7, [1.0, 1.0]))
    handle, flow, grad, grad_flow = made()
    again = raw.TensorArrayGradV3(handle=handle, flow_in=_write(grad, grad_flow, 0, [5.0, 6.0]), source="g")
    s.run(_read(again.grad_handle, again.flow_out, 0))
    wide = raw.TensorArrayGradWithShape(handle=handle, flow_in=flow, shape_to_prepend=[3], source="w")
    s.run(_read(wide.grad_handle, wide.flow_out, 0))
    handle, flow = _array(dtype=tf.bool)
    gradient = raw.TensorArrayGradV3(handle=handle, flow_in=_write(handle, flow, 0, True), source="g")
    s.run(_write(gradient.grad_handle, _write(gradient.grad_handle, gradient.flow_out, 0, True), 0, True))


def tensor_array_class_and_gradients(s):
    x = tf1.placeholder(tf.float32, [4, 2])
    ta = tf.TensorArray(tf.float32, size=4).unstack(x)
    y = tf.stack([ta.read(2) * 3.0, ta.read(0)])
    s.run([y, tf1.gradients(y, x)[0]], {x: np.arange(8).reshape(4, 2)})
    parts = tf.TensorArray(tf.float32, size=3, infer_shape=False).split(x, [1, 0, 3])
    z = parts.concat() * x
    s.run([z, tf1.gradients(z, x)[0]], {x: np.arange(8).reshape(4, 2)})
    ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in range(3):
        ta = ta.write(i, x[i] * float(i))
    s.run([ta.stack(), ta.size()], {x: np.ones((4, 2))})


def tensor_array_on_another_task(s):
    x = tf1.placeholder(tf.float32, [3, 2])
    with tf1.device(s.ps):
        ta = tf.TensorArray(tf.float32, size=3).unstack(x)
    with tf1.device(s.worker(1)):
        y = ta.read(1) * 2.0
    s.run([y, tf1.gradients(y, x)[0]], {x: np.arange(6).reshape(3, 2)})


def users_of_an_array_go_where_it_is(s):
    with tf1.device(s.ps):
        handle, flow = _array(2)
    with tf1.device(s.worker(1)):
        flow = _write(handle, _write(handle, flow, 0, [1.0, 2.0]), 1, [3.0, 4.0])
        s.run(_read(tf.identity(handle), flow, 1))
        array = tf.TensorArray(tf.float32, handle=handle, flow=flow)
    with tf1.device(s.worker(0)):
        s.run(tf1.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.reshape(x * array.read(i), [2])), [0, tf.constant([1.0, 1.0])]))


def the_gradient_of_a_split_has_its_parts_only(s):
    x = tf.constant([1.0, 2.0, 3.0])
    parts = tf.TensorArray(tf.float32, size=3, dynamic_size=True, infer_shape=False).split(x, [1, 0, 2])
    y = parts.write(3, [4.0]).concat()
    s.run([y, tf1.gradients(y, x)[0]])


def lists_with_elements_that_were_not_set(s):
    def concat(*values, size=3, element_shape=None, wanted=None, leading=()):
        handle = raw.TensorListReserve(element_shape=-1 if element_shape is None else element_shape, num_elements=size,
                                       element_dtype=tf.float32)
        for i, value in values:
            handle = raw.TensorListSetItem(input_handle=handle, index=i, item=np.float32(value))
        made = raw.TensorListConcatV2(input_handle=handle, element_dtype=tf.float32,
                                      element_shape=_unknown(np.array(-1 if wanted is None else wanted, np.int32)),
                                      leading_dims=np.array(leading, np.int64))
        s.run([made.tensor, made.lengths])

    row, rows = [[4.0, 5.0]], [[4.0, 5.0], [1.0, 2.0]]
    concat((1, row))
    concat((1, row), (0, rows))
    concat((1, row), element_shape=[1, 2])
    concat((1, row), wanted=[1, 2])
    concat((1, row), wanted=[-1, 2])
    concat((1, row), wanted=[-1, 2], leading=[3, 3, 3])
    concat((1, row), leading=[3, 3, 3])
    concat((0, row), (1, row), (2, row), leading=[3, 3, 3])
    concat((0, row), (1, row), wanted=[-1, 2], leading=[3, 3])
    concat()
    concat(wanted=[-1, 2], leading=[1, 0, 2])
    concat(size=0, wanted=[-1, 2])
    concat((0, row), (1, row), size=2, wanted=[2, 2])
    concat((0, [[1.0]]), (1, [[1.0, 2.0]]), size=2)


def stack_push_and_pop(s):
    def made(max_size=-1):
        return raw.StackV2(max_size=max_size, elem_type=tf.float32, stack_name="st")

    for max_size in (-1, 2, 1, 0):
        handle = made(max_size)
        a = raw.StackPushV2(handle=handle, elem=1.0)
        with tf1.control_dependencies([a]):
            b = raw.StackPushV2(handle=handle, elem=2.0)
        with tf1.control_dependencies([b]):
            c = raw.StackPopV2(handle=handle, elem_type=tf.float32)
        with tf1.control_dependencies([c]):
            d = raw.StackPopV2(handle=handle, elem_type=tf.float32)
        s.run([a, b, c, d])
    s.run(raw.StackPopV2(handle=made(), elem_type=tf.float32))
    handle = made()
    with tf1.control_dependencies([raw.StackCloseV2(handle=handle)]):
        closed = raw.StackPushV2(handle=handle, elem=1.0)
    s.run(closed)
    with tf1.control_dependencies([closed]):
        s.run(raw.StackPopV2(handle=handle, elem_type=tf.float32))
    handle = made()
    with tf1.control_dependencies([raw.StackPushV2(handle=handle, elem=1.0)]):
        s.run(raw.StackPopV2(handle=handle, elem_type=tf.int32))
    s.run(made(_unknown(np.array([1, 2], np.int32))).op)


def vectors_of_lists(s):
    def made(*values):
        return raw.TensorListFromTensor(tensor=np.float32(values), element_shape=np.zeros([0], np.int32))

    def elements(lists):
        return [raw.TensorListStack(input_handle=one, element_shape=np.zeros([0], np.int32), element_dtype=tf.float32)
                for one in tf.unstack(lists, 2)]

    some, others = tf.stack([made(1, 2), made(3)]), tf.stack([made(4), made()])
    joined = raw.TensorListConcatLists(input_a=some, input_b=others, element_dtype=tf.float32)
    pushed = raw.TensorListPushBackBatch(input_handles=some, tensor=np.float32([5, 6]))
    s.run([elements(joined), elements(pushed), elements(some)])
    def mistake(lists):
        s.run(raw.TensorListLength(input_handle=tf.unstack(lists, 1)[0]))

    one = tf.stack([made(1)])
    full = tf.stack([raw.EmptyTensorList(element_shape=np.zeros([0], np.int32), max_num_elements=0, element_dtype=tf.float32)])
    mistake(raw.TensorListConcatLists(input_a=one, input_b=tf1.placeholder_with_default(some, None),
                                      element_dtype=tf.float32))
    mistake(raw.TensorListPushBackBatch(input_handles=full, tensor=_unknown(np.float32([1]))))
    mistake(raw.TensorListPushBackBatch(input_handles=one, tensor=_unknown(np.float32([1, 2]))))
