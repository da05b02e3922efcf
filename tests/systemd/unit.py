"""Reads systemd's units, for the tests of this folder."""
import re
import shlex
import socket


def settings(unit):
    """The settings of a unit, as systemd reads them: a backslash at the end of a line continues it."""
    with open(unit, encoding="utf-8") as file:
        text = re.sub(r"\\\n\s*", " ", file.read())
    return dict(line.split("=", 1) for line in text.splitlines() if re.match(r"\w+=", line))


def environment(path):
    """The variables of an EnvironmentFile, in which quotes may enclose a value."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    return {name: value.strip("'") for name, value in (line.split("=", 1) for line in lines)}


def command(exec_start, instance, places):
    """The words of ExecStart for an instance, after systemd's replacements; paths are moved to `places`."""
    specifiers = {"i": instance, "H": "localhost", "%": "%"}
    text = re.sub("%(.)", lambda found: specifiers[found[1]], exec_start).replace("$$", "$")
    for path, place in places.items():
        assert path in text, f"ExecStart does not mention {path}"
        text = text.replace(path, place)
    return shlex.split(text)


def hold_ports(count):
    """Sockets with free ports, which no other process gets while they are open.

    They do not listen, so a server that sets SO_REUSEADDR, as ours do, can listen there meanwhile.
    """
    sockets = []
    for _ in range(count):
        held = socket.socket()
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("", 0))
        sockets.append(held)
    return sockets


def addresses(sockets):
    """The addresses of these ports on this machine."""
    return [f"localhost:{held.getsockname()[1]}" for held in sockets]
