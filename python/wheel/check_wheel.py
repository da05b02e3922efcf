"""Checks a wheel: python check_wheel.py WHEEL, in a virtual environment that has auditwheel and abi3audit.

Checks that the wheel runs on the systems (auditwheel) and with the Pythons (abi3audit) that its name states, that the
names in its copies of the system's libraries are private, that it has the licences and the program, and that it has at
most 60 MB. Installs it with its dependencies only, and checks that it is imported in time, needs little memory, and
trains. If TENSORBRAID_TF_VENV names a virtual environment with TensorFlow for the same Python, the wheel is also used
in one process with TensorFlow.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import venv

import private_names

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_MEGABYTES, MAX_SECONDS, MAX_MEMORY = 60, 0.3, 60
# Parts of each wheel, whose licences must be in it.
LICENSED = ["absl", "grpc", "protobuf", "re2", "dnnl", "icu", "ssl", "lapack", "prometheus-cpp", "nanobind"]
# The libraries that a wheel takes from the system.
OUTER = r"(ld-linux.*|lib(c|gcc_s|m|stdc\+\+|z))\.so"

problems = []


def expect(condition, text):
    print(("ok: " if condition else "WRONG: ") + text)
    if not condition:
        problems.append(text)


def output(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return result.returncode, result.stdout + result.stderr


def check_files(wheel, folder):
    megabytes = os.path.getsize(wheel) / 1e6
    expect(megabytes <= MAX_MEGABYTES, f"{megabytes:.1f} MB of at most {MAX_MEGABYTES}")
    code, text = output(sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel)
    expect(code == 0, "it is unpacked" if code == 0 else text)
    [root] = glob.glob(os.path.join(folder, "*"))
    names = [os.path.relpath(os.path.join(path, file), root) for path, _, files in os.walk(root) for file in files]
    outer = {os.path.basename(path) for path in private_names.outer_libraries(root)}
    expect(all(re.match(OUTER, name) for name in outer), f"libraries of the system: {sorted(outer)}")
    public = private_names.public_names(root)
    expect(not public, f"{len(public)} names of bundled libraries are public: {sorted(public)[:5]}")
    licenses = {os.path.basename(name).split(".")[0].removeprefix("lib") for name in names if "/licenses/" in name}
    missing = [name for name in LICENSED if not any(name in license for license in licenses)]
    expect(not missing, f"{len(licenses)} licences; missing: {missing}")
    expect("tensorbraid/bin/tensorbraid" in names, "the program is inside")
    expect(not any("libucp" in name or "libucs" in name for name in names), "UCX is not inside")


def check_tags(wheel):
    tools = os.path.dirname(sys.executable)
    code, text = output(os.path.join(tools, "auditwheel"), "show", wheel)
    found = re.search(r'following platform tag:\s+"(\S+?)"', text)
    expect(code == 0 and found, "auditwheel reads it" if found else text)
    if found:
        tags = os.path.basename(wheel).removesuffix(".whl").split("-")[-1].split(".")
        expect(found[1].startswith("manylinux_") and tags == [found[1]], f"auditwheel: {found[1]}, tagged {tags}")
    if "-abi3-" in wheel:
        code, text = output(os.path.join(tools, "abi3audit"), "--strict", "--summary", wheel)
        expect(code == 0, "abi3audit: " + " ".join(text.split()))


def check_use(wheel, folder):
    """Installs the wheel where nothing else is, and uses it."""
    venv.create(folder, with_pip=True)
    python = os.path.join(folder, "bin", "python")
    code, text = output(python, "-m", "pip", "-q", "install", os.path.abspath(wheel))
    expect(code == 0, "pip installs it" if code == 0 else text)
    clean = {"PATH": os.path.join(folder, "bin") + ":/usr/bin:/bin", "HOME": folder}
    code, text = output(python, os.path.join(HERE, "try_package.py"), cwd=folder, env=clean)
    print(text, end="")
    expect(code == 0, "it is imported and trains")
    found = re.search(r"import: ([\d.]+) s, ([\d.]+) MB", text)
    if found:
        expect(float(found[1]) <= MAX_SECONDS, f"import takes {found[1]} s of at most {MAX_SECONDS}")
        expect(float(found[2]) <= MAX_MEMORY, f"import needs {found[2]} MB of at most {MAX_MEMORY}")
    code, text = output(os.path.join(folder, "bin", "tensorbraid"), "--version", cwd=folder, env=clean)
    expect(code == 0, f"tensorbraid --version: {text.strip()}")
    packages = os.path.join("lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    tensorflow = os.path.join(os.environ.get("TENSORBRAID_TF_VENV", ""), packages)
    if os.path.exists(os.path.join(tensorflow, "tensorflow")):
        # NumPy and protobuf are found there too, in versions that this TensorFlow can use.
        code, text = output(python, os.path.join(HERE, "try_with_tensorflow.py"), cwd=folder,
                            env={**clean, "PYTHONPATH": tensorflow, "TF_CPP_MIN_LOG_LEVEL": "3"})
        print(text, end="")
        expect(code == 0, "it trains beside TensorFlow, in both orders of import, and beside one that it does not see")
    else:
        print("not tried with TensorFlow: TENSORBRAID_TF_VENV names no environment that has it for this Python")


def main(wheel):
    print(f"checking {os.path.basename(wheel)} with Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        check_files(wheel, os.path.join(folder, "files"))
        check_tags(wheel)
        check_use(wheel, os.path.join(folder, "venv"))
    sys.exit(f"{len(problems)} problems" if problems else 0)


main(*sys.argv[1:])
