"""Programs of data flow: queues, accumulators, barriers, staging areas, split and stitched rows."""
import threading

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
SOON = tf1.RunOptions(timeout_in_ms=400)


def fifo_queue(s):
    q = tf.queue.FIFOQueue(3, [tf.float32, tf.string], shapes=[[], [2]])
    x = tf1.placeholder(tf.float32)
    enqueue = q.enqueue((x, ["a", "b"]))
    for i in range(3):
        s.run(enqueue, {x: i})
    s.run([q.size(), q.is_closed()])
    s.run(q.dequeue())
    s.run(q.dequeue_many(2))
    s.run(q.size())
    s.run(q.enqueue_many(([4.0, 5.0], [["c", "d"], ["e", "f"]])))
    s.run(q.dequeue_many(0))
    s.run(q.close())
    s.run([q.size(), q.is_closed()])
    s.run(enqueue, {x: 1})
    s.run(q.dequeue_many(3))
    s.run(q.dequeue_up_to(3))
    s.run(q.dequeue())
    s.run(q.dequeue_up_to(3))
    s.run(q.close())
    s.run(q.close(cancel_pending_enqueues=True))


def fifo_queue_on_a_parameter_server(s):
    with tf.device(s.ps):
        q = tf.queue.FIFOQueue(10, [tf.int32], shapes=[[2]], shared_name="numbers")
        enqueue, dequeued = q.enqueue([[1, 2]]), q.dequeue()
    s.run(enqueue)
    with tf.device(s.worker(1)):
        s.run(dequeued * 2)


def queue_mistakes(s):
    q = tf.queue.FIFOQueue(10, [tf.int32, tf.float32])
    a, b = tf1.placeholder(tf.int32), tf1.placeholder(tf.float32)
    s.run(q.enqueue_many((a, b)), {a: [1, 2], b: [1.0]})
    s.run(q.enqueue((a, b)), {a: [1, 2], b: [1.0]})
    s.run(q.dequeue_many(1))
    s.run(q.dequeue())
    n = tf1.placeholder(tf.int32, [])
    shaped = tf.queue.FIFOQueue(10, [tf.int32], shapes=[[2]])
    s.run(shaped.enqueue(a), {a: [1, 2, 3]})
    s.run(shaped.enqueue_many(a), {a: [[1, 2, 3]]})
    s.run(shaped.dequeue_many(n), {n: -1})
    s.run(shaped.size())


def queues_of_one_name(s):
    raw = tf.raw_ops
    first = raw.FIFOQueueV2(component_types=[tf.int32], capacity=3, shared_name="one")
    s.run(raw.QueueSizeV2(handle=first))
    for other in [raw.FIFOQueueV2(component_types=[tf.int32], capacity=3, shared_name="one"),
                  raw.FIFOQueueV2(component_types=[tf.int32], capacity=4, shared_name="one"),
                  raw.FIFOQueueV2(component_types=[tf.int64], capacity=3, shared_name="one"),
                  raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[2]], capacity=3, shared_name="one"),
                  raw.RandomShuffleQueueV2(component_types=[tf.int32], capacity=3, shared_name="one"),
                  raw.FIFOQueueV2(component_types=[tf.int32], capacity=3, shared_name="one", container="other"),
                  raw.FIFOQueueV2(component_types=[tf.int32], shared_name="_one"),
                  raw.FIFOQueueV2(component_types=[tf.int32], container="a b"),
                  raw.PaddingFIFOQueueV2(component_types=[tf.int32]),
                  raw.RandomShuffleQueueV2(component_types=[tf.int32], capacity=3, min_after_dequeue=3)]:
        s.run(raw.QueueSizeV2(handle=other))
    s.run(raw.QueueDequeueV2(handle=first, component_types=[tf.float32]))
    s.run(raw.QueueDequeueV2(handle=first, component_types=[tf.int32], timeout_ms=10))


def queue_by_reference(s):
    raw = tf.raw_ops
    q = raw.FIFOQueue(component_types=[tf.int32], shapes=[[]], capacity=3, shared_name="by_reference")
    s.run(q)
    s.run(raw.QueueEnqueue(handle=q, components=[7]))
    s.run(raw.QueueEnqueueMany(handle=q, components=[[8, 9]]))
    s.run(raw.QueueSize(handle=q))
    s.run(raw.QueueDequeue(handle=q, component_types=[tf.int32]))
    s.run(raw.QueueDequeueMany(handle=q, n=2, component_types=[tf.int32]))
    s.run(raw.QueueClose(handle=q))
    s.run(raw.QueueDequeueUpTo(handle=q, n=2, component_types=[tf.int32]))


