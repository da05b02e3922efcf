"""What tensorbraid.ray does without Ray: checks of arguments, the cluster of a job, names and errors.

tests/engines/ray runs jobs on a Ray cluster.
"""

import errno
import importlib.util
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import tensorbraid as tf
import tensorbraid.ray
from tensorbraid.internal import program
from tensorbraid.ray import actors, agents, keys, placement, shape, task_errors

HAS_RAY = importlib.util.find_spec("ray") is not None


class ShapeTest(unittest.TestCase):
    def test_parameter_servers_come_first(self):
        job = shape.Shape(1, 2, {"GPU": 1}, {"CPU": 2})
        self.assertEqual(job.tasks, ["ps/0", "worker/0", "worker/1"])
        self.assertEqual(job.resources, [{"CPU": 2.0}, {"GPU": 1.0}, {"GPU": 1.0}])

    def test_a_chief_is_a_worker_and_an_evaluator_is_one_task_more(self):
        job = shape.Shape(1, 2, {"GPU": 1}, {"CPU": 2}, chief=True, evaluator=True)
        self.assertEqual(job.tasks, ["ps/0", "chief/0", "worker/0", "evaluator/0"])
        self.assertEqual(job.resources, [{"CPU": 2.0}] + [{"GPU": 1.0}] * 3)

    def test_a_task_needs_one_core_by_default(self):
        self.assertEqual(shape.Shape(1, 1).resources, [{"CPU": 1.0}] * 2)

    def test_tf_config_names_the_cluster_and_the_task(self):
        configs = [json.loads(text) for text in shape.Shape(1, 2).tf_configs(["a:1", "b:2", "c:3"])]
        self.assertEqual(configs[2], {"cluster": {"ps": ["a:1"], "worker": ["b:2", "c:3"]},
                                      "task": {"type": "worker", "index": 1}})
        self.assertEqual([config["task"]["type"] for config in configs], ["ps", "worker", "worker"])

    def test_wrong_arguments_are_named(self):
        for arguments, message in (
            ({"workers": 0}, "workers=0: it must be a whole number from 1 on"),
            ({"ps": -1}, "ps=-1"),
            ({"ps": True}, "ps=True"),
            ({"workers": 1001}, "at most 1000 tasks"),
            ({"placement": "ROUND"}, "placement='ROUND': it must be one of SPREAD, PACK"),
            ({"resources": {}}, "resources={}: it must be a dict"),
            ({"resources": {"CPU": -1}}, "'CPU': -1 is no amount"),
            ({"resources": {"CPU": "1"}}, "'CPU': '1' is no amount"),
            ({"resources": {"CPU": float("nan")}}, "nan is no amount"),
            ({"resources": {"CPU": 0}}, "one amount must be above 0"),
            ({"ps_resources": ["CPU"]}, "ps_resources=.*must be a dict"),
        ):
            with self.subTest(arguments), self.assertRaisesRegex(ValueError, message):
                shape.Shape(**{"ps": 1, "workers": 1, **arguments})

    def test_resources_are_read_and_written_in_words(self):
        self.assertEqual(shape.parse_resources("CPU=2,GPU=0.5"), {"CPU": 2.0, "GPU": 0.5})
        for text in ("CPU", "CPU=", "CPU=x", "CPU=1,", ""):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "as in CPU=1,GPU=1"):
                shape.parse_resources(text)
        self.assertEqual(shape.request([{"CPU": 1}, {"GPU": 1, "CPU": 0.5}, {"CPU": 1}]),
                         "2 x (CPU 1), 1 x (CPU 0.5, GPU 1)")


class RunTest(unittest.TestCase):
    def test_wrong_arguments_are_errors_before_ray_is_used(self):
        for arguments, message in (
            ({"function": "train.py"}, "'tensorbraid launch --on=ray' starts programs"),
            ({"workers": 0}, "workers=0"),
            ({"restarts": -1}, "restarts=-1: it must be a number that is not negative"),
            ({"restarts": 0.5}, "restarts=0.5: it must be a whole number"),
            ({"grace_s": "1"}, "grace_s='1'"),
            ({"wait_s": float("nan")}, "wait_s=nan"),
        ):
            with self.subTest(arguments), self.assertRaisesRegex(ValueError, message):
                tensorbraid.ray.run(**{"function": print, **arguments})

    @unittest.skipIf(HAS_RAY, "Ray is installed")
    def test_a_python_without_ray_is_named(self):
        with self.assertRaisesRegex(ImportError, "has no package ray .*pip install ray"):
            placement.import_ray()

    @unittest.skipIf(HAS_RAY, "Ray is installed")
    def test_the_channel_refuses_a_job_without_ray(self):
        channel = subprocess.run([sys.executable, "-m", "tensorbraid.ray", "--program=tensorbraid"], check=True,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertTrue(channel.stdout.startswith("@="), channel.stdout)
        event = json.loads(channel.stdout[2:])
        self.assertEqual((event["node"], event["event"], event["why"]["code"]),
                         ("", "refused", tf.errors.FAILED_PRECONDITION))
        self.assertIn("has no package ray", event["why"]["message"])


class AddressTest(unittest.TestCase):
    def test_an_address_at_which_nothing_listens_is_named(self):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))  # no other program gets this port
            address = "127.0.0.1:%d" % server.getsockname()[1]
            with self.assertRaisesRegex(ConnectionError, "no Ray cluster answers at " + address):
                placement.check_address(address)
            server.listen()
            placement.check_address(address)

    def test_other_forms_are_left_to_ray(self):
        for address in ("local", "ray://nowhere.invalid:10001"):
            placement.check_address(address)


