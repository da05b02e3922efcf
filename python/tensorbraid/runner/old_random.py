"""What the module random did before Python 3.11 and 3.12: whole numbers may be floats, and populations sets."""

import collections.abc
import functools

__all__ = []


def _whole(value):
    return int(value) if isinstance(value, float) and value.is_integer() else value


def restore(random):
    """Changes the module."""
    kind = random.Random
    randrange, sample, shuffle = kind.randrange, kind.sample, kind.shuffle

    @functools.wraps(randrange)
    def new_randrange(self, *args, **kwargs):
        try:
            return randrange(self, *args, **kwargs)
        except TypeError:
            numbers, named = [*map(_whole, args)], {name: _whole(value) for name, value in kwargs.items()}
            if any(isinstance(value, float) for value in [*numbers, *named.values()]):
                raise
            return randrange(self, *numbers, **named)

    @functools.wraps(sample)
    def new_sample(self, population, k, **kwargs):
        is_set = isinstance(population, collections.abc.Set)
        return sample(self, tuple(population) if is_set else population, _whole(k), **kwargs)

    @functools.wraps(shuffle)
    def new_shuffle(self, x, random=None):
        if random is None:
            return shuffle(self, x)
        for i in range(len(x) - 1, 0, -1):
            j = int(random() * (i + 1))
            x[i], x[j] = x[j], x[i]

    kind.randrange, kind.sample, kind.shuffle = new_randrange, new_sample, new_shuffle
    for name in ("randrange", "sample", "shuffle"):
        setattr(random, name, getattr(random._inst, name))
