"""Evaluates a checkpoint: metrics over the batches of an input."""

import time

import numpy as np

from tensorbraid import summary, tf_logging as logging
from tensorbraid.internal import graphs
from tensorbraid.train.hooks import FinalOpsHook, SessionRunHook
from tensorbraid.train.monitored_session import ChiefSessionCreator, MonitoredSession

__all__ = []


class _StopAfter(SessionRunHook):
    """Ends an evaluation after a number of batches, and logs how far it is."""

    def __init__(self, steps):
        self._steps = steps
        self._log_every = max(1, steps // 10)
        self._done = 0

    def after_run(self, run_context, run_values):
        self._done += 1
        if self._done % self._log_every == 0 or self._done == self._steps:
            logging.info("Evaluation [%d/%d]", self._done, self._steps)
        if self._done >= self._steps:
            run_context.request_stop()


def evaluate(metric_ops, global_step, steps, hooks, scaffold, checkpoint_path, master, config):
    """The values of the metrics after `steps` batches, or after all if that is None, and the global step."""
    updates = [getattr(update, "op", update) for _, update in metric_ops.values()]
    update = graphs.make_op("NoOp", [], "group_deps") if not updates else _grouped(updates)
    values = FinalOpsHook({**{key: value for key, (value, _) in metric_ops.items()}, "global_step": global_step})
    hooks = list(hooks) + ([] if steps is None else [_StopAfter(steps)]) + [values]
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_filename_with_path=checkpoint_path)
    start = time.time()
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%S"))
    with MonitoredSession(creator, hooks) as session:
        while not session.should_stop():
            session.run(update)
    logging.info("Inference Time : %.5fs", time.time() - start)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S"))
    return values.final_ops_values


def _grouped(operations):
    with graphs.control_dependencies(operations):
        return graphs.make_op("NoOp", [], "group_deps")


def write(directory, values, checkpoint_path):
    """Adds the values to the event files of the directory, at their global step."""
    from tensorbraid import proto

    step = int(values["global_step"])
    logging.info("Saving dict for global step %d: %s", step,
                 ", ".join(f"{key} = {value}" for key, value in sorted(values.items())))
    message = proto.Summary()
    for key in sorted(values):
        if key != "global_step":
            _add(message, key, values[key])
    writer = summary.FileWriterCache.get(directory)
    writer.add_summary(message, step)
    if checkpoint_path:
        logging.info("Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path)
        where = proto.Summary()
        where.value.add(tag="checkpoint_path").tensor.CopyFrom(_string_tensor(checkpoint_path))
        writer.add_summary(where, step)
    writer.flush()


def _add(message, key, value):
    """Adds one metric: a number, a serialized Summary, or an array, which TensorBoard does not show."""
    if value is None:
        return
    if isinstance(value, (bytes, np.bytes_)):
        parsed = type(message).FromString(bytes(value))
        for i, part in enumerate(parsed.value):
            part.tag = f"{key}/{i}"
            message.value.add().CopyFrom(part)
        return
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype.kind in "fiub":
        message.value.add(tag=key, simple_value=float(array))
    elif array.dtype.kind in "fiub":
        entry = message.value.add(tag=key, node_name=key)
        entry.tensor.CopyFrom(_tensor(array))
    else:
        logging.warning("The metric %s is not written to the event file: it is neither a number nor a summary.", key)


def _tensor(array):
    from tensorbraid import dtypes, proto

    message = proto.TensorProto(dtype=dtypes.as_dtype(array.dtype).as_datatype_enum,
                                tensor_content=np.ascontiguousarray(array).tobytes())
    for size in array.shape:
        message.tensor_shape.dim.add(size=size)
    return message


def _string_tensor(text):
    from tensorbraid import dtypes, proto

    return proto.TensorProto(dtype=dtypes.string.as_datatype_enum, tensor_shape=proto.TensorShapeProto(),
                             string_val=[str(text).encode()])