class TaskErrorsTest(unittest.TestCase):
    def test_an_error_names_task_and_node(self):
        error = task_errors.TaskLostError("worker/1", "beta (10.0.0.2)", "was lost: its ray node has died")
        self.assertEqual(str(error), "worker/1 on beta (10.0.0.2) was lost: its ray node has died")
        self.assertEqual((error.task, error.node), ("worker/1", "beta (10.0.0.2)"))

    def test_a_loss_is_the_cause_of_what_others_see_of_it(self):
        unreachable = task_errors.TaskError("worker/0", "a", "has failed")
        unreachable.__cause__ = tf.errors.UnavailableError(None, None, "no connection to worker/1")
        mistake = task_errors.TaskError("worker/2", "c", "has failed")
        mistake.__cause__ = KeyError("x")
        lost = task_errors.TaskLostError("worker/1", "b", "was lost")
        self.assertIs(task_errors.first_cause([unreachable, mistake, lost]), lost)
        self.assertIs(task_errors.first_cause([unreachable, mistake]), mistake)
        self.assertIs(task_errors.first_cause([unreachable]), unreachable)


class FunctionActorTest(unittest.TestCase):
    def prepared(self):
        """The port that an actor holds."""
        actor = actors.FunctionActor("worker/0")
        port, _, problem = actor.prepare(makes_key=False)
        self.assertIsNone(problem)
        self.addCleanup(actor._port.close)
        return port

    def test_it_holds_a_port_that_its_own_server_can_take(self):
        address = "localhost:%d" % self.prepared()
        server = tf.train.Server({"worker": [address]}, job_name="worker", task_index=0)
        self.assertEqual(server.target, "grpc://" + address)

    def test_it_holds_a_port_on_a_system_without_ipv6(self):
        real = socket.socket

        def without_ipv6(family=socket.AF_INET, *args, **kwargs):
            if family == socket.AF_INET6:
                raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
            return real(family, *args, **kwargs)

        with mock.patch.object(socket, "socket", without_ipv6):
            self.assertGreater(self.prepared(), 0)


class AgentsTest(unittest.TestCase):
    def test_agents_of_one_node_have_different_names(self):
        self.assertEqual(agents.node_names(["a", "b", "a", "a"]), ["a", "b", "a #2", "a #3"])


class KeysTest(unittest.TestCase):
    """With the program of the package, or that of the build folder."""

    def setUp(self):
        of_build = os.path.join(os.path.dirname(tf.__file__), "../../src/cli")
        path = mock.patch.dict(os.environ, PATH=of_build + os.pathsep + os.environ["PATH"])
        path.start()
        self.addCleanup(path.stop)

    def context(self, purpose, certificate, key, authority):
        """What a task uses; ssl.SSLError if the key and the certificate do not belong together."""
        made = ssl.SSLContext(purpose)
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(cadata=authority)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("cert", certificate), ("key", key)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            made.load_cert_chain(os.path.join(folder, "cert"), os.path.join(folder, "key"))
        return made

    def test_keys_of_tasks_are_certified_for_their_hosts(self):
        hosts = ["10.0.0.1", "10.0.0.2", "10.0.0.1", "fd00::1", "10.0.0.1"]
        made = [keys.make_key() for _ in hosts]
        requests = [request for _, request in made]
        self.assertNotIn("PRIVATE KEY", "".join(requests))
        certificates, authority = keys.certify(hosts, requests)
        for host, (key, _), certificate in zip(hosts, made, certificates, strict=True):
            server = self.context(ssl.PROTOCOL_TLS_SERVER, certificate, key, authority)
            client = self.context(ssl.PROTOCOL_TLS_CLIENT, certificates[0], made[0][0], authority)
            to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
            ends = [client.wrap_bio(to_client, to_server, server_hostname=host),
                    server.wrap_bio(to_server, to_client, server_side=True)]
            for end in ends * 3:
                try:
                    end.do_handshake()
                except ssl.SSLWantReadError:
                    pass
            self.assertEqual(ends[1].getpeercert()["subject"][-1], (("commonName", hosts[0]),))
        with self.assertRaisesRegex(ssl.SSLError, "KEY_VALUES_MISMATCH"):
            self.context(ssl.PROTOCOL_TLS_SERVER, certificates[0], made[1][0], authority)

    def test_a_request_that_is_none_is_named(self):
        with self.assertRaisesRegex(tf.errors.InternalError, "10.0.0.1-request.pem: the request for a certificate"):
            keys.certify(["10.0.0.1"], ["nonsense"])

    def test_the_program_that_is_missing_is_named(self):
        with mock.patch.dict(os.environ, PATH="/nowhere"), mock.patch.object(program, "path", lambda: None), \
             self.assertRaisesRegex(tf.errors.NotFoundError, "which the program tensorbraid makes; put it into PATH"):
            keys.make_key()


if __name__ == "__main__":
    unittest.main()
