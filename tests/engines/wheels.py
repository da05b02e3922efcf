"""A wheel of the Python package for tests, and the wheels that it needs.

TENSORBRAID_WHEEL names a wheel, such as one of `make wheel`. Without it, the wheel is made from the build folder, in the
form of `pip wheel .`: its library and its program are those of the build, so nothing is compiled, and they use Debian's
libraries.
"""

import glob
import os
import re
import shutil
import subprocess

_BUILD = os.path.abspath(os.environ.get("TENSORBRAID_BUILD", "build/release"))
PYTHON = os.path.join(_BUILD, "python_venv/bin/python")
FOLDER = os.path.join(_BUILD, "engines/wheels")

# Lets the library be found beside the module, as the install of CMakeLists.txt does.
_RELOCATE = """
file(READ_ELF "${FILE}" RUNPATH found)
string(REPLACE ";" ":" found "${found}")
file(RPATH_CHANGE FILE "${FILE}" OLD_RPATH "${found}" NEW_RPATH "${PATHS}")
"""


def _run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _add_compiled_files(package):
    """Copies what `pip wheel` installs besides the Python files (python/CMakeLists.txt)."""
    for name in ("_core.*.so", "_core.pyi", "processor.txt"):
        [file] = glob.glob(os.path.join(_BUILD, "python/tensorbraid", name))
        shutil.copy(file, package)
    [library] = (file for file in glob.glob(os.path.join(_BUILD, "src/libtensorbraid.so.*"))
                 if re.search(r"\.so\.\d+\.\d+$", file))
    shutil.copy(library, package)
    os.mkdir(os.path.join(package, "bin"))
    program = shutil.copy(os.path.join(_BUILD, "src/cli/tensorbraid"), os.path.join(package, "bin"))
    script = os.path.join(FOLDER, "relocate.cmake")
    with open(script, "w", encoding="utf-8") as file:
        file.write(_RELOCATE)
    for file, paths in ((glob.glob(os.path.join(package, "_core.*.so"))[0], "$ORIGIN"), (program, "$ORIGIN/..")):
        _run("cmake", "-DFILE=" + file, "-DPATHS=" + paths, "-P", script)


def make():
    """Writes the wheels to FOLDER. Uses the network."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    wheel = os.environ.get("TENSORBRAID_WHEEL")
    if not wheel:
        source = os.path.join(FOLDER, "source")
        os.mkdir(source)
        for name in ("pyproject.toml", "LICENSE"):
            shutil.copy(name, source)
        package = os.path.join(source, "python/tensorbraid")
        shutil.copytree("python/tensorbraid", package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy("python/README.md", os.path.join(source, "python"))
        _add_compiled_files(package)
        [module] = glob.glob(os.path.join(package, "_core.*.so"))
        tag = "cp" + re.search(r"cpython-(\d+)", module).group(1)
        _run(PYTHON, "-m", "pip", "-q", "wheel", source, "--no-deps", "--wheel-dir", source,
             "--config-settings=wheel.cmake=false", "--config-settings=wheel.platlib=true",
             "--config-settings=wheel.tags=%s-%s-linux_%s" % (tag, tag, os.uname().machine))
        [wheel] = glob.glob(os.path.join(source, "*.whl"))
    _run(PYTHON, "-m", "pip", "-q", "--disable-pip-version-check", "download", "--dest", FOLDER, wheel)
    shutil.rmtree(os.path.join(FOLDER, "source"), ignore_errors=True)


def wheel():
    """The wheel of tensorbraid that make() has written."""
    [file] = glob.glob(os.path.join(FOLDER, "tensorbraid-*.whl"))
    return file
