"""The version numbers of distutils, which Python 3.12 has no more."""

import functools
import re


@functools.total_ordering
class _Version:
    """A version number, which is compared with others and with their text by its `_key`."""

    def __init__(self, vstring=None):
        if vstring:
            self.parse(vstring)

    def parse(self, vstring):
        """Takes the number from the text."""
        self.vstring = vstring
        self.version = self._key = self._parsed(vstring)

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return f"{type(self).__name__} ('{self}')"

    def _other(self, other):
        return type(self)(other) if isinstance(other, str) else other

    def __eq__(self, other):
        other = self._other(other)
        return self._key == other._key if isinstance(other, _Version) else NotImplemented

    def __lt__(self, other):
        other = self._other(other)
        return self._key < other._key if isinstance(other, _Version) else NotImplemented

    __hash__ = None


class LooseVersion(_Version):
    """Any text: its numbers and words are compared one after the other."""

    @staticmethod
    def _parsed(text):
        parts = [part for part in re.split(r"(\d+|[a-z]+|\.)", text) if part and part != "."]
        return [int(part) if part.isdigit() else part for part in parts]


class StrictVersion(_Version):
    """Two or three numbers, and after them "a" or "b" with a number for a release before the final one."""

    _FORM = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", re.ASCII)

    @staticmethod
    def _parsed(text):
        match = StrictVersion._FORM.fullmatch(text)
        if match is None:
            raise ValueError(f"invalid version number '{text}'")
        return tuple(int(number or 0) for number in match.groups()[:3])

    def parse(self, vstring):
        """Takes the number from the text; ValueError if it is not of the form."""
        super().parse(vstring)
        letter, number = StrictVersion._FORM.fullmatch(vstring).groups()[3:]
        self.prerelease = (letter, int(number)) if letter else None
        self._key = (self.version, self.prerelease or ("final",))
