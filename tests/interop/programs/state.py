"""Variables by reference and by handle: their dtypes, updates of rows and slices, refused updates, and sharing by
name."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
raw = tf.raw_ops

DTYPES = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
          tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128, tf.string]


def _variable(s, name, value, use_resource, **kwargs):
    with tf.device(s.ps):
        return tf1.Variable(value, name=name, use_resource=use_resource, **kwargs)


def _unknown(value, dtype=None):
    """A value whose shape the graph does not know."""
    return tf1.placeholder_with_default(tf.constant(value, dtype), None)


def every_dtype(s):
    for resource in (False, True):
        for dtype in DTYPES:
            value = ["a", "", "bc"] if dtype == tf.string else np.array([0, 1, 2]).astype(dtype.as_numpy_dtype)
            v = _variable(s, f"v{resource}", tf.constant(value, dtype), resource)
            s.run(v)
            s.run(v.initializer)
            s.run(v)
            s.run(tf1.assign(v, value[::-1]))
            s.run([v, tf.identity(v)])


def uninitialized(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", [1.0, 2.0, 3.0], resource)
        m = _variable(s, f"m{resource}", [0.0, 0.0, 0.0], resource)
        for op in (lambda: v + 1.0, lambda: tf1.assign_add(v, [1.0, 1.0, 1.0]),
                   lambda: tf1.assign_sub(v, [1.0, 1.0, 1.0]), lambda: tf1.scatter_add(v, [0], [1.0]),
                   lambda: tf1.scatter_update(v, [0], [1.0]),
                   lambda: tf1.scatter_nd_update(v, [[0]], [1.0]), lambda: tf.gather(v, [0]),
                   lambda: tf.nn.embedding_lookup(v, [0]), lambda: tf1.is_variable_initialized(v),
                   lambda: tf1.report_uninitialized_variables([v]), lambda: v[1:2].assign([4.0])):
            s.run(op())
        if resource:
            s.run(raw.ResourceApplyMomentum(var=v.handle, accum=m.handle, lr=0.1, grad=[1.0, 1.0, 1.0], momentum=0.9))
        else:
            s.run(raw.ApplyMomentum(var=v._ref(), accum=m._ref(), lr=0.1, grad=[1.0, 1.0, 1.0], momentum=0.9))
        s.run(v.initializer)
        s.run(tf1.report_uninitialized_variables([v, m]))


def fed(s):
    """What a fed variable gives: a reference is fed itself or as its value, of a resource variable only the fed read."""
    for resource in (False, True):
        v = _variable(s, f"v{resource}", 2.0, resource)
        e = _variable(s, f"e{resource}", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], resource)
        other = _variable(s, f"other{resource}", 1.0, resource)
        for where in (s.ps, s.worker(0), s.worker(1)):
            with tf.device(where):
                p = tf1.placeholder(tf.float32, [])
                with tf.control_dependencies([other.assign_add(1.0)]):
                    after = v * 1.0 + p
                reads = [v + 0.0, v.read_value(), tf.identity(v), after,
                         tf1.cond(p > 0.0, lambda: v * 1.0, lambda: v * -1.0),
                         tf1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + v), [0, 0.0])[1],
                         tf.map_fn(lambda x: x * v, tf.constant([1.0, 2.0])), tf1.gradients(v * v, v)[0]]
                rows = [tf.gather(e, [0]), tf.nn.embedding_lookup(e, [1, 2]), tf.gather_nd(e, [[2, 1]]), e[1:, 0],
                        tf1.cond(p > 0.0, lambda: tf.nn.embedding_lookup(e, [1]), lambda: tf.gather(e, [0]))]
            values = [v, tf1.get_default_graph().get_tensor_by_name(
                f"v{resource}/Read/ReadVariableOp:0" if resource else f"v{resource}/read:0")]
            s.run([v.initializer, e.initializer, other.initializer])
            for value in values:
                for read in reads:
                    s.run(read, {p: 1.0, value: 10.0})
            for read in rows:
                s.run(read, {p: 1.0, e: np.full([3, 2], 7.0, np.float32)})
            if not resource:
                for update in (v.assign(3.0), v.initializer, tf1.is_variable_initialized(v)):
                    s.run(update, {v: 10.0}, text="feeds the variable 'vFalse'" if s.target else None)
            s.run(v)


def assignments(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", [[1.0, 2.0]], resource)
        s.run(v.initializer)
        s.run(tf1.assign_add(v, [[1.0, 1.0]]))
        s.run(tf1.assign_sub(v, [[0.0, 1.0]]))
        s.run(v)
        s.run(tf1.assign(v, _unknown([[1.0, 2.0], [3.0, 4.0]])))
        s.run(tf1.assign_add(v, _unknown([1.0, 2.0])))
        s.run(tf1.assign_add(v, _unknown(1.0)))
        s.run(v)
        s.run(tf1.assign(v, _unknown([[1.0, 2.0], [3.0, 4.0]]), validate_shape=False))
        s.run(tf.shape(v) if resource else tf.identity(v))


def unknown_shape(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", _unknown([1.0, 2.0]), resource, validate_shape=False)
        s.init()
        s.run(v)
        s.run(tf1.assign(v, [[5.0]], validate_shape=False))
        s.run([v, tf.size(v)])


def order_of_reads_and_updates(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", 1.0, resource)
        s.init()
        with tf.device(s.ps):  # a read on another task might get the value from before the update
            add = tf1.assign_add(v, 1.0)
            with tf.control_dependencies([add]):
                after = v.read_value() * 1.0
                double = tf1.assign(v, 2.0 * after)
            with tf.control_dependencies([double]):
                last = v.read_value() + 0.0
        s.run([after, last])
        s.run(v)


def scatter(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", np.arange(1.0, 9.0, dtype=np.float32).reshape(4, 2), resource)
        s.init()
        updates = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
        for op in (tf1.scatter_add, tf1.scatter_sub, tf1.scatter_mul, tf1.scatter_div, tf1.scatter_min, tf1.scatter_max,
                   tf1.scatter_update):
            s.run(op(v, [3, 0, 3] if op != tf1.scatter_update else [3, 0, 1], updates))
            s.run(op(v, tf.constant([2], tf.int64), 2.0))
            s.run(op(v, _unknown([4, 0]), updates[:2]))  # the first index is wrong, so no row is updated
            s.run(op(v, _unknown([0]), _unknown(updates)))
            s.run(v)
        s.run(tf1.batch_scatter_update(v, [[0], [1], [0], [1]], np.ones([4, 1], np.float32)))
        s.run(v)


def scatter_nd(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", np.arange(12.0, dtype=np.float32).reshape(3, 2, 2), resource)
        s.init()
        ones = np.ones([2, 2, 2], np.float32)
        for op in (tf1.scatter_nd_add, tf1.scatter_nd_sub, tf1.scatter_nd_update):
            s.run(op(v, [[2, 1, 0], [0, 0, 1]], [70.0, 80.0]))
            s.run(op(v, [[1], [1]], ones))
            s.run(op(v, _unknown([[3]]), ones[:1]))
            s.run(op(v, _unknown([[0]]), _unknown([1.0])))
            s.run(v)


def slices(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", np.arange(12.0, dtype=np.float32).reshape(3, 4), resource)
        s.init()
        for build in (lambda: v[0].assign([9.0, 8.0, 7.0, 6.0]), lambda: v[1:, ::2].assign([[1.0, 2.0], [3.0, 4.0]]),
                      lambda: v[-1, ..., 1].assign(5.0), lambda: v[:, 0].assign(_unknown([0.5])),
                      lambda: v[:2].assign(_unknown([1.0, 2.0]))):
            s.run(build())
            s.run(v)


def gather(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", np.arange(12.0, dtype=np.float32).reshape(3, 4), resource)
        s.init()
        s.run(tf.gather(v, [[2, 0], [1, 1]]))
        s.run(tf.gather(v, 1))
        s.run(tf.gather(v, [3, 0], axis=1))
        s.run(tf.gather(v, [[0, 1], [2, 3], [1, 1]], batch_dims=1, axis=1))
        s.run(tf.gather_nd(v, [[2, 3], [0, 0]]))
        s.run(tf.gather(v, _unknown([0, 3])))
        s.run(tf.gather(v, _unknown([-1])))
        s.run(tf.gather_nd(v, _unknown([[3, 0]])))
        s.run(tf1.gradients(tf.gather(v, [2, 2, 0]), [v]))
        s.run(tf1.gradients(tf.gather_nd(v, [[2, 3], [0, 0]]), [v]))


def gather_after_update(s):
    for resource in (False, True):
        v = _variable(s, f"v{resource}", np.zeros([4, 2], np.float32), resource)
        s.init()
        with tf.device(s.ps):
            with tf.control_dependencies([tf1.scatter_add(v, [1, 1], np.ones([2, 2], np.float32))]):
                rows = tf.gather(v if resource else v.read_value(), [0, 1])
        s.run(rows)
        s.run(rows)


def counters(s):
    for resource in (False, True):
        for dtype in (tf.int32, tf.int64):
            v = _variable(s, f"v{resource}{dtype.name}", tf.constant(0, dtype), resource)
            count = raw.ResourceCountUpTo(resource=v.handle, limit=2, T=dtype) if resource else tf1.count_up_to(v, 2)
            s.run(count)
            s.run(v.initializer)
            for _ in range(4):
                s.run(count)
            s.run(v)


def temporary_variables(s):
    def total(name, destroyed):
        with tf.device(s.worker(1)):
            v = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name=name)
            v = raw.AssignAdd(ref=raw.Assign(ref=v, value=[1.0, 2.0]), value=[4.0, 4.0])
            return raw.DestroyTemporaryVariable(ref=v, var_name=destroyed)
    s.run([total("a", "a"), total("b", "b")])
    s.run(total("a", "c"))
    both = total("d", "d")
    for _ in range(2):
        s.run(both)
    # Only one variable of a step may have a name at a time. The name can be used again when this variable has been
    # destroyed, and in each iteration of a loop.
    s.run([total("e", "e"), total("f", "f")])
    v, w = (raw.Assign(ref=raw.TemporaryVariable(shape=[], dtype=tf.float32, var_name="twice"), value=i)
            for i in (1.0, 2.0))
    s.run(v + w)
    first = raw.DestroyTemporaryVariable(ref=v, var_name="twice")
    with tf.control_dependencies([first]):
        again = raw.Assign(ref=raw.TemporaryVariable(shape=[], dtype=tf.float32, var_name="twice"), value=3.0)
    s.run(first + raw.DestroyTemporaryVariable(ref=again, var_name="twice"))

    def body(i, sum_):
        v = raw.Assign(ref=raw.TemporaryVariable(shape=[], dtype=tf.float32, var_name="inside"),
                       value=tf.cast(i, tf.float32))
        return i + 1, sum_ + raw.DestroyTemporaryVariable(ref=v, var_name="inside")
    s.run(tf1.while_loop(lambda i, _: i < 5, body, [0, 0.0])[1])


def sharing(s):
    """Two nodes share a variable if their container and shared_name are equal. A variable by reference and one by
    handle are different variables, even with the same names."""
    def by_reference(**kwargs):
        with tf.device(s.ps):
            return raw.VariableV2(shape=[2], dtype=tf.float32, **kwargs)

    def by_handle(**kwargs):
        with tf.device(s.ps):
            return raw.VarHandleOp(shape=[2], dtype=tf.float32, **kwargs)
    s.run(raw.Assign(ref=by_reference(shared_name="x"), value=[1.0, 2.0]).op)
    s.run(tf.identity(by_reference(shared_name="x")))
    s.run(raw.IsVariableInitialized(ref=by_reference(shared_name="x", container="other")))
    s.run(raw.VarIsInitializedOp(resource=by_handle(shared_name="x")))
    s.run(raw.AssignVariableOp(resource=by_handle(shared_name="x"), value=[3.0, 4.0]))
    s.run(raw.ReadVariableOp(resource=by_handle(shared_name="x"), dtype=tf.float32))
    s.run(raw.VarIsInitializedOp(resource=by_handle(shared_name="x", container="other")))
    s.run(tf.identity(by_reference(shared_name="x")))
    with tf.device(s.ps):
        other = raw.VarHandleOp(shape=[2], dtype=tf.int32, shared_name="x")
    s.run(raw.ReadVariableOp(resource=other, dtype=tf.int32))


def destruction(s):
    v = _variable(s, "v", [1.0, 2.0], True)
    with tf.device(s.ps):
        h = raw.VarHandleOp(shape=[2], dtype=tf.float32, shared_name=v.op.get_attr("shared_name"))
    s.run(raw.DestroyResourceOp(resource=h, ignore_lookup_error=True))
    s.run(raw.DestroyResourceOp(resource=h, ignore_lookup_error=False))
    s.init()
    s.run(v)
    s.run(raw.DestroyResourceOp(resource=h, ignore_lookup_error=False))
    s.run(v)
    s.run(v.initializer)
    s.run(v)
    s.run(raw.DisableCopyOnRead(resource=h))
    s.run(v)


def anonymous(s):
    with tf.device(s.ps):
        h = raw.VarHandleOp(shape=[], dtype=tf.float32, shared_name="cd2c89b7-88b7-44c8-ad83-06c2a9158347")
        with tf.control_dependencies([raw.AssignVariableOp(resource=h, value=4.0)]):
            read = raw.ReadVariableOp(resource=h, dtype=tf.float32)
    for _ in range(2):
        s.run(read)
        s.run(raw.VarIsInitializedOp(resource=h))


def shapes_of_variables(s):
    v = _variable(s, "v", np.zeros([2, 0, 3], np.float32), True)
    s.init()
    for out_type in (tf.int32, tf.int64):
        s.run(raw.VariableShape(input=v.handle, out_type=out_type))
    s.run(tf.shape(v))


def wrong_rules(s):
    """Update rules whose arguments do not fit the variable."""
    for resource in (False, True):
        v = _variable(s, f"v{resource}", np.ones([3, 2], np.float32), resource)
        a = _variable(s, f"a{resource}", np.ones([3, 2], np.float32), resource)
        b = _variable(s, f"b{resource}", _unknown(np.ones([2, 2], np.float32)), resource, validate_shape=False)
        s.init()
        prefix = "Resource" if resource else ""
        of = (lambda x: x.handle) if resource else (lambda x: x._ref())
        dense = getattr(raw, prefix + "ApplyAdagrad")
        sparse = getattr(raw, prefix + "SparseApplyAdagrad")
        ones = np.ones([3, 2], np.float32)
        s.run(dense(var=of(v), accum=of(a), lr=_unknown([0.1]), grad=ones))
        s.run(dense(var=of(v), accum=of(a), lr=0.1, grad=_unknown(ones[:2])))
        s.run(dense(var=of(v), accum=of(b), lr=0.1, grad=ones))
        s.run(sparse(var=of(v), accum=of(a), lr=0.1, grad=ones, indices=_unknown([0, 1])))
        s.run(sparse(var=of(v), accum=of(a), lr=0.1, grad=ones[:2], indices=_unknown([0, 3])))
        s.run(sparse(var=of(v), accum=of(a), lr=0.1, grad=_unknown(ones[:2, :1]), indices=_unknown([0, 1])))
        s.run(v)
