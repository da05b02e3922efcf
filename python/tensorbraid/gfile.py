"""tf.gfile and tf.io.gfile: local files. Errors are those of tensorbraid.errors; other file systems are refused."""

import contextlib
import errno
import glob as _glob
import os
import shutil

from tensorbraid import errors
from tensorbraid.compat import as_bytes, as_text, path_to_str
from tensorbraid.internal import arguments

__all__ = []

_CLASSES = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
}


@contextlib.contextmanager
def _translated(path):
    try:
        yield
    except OSError as error:
        raise _CLASSES.get(error.errno, errors.UnknownError)(None, None, f"{path}; {error.strerror}") from None


def _local(path):
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(arguments.about(path, f"Expected binary or unicode string, got {path!r}"))
    path = as_text(path_to_str(path))
    scheme, colon, rest = path.partition("://")
    if not colon:
        return path
    if scheme == "file":
        return rest
    raise errors.UnimplementedError(None, None, f"File system scheme '{scheme}' not implemented (file: '{path}')")


class GFile:
    """A file. It is opened by its first read or write, so that a writer that writes nothing makes no file."""

    _MODES = ("r", "w", "a", "r+", "w+", "a+")

    def __init__(self, name, mode="r"):
        self._name, self._mode, self._file = name, mode, None
        if mode.replace("b", "") not in self._MODES:
            raise errors.InvalidArgumentError(None, None, f"the mode is {mode!r}, but must be one of {self._MODES}")
        self._binary = "b" in mode

    name = property(lambda self: self._name)
    mode = property(lambda self: self._mode)

    def _open(self, read=False):
        mode = self._mode.replace("b", "")
        if read and mode in ("w", "a"):
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if not read and mode == "r":
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._file is None:
            path = _local(self._name)
            with _translated(path):
                self._file = open(path, mode + "b")
        return self._file

    def _text(self, data):
        return data if self._binary else as_text(data)

    def size(self):
        """The number of bytes in the file."""
        return stat(self._name).length

    def read(self, n=-1):
        """The next n bytes, or the rest; as text unless the mode has a "b"."""
        file = self._open(read=True)
        with _translated(self._name):
            return self._text(file.read(n))

    def readline(self):
        """The next line, with its end; empty at the end of the file."""
        return self._text(self._open(read=True).readline())

    def readlines(self):
        """The lines that have not been read."""
        return list(self)

    def write(self, file_content):
        """Adds text or bytes."""
        file = self._open()
        with _translated(self._name):
            file.write(as_bytes(file_content))

    def seek(self, offset=None, whence=0, position=None):
        """Goes to a position in the file."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError(None, None, f"whence is {whence}, but must be 0, 1 or 2")
        self._open(read=True).seek(position if offset is None else offset, whence)

    def seekable(self):
        """Whether `seek` works, which it does."""
        return True

    def tell(self):
        """The position in the file."""
        return self._open(read="r" in self._mode or "+" in self._mode).tell()

    def flush(self):
        """Gives what was written to the system."""
        if self._file is not None:
            with _translated(self._name):
                self._file.flush()

    def close(self):
        """Closes the file."""
        if self._file is not None:
            with _translated(self._name):
                self._file.close()
        self._file = None

    def __iter__(self):
        return self

    def __next__(self):
        """The next line."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __del__(self):
        self.close()


Open = FastGFile = GFile


class FileStatistics:
    """The result of Stat."""

    def __init__(self, length, mtime_nsec, is_directory):
        self.length, self.mtime_nsec, self.is_directory = length, mtime_nsec, is_directory


def exists(path):
    """Whether there is a file or folder of this name."""
    return os.path.exists(_local(path))


def isdir(path):
    """Whether there is a folder of this name."""
    return os.path.isdir(_local(path))


def mkdir(path):
    """Makes a directory in one that exists. Nothing happens if there is one with this name."""
    if os.path.exists(_local(path)):
        return
    with _translated(path):
        os.mkdir(_local(path))