def padding_queue(s):
    q = tf.queue.PaddingFIFOQueue(10, [tf.int32, tf.string], shapes=[[None, 2], [None]])
    s.run(q.enqueue(([[1, 2]], ["a", "b", "c"])))
    s.run(q.enqueue(([[3, 4], [5, 6]], ["d"])))
    s.run(q.enqueue((np.zeros([0, 2], np.int32), np.zeros([0], object))))
    wrong = tf1.placeholder(tf.int32)
    s.run(q.enqueue((wrong, ["a"])), {wrong: [[1, 2, 3]]})
    s.run(q.dequeue_many(3))
    s.run(q.dequeue_many(0))
    s.run(q.enqueue_many(([[[1, 2]], [[3, 4]]], [["a"], ["b"]])))
    s.run(q.dequeue())
    s.run(q.close())
    s.run(q.dequeue_up_to(4))


def shuffle_queue(s):
    q = tf.queue.RandomShuffleQueue(100, 5, [tf.int32], shapes=[[]], seed=7)
    s.run(q.enqueue_many([np.arange(20)]))
    s.run(q.dequeue_many(5))
    s.run(q.dequeue())
    s.run(q.size())
    s.run(q.close())
    s.run(q.dequeue_up_to(30))
    s.run(q.dequeue())


def priority_queue(s):
    q = tf.queue.PriorityQueue(100, [tf.string], shapes=[[]])
    s.run(q.enqueue_many([[3, 1, 2, 1, -5], ["a", "b", "c", "d", "e"]]))
    s.run(q.dequeue())
    s.run(q.dequeue_many(3))
    s.run(q.enqueue((7, "z")))
    s.run(q.size())
    s.run(q.dequeue_many(2))


def a_queue_fills_and_drains(s):
    q = tf.queue.FIFOQueue(2, [tf.int32], shapes=[[]])
    enqueue, take, size = q.enqueue_many([[1, 2, 3, 4, 5]]), q.dequeue_many(5), q.size()
    s.run([enqueue, take])
    s.run(size)


def closing_waits_for_pending_enqueues(s):
    q = tf.queue.FIFOQueue(2, [tf.int32], shapes=[[]])
    enqueue, close, two, rest = q.enqueue_many([[1, 2, 3]]), q.close(), q.dequeue_many(2), q.dequeue_up_to(5)
    s.run([enqueue, two])
    s.run(close)
    s.run(rest)
    s.run(enqueue)


class Background:
    """A step on a thread of its own. `record` waits for the step and records its value or the kind of its error."""

    def __init__(self, s, fetches):
        self._s, self.value = s, None
        self._thread = threading.Thread(target=self._run, args=(s.session, fetches), daemon=True)
        self._thread.start()

    def _run(self, session, fetches):
        try:
            self.value = session.run(fetches)
        except tf.errors.OpError as e:
            self.value = type(e).__name__

    def join(self):
        self._thread.join(30)

    def record(self):
        self.join()
        self._s.record("waits" if self._thread.is_alive() else self.value)


def a_deadline_while_a_step_blocks(s):
    with tf.device(s.ps):
        q = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
        a = tf1.ConditionalAccumulator(tf.float32, shape=[])
        area = dict(dtypes=[tf.int32], shared_name="blocked_area")
        unstage, stage = tf.raw_ops.Unstage(**area), tf.raw_ops.Stage(values=[tf.constant(4)], shared_name="blocked_area")
    enqueue, dequeue, size = q.enqueue(1), q.dequeue(), q.size()
    take, apply = a.take_grad(1), a.apply_grad(2.0)
    s.run(dequeue, options=SOON)
    s.run(enqueue)
    s.run(enqueue, options=SOON)
    s.run(size)
    s.run(q.dequeue_many(3), options=SOON)
    s.run(size)
    s.run(enqueue)
    s.run(dequeue)
    s.run(take, options=SOON)
    s.run(apply)
    s.run(take)
    if not s.is_reference:  # a step that waits for a staging area of TensorFlow cannot be ended
        s.session.run(size)
    s.run(stage)
    s.run(unstage)


def closing_while_steps_block(s):
    with tf.device(s.ps):
        full = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
        empty = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
        fill, take = full.enqueue(1), empty.dequeue()
        close_full, close_empty = full.close(cancel_pending_enqueues=True), empty.close()
        rest = full.dequeue_up_to(5)
    s.run(fill)
    blocked = [Background(s, fill), Background(s, take)]
    s.run(full.size())
    s.run([close_full, close_empty])
    for step in blocked:
        step.record()
    s.run(rest)


