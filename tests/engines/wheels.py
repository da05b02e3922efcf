"""A wheel of the Python package for tests, and the wheels that it needs. As a program it prints the path of the wheel.

TENSORBRAID_WHEEL names a wheel, such as one of `make wheel`. Without it, `scripts/make_wheel BUILD` makes one of the build
folder, so that nothing is compiled.
"""

import fcntl
import glob
import os
import shutil
import subprocess

_BUILD = os.path.abspath(os.environ.get("TENSORBRAID_BUILD", "build/release"))
PYTHON = os.path.join(_BUILD, "python_venv/bin/python")
FOLDER = os.path.join(_BUILD, "engines/wheels")
# What a wheel is made of.
_SOURCES = ("pyproject.toml", "scripts/make_wheel", "python/wheel/*.py", "python/tensorbraid/**/*.py",
            "python/tensorbraid/**/*.proto", os.path.join(_BUILD, "python/tensorbraid/_core.*.so"),
            os.path.join(_BUILD, "src/libtensorbraid.so"), os.path.join(_BUILD, "src/cli/tensorbraid"))


def _is_up_to_date():
    made = glob.glob(os.path.join(FOLDER, "done"))
    files = [file for pattern in _SOURCES for file in glob.glob(pattern, recursive=True)]
    return bool(made) and os.path.getmtime(made[0]) > max(map(os.path.getmtime, files))


def make():
    """Writes the wheels to FOLDER, unless another test has done so. Uses the network."""
    given = os.environ.get("TENSORBRAID_WHEEL")
    os.makedirs(os.path.dirname(FOLDER), exist_ok=True)
    with open(FOLDER + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not given and _is_up_to_date():
            return
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        if given:
            shutil.copy(given, FOLDER)
        else:
            subprocess.run(["scripts/make_wheel", _BUILD, FOLDER], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([PYTHON, "-m", "pip", "-q", "--disable-pip-version-check", "download", "--dest", FOLDER, wheel()],
                       check=True, stdout=subprocess.DEVNULL)
        if not given:
            open(os.path.join(FOLDER, "done"), "w", encoding="utf-8").close()


def wheel():
    """The wheel of tensorbraid that make() has written."""
    [file] = glob.glob(os.path.join(FOLDER, "tensorbraid-*.whl"))
    return file


if __name__ == "__main__":
    make()
    print(wheel())
