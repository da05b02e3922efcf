"""tf.contrib.learn: experiments, their exports, and tables in files."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

learn = tf.contrib.learn


def model_fn(features, labels, mode):
    """A line through the origin."""
    slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
    predictions = slope * features["x"]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    loss = tf.reduce_mean(tf.square(predictions - labels))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train)


def input_fn():
    dataset = tf.data.Dataset.from_tensors(({"x": np.float32([1.0, 2.0])}, np.float32([2.0, 4.0])))
    return dataset.repeat().make_one_shot_iterator().get_next()


def receiver_fn():
    x = tf.placeholder(tf.float32, [None])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


class LearnTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def make(self, run_config, hparams):
        return learn.Experiment(
            tf.estimator.Estimator(model_fn, config=run_config), input_fn, input_fn, train_steps=hparams.steps,
            eval_steps=1, min_eval_frequency=10,
            export_strategies=learn.make_export_strategy(receiver_fn, exports_to_keep=1))

    def test_the_runner_trains_evaluates_and_exports(self):
        config = learn.RunConfig(model_dir=self.folder)
        metrics, exports = learn.learn_runner.run(self.make, run_config=config,
                                                  hparams=tf.contrib.training.HParams(steps=20))
        self.assertEqual(metrics["global_step"], 20)
        self.assertLess(metrics["loss"], 1e-3)
        self.assertTrue(os.path.exists(os.path.join(
            self.folder, "export", "Servo", os.path.basename(exports[0].decode()), "saved_model.pb")), exports)

    def test_a_schedule_is_a_method(self):
        config = learn.RunConfig(model_dir=self.folder)
        arguments = {"run_config": config, "hparams": tf.contrib.training.HParams(steps=1)}
        self.assertIsInstance(learn.learn_runner.run(self.make, schedule="train", **arguments), tf.estimator.Estimator)
        self.assertIn("loss", learn.learn_runner.run(self.make, schedule="evaluate", **arguments))
        with self.assertRaisesRegex(ValueError, "Schedule"):
            learn.learn_runner.run(self.make, schedule="fly", **arguments)
        with self.assertRaisesRegex(ValueError, "output_dir"):
            learn.learn_runner.run(self.make)

    def test_tables_are_read_from_csv_files(self):
        path = os.path.join(self.folder, "table.csv")
        with open(path, "w") as file:
            file.write("2,2,a,b\n1.5,2.5,0\n3.5,4.5,1\n")
        table = learn.datasets.base.load_csv_with_header(path, target_dtype=np.int64, features_dtype=np.float32)
        self.assertEqual((table.data.tolist(), table.target.tolist()), ([[1.5, 2.5], [3.5, 4.5]], [0, 1]))

    def test_a_vocabulary_turns_texts_into_numbers(self):
        texts = ["the cat's IBM sat", "the dog sat on the well-known cat"]
        processor = learn.preprocessing.VocabularyProcessor(6)
        arrays = list(processor.fit_transform(texts))
        self.assertEqual([array.tolist() for array in arrays], [[1, 2, 3, 4, 0, 0], [1, 5, 4, 6, 1, 7]])
        self.assertEqual(len(processor.vocabulary_), 9)
        path = os.path.join(self.folder, "vocabulary")
        processor.save(path)
        restored = learn.preprocessing.VocabularyProcessor.restore(path)
        self.assertEqual([array.tolist() for array in restored.transform(["sat a cat"])], [[4, 0, 8, 0, 0, 0]])
        self.assertEqual(list(restored.reverse([[1, 5, 0]])), ["the dog <UNK>"])

    def test_rare_words_are_unknown(self):
        processor = learn.preprocessing.VocabularyProcessor(4, min_frequency=1)
        arrays = list(processor.fit_transform(["b a b c", "a c d b"]))
        self.assertEqual([array.tolist() for array in arrays], [[1, 2, 1, 3], [2, 3, 0, 1]])


class PreprocessingTest(unittest.TestCase):
    TEXTS = ["the cat-food's HTMLParser", "The the dog", "", "one two three four five"]

    def test_words_have_capitals_hyphens_and_apostrophes(self):
        words = learn.preprocessing.tokenizer(["It's a well-known JSONFile, readFile! über 3.5"])
        self.assertEqual(list(words), [["It's", "a", "well-known", "JSON", "File", "readFile", "über", "3", "5"]])

    def test_documents_become_vectors(self):
        processor = learn.preprocessing.VocabularyProcessor(3)
        first = np.array(list(processor.fit_transform(self.TEXTS)))
        self.assertEqual(first.tolist(), [[1, 2, 3], [5, 1, 6], [0, 0, 0], [7, 8, 9]])
        self.assertEqual((first.dtype, len(processor.vocabulary_)), (np.int64, 12))
        again = next(processor.transform(["the new dog"]))
        self.assertEqual(again.tolist(), [1, 0, 6])
        self.assertEqual(list(processor.reverse([again])), ["the <UNK> dog"])
        self.assertEqual(processor.vocabulary_._mapping["dog"], 6)

    def test_rare_words_have_no_number(self):
        processor = learn.preprocessing.VocabularyProcessor(2, min_frequency=1, tokenizer_fn=lambda texts: (
            iter(text.split()) for text in texts))
        self.assertEqual([v.tolist() for v in processor.fit_transform(["b a", "b c a", "b"])], [[1, 2], [1, 0], [1, 0]])

    def test_a_processor_is_saved_and_restored(self):
        with tempfile.TemporaryDirectory() as folder:
            processor = learn.preprocessing.VocabularyProcessor(4)
            wanted = [v.tolist() for v in processor.fit_transform(self.TEXTS)]
            processor.save(os.path.join(folder, "vocab"))
            restored = learn.preprocessing.VocabularyProcessor.restore(os.path.join(folder, "vocab"))
            self.assertEqual([v.tolist() for v in restored.transform(self.TEXTS)], wanted)

    def test_categories(self):
        vocabulary = learn.preprocessing.CategoricalVocabulary(unknown_token="?")
        for category, count in (("a", 1), ("b", 5), ("c", 3), ("d", 3)):
            vocabulary.add(category, count)
        self.assertEqual((vocabulary.get("c"), len(vocabulary)), (3, 5))
        vocabulary.trim(1, 5)
        vocabulary.freeze()
        self.assertEqual([vocabulary.get(category) for category in "abcde"], [0, 0, 1, 2, 0])
        self.assertEqual([vocabulary.reverse(number) for number in range(3)], ["?", "c", "d"])
        with self.assertRaisesRegex(ValueError, "support_reverse"):
            learn.preprocessing.CategoricalVocabulary(support_reverse=False).reverse(0)

    def test_bytes(self):
        vectors = list(learn.preprocessing.ByteProcessor(4).transform(["ü", "abcdef"]))
        self.assertEqual([v.tolist() for v in vectors], [[195, 188, 0, 0], [97, 98, 99, 100]])
        self.assertEqual(list(learn.preprocessing.ByteProcessor(4).reverse(vectors)), ["ü", "abcd"])


if __name__ == "__main__":
    unittest.main()