def closing_lets_blocked_enqueues_in(s):
    with tf.device(s.ps):
        q = tf.queue.FIFOQueue(2, [tf.int32], shapes=[[]])
        enqueue, close, take, rest = q.enqueue_many([[1, 2, 3, 4]]), q.close(), q.dequeue_many(3), q.dequeue_up_to(5)
        late = q.enqueue(9)
        size, closed = q.size(), q.is_closed()
    blocked = Background(s, enqueue)
    while s.session.run(size) < 2:
        pass
    closing = Background(s, close)
    s.run(take)
    blocked.record()
    closing.record()
    s.run([size, closed])
    s.run(late)
    s.run(rest)


def queues_of_two_sessions(s):
    q = tf.queue.FIFOQueue(10, [tf.int32], shapes=[[]])
    shared = tf.queue.FIFOQueue(10, [tf.int32], shapes=[[]], shared_name="seen_by_all")
    s.run([q.enqueue(1), shared.enqueue(1)])
    s.run([q.size(), shared.size()])
    if s.is_reference:  # plain sessions share nothing
        s.record([np.int32(0), np.int32(1)])
    else:
        with tf1.Session(s.target, graph=tf1.get_default_graph()) as other:
            s.record(other.run([q.size(), shared.size()]))


def synchronous_replicas(s):
    """The graph of SyncReplicasOptimizer; two steps at once stand for its replicas."""
    with tf.device(s.ps):
        step = tf1.train.get_or_create_global_step()
        w = tf1.get_variable("w", initializer=[1.0, 2.0])
        rows = tf1.get_variable("rows", initializer=np.ones([4, 2], np.float32))
    with tf.device(s.worker(0)):
        x = tf.constant([1.0, 3.0])
        loss = tf.reduce_sum(w * x) + tf.reduce_sum(tf.nn.embedding_lookup(rows, [0, 2]) * x)
        optimizer = tf1.train.SyncReplicasOptimizer(tf1.train.GradientDescentOptimizer(0.5), replicas_to_aggregate=2,
                                                    total_num_replicas=2)
        train = optimizer.minimize(loss, global_step=step)
        tokens, local = optimizer.get_init_tokens_op(), optimizer.chief_init_op
        runner = optimizer.get_chief_queue_runner()
    s.init()
    s.run(local)
    s.run(tokens)
    coordinator = tf1.train.Coordinator()
    threads = runner.create_threads(s.session, coord=coordinator, daemon=True, start=True)
    # The number of steps depends on which gradients come too late. But every step moves the variables by the same
    # amount.
    while s.session.run(step) < 3:
        replicas = [Background(s, train), Background(s, train)]
        for replica in replicas:
            replica.join()
    before = after = None
    while before is None or before != after:
        before, w_now, rows_now, after = [s.session.run(v) for v in (step, w, rows, step)]
    moved = 0.5 * after * np.array([1.0, 3.0])
    s.record([np.allclose(w_now, [1.0, 2.0] - moved), np.allclose(rows_now[[0, 2]], 1 - moved),
              np.all(rows_now[[1, 3]] == 1)])
    coordinator.request_stop()
    del threads


def batches_from_a_pipeline(s):
    source = tf1.train.range_input_producer(7, num_epochs=2, shuffle=False)
    number = source.dequeue()
    batch = tf1.train.batch([number, tf.cast(number, tf.float32) * 2], batch_size=4, allow_smaller_final_batch=True)
    s.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
    coordinator = tf1.train.Coordinator()
    threads = tf1.train.start_queue_runners(s.session, coord=coordinator)
    for _ in range(5):
        s.run(batch)
    coordinator.request_stop()
    coordinator.join(threads, stop_grace_period_secs=20)


