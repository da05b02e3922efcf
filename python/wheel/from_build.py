"""Makes a wheel from a build folder without compiling, writes it to DIR, and prints its path.

usage: python from_build.py BUILD DIR, in a virtual environment that has pip

The wheel is like that of `pip wheel .`, which compiles everything again, but has the instruction set of the build
folder. The build tag in the file's name says which, as in tensorbraid-0.1.0-0native-cp311-cp311-linux_x86_64.whl.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))

# Sets the path at which the module finds the library: beside it, as `install` in python/CMakeLists.txt does.
_RELOCATE = """
file(READ_ELF "${FILE}" RUNPATH found)
string(REPLACE ";" ":" found "${found}")
file(RPATH_CHANGE FILE "${FILE}" OLD_RPATH "${found}" NEW_RPATH "${PATHS}")
"""


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def only(*path):
    [file] = glob.glob(os.path.join(*path))
    return file


def add_compiled_files(build, package):
    """Copies what `pip wheel` installs besides the Python files (python/CMakeLists.txt)."""
    for name in ("_core.*.so", "_core.pyi", "processor.txt"):
        shutil.copy(only(build, "python/tensorbraid", name), package)
    [library] = (file for file in glob.glob(os.path.join(build, "src/libtensorbraid.so.*"))
                 if re.search(r"\.so\.\d+\.\d+$", file))
    shutil.copy(library, package)
    os.mkdir(os.path.join(package, "bin"))
    program = shutil.copy(os.path.join(build, "src/cli/tensorbraid"), os.path.join(package, "bin"))
    os.mkdir(os.path.join(package, "licenses"))
    shutil.copy(only(build, "python_venv/lib/python*/site-packages/nanobind-*.dist-info/licenses/LICENSE"),
                os.path.join(package, "licenses/nanobind.txt"))
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
        script.write(_RELOCATE)
        script.flush()
        for file, paths in ((only(package, "_core.*.so"), "$ORIGIN"), (program, "$ORIGIN/..")):
            run("cmake", "-DFILE=" + file, "-DPATHS=" + paths, "-P", script.name)


def main(build, directory):
    build, directory = os.path.abspath(build), os.path.abspath(directory)
    with tempfile.TemporaryDirectory() as source:
        for name in ("pyproject.toml", "LICENSE"):
            shutil.copy(os.path.join(ROOT, name), source)
        package = os.path.join(source, "python/tensorbraid")
        shutil.copytree(os.path.join(ROOT, "python/tensorbraid"), package, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(os.path.join(ROOT, "python/README.md"), os.path.join(source, "python"))
        add_compiled_files(build, package)
        with open(os.path.join(package, "processor.txt"), encoding="utf-8") as file:
            processor = re.sub(r"\W", "_", file.read().strip())
        python = "cp" + re.search(r"cpython-(\d+)", only(package, "_core.*.so"))[1]
        run(sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "wheel", source, "--no-deps", "--wheel-dir",
            directory, "--config-settings=wheel.cmake=false", "--config-settings=wheel.platlib=true",
            "--config-settings=wheel.build-tag=0" + processor,
            f"--config-settings=wheel.tags={python}-{python}-linux_{os.uname().machine}")
    print(only(directory, f"tensorbraid-*-0{processor}-{python}-*linux_*.whl"))


main(*sys.argv[1:])
