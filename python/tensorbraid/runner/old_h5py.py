"""What h5py did before version 3, which programs of TensorFlow 1's time expect."""

import functools
import os

import numpy as np


class _Text(str):
    """The text of an attribute, with the method of the bytes that h5py returned."""

    def decode(self, encoding="utf-8", errors="strict"):
        return str(self)


def _restore_attributes(manager):
    """Texts have `decode`, and a list of bytes is stored as texts of one length, which are read as bytes."""
    get, set_value = manager.__getitem__, manager.__setitem__

    def getitem(self, name):
        value = get(self, name)
        if type(value) is str:
            return _Text(value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            value.flat = [_Text(item) if type(item) is str else item for item in value.flat]
        return value

    def setitem(self, name, value):
        is_bytes = isinstance(value, (list, tuple)) and value and all(isinstance(item, bytes) for item in value)
        set_value(self, name, np.asarray(value) if is_bytes else value)

    manager.__getitem__, manager.__setitem__ = getitem, setitem


def _restore_mode(file):
    """A file without a mode is opened to read and write, and made if it does not exist; h5py 3 opens it to read."""
    init = file.__init__

    @functools.wraps(init)
    def __init__(self, name, mode=None, *args, **kwargs):
        if mode is None:
            is_path = isinstance(name, (str, bytes, os.PathLike))
            is_fixed = is_path and os.path.exists(name) and not os.access(name, os.W_OK)
            mode = "r" if is_fixed else "a"
        init(self, name, mode, *args, **kwargs)

    file.__init__ = __init__


def restore(h5py):
    """Changes the module."""
    _restore_attributes(h5py.AttributeManager)
    _restore_mode(h5py.File)
    for kind, name, value in ((h5py.Dataset, "value", lambda self: self[()]), (h5py.File, "fid", lambda self: self.id)):
        if not hasattr(kind, name):
            setattr(kind, name, property(value))


def classes(h5py):
    """The classes File and Group that do what `restore` makes the module do, and leave the module as it is."""
    attributes = type("AttributeManager", (h5py.AttributeManager,), {})
    _restore_attributes(attributes)

    def wrapped(value):
        return Group(value.id) if isinstance(value, h5py.Group) else value

    class _Group:
        attrs = property(lambda self: attributes(self))

        def __getitem__(self, name):
            return wrapped(super().__getitem__(name))

        def create_group(self, *args, **kwargs):
            return wrapped(super().create_group(*args, **kwargs))

    class File(_Group, h5py.File):
        pass

    class _GroupMeta(type(h5py.Group)):
        def __instancecheck__(cls, value):  # a file or a group that the program has opened is one, too
            return isinstance(value, h5py.Group)

    class Group(_Group, h5py.Group, metaclass=_GroupMeta):
        pass

    _restore_mode(File)
    return {"File": File, "Group": Group}