def dense_accumulator(s):
    a = tf1.ConditionalAccumulator(tf.float32, shape=[None])
    gradient, step = tf1.placeholder(tf.float32), tf1.placeholder(tf.int64, [])
    apply, count, take = a.apply_grad(gradient, local_step=step), a.num_accumulated(), a.take_grad(2)
    s.run(apply, {gradient: [1, 2], step: 0})
    s.run(apply, {gradient: [1, 2, 3], step: 0})
    s.run(apply, {gradient: 3, step: 0})
    s.run(apply, {gradient: [4, 8], step: 3})
    s.run(count)
    s.run(take)
    s.run(apply, {gradient: [1, 2], step: 0})
    s.run(count)
    s.run(a.set_global_step(5))
    s.run(apply, {gradient: [1, 2], step: 4})
    s.run(apply, {gradient: [1, 2], step: 5})
    s.run(count)
    s.run(a.take_grad(0))
    total = tf1.ConditionalAccumulator(tf.float64, shape=[2], reduction_type="SUM", shared_name="total")
    s.run(total.apply_grad([1.0, 2.0]))
    s.run(total.apply_grad([1.0, 2.0]))
    s.run(total.take_grad(1))
    other = tf1.ConditionalAccumulator(tf.float64, shape=[3], reduction_type="SUM", shared_name="total")
    s.run(other.num_accumulated())
    s.run(other.apply_grad([1.0, 2.0, 3.0]))


def sparse_accumulator(s):
    raw = tf.raw_ops
    for reduction in ["MEAN", "SUM"]:
        for shape in [[4, 2], [None, 2], None]:
            a = tf1.SparseConditionalAccumulator(tf.float32, shape=shape, reduction_type=reduction)
            step = [0]

            def apply(indices, values, whole=None):
                s.run(raw.SparseAccumulatorApplyGradient(
                    handle=a.accumulator_ref, local_step=step[0],
                    gradient_indices=tf1.placeholder_with_default(np.array(indices, np.int64), None),
                    gradient_values=tf1.placeholder_with_default(np.array(values, np.float32), None),
                    gradient_shape=np.array(whole or [], np.int64), has_known_shape=whole is not None))

            def take():
                s.run(list(raw.SparseAccumulatorTakeGradient(handle=a.accumulator_ref, num_required=1, dtype=tf.float32)))
                step[0] += 1
            apply([0, 2], [[1, 1], [2, 2]])
            apply([2, 3], [[4, 4], [8, 8]], [4, 2])
            s.run(a.num_accumulated())
            take()
            apply([2, 0, 2], [[1, 1], [2, 2], [3, 3]])
            apply([1, 2, 1], [[1, 1], [4, 4], [8, 8]])
            take()
            apply([1, 2], [[1, 2]])
            apply([[1]], [[1, 2]])
            apply([1], 3)
            apply([1], [[1, 2]])
            apply([1], [[1, 2, 3]])
            take()


def barrier(s):
    raw = tf.raw_ops
    b = raw.Barrier(component_types=[tf.float32, tf.float32], shapes=[[], []])

    def insert(component, keys, values):
        s.run(raw.BarrierInsertMany(handle=b, keys=keys, values=np.array(values, np.float32),
                                    component_index=component))

    def sizes():
        s.run([raw.BarrierReadySize(handle=b), raw.BarrierIncompleteSize(handle=b)])

    def take(n, **kw):
        s.run(list(raw.BarrierTakeMany(handle=b, num_elements=n, component_types=[tf.float32, tf.float32], **kw)))
    insert(0, ["a", "b", "c"], [1, 2, 3])
    sizes()
    insert(1, ["c", "a"], [30, 10])
    insert(0, ["b"], [7])
    sizes()
    take(2)
    insert(1, ["b"], [20])
    insert(0, ["d", "e"], [4, 5])
    insert(2, ["d"], [4])
    s.run(raw.BarrierClose(handle=b))
    s.run(raw.BarrierClose(handle=b))
    insert(0, ["new"], [1])
    take(5)
    take(5, allow_small_batch=True)
    insert(1, ["d"], [40])
    take(1)
    sizes()
    s.run(raw.BarrierClose(handle=b, cancel_pending_enqueues=True))
    sizes()
    insert(1, ["e"], [50])
    take(1)


def staging_area(s):
    area = tf.raw_ops
    kw = dict(dtypes=[tf.int32, tf.string], shared_name="area")
    stage = area.Stage(values=[tf.constant([1, 2]), tf.constant("a")], shared_name="area")
    s.run(stage)
    s.run(stage)
    s.run(area.StageSize(**kw))
    s.run(area.StagePeek(index=1, **kw))
    s.run(area.Unstage(**kw))
    s.run(area.Unstage(dtypes=[tf.int32], shared_name="area"))
    s.run(area.StageClear(**kw))
    s.run(area.StageSize(**kw))
    s.run(area.Stage(values=[tf.zeros([100])], shared_name="small", memory_limit=10))
    s.run([area.Unstage(**kw), stage])


