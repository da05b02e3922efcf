"""SSH servers on machines of machines.py, for tests."""

import os
import subprocess

_SERVER = """
Port 22
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
StrictModes no
UsePAM no
PidFile none
PermitRootLogin yes
PrintMotd no
"""
_CLIENT = """
Host *
  IdentityFile {folder}/key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""


class SshServers:
    """Starts a server on each of the machines. Its files are in `folder`, which all machines see."""

    def __init__(self, machines, folder, more_configuration=""):
        self._machines = machines
        self._server = os.path.join(folder, "server")
        self._client = os.path.join(folder, "client")
        for name in ("host_key", "key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, name)], check=True)
        for path, text in ((self._server, _SERVER), (self._client, _CLIENT + more_configuration)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.format(folder=folder))
        for name in machines.address:
            self.start(name)

    def start(self, name):
        """Also after the machine has been started again."""
        self._machines.run(name, ["sh", "-c", "mkdir -p /run/sshd; exec /usr/sbin/sshd -f %s > /dev/null 2>&1"
                                  % self._server])

    def client(self):
        """The command that reaches the machines without a question."""
        return "ssh -F " + self._client
