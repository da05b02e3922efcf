"""tf.train: global steps, schedules, messages, clusters, checkpoints, coordinators, hooks and sessions."""

import os
import tempfile
import time

import numpy as np
from registry import case, each

QUIET = {"names": False}


def stepped(tf):
    step = tf.train.create_global_step()
    with tf.Graph().as_default() as other:
        made = tf.train.get_or_create_global_step(graph=other)
        inside = [tf.train.get_global_step() is made, made.name, made.dtype.base_dtype, made.shape, made.trainable]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step.assign_add(5))
        value = tf.train.global_step(session, step)
    return inside + [tf.train.get_global_step(other) is made, value, tf.train.assert_global_step(step),
                     tf.train.get_global_step(tf.Graph()), tf.train.get_or_create_global_step() is step]


case("train.create_global_step train.get_or_create_global_step train.get_global_step train.global_step "
     "train.assert_global_step", stepped)
case("train.create_global_step", lambda tf: [tf.train.create_global_step(), tf.train.create_global_step()])
case("train.create_global_step", lambda tf: tf.train.create_global_step(graph=tf.get_default_graph()))
case("train.assert_global_step", lambda tf: tf.train.assert_global_step(tf.constant(1.0)))
case("train.assert_global_step", lambda tf: tf.train.assert_global_step(tf.constant([1, 2])))
for arguments in ([3], [3, 5]):
    case("train.piecewise_constant_decay", lambda tf, b=arguments: tf.train.piecewise_constant_decay(
        tf.constant(4), b, [1.0, 0.5, 0.25][:len(b) + 1], name="given"), **QUIET)
case("train.noisy_linear_cosine_decay", lambda tf: tf.train.noisy_linear_cosine_decay(
    0.1, tf.constant(5), 20, initial_variance=0.0, variance_decay=0.5, num_periods=0.7, alpha=0.1, beta=0.01,
    name="given"), **QUIET)
case("train.exponential_decay", lambda tf: tf.train.exponential_decay(0.1, None, 10, 0.5))
case("train.cosine_decay", lambda tf: tf.train.cosine_decay(0.1, None, 10))

# Messages.


def bytes_of(message):
    return message.SerializeToString(deterministic=True)


def example(tf):
    train = tf.train
    features = train.Features(feature={
        "a": train.Feature(int64_list=train.Int64List(value=[1, -2])),
        "b": train.Feature(float_list=train.FloatList(value=[0.5])),
        "c": train.Feature(bytes_list=train.BytesList(value=[b"x", b"y"]))})
    lists = train.FeatureLists(feature_list={"d": train.FeatureList(feature=[train.Feature(
        int64_list=train.Int64List(value=[7]))])})
    whole = train.SequenceExample(context=features, feature_lists=lists)
    one = train.Example(features=features)
    parsed = tf.parse_single_example(tf.constant(bytes_of(one)), {"a": tf.FixedLenFeature([2], tf.int64)})
    back = train.Example.FromString(bytes_of(one))
    return [bytes_of(one), bytes_of(whole), parsed, str(one), list(back.features.feature["a"].int64_list.value)]


case("train.Example train.Features train.Feature train.Int64List train.FloatList train.BytesList train.FeatureLists "
     "train.FeatureList train.SequenceExample", example, **QUIET)
case("train.Example", lambda tf: tf.train.Example(wrong=1))
case("train.ClusterDef train.JobDef train.ServerDef train.SaverDef", lambda tf: [bytes_of(message) for message in (
    tf.train.ClusterDef(job=[tf.train.JobDef(name="ps", tasks={0: "a:1", 3: "b:2"})]),
    tf.train.ServerDef(cluster=tf.train.ClusterDef(), job_name="worker", task_index=2, protocol="grpc"),
    tf.train.SaverDef(filename_tensor_name="f", save_tensor_name="s", restore_op_name="r", max_to_keep=3,
                      version=tf.train.SaverDef.V2))])
