"""Random ops: equal seeds give equal numbers."""

import numpy as np
from registry import Result, Type, case, each, floats, op

LOGITS = floats(2, 4)


def seeded(tf, make, seed=5):
    """With a seed of the graph, with one of the op, and with both; three steps."""
    tf.set_random_seed(seed)
    return Result(make(), steps=3)


for names, make in (
    ("random_normal random.normal", lambda f, tf, **o: f([3], mean=1.0, stddev=2.0, **o)),
    ("random_normal random.normal", lambda f, tf, **o: f([2, 2], dtype=tf.float64, name="given", **o)),
    ("truncated_normal random.truncated_normal", lambda f, tf, **o: f([3], mean=1.0, stddev=2.0, **o)),
    ("random_uniform random.uniform", lambda f, tf, **o: f([3], **o)),
    ("random_uniform random.uniform", lambda f, tf, **o: f([3], minval=-1.0, maxval=2.0, **o)),
    ("random_uniform random.uniform", lambda f, tf, **o: f([3], maxval=7, dtype=tf.int32, name="given", **o)),
    ("random_uniform random.uniform", lambda f, tf, **o: f([3], -5, 7, tf.int64, **o)),
    ("random_uniform random.uniform", lambda f, tf, **o: f([3], maxval=7.0, **o)),
    ("random_shuffle random.shuffle", lambda f, tf, **o: f(tf.range(6), **o)),
    ("random_crop image.random_crop", lambda f, tf, **o: f(np.arange(20).reshape(4, 5), [2, 3], **o)),
    ("multinomial random.multinomial", lambda f, tf, **o: f(LOGITS, 5, **o)),
    ("multinomial random.multinomial", lambda f, tf, **o: f(LOGITS, 5, output_dtype=tf.int32, name="given", **o)),
    ("random.categorical", lambda f, tf, **o: f(LOGITS, 5, dtype=tf.int32, **o)),
    ("random_gamma random.gamma", lambda f, tf, **o: f([3], [0.5, 2.0], beta=2.0, **o)),
    ("random_gamma random.gamma", lambda f, tf, **o: f([3], 1.5, dtype=tf.float64, name="given", **o)),
    ("random_poisson random.poisson", lambda f, tf, **o: f([1.0, 20.0], [3], **o)),
    ("random_poisson random.poisson", lambda f, tf, **o: f(4.0, [3], dtype=tf.int32, name="given", **o)),
):
    each(names, lambda tf, f, make=make: Result(make(f, tf, seed=7), steps=3))
    each(names, lambda tf, f, make=make: seeded(tf, lambda: make(f, tf)))
    each(names, lambda tf, f, make=make: seeded(tf, lambda: [make(f, tf, seed=3), make(f, tf), make(f, tf)]))
each("random_uniform", lambda tf, f: seeded(tf, lambda: f([2]), seed=0))
each("random_uniform", lambda tf, f: Result(f([2], seed=0), steps=2))
each("random_uniform random_normal", lambda tf, f: Result(f([2], name="unseeded")), values=False)
op("random_uniform", [2], dtype=Type("int32"))
op("random_uniform", [2], maxval=[1.0, 2.0], minval=[0.0, 1.0], seed=1)
case("get_seed random.get_seed set_random_seed random.set_random_seed", lambda tf: [
    tf.get_seed(None), tf.get_seed(3), tf.set_random_seed(4), tf.get_seed(None), tf.get_seed(3), tf.random.get_seed(0)])
case("get_seed", lambda tf: [tf.set_random_seed(0), tf.get_seed(0)])
for names, arguments, keywords in (
    ("random.stateless_uniform", ([3], [1, 2]), {}),
    ("random.stateless_uniform", ([3], [1, 2]),
     {"minval": -1.0, "maxval": 2.0, "dtype": Type("float64"), "name": "given"}),
    ("random.stateless_uniform", ([3], [1, 2]), {"minval": -3, "maxval": 20, "dtype": Type("int32")}),
    ("random.stateless_uniform", ([3], [1, 2]), {"minval": None, "maxval": None, "dtype": Type("int64")}),
    ("random.stateless_uniform", ([3], [1, 2]), {"dtype": Type("int64")}),
    ("random.stateless_normal", ([3], [1, 2]), {}),
    ("random.stateless_normal", ([3], [1, 2]), {"mean": 1.0, "stddev": 3.0, "name": "given"}),
    ("random.stateless_truncated_normal", ([3], [1, 2]), {"mean": 1.0}),
    ("random.stateless_categorical", (LOGITS, 4, [1, 2]), {"dtype": Type("int32"), "name": "given"}),
    ("random.stateless_multinomial", (LOGITS, 4, [1, 2]), {"output_dtype": Type("int32"), "name": "given"}),
    ("random.stateless_poisson", ([3, 2], [1, 2], [1.0, 30.0]), {"dtype": Type("float32"), "name": "given"}),
    ("random.stateless_gamma", ([3, 2], [1, 2], [0.5, 3.0]), {"beta": 2.0, "name": "given"}),
    ("random.experimental.stateless_split", ([1, 2],), {"num": 3}),
    ("random.experimental.stateless_fold_in", ([1, 2], 5), {}),
):
    op(names, *arguments, **keywords)
