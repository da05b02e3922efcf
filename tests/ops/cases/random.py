"""Rows of random ops that are functions of their seed. The values equal TensorFlow's except for the last bit or two."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]
SEED = np.array([5, -7], np.int64)


def i32(*v):
    return np.array(v, np.int32)


def tensors(t):
    key, counter = np.array([7369946891771800164], np.uint64), np.array([2**64 - 2, 3], np.uint64)
    alg = np.int32(1)
    for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
        for d in FLOATS:
            t.case(op, i32(2, 7), SEED, dtype=d)
            t.case(op + "V2", i32(3, 5), key, counter, alg, dtype=d)
        t.case(op, np.array([3], np.int64), i32(1, 2))
        t.case(op, i32(0, 3), SEED)
        t.case(op, i32(), SEED)
        t.case(op, i32(-1), SEED)
        t.case(op, i32(2), np.array([1], np.int64))
        t.case(op + "V2", i32(2), key, counter, np.int32(3))
        t.case(op + "V2", i32(2), key, counter, np.int32(7))
        # TensorFlow reads past the end of this counter.
        t.case(op + "V2", i32(2), key, counter[:1], alg, expected="INVALID_ARGUMENT")
        t.case(op + "V2", i32(2), counter, counter, alg)
    for d in [np.int32, np.int64]:
        t.case("StatelessRandomUniformInt", i32(9), SEED, d(-5), d(100))
        t.case("StatelessRandomUniformInt", i32(0), SEED, d(5), d(1))
        t.case("StatelessRandomUniformInt", i32(1), SEED, d(5), d(5))
    for d in [np.int32, np.int64, np.uint32, np.uint64]:
        if d in [np.int32, np.int64]:  # TensorFlow has no kernel for the others
            t.case("StatelessRandomUniformIntV2", i32(9), key, counter, alg, d(3), d(100))
        t.case("StatelessRandomUniformFullInt", i32(5), SEED, dtype=tf.as_dtype(d))
        t.case("StatelessRandomUniformFullInt", i32(5), np.array([2**31, 3], np.uint32), dtype=tf.as_dtype(d))
        t.case("StatelessRandomUniformFullIntV2", i32(5), key, counter, alg, dtype=tf.as_dtype(d))
    for seed in [SEED, i32(-1, 2)]:
        t.case("StatelessRandomGetKeyCounter", seed)
        t.case("StatelessRandomGetKeyCounterAlg", seed)
    t.case("StatelessRandomGetKeyCounter", SEED[:1])


def samples(t):
    logits = np.log([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    for d in [np.float16, bf16, np.float32, np.float64]:
        t.case("StatelessMultinomial", logits.astype(d), np.int32(7), SEED)
    t.case("StatelessMultinomial", logits, np.int32(5), SEED, output_dtype=tf.int32)
    t.case("StatelessMultinomial", np.array([[0, -np.inf, 0, np.nan]]), np.int32(8), SEED)
    t.case("StatelessMultinomial", logits, np.int32(0), SEED)
    t.case("StatelessMultinomial", logits, np.int32(-1), SEED)
    t.case("StatelessMultinomial", logits[0], np.int32(1), SEED)
    t.case("StatelessMultinomial", np.zeros([2, 0]), np.int32(1), SEED)
    for d in [np.float16, np.float32, np.float64]:
        t.case("StatelessRandomGammaV2", i32(4, 3), SEED, np.array([0.5, 1, 3]).astype(d))
    key, counter = np.array([123], np.uint64), np.array([4, 5], np.uint64)
    t.case("StatelessRandomGammaV3", i32(4, 2), key, counter, np.int32(1), np.array([0.5, 7]))
    t.case("StatelessRandomGammaV2", i32(4, 2), SEED, np.array([0.5, 1, 3]))
    for d in [np.float16, np.float32, np.float64, np.int32, np.int64]:
        t.case("StatelessRandomPoisson", i32(5, 3), SEED, np.array([1, 5, 30]).astype(d), dtype=tf.as_dtype(d))
    t.case("StatelessRandomPoisson", i32(3), SEED, np.array([1.0, 5.0]), dtype=tf.int32)
    alpha, sample = np.array([0.3, 1, 4]), np.array([0.2, 1.5, 3])
    for d in [np.float32, np.float64]:
        t.case("RandomGammaGrad", alpha.astype(d), sample.astype(d), tolerance=1e-4 if d == np.float32 else 1e-8)
        t.case("RandomGammaGrad", alpha[:1].astype(d), sample.astype(d), tolerance=1e-4 if d == np.float32 else 1e-8)
    classes = np.array([[1, 2], [3, 1]])
    t.case("ComputeAccidentalHits", classes, np.array([3, 7, 1]), num_true=2)
    t.case("ComputeAccidentalHits", classes, np.array([9]), num_true=2)
    t.case("ComputeAccidentalHits", classes, np.array([9]), num_true=1)


def add_cases(t):
    tensors(t)
    samples(t)
