"""The numbers of categories."""

import collections

__all__ = ["CategoricalVocabulary"]


class CategoricalVocabulary:
    """Gives categories, such as words, the numbers 1, 2, ... in their order. 0 stands for all unknown ones.

    Programs read the private members, whose names are TensorFlow's.
    """

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token = unknown_token
        self._support_reverse = support_reverse
        self._freeze = False
        self._freq = collections.defaultdict(int)
        self._forget()

    def _forget(self):
        self._mapping = {self._unknown_token: 0}
        self._reverse_mapping = [self._unknown_token]

    def _number(self, category):
        number = self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)
        return number

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """From now on, new categories get the number 0; with freeze=False, numbers of their own again."""
        self._freeze = freeze

    def get(self, category):
        """The number of a category. A new one gets a number unless the vocabulary is frozen."""
        if category in self._mapping:
            return self._mapping[category]
        return 0 if self._freeze else self._number(category)

    def add(self, category, count=1):
        """Counts a category, which get() has given a number or does so now."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Keeps categories that were added more often than `min_frequency` times, and less often than `max_frequency`
        times if that is positive. The most frequent ones get the smallest numbers."""
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        kept = [(category, count) for category, count in sorted(by_name, key=lambda item: -item[1])
                if count > min_frequency and not 0 < max_frequency <= count]
        self._forget()
        for category, _ in kept:
            self._number(category)
        self._freq = dict(kept)

    def reverse(self, class_id):
        """The category that has this number."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]
