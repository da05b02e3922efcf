"""Messages: TensorFlow's names and numbers, laziness, the reader of .proto files."""

import copy
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

import tensorbraid as tf
from tensorbraid import proto
from tensorbraid.proto import parser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEWER_GRAPH = os.path.join(ROOT, "src", "graph", "testdata", "tensorflow_2_21.pbtxt")


class ProtoTest(unittest.TestCase):
    def test_messages_have_their_fields(self):
        config = tf.ConfigProto(device_count={"CPU": 2}, gpu_options=tf.GPUOptions(allow_growth=True))
        config.gpu_options.per_process_gpu_memory_fraction = 0.5
        config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
        config.graph_options.rewrite_options.constant_folding = proto.RewriterConfig.OFF
        same = tf.ConfigProto.FromString(config.SerializeToString())
        self.assertEqual(same, config)
        self.assertEqual(same.device_count["CPU"], 2)
        self.assertEqual(tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE).trace_level, 3)
        with self.assertRaises(ValueError):
            tf.ConfigProto(no_such_field=1)

    def test_examples_have_the_bytes_of_tensorflow(self):
        example = tf.train.Example(features=tf.train.Features(feature={
            "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 300]))}))
        self.assertEqual(example.SerializeToString(), b"\n\x0e\n\x0c\n\x01x\x12\x07\x1a\x05\n\x03\x01\xac\x02")
        self.assertEqual(example.features.feature["x"].WhichOneof("kind"), "int64_list")

    def test_messages_are_copied_and_pickled(self):
        node = tf.NodeDef(name="x", op="Placeholder")
        node.attr["dtype"].type = proto.DT_FLOAT
        self.assertEqual(pickle.loads(pickle.dumps(node)), node)
        self.assertEqual(copy.deepcopy(node), node)
        self.assertEqual(proto.DataType.Name(node.attr["dtype"].type), "DT_FLOAT")

    def test_a_message_may_be_given_as_bytes_but_not_as_another_message(self):
        config = tf.ConfigProto(allow_soft_placement=True)
        self.assertIs(proto.message("ConfigProto", config), config)
        self.assertEqual(proto.message("ConfigProto", config.SerializeToString()), config)
        with self.assertRaisesRegex(TypeError, "config must be a ConfigProto, got GraphDef"):
            proto.message("ConfigProto", tf.GraphDef(), "config")

    def test_text_of_newer_tensorflow_is_read(self):
        from google.protobuf import text_format

        graph_def = tf.GraphDef()
        with open(NEWER_GRAPH) as file:
            text_format.Merge(file.read(), graph_def)
        types = [node.experimental_type.type_id for node in graph_def.node if node.HasField("experimental_type")]
        self.assertEqual(set(types), {proto.TFT_PRODUCT})
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
        self.assertEqual(graph.get_operation_by_name("train").type, "NoOp")

    def test_fields_of_the_future_are_skipped_in_text_files(self):
        with tempfile.NamedTemporaryFile("w", suffix=".pbtxt") as file:
            file.write('node { name: "a" op: "NoOp" of_the_future { x: 1 } }')
            file.flush()
            self.assertEqual(proto.from_file("GraphDef", file.name).node[0].name, "a")
        with tempfile.NamedTemporaryFile("w", suffix=".pbtxt") as file:
            file.write('node { name: "a" op: NoOp }')
            file.flush()
            with self.assertRaisesRegex(OSError, "1:22"):
                proto.from_file("GraphDef", file.name)

    def test_the_package_is_imported_without_protobuf(self):
        program = "import sys, tensorbraid; print('google.protobuf' in sys.modules, 'unittest' in sys.modules)"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, "False False\n")

    def test_an_error_of_a_proto_file_names_its_line(self):
        with self.assertRaisesRegex(ValueError, r"x\.proto:2: .*is not ;"):
            parser.file_descriptor("x.proto", 'syntax = "proto3"\nmessage M {}', set())
        with self.assertRaisesRegex(ValueError, r"x\.proto:1: '' is not the end"):
            parser.file_descriptor("x.proto", "message M {", set())


if __name__ == "__main__":
    unittest.main()