for name, fields in (
    ("AttrValue", {"i": 3}), ("ConfigProto", {"inter_op_parallelism_threads": 3, "device_count": {"CPU": 2}}),
    ("Event", {"wall_time": 1.5, "step": 3}), ("GPUOptions", {"allow_growth": True}),
    ("GraphOptions", {"build_cost_model": 2}),
    ("HistogramProto", {"min": 1.0, "bucket": [1.0, 2.0]}), ("LogMessage", {"message": "m", "level": 20}),
    ("MetaGraphDef", {"graph_def": None}), ("NameAttrList", {"name": "f"}),
    ("NodeDef", {"name": "n", "op": "Add", "input": ["a", "b"]}),
    ("GraphDef", {"version": 3}), ("OptimizerOptions", {"do_function_inlining": True}), ("RunMetadata", {}),
    ("RunOptions", {"timeout_in_ms": 100, "trace_level": 3}), ("SessionLog", {"checkpoint_path": "p", "status": 1}),
    ("Summary", {}), ("SummaryMetadata", {"display_name": "d"}), ("TensorInfo", {"name": "x:0", "dtype": 1}),
):
    def message(tf, f, fields=fields):
        made = f(**fields)
        copied = f.FromString(bytes_of(made))
        return [bytes_of(made), bytes_of(copied), str(made), copied == made]

    each(name, message)
    each(name, lambda tf, f: f(no_such_field=1))
for name, fields in (("Event", {"wall_time": 1.5}), ("SessionLog", {"status": 2}),
                     ("SummaryDescription", {"type_hint": "t"}),
                     ("Summary", {}), ("TaggedRunMetadata", {"tag": "t", "run_metadata": b"m"})):
    each(f"summary.{name}", lambda tf, f, fields=fields: bytes_of(f.FromString(bytes_of(f(**fields)))))

# Clusters.


def cluster(tf):
    spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {1: "b:2", 3: "c:3"}})
    again = tf.train.ClusterSpec(spec.as_cluster_def())
    return [spec.jobs, spec.num_tasks("worker"), spec.task_indices("worker"), spec.task_address("worker", 3),
            spec.job_tasks("ps"),
            sorted(spec.as_dict()["worker"].items()), bytes_of(spec.as_cluster_def()), again == spec,
            bool(tf.train.ClusterSpec({}))]


case("train.ClusterSpec", cluster)
case("train.ClusterSpec", lambda tf: tf.train.ClusterSpec({"ps": ["a:1"]}).num_tasks("no"))
case("train.ClusterSpec", lambda tf: tf.train.ClusterSpec({"ps": ["a:1"]}).task_address("ps", 7))
case("train.ClusterSpec", lambda tf: tf.train.ClusterSpec(7))


def placed(tf, **arguments):
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(**arguments)):
        a, b = tf.get_variable("a", [2], use_resource=True), tf.get_variable("b", [2], use_resource=True)
        c = tf.constant(1.0) + 2.0
    return [a.device, b.device, c.device]


for arguments in ({"ps_tasks": 2}, {"ps_tasks": 1, "worker_device": "/job:w/task:3", "ps_device": "/job:p"},
                  {"cluster": {"ps": ["a:1", "b:1"], "worker": ["c:1"]}}, {"ps_tasks": 0}):
    case("train.replica_device_setter", lambda tf, a=arguments: placed(tf, **a))


def server(tf):
    definition = tf.train.Server.create_local_server(start=False).server_def
    return [definition.job_name, definition.task_index, definition.protocol, sorted(definition.cluster.job[0].tasks)]


case("train.Server", server)

# Checkpoints.


