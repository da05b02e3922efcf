"""tf.resource_loader: files beside the program's source files."""

import os
import sys

__all__ = []


def get_data_files_path():
    """The folder of the file that calls this function."""
    return _folder(sys._getframe(1))


def get_root_dir_with_all_resources():
    """As get_data_files_path: a program that no build tool has packed has its files there."""
    return _folder(sys._getframe(1))


def get_path_to_datafile(path):
    """The path of a file that is given relative to the file that calls this function."""
    return os.path.join(_folder(sys._getframe(1)), path)


def load_resource(path):
    """The bytes of a file that is given relative to the file that calls this function."""
    with open(os.path.join(_folder(sys._getframe(1)), path), "rb") as file:
        return file.read()


def readahead_file_path(path, readahead="128M"):
    """The path itself: files are not read ahead."""
    return path


def _folder(frame):
    return os.path.dirname(os.path.abspath(frame.f_code.co_filename))
