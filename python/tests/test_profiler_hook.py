"""Hooks that choose the options of runs, and tf.train.ProfilerHook."""

import json
import os
import tempfile
import unittest

import tensorbraid as tf


class Options(tf.train.SessionRunHook):
    """Asks for options, and keeps what it gets."""

    def __init__(self, **options):
        self.options = tf.RunOptions(**options)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(None, options=self.options)

    def after_run(self, run_context, run_values):
        self.values = run_values


class ProfilerHookTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.v = tf.Variable(1.0)
        self.step = tf.train.create_global_step()
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.v * self.v, global_step=self.step)

    def run_steps(self, hooks, steps):
        with tf.train.SingularMonitoredSession(hooks=hooks) as session:
            for _ in range(steps):
                session.run(self.train)

    def test_options_are_joined(self):
        slow, traces = Options(timeout_in_ms=50_000), Options(trace_level=tf.RunOptions.FULL_TRACE,
                                                              timeout_in_ms=20_000)
        plain = Options()
        metadata = tf.RunMetadata()
        with tf.train.SingularMonitoredSession(hooks=[slow, traces, plain]) as session:
            session.run(self.train, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        for hook in (slow, traces, plain):
            self.assertEqual(hook.values.options.timeout_in_ms, 50_000)
            self.assertEqual(hook.values.options.trace_level, tf.RunOptions.FULL_TRACE)
            self.assertTrue(hook.values.options.output_partition_graphs)
            self.assertEqual(hook.values.run_metadata, metadata)
            self.assertIsNone(hook.values.results)
        self.assertGreater(len(metadata.step_stats.dev_stats), 0)
        self.assertGreater(len(metadata.partition_graphs), 0)

    def test_nothing_is_recorded_by_default(self):
        hook = Options()
        self.run_steps([hook], 1)
        results, options, metadata = hook.values
        self.assertIsNone(results)
        self.assertEqual((options, metadata), (tf.RunOptions(), tf.RunMetadata()))

    def test_wrong_options_are_refused(self):
        class Wrong(tf.train.SessionRunHook):
            def before_run(self, run_context):
                return tf.train.SessionRunArgs(None, options="trace")

        with self.assertRaises(TypeError):
            self.run_steps([Wrong()], 1)

    def test_a_file_for_each_recorded_step(self):
        with tempfile.TemporaryDirectory() as folder:
            hook = tf.train.ProfilerHook(save_steps=2, output_dir=folder, show_dataflow=False, show_memory=True)
            self.run_steps([hook], 5)
            event_file, *timelines = sorted(os.listdir(folder))
            self.assertEqual(timelines, ["timeline-2.json", "timeline-4.json"])
            shown = [event.tagged_run_metadata.tag for event in
                     tf.train.summary_iterator(os.path.join(folder, event_file))
                     if event.HasField("tagged_run_metadata")]
            self.assertEqual(shown, ["step_2", "step_4"])
            with open(os.path.join(folder, "timeline-4.json")) as file:
                events = json.load(file)["traceEvents"]
        self.assertIn("ResourceApplyGradientDescent", {event.get("args", {}).get("op") for event in events})
        self.assertEqual({event["ph"] for event in events}, {"M", "X", "C"})

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "Either every_secs or every_steps"):
            tf.train.ProfilerHook()
        with self.assertRaisesRegex(ValueError, "both every_secs and every_steps"):
            tf.train.ProfilerHook(save_steps=1, save_secs=1)
        tf.reset_default_graph()
        tf.Variable(1.0)
        with self.assertRaises(tf.errors.FailedPreconditionError):
            tf.train.SingularMonitoredSession(hooks=[tf.train.ProfilerHook(save_steps=1)])


if __name__ == "__main__":
    unittest.main()