def checkpoints(tf):
    with tempfile.TemporaryDirectory() as folder:
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        tf.get_variable("n", initializer=np.int64(3))
        saver = tf.train.Saver(max_to_keep=3)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            first = saver.save(session, os.path.join(folder, "m"), global_step=1)
            second = saver.save(session, os.path.join(folder, "m"), global_step=2, write_meta_graph=False)
        reader = tf.train.NewCheckpointReader(first)
        found = [sorted(reader.get_variable_to_shape_map().items()), reader.get_tensor("w"), reader.has_tensor("n"),
                 reader.has_tensor("no"), sorted(reader.get_variable_to_dtype_map()),
                 reader.get_variable_to_dtype_map()["n"]]
        times = tf.train.get_checkpoint_mtimes([first, second, "no"])
        found += [len(times), abs(times[0] - time.time()) < 600]
        tf.train.remove_checkpoint(first)
        found += [tf.train.checkpoint_exists(first), tf.train.checkpoint_exists(second),
                  sorted(os.listdir(folder))]
        tf.train.update_checkpoint_state(folder, second, all_model_checkpoint_paths=[second], latest_filename="latest")
        state = tf.train.get_checkpoint_state(folder, latest_filename="latest")
        found += [os.path.basename(state.model_checkpoint_path), len(state.all_model_checkpoint_paths),
                  os.path.basename(tf.train.latest_checkpoint(folder, latest_filename="latest"))]
        state = tf.train.generate_checkpoint_state_proto(folder, second, all_model_checkpoint_paths=["x"],
                                                         all_model_checkpoint_timestamps=[1.0, 2.0],
                                                         last_preserved_timestamp=0.5)
        found += [list(map(os.path.basename, state.all_model_checkpoint_paths)),
                  list(state.all_model_checkpoint_timestamps),
                  state.last_preserved_timestamp]
        found += [os.path.basename(path)
                  for path in tf.train.checkpoints_iterator(folder, min_interval_secs=0, timeout=0)]
        found += [[name for name, _ in tf.train.list_variables(second)], tf.train.load_variable(second, "w")]
        return found + [w.name]


case("train.NewCheckpointReader train.get_checkpoint_mtimes train.remove_checkpoint train.update_checkpoint_state "
     "train.generate_checkpoint_state_proto train.checkpoints_iterator", checkpoints)
case("train.NewCheckpointReader", lambda tf: tf.train.NewCheckpointReader("/no/such/checkpoint").get_tensor("a"))
case("train.load_checkpoint", lambda tf: tf.train.load_checkpoint("/no/such/checkpoint"))
case("train.latest_checkpoint train.get_checkpoint_state", lambda tf: [
    tf.train.latest_checkpoint("/no/such"), tf.train.get_checkpoint_state("/no/such")])

# Coordinators and queue runners.


def coordinated(tf):
    coordinator = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    steps = []

    def work():
        steps.append(1)
        if len(steps) == 3:
            coordinator.request_stop()

    thread = tf.train.LooperThread.loop(coordinator, 0.001, target=work)
    coordinator.join([thread], stop_grace_period_secs=20)
    return [len(steps), coordinator.should_stop(), coordinator.wait_for_stop(1.0), coordinator.joined]


def failing(tf, error):
    coordinator = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    with coordinator.stop_on_exception():
        raise error("x")
    coordinator.join([], stop_grace_period_secs=1)
    return coordinator.should_stop()


case("train.Coordinator train.LooperThread", coordinated)
case("train.Coordinator", lambda tf: failing(tf, KeyError))
case("train.Coordinator", lambda tf: failing(tf, ZeroDivisionError))


def queue_runner(tf, f=None):
    queue = tf.FIFOQueue(10, tf.int32, shapes=[])
    counter = tf.get_variable("c", initializer=0, use_resource=True)
    enqueue = queue.enqueue(counter.assign_add(1))
    runner = tf.train.QueueRunner(queue, [enqueue])
    tf.train.add_queue_runner(runner, collection="runners")
    out = queue.dequeue()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator, collection="runners")
        values = [session.run(out) for _ in range(3)]
        coordinator.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads, stop_grace_period_secs=20)
    return values + [runner.name, len(tf.get_collection("runners")), len(runner.enqueue_ops), runner.queue.name]


