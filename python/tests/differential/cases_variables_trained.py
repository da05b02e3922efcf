"""Variables that training makes: their names inside of scopes, and their places with a strategy of the program."""

from cases_files import in_folder
from registry import case


def names(variables):
    return [variable.name for variable in variables]


for number, (opened, create) in enumerate((
    (lambda tf: tf.variable_scope("a"), True), (lambda tf: tf.name_scope("a"), True),
    (lambda tf: tf.variable_scope("a", reuse=tf.AUTO_REUSE), False),
    (lambda tf: tf.variable_scope("a", reuse=True), True),
    (lambda tf: tf.variable_scope("a/b", initializer=tf.ones_initializer(), dtype=tf.float16), False),
)):
    def step(tf, opened=opened, create=create):
        with opened(tf):
            made = tf.train.create_global_step() if create else tf.train.get_or_create_global_step()
            same = tf.train.get_or_create_global_step() is made
        with tf.Session() as session:
            session.run(made.initializer)
            return [made.name, same, session.run(made), names(tf.global_variables()), names(tf.trainable_variables()),
                    names(tf.get_collection("global_step")), tf.train.get_global_step() is made]

    case("train.create_global_step train.get_or_create_global_step", step, label=f"global step in a scope #{number}")


def averages(tf):
    """The names of averages, before and after they are made, and what a Saver would restore."""
    with tf.variable_scope("m"):
        w, u = tf.get_variable("w", [2]), tf.get_variable("u", [2])
        first, second = tf.train.ExponentialMovingAverage(0.9), tf.train.ExponentialMovingAverage(0.9)
        found = [first.average_name(w), first.average(w) is None]
        first.apply([w])
        found += [first.average_name(w), first.average_name(u), second.average_name(w)]
        with tf.name_scope("n"):
            found.append(first.average_name(u))
        second.apply([w, tf.add(w, u, name="t")])
        found.append([second.average_name(w), second.average(w).name, names(tf.global_variables())])
    restored = first.variables_to_restore()
    return found + [sorted((key, variable.name) for key, variable in restored.items())]


case("train.ExponentialMovingAverage", averages, label="names of averages in a scope")


def placed(tf, **arguments):
    """The devices of variables, of their slots and of other nodes."""
    setter = tf.train.replica_device_setter(**arguments)
    if setter is None:
        return "none"
    with tf.Graph().as_default(), tf.device(setter):
        a, b = tf.get_variable("a", [2], use_resource=True), tf.get_variable("b", [3], use_resource=True)
        with tf.device("/job:worker/task:1"):
            c = tf.get_variable("c", [1], use_resource=True)
        with tf.device("/job:ps/task:1"):
            d = tf.get_variable("d", [1], use_resource=True)
        loss = tf.reduce_sum(a) + tf.reduce_sum(b)
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        return [v.device for v in tf.global_variables()] + [x.device for x in (a, b, c, d, loss, tf.placeholder(tf.int32))]


for number, arguments in enumerate((
    {"ps_tasks": 2, "ps_strategy": lambda op: 1}, {"ps_tasks": 2, "ps_ops": ["Placeholder", "VarHandleOp"]},
    {"ps_tasks": 2, "ps_strategy": lambda op: len(op.name) % 2, "ps_ops": ["Placeholder"]},
    {"cluster": {"ps": ["a:1", "b:1", "c:1"]}, "ps_strategy": lambda op: 2, "worker_device": "/job:worker/task:3"},
    {"cluster": {"x": ["a:1"]}, "ps_strategy": lambda op: 2}, {"ps_strategy": lambda op: 0},
    {"ps_tasks": 1, "ps_device": "/cpu:0", "ps_strategy": lambda op: 0}, {"ps_tasks": 1, "ps_strategy": 3},
    {"ps_tasks": 2, "ps_device": ""},
)):
    case("train.replica_device_setter", lambda tf, a=arguments: placed(tf, **a), label=f"placement by a strategy #{number}")


def placed_tables(tf, **arguments):
    """The devices of tables, whose state the parameter servers hold, too."""
    with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(ps_tasks=2, **arguments)):
        key = tf.constant(-1, tf.int64)
        tables = [tf.raw_ops.MutableHashTableOfTensorsV2(key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[2]),
                  tf.raw_ops.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32),
                  tf.raw_ops.MutableDenseHashTableV2(empty_key=key, deleted_key=key - 1, value_dtype=tf.float32),
                  tf.raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.float32)]
        return [table.device for table in tables]


for arguments in ({}, {"ps_strategy": lambda op: 1}):
    case("train.replica_device_setter", lambda tf, a=arguments: placed_tables(tf, **a))


def created(tf, folder, make):
    """What a session has that a creator makes, from first values and from a checkpoint."""
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=3.0)
        counter = tf.get_variable("c", initializer=1, collections=["local_variables"])
        with make(tf, tf.train.Scaffold(init_fn=lambda scaffold, session: w.load(5.0, session))).create_session() as session:
            found = [session.run([w, counter]), session.graph.finalized]
    for arguments in (None, {"checkpoint_dir": folder}, {"checkpoint_filename_with_path": folder + "/model"}):
        with tf.Graph().as_default():
            w = tf.get_variable("w", initializer=3.0)
            if arguments is None:
                with tf.Session() as session:
                    session.run(w.assign(7.0))
                    tf.train.Saver().save(session, folder + "/model")
                continue
            with tf.train.ChiefSessionCreator(tf.train.Scaffold(), **arguments).create_session() as session:
                found.append(session.run(w))
    return found


class Delegating:
    """A creator of the program's own."""

    def __new__(cls, tf, scaffold):
        class Creator(tf.train.SessionCreator):
            def create_session(self):
                return tf.train.ChiefSessionCreator(scaffold, config=tf.ConfigProto(allow_soft_placement=True)).create_session()

        return Creator()


def awaited(tf):
    """A worker that finds the model of a chief, which has set its variables on the same server."""
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=3.0)
        with tf.Session(server.target) as session:
            session.run(w.assign(7.0))
        creator = tf.train.WorkerSessionCreator(tf.train.Scaffold(), server.target, max_wait_secs=60)
        with creator.create_session() as session:
            return session.run(w)


in_folder("train.ChiefSessionCreator", lambda tf, folder: created(
    tf, folder, lambda tf, scaffold: tf.train.ChiefSessionCreator(scaffold)), label="a chief's session")
in_folder("train.SessionCreator train.ChiefSessionCreator", lambda tf, folder: created(tf, folder, Delegating),
          label="a session of a creator of the program's own")
case("train.WorkerSessionCreator", awaited, label="a worker's session")
case("train.SessionCreator", lambda tf: tf.train.SessionCreator(), label="an abstract session creator")
