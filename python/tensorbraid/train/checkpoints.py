"""The files of checkpoints: which there are, and what is in them."""

import collections
import os
import time

from tensorbraid import _core, dtypes, errors

__all__ = [
    "NewCheckpointReader", "checkpoint_exists", "checkpoints_iterator", "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes", "get_checkpoint_state", "latest_checkpoint", "list_variables", "load_checkpoint",
    "load_variable", "remove_checkpoint", "update_checkpoint_state"]

CheckpointState = collections.namedtuple("CheckpointState", [
    "model_checkpoint_path", "all_model_checkpoint_paths", "all_model_checkpoint_timestamps",
    "last_preserved_timestamp"])
CheckpointState.__doc__ = "The content of a directory's file `checkpoint`. The last path is that of the latest."


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint with this path."""
    return _core.checkpoint_exists(str(checkpoint_prefix))


def has_increments(directory):
    """Whether increments are listed in a directory of checkpoints. False for what is no path: other checks say so."""
    return isinstance(directory, (str, bytes, os.PathLike)) and _core.has_increments(os.fsdecode(directory))


def is_followed(path):
    """Whether increments may follow the checkpoint: it is the latest one of its directory, which lists some."""
    if not path or not isinstance(path, (str, os.PathLike)):  # other checks say so
        return False
    directory = os.path.dirname(os.path.abspath(path))
    if not has_increments(directory):
        return False
    latest = latest_checkpoint(directory)
    return latest is not None and os.path.abspath(path) == os.path.abspath(latest)


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of the directory; None if it has none."""
    try:
        return CheckpointState(*_core.get_checkpoint_state(str(checkpoint_dir), latest_filename or "checkpoint"))
    except errors.NotFoundError:
        return None


def latest_checkpoint(checkpoint_dir, latest_filename=None) -> str | None:
    """The path of the directory's latest checkpoint; None if it has none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    path = state and state.model_checkpoint_path
    return path if path and checkpoint_exists(path) else None


def _paths_and_times(model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps):
    """All paths, of which that of the model is the last, and their times."""
    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError("Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
                         f"{paths} and timestamps {times})")
    return paths, times


def generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                                    all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """A CheckpointState whose paths are relative to `save_dir` if the directory is relative itself."""
    paths, times = _paths_and_times(model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps)
    if not os.path.isabs(save_dir):
        paths, model_checkpoint_path = ([os.path.relpath(path, save_dir) for path in paths],
                                        os.path.relpath(model_checkpoint_path, save_dir))
    return CheckpointState(model_checkpoint_path, paths, times, last_preserved_timestamp or 0.0)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Yields the paths of new checkpoints. After `timeout` seconds without one it ends, if timeout_fn() is true."""
    last = None
    while True:
        began = time.monotonic()
        path = _new_checkpoint(checkpoint_dir, last, timeout)
        if path is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last = path
        yield path
        time.sleep(max(0, min_interval_secs - (time.monotonic() - began)))


def _new_checkpoint(checkpoint_dir, last, timeout, poll_seconds=1):
    """The path of the latest checkpoint once it is another one than `last`; None after the timeout."""
    end = None if timeout is None else time.monotonic() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last:
            return path
        if end is not None and time.monotonic() + poll_seconds > end:
            return None
        time.sleep(poll_seconds)


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """Replaces the directory's file `checkpoint`."""
    paths, times = _paths_and_times(model_checkpoint_path, all_model_checkpoint_paths, all_model_checkpoint_timestamps)
    _core.update_checkpoint_state(str(save_dir), model_checkpoint_path, paths, times, last_preserved_timestamp or 0.0,
                                  latest_filename or "checkpoint")


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Removes the checkpoint's files, and the graph beside them."""
    if checkpoint_format_version != 2 or meta_graph_suffix != "meta":
        raise NotImplementedError("checkpoints of a format other than V2, and a meta_graph_suffix other than 'meta'")
    _core.remove_checkpoint(str(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes):
    """The times at which the checkpoints were written. Those that do not exist are left out."""
    files = [prefix + ".index" if os.path.exists(prefix + ".index") else prefix for prefix in checkpoint_prefixes]
    return [os.path.getmtime(file) for file in files if os.path.isfile(file)]


class NewCheckpointReader:
    """Reads the tensors of a checkpoint."""

    def __init__(self, filepattern):
        self._core = _core.CheckpointReader.open(str(filepattern))
        self._tensors = {name: (dtypes.as_dtype(dtype), shape) for name, dtype, shape in self._core.tensors()}

    def has_tensor(self, tensor_str):
        """Whether the checkpoint has a tensor of this name."""
        return tensor_str in self._tensors

    def get_tensor(self, tensor_str):
        """The value as a NumPy array. NotFoundError if there is none with this name."""
        return self._core.get_tensor(tensor_str)

    def get_variable_to_shape_map(self):
        """The shapes of the tensors by name."""
        return {name: list(shape) for name, (_, shape) in self._tensors.items()}

    def get_variable_to_dtype_map(self):
        """The dtypes of the tensors by name."""
        return {name: dtype for name, (dtype, _) in self._tensors.items()}


def checkpoint_path(ckpt_dir_or_file):
    """The path of a checkpoint: the argument, or the latest checkpoint if the argument is a directory.

    ValueError for a directory without a checkpoint.
    """
    path = str(ckpt_dir_or_file)
    if not os.path.isdir(path):
        return path
    latest = latest_checkpoint(path)
    if latest is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
    return latest


def load_checkpoint(ckpt_dir_or_file):
    """A reader for a checkpoint, or for the latest one of a directory."""
    return NewCheckpointReader(checkpoint_path(ckpt_dir_or_file))


def load_variable(ckpt_dir_or_file, name):
    """The value of a variable in a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name[:-2] if name.endswith(":0") else name)


def list_variables(ckpt_dir_or_file):
    """Pairs of the name and the shape of each variable in a checkpoint."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]
