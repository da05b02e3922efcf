"""tf.contrib.slim.nets: the variables and the outputs of the networks are those of the package tf_slim 1.1.0."""

import hashlib
import json
import math
import unittest

import numpy as np
import tensorbraid as tf

slim = tf.contrib.slim
nets = slim.nets
# The size of the image; then of tf_slim's network: the number of variables and of their elements, a digest of the names
# and shapes of the variables, and one of the outputs' names, tensors and shapes, without "PreLogits".
NETS = {
    "alexnet_v2": (nets.alexnet, 224, 16, 50303912, "e933137659ced2f0", "7844f8d5fa3544db"),
    "overfeat": (nets.overfeat, 231, 16, 145704424, "f65b6575666bea8d", "404f220b3c6d2cff"),
    "vgg_a": (nets.vgg, 224, 22, 132863336, "ca56936fefa33769", "d552063b902dda7b"),
    "vgg_16": (nets.vgg, 224, 32, 138357544, "fc53b2916dbbb634", "f7a37016af1b59c9"),
    "vgg_19": (nets.vgg, 224, 38, 143667240, "0082b2a819165a7e", "6f0ee4dc46741f45"),
    "inception_v1": (nets.inception, 224, 230, 6632184, "82b22141c1493165", "5c47a8c40b3e98a1"),
    "inception_v2": (nets.inception, 224, 277, 11198112, "7518d1f62285f187", "bc2d312749eefe16"),
    "inception_v3": (nets.inception, 299, 388, 27179376, "7531157c7ab57efc", "5339a989a75fa9c6"),
    "resnet_v1_50": (nets.resnet_v1, 224, 267, 25610152, "32afaa27f3e86135", "1f45a0f1740e934c"),
    "resnet_v1_101": (nets.resnet_v1, 224, 522, 44654504, "2737c70c0f28d64f", "6a6c9d847ed2e075"),
    "resnet_v1_152": (nets.resnet_v1, 224, 777, 60344232, "451159a875c049ae", "ad0803be21658533"),
    "resnet_v1_200": (nets.resnet_v1, 224, 1017, 64849832, "465bb02ecf27a6dc", "6f309427c75391f5"),
    "resnet_v2_50": (nets.resnet_v2, 224, 272, 25613800, "4c38063d2cc927af", "d910817b220a925f"),
    "resnet_v2_101": (nets.resnet_v2, 224, 544, 44675560, "7ba8ced7af1d9fb5", "f4c33960b8712ef0"),
    "resnet_v2_152": (nets.resnet_v2, 224, 816, 60380648, "9281bf5f051e7905", "3bd59346fcbda88f"),
    "resnet_v2_200": (nets.resnet_v2, 224, 1072, 64894440, "c13b39dbec8d3f63", "01b833dc81ae920e"),
}


def scope_of(module, name):
    own = "resnet_arg_scope" if "resnet" in name else "vgg_arg_scope" if "vgg" in name else f"{name}_arg_scope"
    return slim.arg_scope(getattr(module, own)())


def digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


class NetsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_variables_and_outputs_are_those_of_tf_slim(self):
        for name, (module, size, *wanted) in NETS.items():
            with self.subTest(name), tf.Graph().as_default(), scope_of(module, name):
                arguments = {"num_classes": 1000} if "resnet" in name else {}
                _, outputs = getattr(module, name)(tf.placeholder(tf.float32, [2, size, size, 3], "x"), **arguments)
                variables = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
                self.assertEqual([len(variables), sum(map(math.prod, variables.values())),
                                  digest(sorted(variables.items())),
                                  digest([[key, tensor.name, tensor.shape.as_list()] for key, tensor in outputs.items()
                                          if key != "PreLogits"])], wanted)
                self.assertEqual(getattr(module, name).default_image_size, size)

    def test_a_network_can_stop_at_a_module_and_have_fewer_channels(self):
        x = tf.placeholder(tf.float32, [None, 128, 128, 3])
        net, outputs = nets.inception.inception_v3_base(x, "Mixed_6a", depth_multiplier=0.5)
        self.assertEqual((net.op.name, net.shape.as_list()), ("InceptionV3/Mixed_6a/concat", [None, 6, 6, 384]))
        self.assertEqual(list(outputs)[-2:], ["Mixed_5d", "Mixed_6a"])
        with self.assertRaisesRegex(ValueError, "Unknown final endpoint none"):
            nets.inception.inception_v1_base(x, "none")
        with self.assertRaisesRegex(ValueError, "depth_multiplier is not greater than zero"):
            nets.inception.inception_v2_base(x, depth_multiplier=0)

    def test_dilated_resnet_has_larger_outputs_and_the_same_variables(self):
        x = tf.placeholder(tf.float32, [1, 65, 65, 3])
        with slim.arg_scope(nets.resnet_v1.resnet_arg_scope()):
            dense, _ = nets.resnet_v1.resnet_v1_50(x, 21, is_training=False, global_pool=False, output_stride=8)
            count = len(tf.global_variables())
            small, _ = nets.resnet_v1.resnet_v1_50(x, 21, is_training=False, global_pool=False, reuse=True)
            with self.assertRaisesRegex(ValueError, "multiple of 4"):
                nets.resnet_v1.resnet_v1_50(x, output_stride=6, scope="a")
            with self.assertRaisesRegex(ValueError, "cannot be reached"):
                nets.resnet_v2.resnet_v2_50(x, output_stride=128, scope="b")
        self.assertEqual((dense.shape.as_list(), small.shape.as_list()), ([1, 9, 9, 21], [1, 3, 3, 21]))
        self.assertEqual(len([v for v in tf.global_variables() if v.op.name.startswith("resnet_v1_50")]), count)

    def test_a_network_of_own_blocks_learns(self):
        tf.set_random_seed(1)
        images = np.random.RandomState(0).uniform(size=[8, 32, 32, 3]).astype(np.float32)
        labels = tf.constant([0, 1] * 4)
        images[1::2] *= 0.2
        block = nets.resnet_v2.resnet_v2_block
        with slim.arg_scope(nets.resnet_v2.resnet_arg_scope(batch_norm_decay=0.8)):
            net, outputs = nets.resnet_v2.resnet_v2(
                tf.constant(images), [block("block1", 4, 2, 2), block("block2", 8, 1, 1)], 2, scope="small")
        loss = tf.losses.sparse_softmax_cross_entropy(labels, tf.squeeze(net, [1, 2]))
        train = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(0.01))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            first = session.run(loss)
            for _ in range(20):
                session.run(train)
            self.assertLess(session.run(loss), first / 2)
            self.assertEqual(session.run(outputs["predictions"]).shape, (8, 1, 1, 2))


if __name__ == "__main__":
    unittest.main()
