"""tf.summary: values of a training run, which TensorBoard shows."""

import os
import threading
import time

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs, meta_graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.summary_nodes import clean_name, collected, summary_scope
from tensorbraid.internal.summary_tensors import *  # noqa: F401,F403

__all__ = ["FileWriter", "FileWriterCache", "all_v2_summary_ops", "audio", "get_summary_description", "histogram", "image",
           "merge", "merge_all", "scalar", "tensor_summary", "text"]


def scalar(name, tensor, collections=None, family=None):
    """A summary of a scalar. Its tag is `name` within the open name scope."""
    with summary_scope(name, family, tensor) as (tag, scope):
        return collected(make_op("ScalarSummary", [tag, tensor], scope), collections)


def histogram(name, values, collections=None, family=None):
    """A summary of the distribution of the elements of a tensor."""
    with summary_scope(name, family, values, "HistogramSummary") as (tag, scope):
        return collected(make_op("HistogramSummary", [tag, values], scope), collections)


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """A summary of images of shape [batch, height, width, channels]."""
    with summary_scope(name, family, tensor) as (tag, scope):
        return collected(make_op("ImageSummary", [tag, tensor], scope, max_images=max_outputs), collections)


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """A summary of sound clips of shape [batch, frames] or [batch, frames, channels]."""
    with summary_scope(name, family, tensor) as (tag, scope):
        rate = graphs.convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        return collected(make_op("AudioSummaryV2", [tag, tensor, rate], scope, max_outputs=max_outputs), collections)


def merge(inputs, collections=None, name=None):
    """One summary with the values of all `inputs`."""
    inputs = arguments.items("inputs", inputs, "a list of summaries")
    if not inputs:
        raise ValueError("merge: the argument 'inputs' must have at least one summary")
    with graphs.name_scope(clean_name(name), "Merge", inputs):
        merged = make_op("MergeSummary", [inputs], clean_name(name) or "MergeSummary").outputs[0]
    for key in collections or []:
        merged.graph.add_to_collection(key, merged)
    return merged


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """One summary with the values of all summaries of a collection; None if there are none."""
    summaries = graphs.get_collection(key, scope=scope)
    return merge(summaries, name=name) if summaries else None


def _bytes(message):
    return message.SerializeToString() if hasattr(message, "SerializeToString") else bytes(message)


def _step(global_step):
    return None if global_step is None else arguments.integer("global_step", global_step)


class FileWriter:
    """Writes summaries and graphs to event files, on a thread of its own. Source: tf.summary.FileWriter.

    A protocol message is given as bytes, or as an object with SerializeToString.
    """

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None,
                 session=None):
        if session is not None:
            raise NotImplementedError("the session of a FileWriter, which writes V2 summaries")
        try:
            self._logdir = os.fsdecode(logdir)
        except TypeError:
            raise TypeError(arguments.must_be("logdir", "a path", logdir)) from None
        self._core = _core.FileWriter.open(self._logdir, max_queue, flush_secs, filename_suffix or "")
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            self._add_meta_graph_of(graph_def if graph is None else graph)

    def _add_meta_graph_of(self, graph):
        """Adds the MetaGraphDef of a tf.Graph, or of a GraphDef and the collections of the default graph."""
        if isinstance(graph, graphs.Graph):
            meta_graph = meta_graphs.meta_graph_of(graph)
        else:
            meta_graph = meta_graphs.meta_graph_of(graphs.get_default_graph())
            meta_graph.graph_def.ParseFromString(graph.SerializeToString())
        self.add_meta_graph(meta_graph)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def get_logdir(self):
        """The folder of the files."""
        return self._logdir

    def add_summary(self, summary, global_step=None):
        """Adds a fetched summary, or a Summary message."""
        arguments.check(isinstance(summary, bytes) or hasattr(summary, "SerializeToString"), "summary",
                        "what session.run returns for a summary, or a tf.Summary", summary)
        self._core.add_summary(_bytes(summary), _step(global_step))

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Adds a graph, a tf.Graph or a GraphDef, which TensorBoard shows."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph_def if graph is None else graph
        if isinstance(given, graphs.Graph) and global_step is None:
            self._core.add_graph(given)
            return
        if isinstance(given, graphs.Graph):
            given = given.as_graph_def(add_shapes=True)
        elif not hasattr(given, "SerializeToString"):
            raise TypeError(f"The passed graph must be an instance of `Graph` or `GraphDef`: {given}")
        self._add_message("graph_def", given, global_step)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Adds a MetaGraphDef."""
        if not hasattr(meta_graph_def, "SerializeToString"):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add_message("meta_graph_def", meta_graph_def, global_step)

    def _add_message(self, field, message, global_step):
        """Adds an event with a message in one of its fields."""
        from tensorbraid import proto

        event = proto.Event(wall_time=time.time(), **{field: message.SerializeToString()})
        if global_step is not None:
            event.step = int(global_step)
        self._core.add_event(event.SerializeToString())

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Adds the trace of a step, under a tag that was not used before."""
        self._core.add_run_metadata(_bytes(run_metadata), tag, None if global_step is None else int(global_step))

    def add_session_log(self, session_log, global_step=None):
        """Adds a SessionLog, such as that a session has started."""
        self._core.add_session_log(_core.SessionStatus(session_log.status), getattr(session_log, "checkpoint_path", ""),
                                   None if global_step is None else int(global_step))

    def add_event(self, event):
        """Adds an Event."""
        self._core.add_event(_bytes(event))

    def flush(self):
        """Blocks until all events are visible to readers."""
        self._core.flush()

    def close(self):
        """Writes what is left, and closes the file."""
        self._core.close()

    def reopen(self):
        """Continues in a new file after close."""
        self._core.reopen()


class FileWriterCache:
    """The writers of directories, one for each."""

    _writers = {}
    _lock = threading.Lock()

    @staticmethod
    def get(logdir):
        """The writer of the directory, made if there is none."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._writers:
                FileWriterCache._writers[logdir] = FileWriter(logdir)
            return FileWriterCache._writers[logdir]

    @staticmethod
    def clear():
        """Closes and forgets all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()
