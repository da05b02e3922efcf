"""Runs a model on the batches of an input, and yields what it predicts."""

from tensorbraid import errors, tf_logging as logging
from tensorbraid.estimator.input_pipeline import has_end
from tensorbraid.train.monitored_session import ChiefSessionCreator, MonitoredSession

__all__ = []


def warn_without_end(graph, input_hooks):
    """Warns of predictions that never end."""
    if not has_end(graph, input_hooks):
        logging.warning("Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields "
                        "forever. This is probably a mistake.")


def selected(predictions, keys):
    """The predictions that are asked for; all if `keys` is None."""
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    keys = [keys] if isinstance(keys, str) else keys
    chosen = {key: value for key, value in predictions.items() if key in keys}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {keys}.")
    return chosen


def values(graph, predictions, hooks, scaffold, checkpoint_path, config, one_by_one):
    """Yields the values of the predictions. The graph is the default one only while a step runs."""
    with graph.as_default():
        session = MonitoredSession(ChiefSessionCreator(
            scaffold, config=config, checkpoint_filename_with_path=checkpoint_path), hooks)
    try:
        while not session.should_stop():
            try:
                with graph.as_default():
                    batch = session.run(predictions)
            except (errors.OutOfRangeError, StopIteration):
                break
            yield from _examples(batch) if one_by_one else [batch]
    except BaseException as error:  # GeneratorExit, too: the program takes no more
        with graph.as_default():
            session._core.close(None if isinstance(error, GeneratorExit) else error)
        raise
    with graph.as_default():
        session.close()


def _examples(batch):
    """The rows of a batch: of an array, or of all arrays of a dict together."""
    if not isinstance(batch, dict):
        yield from batch
        return
    sizes = {key: len(value) for key, value in batch.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"Batch length of predictions should be same. The sizes of the predictions are {sizes}.")
    for i in range(next(iter(sizes.values()), 0)):
        yield {key: value[i] for key, value in batch.items()}