case("train.QueueRunner train.add_queue_runner train.start_queue_runners", queue_runner)


def joined(tf, make):
    """The numbers that pass, sorted: the threads run in any order."""
    numbers = tf.constant(np.arange(6))
    first = tf.train.slice_input_producer([numbers], num_epochs=1, shuffle=False)[0]
    batch = make(first)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        got = []
        try:
            while True:
                got += np.ravel(session.run(batch)).tolist()
        except tf.errors.OutOfRangeError:
            pass
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=20)
    return [sorted(got), batch.dtype, batch.shape.as_list()]


for name, make in (
    ("batch_join", lambda tf, f, x: f([[x]], 2, name="given")),
    ("shuffle_batch_join", lambda tf, f, x: f([[x]], 2, capacity=10, min_after_dequeue=1, seed=3)),
    ("maybe_batch", lambda tf, f, x: f([x], tf.equal(x % 2, 0), 1, name="given")),
    ("maybe_batch", lambda tf, f, x: f([tf.stack([x, x + 10])], tf.stack([True, False]), batch_size=2,
                                       enqueue_many=True)),
    ("maybe_batch_join", lambda tf, f, x: f([[x]], tf.equal(x % 2, 1), 1)),
    ("maybe_shuffle_batch", lambda tf, f, x: f([x], 1, 10, 1, keep_input=x > 2, seed=3)),
    ("maybe_shuffle_batch_join", lambda tf, f, x: f([[x]], batch_size=1, capacity=10, min_after_dequeue=1,
                                                    keep_input=x > 2)),
):
    def run(tf, f, make=make):
        def one(x):
            made = make(tf, f, x)
            return made[0] if isinstance(made, (list, tuple)) else made

        return joined(tf, one)

    each(f"train.{name}", run, **QUIET)


def matched(tf, f):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.txt", "b.txt", "c.no"):
            open(os.path.join(folder, name), "w").close()
        names = f(os.path.join(folder, "*.txt"), name="given")
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            return [sorted(os.path.basename(path) for path in session.run(names)), len(tf.local_variables())]


each("train.match_filenames_once", matched)


def written(tf, f):
    with tempfile.TemporaryDirectory() as folder:
        tf.constant(1.0, name="c")
        path = f(tf.get_default_graph(), os.path.join(folder, "sub"), "g.pb", as_text=False)
        text = f(tf.get_default_graph().as_graph_def(), folder, "g.pbtxt")
        with open(path, "rb") as file:
            graph = tf.GraphDef.FromString(file.read())
        return [os.path.basename(path), os.path.basename(text), [node.name for node in graph.node],
                "Const" in open(text).read()]


each("train.write_graph io.write_graph", written)

# Hooks and sessions.


