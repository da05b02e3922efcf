#!/usr/bin/env python3
"""TensorBoard loads the logs that our C++ API writes, through its readers and through the web server that users see.

    python tests/interop/tensorboard_log.py WRITER

WRITER is the program of tensorboard_log.cc.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
from tensorboard import program
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

STEPS = 5
# The possible losses. A step computes the summaries before or after it updates the variables.
LOSSES = [3 * 0.25**i for i in range(STEPS + 1)]


class TensorBoardTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(prefix="tensorboard_log_")
        subprocess.run([WRITER, cls.dir.name], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def load(self, run):
        events = EventAccumulator(f"{self.dir.name}/{run}", size_guidance={"scalars": 0, "histograms": 0, "tensors": 0})
        return events.Reload()

    def test_scalars(self):
        for run in "monitored", "supervised":
            loss = self.load(run).Scalars("loss")
            self.assertEqual(len(loss), STEPS, run)
            self.assertTrue(all(any(math.isclose(e.value, l) for l in LOSSES) for e in loss), loss)
            self.assertLess(abs(time.time() - loss[0].wall_time), 600)
            steps = [e.step for e in loss]
            self.assertEqual(steps, sorted(set(steps)), run)
        self.assertEqual([e.step for e in self.load("monitored").Scalars("loss")], list(range(1, STEPS + 1)))

    def test_histograms(self):
        histograms = self.load("monitored").Histograms("weights")
        self.assertEqual(len(histograms), STEPS)
        value = histograms[0].histogram_value
        self.assertEqual(value.num, 3)
        self.assertEqual(sum(value.bucket), 3)

    def test_images(self):
        image = self.load("monitored").Images("digit/image")[0]
        self.assertEqual((image.width, image.height), (3, 2))
        self.assertTrue(image.encoded_image_string.startswith(b"\x89PNG"))

    def test_audio(self):
        audio = self.load("monitored").Audio("tone/audio")[0]
        self.assertEqual((audio.sample_rate, audio.length_frames, audio.content_type), (8000, 100, "audio/wav"))

    def test_text(self):
        events = self.load("monitored")
        self.assertEqual(events.Tensors("note")[0].tensor_proto.string_val[0], b"**hello**")
        self.assertEqual(list(events.PluginTagToContent("text")), ["note"])

    def test_graphs(self):
        for run, node in ("monitored", "digit"), ("supervised", "loss"), ("traced", "MatMul"):
            graph = self.load(run).Graph()
            self.assertIn(node, [n.name for n in graph.node], run)
        self.assertEqual(self.load("supervised").MetaGraph().saver_def.restore_op_name, "save/restore_all")

    def check_run_metadata(self, metadata):
        devices = {d.device: [n.node_name for n in d.node_stats] for d in metadata.step_stats.dev_stats}
        self.assertIn("MatMul", [n for d, nodes in devices.items() if d.endswith("CPU:1") for n in nodes], devices)
        self.assertTrue(all(n.all_start_micros > 0 for d in metadata.step_stats.dev_stats for n in d.node_stats))

    def test_run_metadata(self):
        events = self.load("traced")
        self.assertEqual(events.Tags()["run_metadata"], ["step_7"])
        self.check_run_metadata(events.RunMetadata("step_7"))

    def test_chrome_trace(self):
        with open(f"{self.dir.name}/trace.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        matmul = [e for e in events if e["name"] == "MatMul"]
        self.assertEqual(len(matmul), 1)
        self.assertEqual(matmul[0]["ph"], "X")
        # The fed placeholder is an argument of the graph that runs.
        self.assertEqual(matmul[0]["args"]["input0"], "_arg_0")

    def test_the_web_server_shows_them(self):
        board = program.TensorBoard()
        board.configure(argv=[None, "--logdir", self.dir.name, "--port", "0", "--host", "localhost", "--load_fast=false"])
        url = board.launch()

        def get(path, **query):
            with urllib.request.urlopen(f"{url}data/{path}?{urllib.parse.urlencode(query)}") as answer:
                return answer.read()

        deadline = time.time() + 60
        while True:
            runs = json.loads(get("runs"))
            tags = json.loads(get("plugin/scalars/tags"))
            graphs = json.loads(get("plugin/graphs/info"))
            if len(runs) == 3 and "traced" in graphs and "loss" in tags.get("supervised", {}):
                break
            self.assertLess(time.time(), deadline, (runs, tags, graphs))
            time.sleep(0.2)
        self.assertEqual(sorted(runs), ["monitored", "supervised", "traced"])
        points = json.loads(get("plugin/scalars/scalars", run="monitored", tag="loss"))
        self.assertEqual([step for _, step, _ in points], list(range(1, STEPS + 1)))
        self.assertTrue(json.loads(get("plugin/histograms/histograms", run="monitored", tag="weights")))
        self.assertIn(b"<strong>hello</strong>", get("plugin/text/text", run="monitored", tag="note"))
        self.assertEqual(len(json.loads(get("plugin/images/images", run="monitored", tag="digit/image", sample=0))), STEPS)
        self.assertIn(b"MatMul", get("plugin/graphs/graph", run="traced"))
        self.assertIn(b"MatMul", get("plugin/graphs/run_metadata", run="traced", tag="step_7"))


if __name__ == "__main__":
    WRITER = sys.argv.pop(1)
    unittest.main(verbosity=2)
