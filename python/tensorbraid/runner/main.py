"""The command line of `python -m tensorbraid`."""

import argparse
import functools
import importlib.util
import json
import linecache
import os
import sys
import traceback
import types

from tensorbraid.internal import installed_keras
from tensorbraid.runner import after_import, check, finder, process, python2, sources

_EPILOG = """The script's `import tensorflow`, and imports of its submodules, mean this package. The script is checked
before it starts: names that the package or NumPy lacks, and Python 2, are printed with their lines, and the script is
not run. A name in a branch, or in a function that nothing calls, is only a warning. Names that newer versions of
Python, NumPy, h5py and pandas have removed are put back.

Examples:
  python -m tensorbraid train.py --batch_size=100
  python -m tensorbraid -m package.train --batch_size=100
  tensorbraid launch --ps=1 --workers=2 -- python -m tensorbraid train.py

The second one starts a cluster on this machine. Its script takes --ps_hosts, --worker_hosts, --job_name and
--task_index, or reads TF_CONFIG (launch --env-style=tf_config)."""


def _options(argv):
    parser = argparse.ArgumentParser("python -m tensorbraid", epilog=_EPILOG,
                                     description="Runs a script that was written for TensorFlow 1.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anyway", action="store_true", help="run the script even if the check finds something")
    parser.add_argument("--check", action="store_true", help="check the script, and do not run it")
    parser.add_argument("--python2", action="store_true", help="run a copy that is converted to Python 3; with "
                        "--check, print the copy")
    parser.add_argument("--accelerator_plugin", metavar="[TYPE=]PATH", help="the PJRT plugin for accelerators, as the "
                        "environment variable TENSORBRAID_ACCELERATOR_PLUGIN names it")
    parser.add_argument("--compile_cache", metavar="DIR", help="the directory in which programs of accelerators are kept, "
                        "as the environment variable TENSORBRAID_COMPILE_CACHE names it")
    parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module, as after "
                        "python -m")
    parser.add_argument("script", metavar="SCRIPT", help="the script, a file of Python")
    rest = parser.add_argument("args", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script")
    rest.required = False  # otherwise older versions of Python say so where SCRIPT is missing
    return parser.parse_args(argv)


def main(argv=None):
    """Runs the script of a command line. Returns the exit status if the script is not run, or ends."""
    options = _options(sys.argv[1:] if argv is None else argv)
    if options.accelerator_plugin is not None:  # also for the programs that the script starts
        os.environ["TENSORBRAID_ACCELERATOR_PLUGIN"] = options.accelerator_plugin
    if options.compile_cache is not None:
        os.environ["TENSORBRAID_COMPILE_CACHE"] = options.compile_cache
    package = root = None
    if options.module:
        try:
            options.script, package = _module_file(options.script)
        except ImportError as error:
            print(error, file=sys.stderr)
            return 2
        root = os.getcwd()
    try:
        text = sources.read(options.script)
    except OSError as error:
        print(f"{options.script}: {error.strerror}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        print(f"{options.script}:{error.lineno}: {error.msg}", file=sys.stderr)
        return 2
    if options.python2:
        try:
            text, findings = python2.convert(text)
        except SyntaxError as error:
            print(f"{options.script}:{error.lineno}: cannot be converted to Python 3: {error.msg}", file=sys.stderr)
            return 2
        if options.check:
            print(sources.declared_as_utf8(python2.with_imports(text, findings)), end="")
            return 0
    report = check.check(options.script, text, options.python2, root)
    for line in report.warnings + report.lines:
        print(line, file=sys.stderr)
    if report.lines and not options.anyway:
        hints = ["--anyway runs the script nevertheless"] if report.runs else []
        if report.python2:
            hints.append("--python2 runs a copy that is converted to Python 3")
        count = f"{len(report.lines)} problem" + "s" * (len(report.lines) > 1)
        print("; ".join([f"{options.script} is not run: {count}", *hints]), file=sys.stderr)
        return 2
    if options.check:
        return 0
    return _run(options.script, text, [options.script, *options.args], options.python2, package, root)


def _module_file(name):
    """The file of a module and the name of its package, found as by `python -m`. ImportError if it has no file.

    For TensorFlow's tools, tensorflow.python.tools.NAME, they are those of this package's module.
    """
    process.prepare()
    if name.startswith("tensorflow.python.tools."):
        name = "tensorbraid.tensorflow_python." + name.rpartition(".")[2]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        raise ImportError(f"no module named {name}: {error}") from None
    if spec is None or not (spec.origin or "").endswith(".py"):
        raise ImportError(f"the module {name} has no Python source file")
    return spec.origin, name.rpartition(".")[0]


def _run(script, text, argv, is_python2, package=None, root=None):
    """Runs the script as Python would. Modules beside a script of Python 2 are converted as well."""
    sys.argv = argv
    sys.path[0] = root or os.path.dirname(os.path.abspath(script))
    sys.excepthook = _show_error
    sys.modules["__main__"] = types.ModuleType("__main__")
    program = [os.path.abspath(script), is_python2, package]
    after_import.change("multiprocessing.spawn", functools.partial(_tell_spawned, program))
    _execute(sys.modules["__main__"], script, text, is_python2, package)
    return 0


def _execute(module, script, text, is_python2, package):
    """Runs the script as this module."""
    process.prepare()
    if is_python2:
        finder.convert_modules_of(sys.path[0])
        module.__dict__.update(python2.HELPERS)
    module.__file__, module.__package__ = script, package
    module.__builtins__ = __builtins__
    linecache.cache[script] = (len(text), None, text.splitlines(True), script)  # tracebacks show what runs
    exec(compile(text, script, "exec"), module.__dict__)


def _tell_spawned(program, spawn):
    """Lets processes that multiprocessing starts anew begin with spawned.py, whose first argument is the program."""
    data_for = spawn.get_preparation_data

    def get_preparation_data(name):
        data = data_for(name)
        data.pop("init_main_from_path", None)
        data["init_main_from_name"] = "tensorbraid.runner.spawned"
        script, *arguments = data["sys_argv"] or [""]
        data["sys_argv"] = [script, json.dumps(program), *arguments]
        return data

    spawn.get_preparation_data = get_preparation_data


def names_of_spawned(script, is_python2, package):
    """The names of the program's main module in a process that multiprocessing has started, after it has run there."""
    after_import.change("multiprocessing.spawn", functools.partial(_tell_spawned, [script, is_python2, package]))
    module = sys.modules["__mp_main__"] = types.ModuleType("__mp_main__")
    sys.argv[0] = script
    text = sources.read(script)
    _execute(module, script, python2.convert(text)[0] if is_python2 else text, is_python2, package)
    return vars(module)


def _show_error(kind, error, trace):
    """Prints an error that ends the script, Ctrl-C too, without the frames of the runner, which come first."""
    frames = trace
    while frames is not None and frames.tb_frame.f_code is not _execute.__code__:
        frames = frames.tb_next
    traceback.print_exception(kind, error, trace if frames is None else frames.tb_next)
    if isinstance(error, ModuleNotFoundError) and error.name == "keras":
        print(installed_keras.hint_of_import(), file=sys.stderr)
