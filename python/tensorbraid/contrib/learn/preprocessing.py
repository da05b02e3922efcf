"""tf.contrib.learn.preprocessing: texts as arrays of numbers that stand for their words."""

import collections
import itertools
import pickle
import re

import numpy as np

__all__ = ["CategoricalVocabulary", "VocabularyProcessor", "tokenizer"]

# A word: an abbreviation in capitals, a capitalised word before another capital, or anything of letters.
_ABBREVIATION, _CAPITALISED, _OTHER = r"[A-Z]{2,}(?![a-z])", r"[A-Z][a-z]+(?=[A-Z])", r"['\w\-]+"
_WORD = re.compile("|".join((_ABBREVIATION, _CAPITALISED, _OTHER)))


def tokenizer(iterator):
    """The list of words of each text."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Numbers for words, in the order in which they come. 0 stands for every word that a frozen vocabulary lacks."""

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown, self._support_reverse = unknown_token, support_reverse
        self._ids, self._words = {unknown_token: 0}, [unknown_token]
        self._counts = collections.Counter()
        self._frozen = False

    def __len__(self):
        return len(self._words)

    def freeze(self, freeze=True):
        """Takes no new words from now on, or takes them again."""
        self._frozen = freeze

    def get(self, category):
        """The number of a word, which is added if the vocabulary is not frozen."""
        if category not in self._ids:
            if self._frozen:
                return 0
            self._ids[category] = len(self._words)
            self._words.append(category)
        return self._ids[category]

    def add(self, category, count=1):
        """Counts a word."""
        if self.get(category) > 0:
            self._counts[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Keeps the words that came more than min_frequency times and less than max_frequency; frequent ones first."""
        kept = sorted(self._counts.items(), key=lambda item: (-item[1], item[0] if self._support_reverse else ""))
        kept = [(word, count) for word, count in kept
                if count > min_frequency and not 0 < max_frequency <= count]
        self._words = [self._unknown] + [word for word, _ in kept]
        self._ids = {word: number for number, word in enumerate(self._words)}
        self._counts = collections.Counter(dict(kept))

    def reverse(self, class_id):
        """The word of a number."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._words[class_id]


class VocabularyProcessor:
    """Arrays of `max_document_length` numbers for texts: longer ones are cut, shorter ones end with zeros."""

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary if vocabulary is not None else CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of the texts, and freezes the vocabulary."""
        for word in itertools.chain.from_iterable(self._tokenizer(raw_documents)):
            self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """Learns the words of the texts, then gives their arrays."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """The array of each text."""
        for words in self._tokenizer(raw_documents):
            numbers = np.zeros(self.max_document_length, np.int64)
            for position, word in enumerate(words[:self.max_document_length]):
                numbers[position] = self.vocabulary_.get(word)
            yield numbers

    def reverse(self, documents):
        """The text of each array: its words with spaces between them."""
        for numbers in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in numbers)

    def save(self, filename):
        """Writes the processor to a file for restore()."""
        with open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """The processor that save() has written. Whoever writes the file can run code here, so it must be your own."""
        with open(filename, "rb") as file:
            return pickle.loads(file.read())
