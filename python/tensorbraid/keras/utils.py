"""tf.keras.utils: files from the network, and classes as rows."""

import hashlib
import os
import shutil
import tarfile
import urllib.request
import zipfile

import numpy as np

from tensorbraid.keras import added_arguments, library

__all__ = ["get_file", "to_categorical"]


def get_file(fname, origin, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets", hash_algorithm="auto",
             extract=False, archive_format="auto", cache_dir=None):
    """The path of the file `fname` in the folder `~/.keras/datasets`. It is downloaded if it is not there.

    With `untar` or `extract`, the archive is unpacked beside it.
    """
    if archive_format not in ("auto", "tar", "zip"):
        raise NotImplementedError(f"the archive format {archive_format!r} of get_file")
    folder = os.path.join(cache_dir or os.path.expanduser("~/.keras"), cache_subdir)
    os.makedirs(folder, exist_ok=True)
    wanted = file_hash or md5_hash
    path = os.path.join(folder, fname + ".tar.gz" if untar else fname)
    if not os.path.exists(path) or wanted and not _has_hash(path, wanted, hash_algorithm):
        print("Downloading data from", origin)
        _download(origin, path)
        if wanted and not _has_hash(path, wanted, hash_algorithm):
            raise ValueError(f"Incomplete or corrupted file: {path} does not have the hash {wanted}")
    unpacked = os.path.join(folder, fname)
    if untar and os.path.exists(unpacked):
        return unpacked
    if untar or extract:
        _unpack(path, folder, archive_format)
    return unpacked


def _download(origin, path):
    """The file gets its name when it is complete."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with urllib.request.urlopen(origin) as source, open(part, "wb") as target:
            shutil.copyfileobj(source, target)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def _has_hash(path, wanted, algorithm):
    algorithm = "sha256" if algorithm == "sha256" or algorithm == "auto" and len(wanted) == 64 else "md5"
    with open(path, "rb") as file:
        return hashlib.new(algorithm, file.read()).hexdigest() == wanted


def _unpack(path, folder, archive_format):
    if archive_format != "zip" and tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    elif archive_format != "tar" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)


def to_categorical(y, num_classes=None, dtype="float32"):
    """For each class number a row with 1 in its column and 0 elsewhere."""
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.ndim > 1 and y.shape[-1] == 1 else y.shape
    return np.eye(num_classes or int(y.max()) + 1, dtype=dtype)[y.reshape(shape)]


def __getattr__(name):
    """The library's names, if it is installed."""
    try:
        if name == "register_keras_serializable":
            library.module("utils.generic_utils")
            return added_arguments.register_keras_serializable
        return library.find(__name__, "utils.data_utils" if name == "SequenceEnqueuer" else "utils", name)
    except library.Unavailable as error:
        raise AttributeError(f"tf.keras.utils.{name}: {error}") from None