def makedirs(path):
    """Makes a directory and those above it, as far as they do not exist."""
    path = _local(path)
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise errors.FailedPreconditionError(None, None, f"{path}: a part of it is a file") from None
    except OSError as error:
        raise _CLASSES.get(error.errno, errors.UnknownError)(None, None, f"{path}; {error.strerror}") from None


def listdir(path):
    """The names in a directory, in any order."""
    path = _local(path)
    if not os.path.isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    with _translated(path):
        return os.listdir(path)


def glob(pattern):
    """The files that match the pattern, or one of a list of patterns."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else arguments.items(
        "pattern", pattern, "a pattern or a list of patterns")
    return [path for item in patterns for path in _glob.glob(_local(item))]


def copy(src, dst, overwrite=False):
    """Copies a file. An existing one is an error, unless `overwrite` is true."""
    _refuse_existing(dst, overwrite)
    if isdir(src):
        raise errors.InvalidArgumentError(None, None, f"{src} is a directory")
    with _translated(src if not exists(src) else dst):
        shutil.copyfile(_local(src), _local(dst))


def rename(src, dst, overwrite=False):
    """Renames a file or folder. An existing one is an error, unless `overwrite` is true."""
    _refuse_existing(dst, overwrite)
    with _translated(src):
        os.replace(_local(src), _local(dst))


def _refuse_existing(dst, overwrite):
    if not overwrite and exists(dst):
        raise errors.AlreadyExistsError(None, None, f"{dst}: file already exists")


def remove(path):
    """Removes a file."""
    with _translated(path):
        os.remove(_local(path))


def rmtree(path):
    """Removes a file, or a directory with all that is in it."""
    local = _local(path)
    with _translated(path):
        if os.path.isdir(local) and not os.path.islink(local):
            shutil.rmtree(local)
        else:
            os.remove(local)


def stat(path):
    """The size, time of the last change in nanoseconds, and kind of a file."""
    with _translated(path):
        found = os.stat(_local(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(_local(path)))


def walk(top, topdown=True, onerror=None):
    """Triples of a directory, its subdirectories and its files, for a directory and all below it."""
    return os.walk(_local(top), topdown, onerror)


def join(path, *paths):
    """The parts as one path."""
    return os.path.join(path, *paths)


def get_registered_schemes():
    """The schemes of the file systems that exist; "" is the local one."""
    return ["", "file"]


# The names of tf.gfile, whose parameters have other names.


def Exists(filename):
    """Whether there is a file or folder of this name."""
    return exists(filename)


def IsDirectory(dirname):
    """Whether there is a folder of this name."""
    return isdir(dirname)


def MkDir(dirname):
    """Makes a folder. Its parent must exist."""
    mkdir(dirname)


def MakeDirs(dirname):
    """Makes a folder and its parents."""
    makedirs(dirname)


def ListDirectory(dirname):
    """The names of what is in a folder."""
    return listdir(dirname)


def DeleteRecursively(dirname):
    """Deletes a folder and all that is in it."""
    rmtree(dirname)


def Stat(filename):
    """The FileStatistics of a file: `length`, `mtime_nsec`, `is_directory`."""
    return stat(filename)


def Glob(filename):
    """The files that match a pattern, or one of several."""
    return glob(filename)


def Copy(oldpath, newpath, overwrite=False):
    """Copies a file. An existing one is an error, unless `overwrite` is true."""
    copy(oldpath, newpath, overwrite)


def Rename(oldname, newname, overwrite=False):
    """Renames a file or folder. An existing one is an error, unless `overwrite` is true."""
    rename(oldname, newname, overwrite)


def Remove(filename):
    """Deletes a file."""
    remove(filename)


def Walk(top, in_order=True):
    """Goes through a folder and those in it: (folder, its folders, its files) for each."""
    return walk(top, in_order)
