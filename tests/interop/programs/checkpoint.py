"""Saving and restoring: TensorFlow reads what we write, and we read what TensorFlow writes."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

DTYPES = [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
          tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128]


def _folder():
    return tempfile.TemporaryDirectory(prefix="interop_checkpoint_")


def _save(prefix, tensors):
    """tensors: (name, shape and slice, value)."""
    names, slices, values = zip(*tensors)
    return tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=slices, tensors=values)


def _restore(prefix, names, slices, dtypes):
    return tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=names, shape_and_slices=slices, dtypes=dtypes)


def _everything():
    numbers = np.arange(6).reshape(2, 3)
    tensors = [(d.name, "", tf.cast(numbers, d)) for d in DTYPES]
    rows = tf.reshape(tf.range(12, dtype=tf.float32), [4, 3])
    return tensors + [("strings", "", tf.constant([[b"a", b""], [b"\0\xff", b"x" * 300]])),
                      ("empty", "", tf.zeros([3, 0])), ("scalar", "", tf.constant(2.5)),
                      ("parts", "4 3 0,1:-", rows[:1]), ("parts", "4 3 1,3:-", rows[1:])]


def paths_with_a_scheme(s):
    with _folder() as folder, tf.device(s.ps):
        prefix = f"file://{folder}/b"
        s.run(_save(prefix, [("x", "", tf.constant([1.0, 2.0]))]))
        s.record(sorted(os.listdir(folder)))
        s.run(_restore(prefix, ["x"], [""], [tf.float32]))
        s.run(tf.raw_ops.ReadFile(filename=f"file://{folder}/nothing"))
        s.run(tf.raw_ops.WriteFile(filename=f"file://{folder}/new/text", contents="abc"))
        s.run(tf.raw_ops.ReadFile(filename=f"{folder}/new/text"))


def tensorflow_reads_ours(s):
    with _folder() as folder:
        prefix = os.path.join(folder, "b")
        with tf.device(s.ps):
            s.run(_save(prefix, _everything()))
        reader = tf1.train.load_checkpoint(prefix)
        for name in sorted(reader.get_variable_to_shape_map()):
            s.record(reader.get_tensor(name))
        # The files must be equal byte for byte.
        for suffix in [".index", ".data-00000-of-00001"]:
            with open(prefix + suffix, "rb") as f:
                s.record(f.read())


def ours_reads_tensorflow(s):
    with _folder() as folder:
        prefix = os.path.join(folder, "b")
        with tf.Graph().as_default(), tf1.Session() as plain:
            plain.run(_save(prefix, _everything()))
        with tf.device(s.ps):
            names = [d.name for d in DTYPES] + ["strings", "empty", "scalar", "parts"]
            s.run(_restore(prefix, names, [""] * len(names), DTYPES + [tf.string] + 3 * [tf.float32]))
            s.run(_restore(prefix, ["parts", "parts", "float64"], ["4 3 0,2:1,2", "4 3 -:2,1", "2 3 1,1:-"],
                           [tf.float32, tf.float32, tf.float64]))


def errors(s):
    with _folder() as folder:
        prefix = os.path.join(folder, "b")
        path = tf1.placeholder(tf.string, [])
        names = tf1.placeholder(tf.string)
        slices = tf1.placeholder(tf.string)
        value = tf1.placeholder(tf.float32)
        save = _save_fed(path, names, slices, [value])
        restore = tf.raw_ops.RestoreV2(prefix=path, tensor_names=names, shape_and_slices=slices, dtypes=[tf.float32])
        restore_int = tf.raw_ops.RestoreV2(prefix=path, tensor_names=names, shape_and_slices=slices, dtypes=[tf.int32])
        two = np.ones([2, 2])
        s.run(save, {path: prefix, names: ["v"], slices: [""], value: two})
        s.run(save, {path: folder + "/no/such/b", names: ["v"], slices: [""], value: two})
        for bad in ["x 2 0,3:-", "4", "4 2 0,2", "4 2 3,2:-", "4 2 0,3:-", "4 2 a,b:-", "4 2 0,0:-", "4 2 -1,2:-"]:
            s.run(save, {path: prefix + "x", names: ["v"], slices: [bad], value: two})
        for n, spec in [(["v", "w"], [""]), (["v"], ["", ""]), ("v", [""]), (["v"], "")]:
            s.run(save, {path: prefix + "x", names: n, slices: spec, value: two})
            s.run(restore, {path: prefix, names: n, slices: spec})
        s.run(restore, {path: prefix, names: ["v"], slices: [""]})
        s.run(restore, {path: prefix + "none", names: ["v"], slices: [""]})
        s.run(restore, {path: prefix, names: ["none"], slices: [""]})
        s.run(restore, {path: prefix, names: ["none"], slices: ["2 2 0,1:-"]})
        s.run(restore, {path: prefix, names: ["v"], slices: ["3 2 0,1:-"]})
        s.run(restore, {path: prefix, names: ["v"], slices: ["2 2 zz"]})
        s.run(restore_int, {path: prefix, names: ["v"], slices: [""]})


def _save_fed(path, names, slices, values):
    return tf.raw_ops.SaveV2(prefix=path, tensor_names=names, shape_and_slices=slices, tensors=values)


def damaged(s):
    with _folder() as folder:
        with tf.Graph().as_default(), tf1.Session() as plain:
            plain.run(_save(os.path.join(folder, "b"), _everything()))
        prefix = tf1.placeholder(tf.string, [])
        restore = _restore(prefix, ["scalar", "strings"], ["", ""], [tf.float32, tf.string])

        def copy(name, change_index=lambda b: b, change_data=lambda b: b):
            for suffix, change in [(".index", change_index), (".data-00000-of-00001", change_data)]:
                with open(os.path.join(folder, "b" + suffix), "rb") as f:
                    content = bytearray(f.read())
                with open(os.path.join(folder, name + suffix), "wb") as f:
                    f.write(change(content))
            s.run(restore, {prefix: os.path.join(folder, name)})

        copy("good")
        copy("data", change_data=lambda b: bytes(x ^ 0x55 for x in b))
        copy("cut", change_index=lambda b: b[:-3])
        copy("flipped", change_index=lambda b: b[:5] + bytes([b[5] ^ 1]) + b[6:])
        copy("none", change_index=lambda b: b"")
        os.remove(os.path.join(folder, "good.data-00000-of-00001"))
        s.run(restore, {prefix: os.path.join(folder, "good")})


def merge(s):
    with _folder() as folder:
        parts = [os.path.join(folder, f"part{i}", "p") for i in range(2)]
        rows = tf.reshape(tf.range(8, dtype=tf.float32), [4, 2])
        saves = []
        for i, device in enumerate([s.ps, s.worker(1)]):
            with tf.device(device):
                saves.append(_save(parts[i], [("whole", f"4 2 {2 * i},2:-", rows[2 * i:2 * i + 2]),
                                              (f"own{i}", "", tf.constant(i))]))
        s.run(saves)
        destination = os.path.join(folder, "merged")
        merged = tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=destination)
        s.run(merged)
        s.record(sorted(os.listdir(folder)))
        s.record(tf1.train.load_checkpoint(destination).get_tensor("whole"))
        s.run(_restore(destination, ["whole", "own1"], ["", ""], [tf.float32, tf.int32]))
        s.run(merged)
        s.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=destination,
                                            allow_missing_files=True))
        s.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=[destination, destination],
                                            destination_prefix=destination + "2"))


def _variables(s, use_resource):
    with tf.device(s.ps):
        a = tf1.get_variable("a", initializer=tf.constant([1.0, 2.0]), use_resource=use_resource)
    with tf.device(s.worker(1)):
        b = tf1.get_variable("b", initializer=tf.constant(3, tf.int64), use_resource=use_resource)
    return a, b


def _saver(s, sharded, use_resource):
    a, b = _variables(s, use_resource)
    step = tf1.train.get_or_create_global_step()
    change = [tf1.assign(a, a * 10.0), tf1.assign_add(b, 1), tf1.assign_add(step, 5)]
    saver = tf1.train.Saver(sharded=sharded, max_to_keep=2)
    s.init()
    with _folder() as folder:
        for _ in range(3):
            s.run(change)
            path = saver.save(s.session, os.path.join(folder, "model"), global_step=step)
            s.record(os.path.relpath(path, folder))
        s.record(os.path.relpath(tf1.train.latest_checkpoint(folder), folder))
        s.record(sorted(f for f in os.listdir(folder) if f.endswith(".index")))
        s.run(change)
        saver.restore(s.session, path)
        s.run([a, b, step])
        reader = tf1.train.load_checkpoint(path)
        s.record([reader.get_tensor(n) for n in ["a", "b", "global_step"]])
        # A second program makes its graph from the .meta file.
        with tf.Graph().as_default(), tf1.Session(s.target, config=tf1.ConfigProto(
                allow_soft_placement=True, isolate_session_state=True)) as session:
            imported = tf1.train.import_meta_graph(path + ".meta", clear_devices=True)
            imported.restore(session, path)
            s.record(session.run(["a:0", "b:0"] if not use_resource else ["a/Read/ReadVariableOp:0",
                                                                         "b/Read/ReadVariableOp:0"]))


def saver(s):
    _saver(s, sharded=False, use_resource=False)


def saver_of_resource_variables(s):
    _saver(s, sharded=False, use_resource=True)


def saver_of_version_1(s):
    a, b = _variables(s, False)
    change = [tf1.assign(a, a * 10.0), tf1.assign_add(b, 1)]
    saver = tf1.train.Saver(write_version=tf1.train.SaverDef.V1)
    s.init()
    with _folder() as folder:
        s.run(change)
        path = saver.save(s.session, os.path.join(folder, "model"), global_step=7)
        s.record(os.path.relpath(path, folder))
        s.run(change)
        saver.restore(s.session, path)
        s.run([a, b])
        tf1.train.Saver().restore(s.session, path)  # RestoreV2 reads it too
        s.run([a, b])


def version_1(s):
    numbers = np.arange(6).reshape(2, 3)
    dtypes = [d for d in DTYPES if d not in (tf.bfloat16, tf.uint32, tf.uint64)]
    with _folder() as folder:
        path = os.path.join(folder, "v1")
        save = tf.raw_ops.Save(filename=path, tensor_names=[d.name for d in dtypes] + ["strings"],
                               data=[tf.cast(numbers, d) for d in dtypes] + [tf.constant([b"a", b"\xff"])])
        s.run(save)
        with open(path, "rb") as f:
            s.record(f.read())
        for d, name in [(tf.float32, "float32"), (tf.string, "strings"), (tf.int32, "float32"), (tf.int32, "none")]:
            s.run(tf.raw_ops.Restore(file_pattern=path, tensor_name=name, dt=d))
        s.run(tf.raw_ops.Restore(file_pattern=path + "none", tensor_name="float32", dt=tf.float32))
        for spec in ["2 3 1,1:-", "3 3 1,1:-", ""]:
            s.run(tf.raw_ops.RestoreSlice(file_pattern=path, tensor_name="float32", shape_and_slice=spec,
                                          dt=tf.float32))
        s.run(tf.raw_ops.SaveSlices(filename=path, tensor_names=["p", "p"], shapes_and_slices=["4 3 0,2:-", "4 3 2,2:-"],
                                    data=[tf.ones([2, 3]), tf.zeros([2, 3])]))
        s.run(tf.raw_ops.Restore(file_pattern=path[:-1] + "?", tensor_name="p", dt=tf.float32))
        s.run(tf.raw_ops.Save(filename=folder + "/no/v1", tensor_names=["a"], data=[1.0]))
        for dtype in [tf.uint64, tf.bfloat16]:
            s.run(tf.raw_ops.Save(filename=path, tensor_names=["a"], data=[tf.cast([1], dtype)]))
        names = tf1.placeholder(tf.string)
        s.run(tf.raw_ops.Save(filename=path, tensor_names=names, data=[1.0]), {names: ["a", "b"]})


def sharded_saver(s):
    _saver(s, sharded=True, use_resource=False)


def partitioned_variables(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", [5, 2], initializer=tf1.zeros_initializer(),
                             partitioner=tf1.fixed_size_partitioner(3), use_resource=False)
    whole = tf.convert_to_tensor(v)
    fill = [tf1.assign(part, part + [[1.0 + i, -1.0]]) for i, part in enumerate(v)]
    saver = tf1.train.Saver()
    s.init()
    s.run(fill)
    with _folder() as folder:
        path = saver.save(s.session, os.path.join(folder, "model"))
        s.record(tf1.train.load_checkpoint(path).get_tensor("v"))
        s.run(fill)
        saver.restore(s.session, path)
        s.run(whole)
        # The restored variable has other partitions than the saved one.
        with tf.Graph().as_default(), tf1.Session(s.target) as session:
            w = tf1.get_variable("v", [5, 2], partitioner=tf1.fixed_size_partitioner(2), use_resource=False)
            both = tf.convert_to_tensor(w)
            tf1.train.Saver().restore(session, path)
            s.record(session.run(both))


def monitored_training_session(s):
    with _folder() as folder:
        for last_step in [5, 9]:
            with tf.Graph().as_default():
                with tf.device(s.ps):
                    w = tf1.get_variable("w", initializer=tf.constant([1.0, -2.0]))
                    step = tf1.train.get_or_create_global_step()
                loss = tf.reduce_sum(tf.square(w - 3.0))
                train = tf1.train.AdamOptimizer(0.1).minimize(loss, global_step=step)
                with tf1.train.MonitoredTrainingSession(
                        s.target, checkpoint_dir=folder, save_checkpoint_steps=2, save_summaries_steps=None,
                        save_summaries_secs=None, log_step_count_steps=None,
                        hooks=[tf1.train.StopAtStepHook(last_step=last_step)],
                        config=tf1.ConfigProto(allow_soft_placement=not s.target)) as session:
                    s.record(session.run([w, step]))
                    while not session.should_stop():
                        session.run(train)
                reader = tf1.train.load_checkpoint(folder)
                s.record([reader.get_tensor(n) for n in sorted(reader.get_variable_to_shape_map())])
        s.record(os.path.relpath(tf1.train.latest_checkpoint(folder), folder))
        s.record(sorted(f for f in os.listdir(folder) if f.endswith(".index")))


def supervisor(s):
    with _folder() as folder:
        for last_step in [3, 5]:
            with tf.Graph().as_default():
                with tf.device(s.ps):
                    w = tf1.get_variable("w", initializer=tf.constant(1.0), use_resource=False)
                    step = tf1.train.get_or_create_global_step()
                train = tf1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.square(w - 3.0), global_step=step)
                supervised = tf1.train.Supervisor(logdir=folder, global_step=step, save_summaries_secs=0,
                                                  save_model_secs=0)
                with supervised.managed_session(s.target) as session:
                    s.record(session.run([w, step]))
                    for _ in range(last_step):
                        session.run(train)
                    supervised.saver.save(session, supervised.save_path, global_step=step)
                    s.record(session.run([w, step]))
        s.record(os.path.relpath(tf1.train.latest_checkpoint(folder), folder))


def restoring_into_another_shape(s):
    with _folder() as folder:
        prefix = os.path.join(folder, "b")
        with tf.Graph().as_default(), tf1.Session() as plain:
            plain.run(_save(prefix, [("a", "", tf.ones([3])), ("b", "", tf.constant(1, tf.int64))]))
        for use_resource in [True, False]:
            with tf1.variable_scope(tf1.get_variable_scope(), reuse=tf1.AUTO_REUSE), tf1.name_scope(str(use_resource)):
                with tf.device(s.ps):
                    a = tf1.get_variable(f"a{use_resource}", initializer=tf.constant([1.0, 2.0]),
                                         use_resource=use_resource)
            saver = tf1.train.Saver({"a": a})
            for name in ["b", "none"]:
                try:
                    saver.restore(s.session, os.path.join(folder, name))
                    s.record("restored")
                except Exception as e:  # pylint: disable=broad-except
                    s.record(type(e).__name__)


def vocabularies(s):
    with _folder() as folder, tf.device(s.ps):
        def written(name, text):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
            return os.path.join(folder, name)

        new, old = written("new", "b\na\nx\nc\n"), written("old", "a\nb\nc")
        twice, blank = written("twice", "a\nb\na\n"), written("blank", "a\n\nb\n")

        def remapping(new_file, old_file, count, offset=0, size=-1):
            made = tf.raw_ops.GenerateVocabRemapping(
                new_vocab_file=tf1.placeholder_with_default(new_file, None), num_new_vocab=count,
                old_vocab_file=tf1.placeholder_with_default(old_file, None), new_vocab_offset=offset, old_vocab_size=size)
            s.run([made.remapping, made.num_present])

        for count, offset in [(4, 0), (2, 1), (0, 0), (0, 4), (5, 0), (1, 4), (0, 9)]:
            remapping(new, old, count, offset)
        for size in [0, 2, 10]:
            remapping(new, old, 4, size=size)
        remapping(twice, old, 3)
        for old_file in [twice, blank, os.path.join(folder, "none"), [old]]:
            remapping(new, old_file, 2)


def matrices_for_another_vocabulary(s):
    with _folder() as folder, tf.device(s.ps):
        prefix = os.path.join(folder, "b")
        matrix = np.arange(20, dtype=np.float32).reshape(5, 4)
        s.run(_save(prefix, [("m", "", matrix), ("i", "", [[1, 2]]), ("v", "", [1.0, 2.0]),
                             ("parts", "5 4 0,2:-", matrix[:2]), ("parts", "5 4 2,3:-", matrix[2:])]))

        def loaded(rows, columns=(), values=(), num_rows=None, num_cols=4, name="m", path=prefix, **kwargs):
            def given(value, dtype):
                return tf1.placeholder_with_default(np.array(value, dtype), None)

            s.run(tf.raw_ops.LoadAndRemapMatrix(
                ckpt_path=given(path, object), old_tensor_name=given(name, object), row_remapping=given(rows, np.int64),
                col_remapping=given(columns, np.int64), initializing_values=given(values, np.float32),
                num_rows=len(rows) if num_rows is None else num_rows, num_cols=num_cols, **kwargs))

        for name in ["m", "parts"]:
            for at_once in [-1, 0, 1, 2, 9]:
                loaded([3, 0, 1], name=name, max_rows_in_memory=at_once)
                loaded([2, -1, 0], [1, -1], [7, 8, 9, 10], num_cols=2, name=name, max_rows_in_memory=at_once)
        loaded([-1], values=[1, 2, 3, 4])
        loaded([-1, -1], [-1], [1, 2], num_cols=1)
        loaded([])
        loaded([1], path=[prefix])
        for values in [[], [1, 2, 3], [1, 2, 3, 4, 5]]:
            loaded([-1], values=values)
        loaded([1, 1])
        loaded([1], [2, 2], num_cols=2)
        loaded([5])
        loaded([1], num_cols=3)
        loaded([1], [0, 1])
        loaded([1, 0], num_rows=3)
        loaded([[1, 0]], num_rows=2)
        for name in ["none", "i", "v"]:
            loaded([0], name=name)
        loaded([0], path=os.path.join(folder, "none"))
        loaded([0], path=[prefix, prefix])