def trained(tf, hooks, session_creator=None, steps=4, scaffold=None):
    with tf.variable_scope("", use_resource=True):  # reads of other variables may see the update of the same step
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=2.0)
    loss = w * w
    tf.add_to_collection("reset", w.assign(1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    values = []
    with tf.train.MonitoredSession(session_creator=session_creator(tf) if session_creator else None,
                                   hooks=hooks(tf, loss, step)) as session:
        while not session.should_stop() and len(values) < steps:
            values.append(session.run([loss, train])[0])
        values.append(session.should_stop())
    return values


def events(tf, folder):
    """The tags and steps of the summaries in a folder."""
    found = []
    for name in sorted(os.listdir(folder)):
        if "events" in name:
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                found += [(event.step, value.tag) for value in event.summary.value]
    return found


case("train.MonitoredSession", lambda tf: trained(tf, lambda tf, loss, step: [tf.train.StopAtStepHook(num_steps=3)]))
case("train.ChiefSessionCreator", lambda tf: trained(tf, lambda *_: [], lambda tf: tf.train.ChiefSessionCreator(
    scaffold=tf.train.Scaffold(), master="", checkpoint_dir=None)))
case("train.ChiefSessionCreator train.Scaffold",
     lambda tf: trained(tf, lambda *_: [], lambda tf: tf.train.ChiefSessionCreator(
    tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(tf.get_collection("reset"))))))


def saving(tf):
    with tempfile.TemporaryDirectory() as folder:
        values = trained(tf, lambda tf, loss, step: [
            tf.train.CheckpointSaverHook(folder, save_steps=2, checkpoint_basename="c.ckpt"),
            tf.train.SummarySaverHook(save_steps=2, output_dir=folder, summary_op=tf.summary.merge_all()),
            tf.train.StepCounterHook(every_n_steps=2, output_dir=folder)])
        saved = sorted(name for name in os.listdir(folder) if name.endswith(".index"))
        return values + [saved, events(tf, folder)]


case("train.CheckpointSaverHook train.SummarySaverHook train.StepCounterHook train.summary_iterator", saving)
case("train.CheckpointSaverHook", lambda tf: tf.train.CheckpointSaverHook("/tmp/x", save_secs=1, save_steps=1))
case("train.SummarySaverHook", lambda tf: tf.train.SummarySaverHook(save_steps=1))


def profiled(tf):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        values = trained(tf, lambda tf, loss, step: [
            tf.train.ProfilerHook(save_steps=2, output_dir=folder, show_dataflow=False, show_memory=True)])
        return values + [sorted(name for name in os.listdir(folder) if name.startswith("timeline"))]


case("train.ProfilerHook", profiled)


def wrong_profiler(tf, **options):
    # TensorFlow opens an event file before it refuses the options, and its thread may still write while the folder goes.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return tf.train.ProfilerHook(output_dir=folder, **options)


case("train.ProfilerHook", lambda tf: wrong_profiler(tf))
case("train.ProfilerHook", lambda tf: wrong_profiler(tf, save_steps=1, save_secs=1))
case("train.LoggingTensorHook", lambda tf: logged(tf, {"every_n_iter": 2}))
case("train.LoggingTensorHook", lambda tf: logged(tf, {"every_n_iter": 3, "at_end": True}))
case("train.LoggingTensorHook", lambda tf: tf.train.LoggingTensorHook(["a"], every_n_iter=1, every_n_secs=1))
case("train.LoggingTensorHook", lambda tf: tf.train.LoggingTensorHook(["a"]))


def logged(tf, options):
    seen = []
    values = trained(tf, lambda tf, loss, step: [tf.train.LoggingTensorHook(
        {"a": loss}, formatter=lambda found: seen.append(sorted(found.items())) or "", **options)])
    return values + [seen]


case("train.GlobalStepWaiterHook",
     lambda tf: trained(tf, lambda tf, loss, step: [tf.train.GlobalStepWaiterHook(wait_until_step=0)]))
case("train.NanTensorHook train.NanLossDuringTrainingError", lambda tf: trained(
    tf, lambda tf, loss, step: [tf.train.NanTensorHook(loss * np.nan, fail_on_nan_loss=True)]))
case("train.NanTensorHook", lambda tf: trained(tf, lambda tf, loss, step: [tf.train.NanTensorHook(
    loss * np.nan, fail_on_nan_loss=False)]))


def own_hook(tf):
    seen = []

    class Own(tf.train.SessionRunHook):
        def before_run(self, context):
            seen.append([context.stop_requested, context.original_args.fetches is not None, isinstance(
                context, getattr(tf.train.SessionRunContext, "_value", tf.train.SessionRunContext))])
            return tf.train.SessionRunArgs(fetches={"step": tf.train.get_global_step()})

        def after_run(self, context, values):
            seen.append([sorted(values.results), values._fields])
            if len(seen) == 4:
                context.request_stop()

    return trained(tf, lambda *_: [Own()]) + [seen]


case("train.SessionRunHook train.SessionRunArgs", own_hook)
case("train.SessionRunValues", lambda tf: tf.train.SessionRunValues(results=[1], options=None, run_metadata=2))
case("train.SessionRunContext", lambda tf: context_of(tf, tf.train.SessionRunContext(
    original_args=tf.train.SessionRunArgs([1], {2: 3}), session=None)))


def context_of(tf, context):
    before = context.stop_requested
    context.request_stop()
    return [before, context.stop_requested, context.session, context.original_args.fetches,
            context.original_args.feed_dict]


def timed(tf):
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    answers = [timer.should_trigger_for_step(0), timer.update_last_triggered_step(0), timer.last_triggered_step(),
               timer.should_trigger_for_step(2), timer.should_trigger_for_step(3)]
    elapsed, steps = timer.update_last_triggered_step(3)
    timer.reset()
    return answers + [elapsed >= 0, steps, timer.last_triggered_step()]


case("train.SecondOrStepTimer", timed)
case("train.SecondOrStepTimer", lambda tf: tf.train.SecondOrStepTimer(every_steps=1, every_secs=1))
case("train.SecondOrStepTimer", lambda tf: tf.train.SecondOrStepTimer())


def supervised(tf):
    w = tf.get_variable("w", initializer=2.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(w * w, global_step=tf.train.get_or_create_global_step())
    values = []
    supervisor = tf.train.Supervisor(logdir=None)

    def step(session, scale, other=0.0):
        session.run(train)
        values.append(session.run(w) * scale + other)
        if len(values) == 3:
            supervisor.request_stop()

    tf.train.basic_train_loop(supervisor, step, args=(2.0,), kwargs={"other": 1.0})
    return values


case("train.basic_train_loop", supervised)


def synced(tf):
    w = tf.get_variable("w", initializer=[2.0, 4.0])
    step = tf.train.create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), replicas_to_aggregate=1,
                                               total_num_replicas=1)
    train = optimizer.minimize(tf.reduce_sum(w * w), global_step=step)
    hook = optimizer.make_session_run_hook(is_chief=True)
    values = []
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(train)
        values.append(session.run(w))
    return values


