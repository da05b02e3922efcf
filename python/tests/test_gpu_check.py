"""Tests of the report of scripts/gpu_check and of what it does without PyTorch and JAX."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
import unittest.mock

SCRIPTS = os.path.join(os.path.dirname(__file__), "../../scripts")


def load():
    loader = importlib.machinery.SourceFileLoader("gpu_check", os.path.join(SCRIPTS, "gpu_check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    loader.exec_module(module)
    return module


gpu_check = load()
marks, step_parts = gpu_check.marks, gpu_check.step_parts


def passed(**data):
    return {"what": "a stage", "result": "passed", "data": data}


def speeds(**values):
    return passed(rows=[{"what": key, "unit": "", "key": key, "value": value} for key, value in values.items()])


def report(**stages):
    return {"rehearsal": False, "date": "today", "stages": stages}


def row(rows, *words):
    found = [row for row in rows if all(word in row["what"] for word in words)]
    assert len(found) == 1, found
    return found[0]


class RunTest(unittest.TestCase):
    def test_a_check_goes_on_where_it_was(self):
        """Also after it was killed, since the report is written after each stage."""
        class Killed(BaseException):
            pass

        ran = []

        def stage(name, result):
            def run():
                ran.append(name)
                return result()
            return name, "what it shows", run

        def die():
            raise Killed

        with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(io.StringIO()):
            args = argparse.Namespace(out=directory, rehearse="", plugin="none.so", minutes=60, library_python="",
                                      stages="")
            first = stage("resnet50_float32", lambda: {"steps_per_s": 20.0})
            with unittest.mock.patch.object(gpu_check.Check, "stages", lambda _: [first, stage("jax_float32", die)]):
                self.assertRaises(Killed, gpu_check.run, args)
            second = stage("jax_float32", lambda: {"steps_per_s": {"device": 20.0}})
            with unittest.mock.patch.object(gpu_check.Check, "stages", lambda _: [first, second]):
                self.assertEqual(gpu_check.run(args), 0)
            with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
                found = json.load(file)
        self.assertEqual(ran, ["resnet50_float32", "jax_float32", "jax_float32"])
        self.assertEqual(row(found["marks"], "float32", "batch on the device", "JAX")["result"], "met")


class MarksTest(unittest.TestCase):
    def test_speeds_beside_pytorch_and_jax(self):
        rates = {"device": 40.0, "device_loss_fetched": 39.0, "host": 50.0}
        rows = marks.marks(report(resnet50_float32=passed(steps_per_s=39.0), pytorch_float32=passed(steps_per_s=rates),
                                  jax_float32=passed(steps_per_s=rates), resnet50_fed_float32=passed(steps_per_s=50.0)))
        pytorch = row(rows, "float32", "batch on the device", "PyTorch")
        self.assertEqual((pytorch["ratio"], pytorch["result"], pytorch["mark"]), (0.975, "missed", ">= 1 x"))
        jax = row(rows, "float32", "batch on the device", "JAX")
        self.assertEqual((jax["ratio"], jax["result"]), (0.975, "met"))
        # A batch from the host is compared with a batch from the host.
        self.assertEqual(row(rows, "float32", "from the host", "PyTorch")["result"], "met")
        self.assertEqual(row(rows, "bfloat16", "from the host", "JAX")["result"], "not measured")

    def test_times_of_softmax_regression(self):
        rows = marks.marks(report(speeds=speeds(softmax_device=0.0601, softmax_fed=0.15)))
        self.assertEqual(row(rows, "softmax", "on the device")["result"], "missed")
        self.assertEqual(row(rows, "softmax", "on the device")["ours"], 60.1)
        self.assertEqual(row(rows, "softmax", "from the host")["result"], "met")

    def test_servers_and_workers(self):
        stages = {"resnet50_float32": passed(steps_per_s=20.0), "server_resnet50": passed(steps_per_s=11.9),
                  "two_workers_resnet50": passed(steps_per_s=10.2),
                  "speeds": speeds(softmax_workers_1=1000.0, softmax_workers_2=840.0)}
        rows = marks.marks(report(**stages))
        server = row(rows, "server on the CPU")
        self.assertEqual((server["ours"], server["other"], server["result"]), (11.9, 20.0, "missed"))
        self.assertEqual(row(rows, "ResNet-50", "two workers")["result"], "met")
        self.assertEqual(row(rows, "softmax", "two workers")["result"], "missed")

    def test_what_is_missing_has_a_reason(self):
        rows = marks.marks(report(
            resnet50_float32=passed(steps_per_s=20.0),
            pytorch_float32={"what": "", "result": "not there", "data": {"absent": "PyTorch is not installed"}},
            server_resnet50={"what": "", "result": "FAILED", "why": "it ended with 1", "data": {}}))
        self.assertEqual(row(rows, "float32", "batch on the device", "PyTorch")["note"], "PyTorch is not installed")
        self.assertIn("jax_float32 has not run", row(rows, "float32", "batch on the device", "JAX")["note"])
        self.assertIn("it ended with 1", row(rows, "server on the CPU")["note"])
        self.assertEqual({row["result"] for row in rows}, {"not measured"})
        self.assertEqual({row["ratio"] for row in rows}, {None})

    def test_a_rehearsal_meets_nothing(self):
        rehearsal = {**report(speeds=speeds(softmax_device=0.01)), "rehearsal": True}
        self.assertEqual(row(marks.marks(rehearsal), "softmax", "on the device")["result"], "rehearsed")

    def test_the_table_in_markdown(self):
        rows = marks.marks(report(resnet50_float32=passed(steps_per_s=39.0),
                                  jax_float32=passed(steps_per_s={"device": 40.0})))
        lines = marks.markdown(rows)
        self.assertIn("| ResNet-50, float32, one batch on the device, beside JAX | 39 | 40 | steps/s | 0.975 | "
                      ">= 0.95 x | met |", lines)
        self.assertEqual({line.count("|") for line in lines if line}, {8})


def varint(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def message(*values):
    """A message of protobuf with these pairs of number and value."""
    text = b""
    for number, value in values:
        if isinstance(value, int):
            text += varint(number << 3) + varint(value)
        else:
            text += varint(number << 3 | 2) + varint(len(value)) + value
    return text


class StepPartsTest(unittest.TestCase):
    def trace(self, shift=0, server_device=b"CPU:0"):
        """A RunMetadata of a step of 10 ms. `shift`: microseconds that its program takes longer. The server updates on
        `server_device`."""
        begin = 1_795_994_588_000_000
        worker, server = b"/job:worker/replica:0/task:0/device:", b"/job:ps/replica:0/task:0/device:"
        devices = [
            (worker + b"GPU:0", [(b"RecvTensor", b"w from", 100, 900), (b"RecvTensor", b"b from", 0, 1000)]),
            (worker + b"CPU:0", [(b"RecvTensor", b"global_step from", 9000, 1000)]),
            (worker + b"GPU:0/stream:all", [
                (b"_copy_1", b"_copy_1 = _Copy(w)", 1000, 500), (b"_copy_2", b"_copy_2 = _Copy(b)", 1200, 800),
                (b"run", b"run of a program", 2000, 4000 + shift), (b"_copy_3", b"_copy_3 = _Copy(gradient)", 6000, 1500)]),
            (server + server_device, [
                (b"RecvTensor", b"gradient from", 0, 8000), (b"update", b"update = ResourceApplyMomentum(w)", 8000, 700),
                (b"_send_1", b"_send_1 = _Send(w)", 8000, 2000)])]
        return message((1, message(*((1, message((1, name), *((2, message(
            (1, node), (2, begin + start), (3, 1), (4, length), (5, length), (8, label)))
            for node, label, start, length in nodes))) for name, nodes in devices))))

    def test_parts_of_steps(self):
        with tempfile.TemporaryDirectory() as directory:
            for i, shift in enumerate([0, 600, 200]):
                with open(f"{directory}/step-1.trace-{i}.pb", "wb") as file:
                    file.write(self.trace(shift))
            parts = step_parts.step_parts(directory)
            self.assertEqual(step_parts.step_parts(os.path.join(directory, "none")), {})
        self.assertEqual(parts, {
            "variables at the worker by": 1.0, "copies to the device": 1.0, "programs on the device": 4.2,
            "copies to the host": 1.5, "gradients at the server by": 8.0, "updates by the server": 0.7, "step": 10.0,
            "traced": 3})
        self.assertNotIn("server_runs", parts)
        lines = step_parts.markdown({"server": {**passed(parts=parts), "what": "A server"}, "other": passed()})
        self.assertIn("| programs on the device | 4.2 |", lines)

    def test_a_server_that_computes_on_the_device_is_seen(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(f"{directory}/step-1.trace-0.pb", "wb") as file:
                file.write(self.trace(server_device=b"GPU:0/stream:all"))
            self.assertGreater(step_parts.step_parts(directory)["server_runs"], 0)


class LibrariesTest(unittest.TestCase):
    """Stages of PyTorch and JAX, which stand-ins replace."""

    def run_stages(self, modules, *stages):
        """The report after these stages, the result of the program, and the report in Markdown."""
        with tempfile.TemporaryDirectory() as directory:
            for name, text in modules.items():
                with open(os.path.join(directory, name + ".py"), "w", encoding="utf-8") as file:
                    file.write(text)
            args = argparse.Namespace(out=os.path.join(directory, "out"), rehearse="", plugin="none.so", minutes=60,
                                      library_python=sys.executable, stages=",".join(stages))
            before = os.environ.get("PYTHONPATH")
            os.environ["PYTHONPATH"] = directory
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    code = gpu_check.run(args)
            finally:
                if before is None:
                    del os.environ["PYTHONPATH"]
                else:
                    os.environ["PYTHONPATH"] = before
            with open(os.path.join(args.out, "report.json"), encoding="utf-8") as file:
                found = json.load(file)
            with open(os.path.join(args.out, "report.md"), encoding="utf-8") as file:
                return found, code, file.read()

    def test_a_library_that_is_not_installed_is_a_row(self):
        missing = {name: f"raise ModuleNotFoundError('none', name='{name}')" for name in ["torch", "jax"]}
        found, code, text = self.run_stages(missing, "pytorch_float32", "jax_bfloat16")
        self.assertEqual(code, 0)
        self.assertEqual(found["stages"]["pytorch_float32"]["data"], {"absent": "PyTorch is not installed"})
        self.assertEqual(found["stages"]["jax_bfloat16"]["result"], "not there")
        self.assertIn("JAX is not installed", row(found["marks"], "bfloat16", "from the host", "JAX")["note"])
        self.assertIn("; PyTorch is not installed |", text)

    def test_a_library_that_does_not_work_is_a_row(self):
        found, code, _ = self.run_stages({"torch": "raise OSError('libcudart.so.13: cannot open')",
                                          "jax": "import os; os._exit(3)"}, "pytorch_float32", "jax_float32")
        self.assertEqual(code, 0)
        self.assertIn("libcudart.so.13", found["stages"]["pytorch_float32"]["data"]["absent"])
        self.assertIn("ended with 3", found["stages"]["jax_float32"]["data"]["absent"])

    def test_a_library_without_a_card_is_a_row(self):
        found, code, _ = self.run_stages({"torch": "__version__ = '9.9'\nclass cuda:\n"
                                                   "    is_available = staticmethod(lambda: False)\n"}, "pytorch_float32")
        self.assertEqual(code, 0)
        self.assertEqual(found["stages"]["pytorch_float32"]["data"], {"absent": "PyTorch 9.9 finds no card"})


if __name__ == "__main__":
    unittest.main()
