"""tensorflow.python.estimator.gc: chooses which export folders are kept, by the version numbers in their names."""

import collections
import heapq
import math
import os

from tensorbraid import gfile

__all__ = ["Path"]

Path = collections.namedtuple("Path", ["path", "export_version"])


def _largest_export_versions(n):
    """A function that keeps the n paths with the largest versions."""
    def keep(paths):
        largest = heapq.nlargest(n, ((path.export_version, i) for i, path in enumerate(paths)))
        return sorted(paths[i] for _, i in largest)

    return keep


def _one_of_every_n_export_versions(n):
    """A function that keeps the path with the largest version in each interval of n versions."""
    def keep(paths):
        kept = {}
        for path in sorted(paths):
            kept[math.floor((path.export_version - 1) / n) if path.export_version else 0] = path
        return sorted(kept.values())

    return keep


def _mod_export_version(n):
    """A function that keeps the paths whose versions are multiples of n."""
    return lambda paths: sorted(path for path in paths if path.export_version % n == 0)


def _union(lf, rf):
    """A function that keeps the paths that `lf` or `rf` keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def _negation(f):
    """A function that keeps the paths that `f` does not keep."""
    def keep(paths):
        others = set(f(paths))
        return sorted(path for path in paths if path not in others)

    return keep


def _get_paths(base_dir, parser):
    """The Paths of the export folders in `base_dir`.

    `parser` adds the version to a Path, or returns None for others.
    """
    if not gfile.isdir(base_dir):
        return []
    folders = (Path(os.path.join(base_dir, name.rstrip("/")), None) for name in gfile.listdir(base_dir))
    return sorted(path for path in map(parser, folders) if path)


largest_export_versions, one_of_every_n_export_versions = _largest_export_versions, _one_of_every_n_export_versions
mod_export_version, union, negation, get_paths = _mod_export_version, _union, _negation, _get_paths