case("train.SyncReplicasOptimizer", synced)


def managed(tf):
    """Sessions of a SessionManager: initialised, restored and recovered."""
    v = tf.get_variable("v", initializer=2.0)
    local = tf.get_variable("local", initializer=7.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    init, saver, ready = tf.global_variables_initializer(), tf.train.Saver([v]), tf.report_uninitialized_variables()
    manager = tf.train.SessionManager(local_init_op=tf.local_variables_initializer(), ready_op=ready,
                                      graph=tf.get_default_graph(), recovery_wait_secs=1)
    bare = tf.train.SessionManager(ready_op=ready, recovery_wait_secs=1)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        with manager.prepare_session("", init_op=init, init_fn=lambda session: v.load(3.0, session)) as session:
            found.append(session.run([v, local]))
            path = saver.save(session, os.path.join(folder, "m"))
        with manager.prepare_session("", init, saver, checkpoint_dir=folder, max_wait_secs=5) as session:
            found.append(session.run([v, local]))
        with manager.prepare_session("", saver=saver, checkpoint_filename_with_path=path) as session:
            found.append(session.run([v, local]))
        for recovering, where in ((manager, folder), (manager, os.path.join(folder, "none")), (bare, folder)):
            session, loaded = recovering.recover_session("", saver=saver, checkpoint_dir=where)
            found.append([loaded, session.run(v) if loaded else None])
    return found


case("train.SessionManager", managed)
case("train.SessionManager", lambda tf: tf.train.SessionManager(ready_for_local_init_op=tf.constant(1)))
case("train.SessionManager", lambda tf: tf.train.SessionManager(recovery_wait_secs=1).prepare_session(""))
case("train.SessionManager", lambda tf: tf.train.SessionManager(ready_op=tf.report_uninitialized_variables(
    [tf.get_variable("v", initializer=2.0)])).prepare_session("", init_op=tf.no_op()))
