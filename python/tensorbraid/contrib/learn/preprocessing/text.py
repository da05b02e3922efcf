"""Documents as vectors of numbers of the same length."""

import pickle
import re

import numpy as np

from tensorbraid import gfile
from tensorbraid.contrib.learn.preprocessing.categorical_vocabulary import CategoricalVocabulary

__all__ = ["ByteProcessor", "VocabularyProcessor", "tokenizer"]

# Several capitals; a word that a capital of the next word ends; other words, which may have apostrophes and hyphens.
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator):
    """Yields the list of the words of each document."""
    for document in iterator:
        yield TOKENIZER_RE.findall(document)


class ByteProcessor:
    """Documents as vectors of their bytes in UTF-8, cut or filled up with zeros to a length."""

    def __init__(self, max_document_length):
        self.max_document_length = max_document_length

    def fit(self, x):
        """Nothing is to be learned. Returns the object."""
        return self

    def fit_transform(self, x):
        """transform(x)."""
        return self.transform(x)

    def transform(self, x):
        """Yields the vector of each document."""
        for document in x:
            data = document.encode() if isinstance(document, str) else document
            vector = np.zeros(self.max_document_length, np.int64)
            found = np.frombuffer(data, np.uint8)[:self.max_document_length]
            vector[:len(found)] = found
            yield vector

    def reverse(self, x):
        """Yields the document of each vector."""
        for vector in x:
            yield bytes(int(value) for value in np.trim_zeros(np.asarray(vector), "b")).decode(errors="replace")


class VocabularyProcessor:
    """Documents as vectors of the numbers of their words, cut or filled up with zeros to a length.

    A word gets a number if fit() has seen it more than `min_frequency` times, or at all if that is 0.
    """

    def __init__(self, max_document_length, min_frequency=0, vocabulary=None, tokenizer_fn=None):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents, unused_y=None):
        """Learns the words of the documents. Returns the object."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents, unused_y=None):
        """fit(), and then transform() of the same documents."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents):
        """Yields the vector of each document."""
        for words in self._tokenizer(raw_documents):
            vector = np.zeros(self.max_document_length, np.int64)
            for position, word in zip(range(self.max_document_length), words):
                vector[position] = self.vocabulary_.get(word)
            yield vector

    def reverse(self, documents):
        """Yields the text of each vector. Words without a number are "<UNK>"."""
        for vector in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in vector)

    def save(self, filename):
        """Writes the object to a file, with pickle."""
        with gfile.Open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename):
        """Reads an object that save() has written. Only for files of programs that you trust, as all of pickle."""
        with gfile.Open(filename, "rb") as file:
            return pickle.loads(file.read())
