"""Lets programs find an installed TensorFlow, which is this package, when they ask for its version.

Its version says that DeepRec's names are there: some of DeepRec's programs look for this word before they use them.
"""

import importlib.metadata
import re
import sys

from tensorbraid import versions
from tensorbraid.runner import after_import

VERSION = f"{versions.VERSION}+deeprec"


class _Installed(importlib.metadata.Distribution):
    """What is known of the package that programs take for TensorFlow."""

    def read_text(self, filename):
        return f"Metadata-Version: 2.1\nName: tensorflow\nVersion: {VERSION}\n" if filename == "METADATA" else None

    def locate_file(self, path):
        raise FileNotFoundError(f"{path}: TensorFlow is not installed, but stands for another package")


class _Finder(importlib.metadata.DistributionFinder):
    """Finds the distribution `tensorflow`, and no module."""

    def find_spec(self, fullname, path=None, target=None):
        return None

    def find_distributions(self, context=importlib.metadata.DistributionFinder.Context()):
        return [_Installed()] if _is_tensorflow(context.name) else []


def _is_tensorflow(name):
    return name is not None and re.sub(r"[-_.]+", "-", name).lower() == "tensorflow"


class DistributionNotFound(Exception):
    """A distribution is not installed."""


class _Known:
    """A distribution as pkg_resources describes it."""

    def __init__(self, name, version):
        self.project_name, self.version = name, version
        self.key = name.lower()


def get_distribution(dist):
    """The name and version of an installed distribution, for programs where pkg_resources is missing."""
    try:
        return _Known(dist, importlib.metadata.version(dist))
    except importlib.metadata.PackageNotFoundError as error:
        raise DistributionNotFound(f"the distribution {dist!r} is not installed") from error


def _add_to_working_set(pkg_resources):
    if "tensorflow" not in pkg_resources.working_set.by_key:
        pkg_resources.working_set.add(pkg_resources.Distribution(project_name="tensorflow", version=VERSION))


def install():
    """Lets this process find it, once. A TensorFlow that is installed is found first."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
        after_import.change("pkg_resources", _add_to_working_set)
