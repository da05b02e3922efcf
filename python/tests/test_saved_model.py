"""tf.saved_model: what is saved can be loaded again, with its files, signatures and tags."""

import os
import tempfile
import unittest

import tensorbraid as tf

sm = tf.saved_model


class Folder(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.path = os.path.join(self.folder, "model")


class SavedModelTest(Folder):
    def save(self, session, **kwargs):
        """Saves y = x * w + number of lines, where w is 2 after its update."""
        vocabulary = os.path.join(self.folder, "words.txt")
        with open(vocabulary, "w") as file:
            file.write("a\nb\n")
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
            vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER),
                                          -1)
        y = tf.add(x * w, tf.cast(table.size(), tf.float32), name="y")
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(w.assign_add(1.0))
        builder = sm.Builder(self.path)
        builder.add_meta_graph_and_variables(
            session, [sm.tag_constants.SERVING], {"serving_default": sm.predict_signature_def({"x": x}, {"y": y})},
            tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS), main_op=tf.tables_initializer(), **kwargs)
        os.remove(vocabulary)
        return builder

    def served(self, tags=("serve",), import_scope=None, key="serving_default"):
        """The outputs for x = 3 of the model that is loaded into a new graph, and its MetaGraphDef."""
        with tf.Session(graph=tf.Graph()) as session:
            # The export of an Estimator returns bytes.
            path = self.path if import_scope else self.path.encode()
            meta_graph = sm.load(session, tags, path, import_scope)
            signature = meta_graph.signature_def[key]
            x, y = (sm.get_tensor_from_tensor_info(info, import_scope=import_scope)
                    for info in (signature.inputs["x"], signature.outputs["y"]))
            self.assertEqual([v.name for v in tf.global_variables()],
                             [f"{import_scope}/w:0" if import_scope else "w:0"])
            return session.run(y, {x: [3.0]}).tolist(), meta_graph

    def test_a_model_is_served_with_its_files(self):
        with tf.Session() as session:
            self.assertEqual(self.save(session).save(), os.path.join(self.path, "saved_model.pb").encode())
        self.assertTrue(sm.contains_saved_model(self.path))
        self.assertTrue(sm.contains_saved_model(self.path.encode()))
        self.assertFalse(sm.loader.maybe_saved_model_directory(self.folder))
        self.assertEqual(sorted(os.listdir(self.path)), ["assets", "saved_model.pb", "variables"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.path, "variables"))),
                         ["variables.data-00000-of-00001", "variables.index"])
        for scope in (None, "scope"):
            outputs, meta_graph = self.served(import_scope=scope)
            self.assertEqual(outputs, [8.0])
        self.assertEqual([asset.filename for asset in meta_graph.asset_file_def], ["words.txt"])
        self.assertIn("LookupTableSizeV2", [op.name for op in meta_graph.meta_info_def.stripped_op_list.op])

    def test_a_model_may_be_text_and_have_several_graphs(self):
        with tf.Session() as session:
            builder = self.save(session)
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, name="other_x")
            y = tf.negative(x * tf.get_variable("w", []))
            builder.add_meta_graph(["a", "b"], {"key": sm.predict_signature_def({"x": x}, {"y": y})})
        builder.save(as_text=True)
        self.assertTrue(os.path.exists(os.path.join(self.path, "saved_model.pbtxt")))
        self.assertEqual(self.served()[0], [8.0])
        self.assertEqual(self.served(["b", "a"], key="key")[0], [-6.0])
        with self.assertRaisesRegex(RuntimeError, "could not be found"):
            self.served(["a"])

    def test_a_model_without_variables_can_be_loaded(self):
        x = tf.sparse_placeholder(tf.float32, [2, 2], name="x")
        y = tf.sparse_tensor_to_dense(x)
        with tf.Session() as session:
            sm.simple_save(session, self.path, {"x": x}, {"y": y})
        with tf.Session(graph=tf.Graph()) as session:
            signature = sm.load(session, {"serve"}, self.path).signature_def["serving_default"]
            found = sm.get_tensor_from_tensor_info(signature.inputs["x"])
            value = tf.SparseTensorValue([[0, 1]], [5.0], [2, 2])
            self.assertEqual(session.run(signature.outputs["y"].name, {found: value}).tolist(), [[0, 5], [0, 0]])

    def test_partitioned_and_local_variables_and_devices(self):
        with tf.device("/cpu:0"):
            with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
                whole = tf.convert_to_tensor(tf.get_variable("w", [4], initializer=tf.ones_initializer()))
        tf.get_variable("local", initializer=5.0, collections=["local_variables"])
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            builder = sm.Builder(self.path)
            builder.add_meta_graph_and_variables(session, "one", clear_devices=True, main_op=sm.main_op.main_op())
            builder.save()
        with tf.Session(graph=tf.Graph()) as session:
            meta_graph = sm.load(session, "one", self.path)
            self.assertEqual({node.device for node in meta_graph.graph_def.node}, {""})
            self.assertEqual([v.name for v in tf.global_variables()], ["s/w/part_0:0", "s/w/part_1:0"])
            self.assertEqual(session.run(whole.name).tolist(), [1, 1, 1, 1])
            self.assertEqual(session.run(tf.local_variables()), [5.0])

    def test_a_loaded_model_can_be_trained_and_saved_again(self):
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, tf.get_variable("w", initializer=2.0), name="y")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            sm.simple_save(session, self.path, {"x": x}, {"y": y})
        with tf.Session(graph=tf.Graph()) as session:
            sm.load(session, ["serve"], self.path)
            x, y = (session.graph.get_tensor_by_name(name) for name in ("x:0", "y:0"))
            session.run(tf.train.GradientDescentOptimizer(1.0).minimize(y), {x: 3.0})
            sm.simple_save(session, self.path + "2", {"x": x}, {"y": y})
        with tf.Session(graph=tf.Graph()) as session:
            sm.load(session, ["serve"], self.path + "2")
            self.assertEqual(session.run("y:0", {"x:0": 5.0}), -5.0)

    def test_wrong_calls_are_refused(self):
        with tf.Session() as session:
            with self.assertRaises(OSError):
                sm.load(session, ["serve"], self.folder)
            builder = sm.Builder(self.path)
            with self.assertRaisesRegex(AssertionError, "has not been saved"):
                builder.add_meta_graph(["a"])
            with self.assertRaisesRegex(AssertionError, "encoding"):
                builder.add_meta_graph_and_variables(
                    session, ["a"], {"k": sm.build_signature_def({"x": tf.TensorInfo()})})
            with self.assertRaisesRegex(KeyError, "reserved"):
                builder.add_meta_graph_and_variables(session, ["a"],
                                                     {"__saved_model_init_op": sm.build_signature_def()})
            with self.assertRaises(TypeError):
                builder.add_meta_graph_and_variables(session, ["a"], main_op=tf.constant(1))
            with self.assertRaisesRegex(ValueError, "constant"):
                builder.add_meta_graph_and_variables(
                    session, ["a"], assets_collection=[tf.identity(tf.constant("x"))])
            builder.add_meta_graph_and_variables(session, ["a"], main_op=tf.no_op())
            with self.assertRaisesRegex(AssertionError, "already been saved"):
                builder.add_meta_graph_and_variables(session, ["a"])
            with self.assertRaisesRegex(ValueError, "main ops"):
                builder.add_meta_graph(["a"], legacy_init_op=tf.no_op())
            builder.save()
            with self.assertRaisesRegex(AssertionError, "empty"):
                sm.Builder(self.path)

    def test_files_of_the_same_name_are_kept_apart(self):
        tensors = []
        for name in ("one", "two", "one"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
            path = os.path.join(self.folder, name, "words")
            with open(path, "w") as file:
                file.write(name)
            tensors.append(tf.constant(path))
        with tf.Session() as session:
            builder = sm.Builder(self.path)
            builder.add_meta_graph_and_variables(session, ["a"], assets_collection=tensors)
            builder.save()
            meta_graph = sm.load(tf.Session(graph=tf.Graph()), ["a"], self.path)
        self.assertEqual([asset.filename for asset in meta_graph.asset_file_def], ["words", "words_1", "words"])
        with open(os.path.join(self.path, "assets", "words_1")) as file:
            self.assertEqual(file.read(), "two")


class SignatureTest(Folder):
    def test_signatures_say_what_serving_needs(self):
        text, number = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None, 3])
        regress = sm.regression_signature_def(text, number)
        classify = sm.classification_signature_def(text, text, number)
        predict = sm.predict_signature_def({"a": number}, {"b": text})
        for signature, method in ((regress, "regress"), (classify, "classify"), (predict, "predict")):
            self.assertEqual(signature.method_name, "tensorflow/serving/" + method)
            self.assertTrue(sm.is_valid_signature(signature))
            signature.method_name = "other"
            self.assertFalse(sm.is_valid_signature(signature))
        self.assertEqual(sorted(classify.outputs), ["classes", "scores"])
        self.assertEqual([dim.size for dim in predict.inputs["a"].tensor_shape.dim], [-1, 3])

    def test_wrong_signatures_are_refused(self):
        text, number = tf.placeholder(tf.string), tf.placeholder(tf.float32)
        wrong = [lambda: sm.regression_signature_def(None, number), lambda: sm.regression_signature_def(number, number),
                 lambda: sm.regression_signature_def(text, text), lambda: sm.regression_signature_def(text, None),
                 lambda: sm.classification_signature_def(text, None, None), lambda: sm.predict_signature_def({}, {}),
                 lambda: sm.classification_signature_def(3, None, number),
                 lambda: sm.classification_signature_def(text, number, None),
                 lambda: sm.classification_signature_def(text, None, text),
                 lambda: sm.predict_signature_def({"x": text}, None),
                 lambda: sm.get_tensor_from_tensor_info(tf.TensorInfo())]
        for call in wrong:
            self.assertRaises(ValueError, call)

    def test_the_value_of_a_variable_can_be_an_output(self):
        variable = tf.Variable([1.0, 2.0], name="v")
        info = sm.build_tensor_info(variable)
        self.assertEqual(sm.get_tensor_from_tensor_info(info).dtype, tf.float32)
        self.assertIs(tf.get_default_graph().get_tensor_by_name(info.name).dtype, tf.float32)

    def test_a_predictor_calls_a_model(self):
        predictor = tf.contrib.predictor
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            with tf.Graph().as_default(), tf.Session() as session:
                x = tf.placeholder(tf.float32, [None], name="x")
                y = tf.multiply(x, tf.get_variable("w", [], initializer=tf.constant_initializer(3.0)), name="y")
                session.run(tf.global_variables_initializer())
                tf.saved_model.simple_save(session, path, {"in": x}, {"out": y})
            predict = predictor.from_saved_model(path)
            self.assertEqual(predict({"in": [1, 2]})["out"].tolist(), [3.0, 6.0])
            self.assertEqual((list(predict.feed_tensors), list(predict.fetch_tensors)), (["in"], ["out"]))
            with self.assertRaisesRegex(ValueError, "unexpected keys in input_dict: ..z"):
                predict({"z": 1})
            with self.assertRaisesRegex(ValueError, "Available signatures are"):
                predictor.from_saved_model(path, "other")
            by_name = predictor.from_saved_model(path, input_names={"a": "x:0"}, output_names={"b": "y:0"})
            self.assertEqual(by_name({"a": [2]})["b"].tolist(), [6.0])

    def test_a_predictor_calls_an_estimator(self):
        def model_fn(features, labels, mode):
            w = tf.get_variable("w", [], initializer=tf.constant_initializer(2.0))
            y = features["x"] * w
            if mode == tf.estimator.ModeKeys.PREDICT:
                return tf.estimator.EstimatorSpec(mode, {"y": y}, export_outputs={
                    "serving_default": tf.estimator.export.PredictOutput({"y": y})})
            return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_mean(y), train_op=tf.assign_add(
                tf.train.get_global_step(), 1))

        def receiver():
            x = tf.placeholder(tf.float32, [None])
            return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

        with tempfile.TemporaryDirectory() as folder:
            estimator = tf.estimator.Estimator(model_fn, folder)
            with self.assertRaisesRegex(ValueError, "has no checkpoint"):
                tf.contrib.predictor.from_estimator(estimator, receiver)
            estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.0]}, [1.0])), steps=1)
            predict = tf.contrib.predictor.from_estimator(estimator, receiver)
            self.assertEqual(predict({"x": [1, 4]})["y"].tolist(), [2.0, 8.0])


if __name__ == "__main__":
    unittest.main()
