"""tf.gfile, tf.logging, tf.summary, tf.data, tf.app."""

import logging
import os
import tempfile

import numpy as np
from registry import case, floats

QUIET = {"names": False}


def in_folder(covers, function, **options):
    """A case whose function gets a new folder."""

    def run(tf):
        with tempfile.TemporaryDirectory() as folder:
            return function(tf, folder)

    case(covers, run, **options)


# Files.


def files(tf, folder):
    gfile = tf.gfile
    path, copy = os.path.join(folder, "a.txt"), os.path.join(folder, "sub", "deep", "b.txt")
    with gfile.GFile(path, "w") as file:
        file.write("one\ntwo\nthree")
    gfile.MkDir(os.path.join(folder, "sub"))
    gfile.MakeDirs(os.path.join(folder, "sub", "deep"))
    gfile.MakeDirs(os.path.join(folder, "sub", "deep"))
    gfile.Copy(path, copy)
    found = [gfile.Exists(path), gfile.Exists(path + "x"), gfile.IsDirectory(folder), gfile.IsDirectory(path),
             gfile.Stat(path).length, gfile.Stat(folder).is_directory, sorted(gfile.ListDirectory(folder)),
             [os.path.relpath(name, folder) for name in sorted(gfile.Glob(os.path.join(folder, "*")))],
             [os.path.relpath(name, folder) for name in sorted(gfile.Glob([path, copy + "*"]))],
             [(os.path.relpath(top, folder), sorted(dirs), sorted(names)) for top, dirs, names in gfile.Walk(folder)],
             [os.path.relpath(top, folder) for top, _, _ in gfile.Walk(folder, in_order=False)]]
    with gfile.Open(copy, "a") as file:
        file.write("\nfour")
    with gfile.FastGFile(copy, "rb") as file:
        found += [file.read(3), file.tell(), file.readline(), file.size(), file.readlines()]
        file.seek(4)
        found += [file.read(), file.name == copy, file.mode]
    found.append([line for line in gfile.GFile(path)])
    gfile.Rename(copy, path, overwrite=True)
    found += [gfile.Exists(copy), gfile.GFile(path).read()]
    gfile.Remove(path)
    gfile.DeleteRecursively(os.path.join(folder, "sub"))
    return found + [gfile.ListDirectory(folder)]


in_folder("gfile.GFile gfile.Open gfile.FastGFile gfile.MkDir gfile.MakeDirs gfile.Copy gfile.Exists gfile.IsDirectory "
          "gfile.Stat gfile.ListDirectory gfile.Glob gfile.Walk gfile.Rename gfile.Remove gfile.DeleteRecursively",
          files)
for name in ("Remove", "DeleteRecursively", "ListDirectory", "Stat"):
    in_folder(f"gfile.{name}", lambda tf, folder, name=name: getattr(tf.gfile, name)(os.path.join(folder, "no")))
in_folder("gfile.MkDir", lambda tf, folder: tf.gfile.MkDir(folder))
in_folder("gfile.MkDir", lambda tf, folder: tf.gfile.MkDir(os.path.join(folder, "a", "b")))
in_folder("gfile.Copy", lambda tf, folder: tf.gfile.Copy(os.path.join(folder, "a"), os.path.join(folder, "b")))
in_folder("gfile.Copy", lambda tf, folder: [tf.gfile.GFile(os.path.join(folder, name), "w").close() or open(
    os.path.join(folder, name), "w").close() for name in "ab"] and tf.gfile.Copy(
        os.path.join(folder, "a"), os.path.join(folder, "b")))
in_folder("gfile.Rename", lambda tf, folder: [open(os.path.join(folder, name), "w").close() for name in "ab"]
          and tf.gfile.Rename(os.path.join(folder, "a"), os.path.join(folder, "b")))
in_folder("gfile.GFile", lambda tf, folder: tf.gfile.GFile(os.path.join(folder, "no")).read())
in_folder("gfile.GFile", lambda tf, folder: tf.gfile.GFile(os.path.join(folder, "no"), "x"))
in_folder("gfile.GFile", lambda tf, folder: tf.gfile.GFile(os.path.join(folder, "no"), "w").read())

# Messages.


def logged(tf, write):
    """What the functions write, with the levels."""
    records = []

    class Keep(logging.Handler):
        def emit(self, record):
            records.append((record.levelname, record.getMessage()))

    logger, keep = logging.getLogger("tensorflow"), Keep()
    before = tf.logging.get_verbosity()
    logger.addHandler(keep)
    others = [handler for handler in logger.handlers if handler is not keep]
    for handler in others:
        logger.removeHandler(handler)
    try:
        tf.logging.set_verbosity(tf.logging.INFO)
        result = write(tf.logging)
    finally:
        logger.removeHandler(keep)
        for handler in others:
            logger.addHandler(handler)
        tf.logging.set_verbosity(before)
    return [records, result]


