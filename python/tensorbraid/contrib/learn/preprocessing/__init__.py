"""tf.contrib.learn.preprocessing: words as numbers."""

from tensorbraid.contrib.learn.preprocessing.categorical_vocabulary import CategoricalVocabulary  # noqa: F401
from tensorbraid.contrib.learn.preprocessing.text import (  # noqa: F401
    ByteProcessor, VocabularyProcessor, tokenizer)

__all__ = []
