"""Modules that are gone: what programs use of imp and distutils, which were Python's, and of pkg_resources.

They are found after all other modules. So Python's own come first, and those of setuptools.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import types

from tensorbraid.runner import distutils_version, installed_tensorflow

_PY_SOURCE, _PY_COMPILED, _C_EXTENSION, _PKG_DIRECTORY, _C_BUILTIN = 1, 2, 3, 5, 6


def _load(name, loader, path, folders=None):
    """The module of this name. One that is loaded is executed once more, as imp does."""
    spec = importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=folders)
    is_new = name not in sys.modules
    module = sys.modules.setdefault(name, importlib.util.module_from_spec(spec))
    try:
        loader.exec_module(module)
    except BaseException:
        if is_new:
            del sys.modules[name]
        raise
    return sys.modules[name]


def load_source(name, pathname, file=None):
    """Loads a source file as the module `name`."""
    return _load(name, importlib.machinery.SourceFileLoader(name, pathname), pathname)


def load_compiled(name, pathname, file=None):
    """Loads a file of byte code as the module `name`."""
    return _load(name, importlib.machinery.SourcelessFileLoader(name, pathname), pathname)


def load_dynamic(name, path, file=None):
    """Loads a library as the module `name`."""
    return _load(name, importlib.machinery.ExtensionFileLoader(name, path), path)


def load_package(name, path):
    """Loads the folder of a package as the module `name`."""
    path = os.path.join(path, "__init__.py")
    return _load(name, importlib.machinery.SourceFileLoader(name, path), path, [os.path.dirname(path)])


def find_module(name, path=None):
    """The open file of a module, its path, and a description: the suffix, the mode and the kind of the file."""
    if path is None and name in sys.builtin_module_names:
        return None, None, ("", "", _C_BUILTIN)
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations is not None:
        return None, next(iter(spec.submodule_search_locations)), ("", "", _PKG_DIRECTORY)
    if isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
        suffix = next(end for end in importlib.machinery.EXTENSION_SUFFIXES if spec.origin.endswith(end))
        return open(spec.origin, "rb"), spec.origin, (suffix, "rb", _C_EXTENSION)
    if isinstance(spec.loader, importlib.machinery.SourcelessFileLoader):
        return open(spec.origin, "rb"), spec.origin, (".pyc", "rb", _PY_COMPILED)
    return open(spec.origin, encoding="utf-8"), spec.origin, (".py", "r", _PY_SOURCE)


def load_module(name, file, filename, details):
    """Loads what `find_module` has found."""
    kind = details[2]
    if kind == _C_BUILTIN:
        return importlib.import_module(name)
    load = {_PY_SOURCE: load_source, _PY_COMPILED: load_compiled, _C_EXTENSION: load_dynamic,
            _PKG_DIRECTORY: load_package}.get(kind)
    if load is None:
        raise ImportError(f"Don't know how to import {name} (type code {kind})", name=name)
    return load(name, filename)


def get_suffixes():
    """The suffixes of files that modules are in, each with the mode and the kind."""
    kinds = importlib.machinery
    return [(suffix, mode, kind) for suffixes, mode, kind in (
        (kinds.EXTENSION_SUFFIXES, "rb", _C_EXTENSION), (kinds.SOURCE_SUFFIXES, "r", _PY_SOURCE),
        (kinds.BYTECODE_SUFFIXES, "rb", _PY_COMPILED)) for suffix in suffixes]


_IMP = {
    "load_source": load_source, "load_compiled": load_compiled, "load_dynamic": load_dynamic,
    "load_package": load_package, "load_module": load_module, "find_module": find_module, "get_suffixes": get_suffixes,
    "reload": importlib.reload, "new_module": types.ModuleType, "get_magic": lambda: importlib.util.MAGIC_NUMBER,
    "acquire_lock": lambda: None, "release_lock": lambda: None, "lock_held": lambda: False,
    "PY_SOURCE": _PY_SOURCE, "PY_COMPILED": _PY_COMPILED, "C_EXTENSION": _C_EXTENSION,
    "PKG_DIRECTORY": _PKG_DIRECTORY, "C_BUILTIN": _C_BUILTIN,
}


def strtobool(val):
    """1 for "y", "yes", "t", "true", "on" and "1"; 0 for their opposites; ValueError for other texts."""
    if val.lower() in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if val.lower() in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {val!r}")


def mkpath(name, mode=0o777, verbose=1, dry_run=0):
    """Makes a folder and those that it is in. Returns those that did not exist."""
    made, path = [], os.path.normpath(name)
    while path and not os.path.isdir(path):
        made.insert(0, path)
        path = os.path.dirname(path)
    if not dry_run:
        os.makedirs(name, mode, exist_ok=True)
    return made


def copy_file(src, dst, preserve_mode=1, preserve_times=1, update=0, link=None, verbose=1, dry_run=0):
    """Copies a file, also into a folder. Returns its path, and whether it was copied."""
    dst = os.path.join(dst, os.path.basename(src)) if os.path.isdir(dst) else dst
    if update and os.path.exists(dst) and os.path.getmtime(dst) >= os.path.getmtime(src):
        return dst, 0
    if not dry_run:
        shutil.copyfile(src, dst)
        if preserve_mode:
            shutil.copymode(src, dst)
        if preserve_times:
            os.utime(dst, (os.path.getatime(src), os.path.getmtime(src)))
    return dst, 1


def copy_tree(src, dst, preserve_mode=1, preserve_times=1, preserve_symlinks=0, update=0, verbose=1, dry_run=0):
    """Copies the files of a folder and those below it into a folder, which may exist. Returns the new files."""
    if not os.path.isdir(src):
        raise OSError(f"cannot copy tree {src!r}: not a directory")
    copies = []
    mkpath(dst, dry_run=dry_run)
    for name in sorted(os.listdir(src)):
        source, target = os.path.join(src, name), os.path.join(dst, name)
        if preserve_symlinks and os.path.islink(source):
            if not dry_run:
                os.symlink(os.readlink(source), target)
            copies.append(target)
        elif os.path.isdir(source):
            copies += copy_tree(source, target, preserve_mode, preserve_times, preserve_symlinks, update,
                                dry_run=dry_run)
        else:
            copy_file(source, target, preserve_mode, preserve_times, update, dry_run=dry_run)
            copies.append(target)
    return copies


def remove_tree(directory, verbose=1, dry_run=0):
    """Removes a folder and all in it."""
    if not dry_run:
        shutil.rmtree(directory)


_MODULES = {
    "imp": _IMP,
    "distutils": {},
    "distutils.version": {"StrictVersion": distutils_version.StrictVersion,
                          "LooseVersion": distutils_version.LooseVersion},
    "distutils.util": {"strtobool": strtobool},
    "distutils.spawn": {"find_executable": lambda executable, path=None: shutil.which(executable, path=path)},
    "distutils.dir_util": {"mkpath": mkpath, "copy_tree": copy_tree, "remove_tree": remove_tree},
    "distutils.file_util": {"copy_file": copy_file},
    "pkg_resources": {"get_distribution": installed_tensorflow.get_distribution,
                      "DistributionNotFound": installed_tensorflow.DistributionNotFound},
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules in this package."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in _MODULES:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=fullname == "distutils")

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        vars(module).update(_MODULES[module.__name__])


def install():
    """Lets the imports of this process find the modules, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