def many(log):
    for i in range(5):
        log.log_every_n(log.WARN, "every %d", 2, i)
        log.log_first_n(log.ERROR, "first %d", 2, i)
        log.log_if(log.INFO, "if %d", i > 3, i)


case("logging.debug logging.info logging.warn logging.warning logging.error logging.fatal logging.log logging.vlog "
     "logging.TaskLevelStatusMessage logging.get_verbosity logging.set_verbosity", lambda tf: logged(tf, lambda log: [
         log.debug("hidden %d", 1), log.info("i %d %s", 1, "x"), log.warn("w %d", 2), log.warning("v"),
         log.error("e %s", "y"),
         log.fatal("f %d", 3), log.log(log.WARN, "l %d", 4), log.vlog(log.INFO, "vl %d", 5),
         log.TaskLevelStatusMessage("t"),
         log.get_verbosity(), log.set_verbosity("ERROR"), log.get_verbosity(), log.info("hidden"),
         [log.DEBUG, log.INFO, log.WARN, log.ERROR, log.FATAL]]))
case("logging.log_every_n logging.log_first_n logging.log_if", lambda tf: logged(tf, many))

# Summaries.


def summaries(tf):
    x = tf.constant(floats(2, 3))
    with tf.name_scope("scope"):
        made = [tf.summary.scalar("a b", tf.constant(1.5), collections=["own"], family="f"),
                tf.summary.histogram("h", x, family="g"),
                tf.summary.text("t", tf.constant(["x", "y"]), collections=["own"]),
                tf.summary.tensor_summary("ts", x, display_name="shown")]
    merged = [tf.summary.merge(made[:3], collections=["merged"], name="m"), tf.summary.merge_all("own", name="all"),
              tf.summary.merge_all(scope="scope/h"), tf.summary.merge_all("no"), len(tf.get_collection("summaries")),
              len(tf.get_collection("merged"))]
    return [made[:4], merged]


case("summary.scalar summary.histogram summary.text summary.tensor_summary summary.merge summary.merge_all", summaries)


def images(tf):
    """The fields of encoded images and sounds; the encoders of the packages may differ."""
    made = [tf.summary.image("i", tf.constant(floats(2, 4, 4, 3)), max_outputs=1, family="f"),
            tf.summary.audio("s", tf.constant(floats(1, 8) / 2), sample_rate=8000.0, max_outputs=1, family="f")]
    with tf.Session() as session:
        image, sound = (tf.Summary.FromString(value) for value in session.run(made))
    return [[t.name for t in made], [v.tag for v in image.value], image.value[0].image.height,
            image.value[0].image.colorspace,
            [v.tag for v in sound.value], sound.value[0].audio.sample_rate, sound.value[0].audio.length_frames]


case("summary.image summary.audio", images)


def written(tf, folder):
    step = tf.constant(2.5)
    summary = tf.summary.scalar("a", step)
    with tf.Session() as session, tf.summary.FileWriter(folder, tf.get_default_graph(),
                                                        filename_suffix=".end") as writer:
        writer.add_summary(session.run(summary), global_step=3)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="own", simple_value=1.5)]), 4)
        writer.add_event(tf.Event(step=9, file_version="x"))
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), global_step=5)
        writer.add_run_metadata(tf.RunMetadata(), "tag", 6)
        writer.flush()
        names = os.listdir(folder)
    writer = tf.summary.FileWriterCache.get(folder)
    same = writer is tf.summary.FileWriterCache.get(folder)
    tf.summary.FileWriterCache.clear()
    path = os.path.join(folder, names[0])
    events = [(event.step, event.WhichOneof("what"), [(v.tag, v.simple_value) for v in event.summary.value])
              for event in tf.train.summary_iterator(path)]
    events = [event for event in events if event[1] not in ("graph_def", "meta_graph_def")]
    return [len(names), names[0].endswith(".end"), events, same, writer.get_logdir() == folder]


in_folder("summary.FileWriter summary.FileWriterCache train.summary_iterator", written)
case("train.summary_iterator", lambda tf: list(tf.train.summary_iterator("/no/such/file")))
case("summary.get_summary_description", lambda tf: tf.summary.get_summary_description(tf.constant(1.0).op.node_def))
case("summary.all_v2_summary_ops", lambda tf: tf.summary.all_v2_summary_ops())