def staging_map(s):
    raw = tf.raw_ops
    for prefix in ["OrderedMap", "Map"]:
        name = dict(dtypes=[tf.int32, tf.float32], shared_name=prefix)

        def op(kind, **kw):
            return getattr(raw, prefix + kind)(**{**name, **kw})

        def stage(key, indices, values):
            s.run(op("Stage", key=np.int64(key), indices=indices, values=values))

        def sizes():
            s.run([op("Size"), op("IncompleteSize")])
        stage(5, [0, 1], [tf.constant(1), tf.constant(2.0)])
        stage(3, [1], [tf.constant(9.0)])
        sizes()
        stage(3, [1], [tf.constant(9.0)])
        stage(3, [0], [tf.constant(8)])
        sizes()
        stage(9, [1, 0], [tf.constant(2.0), tf.constant(1)])
        s.run(op("Peek", key=np.int64(5), indices=[0, 1]))
        s.run(op("Unstage", key=np.int64(5), indices=[1], dtypes=[tf.float32]))
        s.run(op("Unstage", key=np.int64(5), indices=[1], dtypes=[tf.float32]))
        s.run(op("Unstage", key=np.int64(5), indices=[0], dtypes=[tf.int32]))
        s.run(op("UnstageNoKey", indices=[0, 1]))
        sizes()
        stage(1, [0, 1], [tf.constant(1), tf.constant(2.0)])
        s.run(op("Clear"))
        sizes()


def partition_and_stitch(s):
    x = tf.constant(np.arange(12.0, dtype=np.float32).reshape(6, 2))
    where = tf.constant([2, 0, 1, 0, 2, 2])
    with tf.device(s.ps):
        parts = tf.dynamic_partition(x, where, 3)
        numbers = tf.dynamic_partition(tf.range(6), where, 3)
    with tf.device(s.worker(0)):
        joined = tf.dynamic_stitch(numbers, [p * (i + 1) for i, p in enumerate(parts)])
        also = tf.raw_ops.ParallelDynamicStitch(indices=numbers, data=parts)
    s.run([parts, joined, also])
    s.run(tf.gradients(joined * joined, x))


def embeddings_in_partitions(s):
    rng = np.random.RandomState(5)
    table = rng.randn(10, 4).astype(np.float32)
    for strategy in ["mod", "div"]:
        with tf1.variable_scope(strategy), tf.device(s.ps):
            rows = tf1.get_variable("rows", initializer=tf.constant(table), partitioner=tf1.fixed_size_partitioner(3))
        with tf.device(s.worker(0)):
            ids = tf.constant([9, 0, 3, 3, 7], tf.int64)
            found = tf1.nn.embedding_lookup(list(rows), ids, partition_strategy=strategy)
            loss = tf.reduce_sum(found * found)
            train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
        s.run(tf1.global_variables_initializer())
        s.run([found, loss])
        s.run(train)
        s.run([found, loss, tf.convert_to_tensor(rows)])


def a_tensor_that_stays_on_the_server(s):
    handle = tf1.get_session_handle(tf.constant([1.0, 2.0]) * 3)
    kept = s.session.run(handle)
    name, value = tf1.get_session_tensor(kept.handle, tf.float32)
    s.run(value + 1, {name: kept.handle})
    s.run(value, {name: kept.handle})
    holder, delete = tf1.delete_session_tensor(kept.handle)
    s.run(delete, {holder: kept.handle})
    s.run(value, {name: kept.handle})


def critical_sections(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=0.0, use_resource=True)
        section = tf.CriticalSection(name="section")

        def added(by):
            def body():
                before = v.read_value()
                with tf.control_dependencies([before]):
                    wait = tf.reduce_sum(tf.random.normal([1000])) * 0.0
                return v.assign(before + by + wait, read_value=True)

            return section.execute(body)

        additions = [added(float(i)) for i in range(20)]
        fails = tf1.placeholder(tf.bool, [])

        def may_fail():
            with tf.control_dependencies([tf1.Assert(tf.logical_not(fails), ["failed inside"])]):
                return v.assign_add(1000.0, read_value=True)

        failing = section.execute(may_fail)
        in_loop = tf.while_loop(lambda i: i < 5, lambda i: i + tf.cast(section.execute(lambda: v.assign_add(
            1.0, read_value=True)) * 0.0, tf.int32) + 1, [0])
    s.init()
    s.run(tf.group(*additions))
    s.run(v)
    s.run(failing, {fails: True})
    s.run(failing, {fails: False})
    s.run([in_loop])
    s.run(v)
    s.run(tf.raw_ops.ConsumeMutexLock(mutex_lock=tf.raw_ops.OptionalNone()))
