"""Keys that stay where they are made, and their certificates, by the program `tensorbraid`. Works without Ray."""

import os
import shutil
import subprocess
import tempfile

from tensorbraid import errors
from tensorbraid.internal import program

__all__ = []

_TASK = "task"  # the name of the files of a key, before its host is known


def _certs(folder, *arguments):
    command = program.path() or shutil.which("tensorbraid")
    if command is None:
        raise errors.NotFoundError(
            None, None, "the tasks are on several machines and need certificates, which the program tensorbraid makes; "
            "put it into PATH, or pass insecure=True if you trust everyone who reaches the machines")
    made = subprocess.run([command, "certs", folder, *arguments], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise errors.InternalError(None, None, "'tensorbraid certs' has failed: " + made.stderr.strip())


def _folder():
    """A folder for this user only, in memory if the machine has such a place."""
    memory = "/dev/shm"
    place = memory if os.access(memory, os.W_OK | os.X_OK) else None
    return tempfile.TemporaryDirectory(prefix="tensorbraid-ray-", dir=place)


def _read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def make_key():
    """A private key, and the request for a certificate of it. NotFoundError without the program."""
    with _folder() as folder:
        _certs(folder, "--requests=" + _TASK)
        return _read(folder, _TASK + "-key.pem"), _read(folder, _TASK + "-request.pem")


def certify(hosts, requests):
    """A certificate for each request, whose task is on the host of the same place in the list, and the authority's.

    The authority is made for this call, and its key is removed at the end.
    """
    rounds = []  # each certifies one request of each host, because files have the names of hosts
    for number, host in enumerate(hosts):
        for numbers in rounds:
            if host not in numbers:
                break
        else:
            rounds.append(numbers := {})
        numbers[host] = number
    certificates = [None] * len(hosts)
    with _folder() as folder:
        for count, numbers in enumerate(rounds):
            each = os.path.join(folder, str(count))
            os.mkdir(each)
            for name in ("ca.pem", "ca-key.pem") if count else ():
                shutil.copy(os.path.join(folder, "0", name), each)
            for host, number in numbers.items():
                with open(os.path.join(each, host + "-request.pem"), "w", encoding="utf-8") as file:
                    file.write(requests[number])
            _certs(each, "--hosts=" + ",".join(numbers))
            for host, number in numbers.items():
                certificates[number] = _read(each, host + ".pem")
        return certificates, _read(folder, "0", "ca.pem")
