"""Servers and sessions with certificates and tokens, which environment variables name."""

import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("TENSORBRAID_PROGRAM", "")

SERVER = """
import sys
import tensorbraid as tf

server = tf.train.Server({"worker": ["localhost:0"]}, job_name="worker", task_index=0)
print(server.target, flush=True)
sys.stdin.read()
"""
CLIENT = """
import sys
import tensorbraid as tf

three = tf.constant(2.0) + 1.0
for session in (lambda: tf.Session(sys.argv[1]), lambda: tf.train.MonitoredTrainingSession(sys.argv[1])):
    with session() as opened:
        print(opened.run(three))
"""


@unittest.skipUnless(PROGRAM, "TENSORBRAID_PROGRAM names the program tensorbraid")
class AccessTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        subprocess.run([PROGRAM, "certs", self.folder, "--hosts=localhost"], check=True, capture_output=True)
        self.token = os.path.join(self.folder, "token")
        with open(self.token, "w", encoding="utf-8") as file:
            file.write("0123456789abcdef0123\n")
        os.chmod(self.token, 0o600)

    def environment(self, **variables):
        return {**os.environ, **{f"TENSORBRAID_{name}": value for name, value in variables.items()}}

    def files(self):
        names = {"CERT": "localhost.pem", "KEY": "localhost-key.pem", "CA": "ca.pem"}
        return {f"TLS_{kind}": os.path.join(self.folder, name) for kind, name in names.items()}

    def run_client(self, target, **variables):
        return subprocess.run([sys.executable, "-c", CLIENT, target], env=self.environment(**variables), timeout=300,
                              capture_output=True, text=True)

    def test_a_client_needs_the_files_of_the_server(self):
        files = self.files()
        server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, env=self.environment(**files, TOKEN_FILE=self.token))
        self.addCleanup(server.communicate)
        target = server.stdout.readline().strip()
        with_all = self.run_client(target, **files, TOKEN_FILE=self.token)
        self.assertEqual((with_all.returncode, with_all.stdout), (0, "3.0\n3.0\n"), with_all.stderr)
        without_token = self.run_client(target, **files)
        self.assertIn("token", without_token.stderr)
        self.assertNotEqual(without_token.returncode, 0)
        without_files = self.run_client(target)
        self.assertNotEqual(without_files.returncode, 0)


if __name__ == "__main__":
    unittest.main()