# Data.


def rows(tf, dataset, initializable=False, count=8):
    """The elements of a dataset."""
    iterator = tf.data.make_initializable_iterator(dataset, shared_name="s") if initializable else (
        tf.data.make_one_shot_iterator(dataset))
    following = iterator.get_next("next")
    types = tf.data.get_output_types(dataset), tf.data.get_output_shapes(dataset), tf.data.get_output_types(iterator)
    classes = tf.data.get_output_classes(dataset)
    found = []
    with tf.Session() as session:
        if initializable:
            session.run(iterator.initializer)
        try:
            for _ in range(count):
                found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            found.append("end")
    flat = [[np.asarray(part).tolist() for part in (row if isinstance(row, tuple) else [row])] for row in found]
    return [flat, types[0], types[2], str(types[1]), str(getattr(classes, "__name__", "tuple"))]


for make in (
    lambda d, tf: d.range(5).map(lambda x: (x, x * x)).batch(2),
    lambda d, tf: d.range(2, 9, 3).repeat(2).skip(1).take(4),
    lambda d, tf: d.from_tensors(([1, 2], "a")),
    lambda d, tf: d.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]}).map(lambda r: r["b"]),
    lambda d, tf: d.zip((d.range(3), d.range(5, 9))),
    lambda d, tf: d.range(6).filter(lambda x: tf.equal(x % 2, 0)).prefetch(1),
    lambda d, tf: d.range(3).flat_map(lambda x: d.from_tensors(x).repeat(x)),
    lambda d, tf: d.range(8).shuffle(4, seed=3),
    lambda d, tf: d.range(2).interleave(lambda x: d.from_tensors(x).repeat(3), cycle_length=2, block_length=2),
    lambda d, tf: d.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(
        2, padded_shapes=[None], padding_values=tf.cast(9, tf.int64)),
    lambda d, tf: d.range(3).concatenate(d.range(2)).shard(2, 1),
    lambda d, tf: d.range(4).batch(3, drop_remainder=True).unbatch(),
    lambda d, tf: d.range(3).apply(lambda s: s.map(lambda x: x + 1)),
    lambda d, tf: d.range(3).cache().enumerate(start=5),
):
    case(
        "data.Dataset data.make_one_shot_iterator data.get_output_types data.get_output_shapes data.get_output_classes",
         lambda tf, make=make: rows(tf, make(tf.data.Dataset, tf)), **QUIET)
case("data.Dataset data.make_initializable_iterator", lambda tf: rows(tf, tf.data.Dataset.range(3), initializable=True),
     **QUIET)
case("data.Dataset", lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])))
case("data.Dataset", lambda tf: rows(tf, tf.data.Dataset.range(3).batch(0)))


def structured(tf):
    first, second = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
    iterator = tf.data.Iterator.from_structure(first.output_types if hasattr(first, "output_types") else tf.int64,
                                               tf.data.get_output_shapes(first))
    following = iterator.get_next()
    inits = [iterator.make_initializer(dataset) for dataset in (first, second)]
    with tf.Session() as session:
        found = []
        for init in inits:
            session.run(init)
            found += [session.run(following), session.run(following)]
    return found


case("data.Iterator", structured, **QUIET)


def read_files(tf, folder):
    text, records, fixed = (os.path.join(folder, name) for name in ("a.txt", "r", "f"))
    with open(text, "w") as file:
        file.write("one\ntwo\n")
    with tf.io.TFRecordWriter(records) as writer:
        for value in (b"x", b"yy"):
            writer.write(value)
    with open(fixed, "wb") as file:
        file.write(b"h" + b"abcd" + b"ef")
    return [rows(tf, tf.data.TextLineDataset([text], buffer_size=100)),
            rows(tf, tf.data.TFRecordDataset(records, buffer_size=10)),
            rows(tf, tf.data.FixedLengthRecordDataset([fixed], record_bytes=2, header_bytes=1, footer_bytes=0)),
            rows(tf, tf.data.FixedLengthRecordDataset(fixed, 2, 1, footer_bytes=2))]


in_folder("data.TextLineDataset data.TFRecordDataset data.FixedLengthRecordDataset", read_files, **QUIET)


def started(tf):
    seen = []
    try:
        tf.app.run(main=lambda argv: seen.append(argv) or 3, argv=["prog", "a", "b"])
    except SystemExit as end:
        seen.append(end.code)
    return seen


case("app.run", started)
