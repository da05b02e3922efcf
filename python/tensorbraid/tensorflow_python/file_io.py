"""tensorflow.python.lib.io.file_io: tf.gfile under the names of functions."""

from tensorbraid import gfile
from tensorbraid.gfile import GFile as FileIO  # noqa: F401
from tensorbraid.gfile import glob as get_matching_files  # noqa: F401
from tensorbraid.gfile import isdir as is_directory, listdir as list_directory  # noqa: F401
from tensorbraid.gfile import makedirs as recursive_create_dir  # noqa: F401
from tensorbraid.gfile import exists as file_exists, mkdir as create_dir, remove as delete_file  # noqa: F401
from tensorbraid.gfile import copy, rename, rmtree as delete_recursively, stat, walk  # noqa: F401

__all__ = []


def read_file_to_string(filename, binary_mode=False):
    """The content of a file."""
    with gfile.GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename, file_content):
    """Writes a file."""
    with gfile.GFile(filename, "w") as file:
        file.write(file_content)
