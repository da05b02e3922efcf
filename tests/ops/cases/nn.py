"""Rows of the neural network ops."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
REAL = FLOATS + [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
X = np.array([[-2.5, -0.7, 0.4], [1.2, 7.5, 3.1]])


def isotonic(t):
    nan = float("nan")
    random = np.random.RandomState(3)
    for row in ([3, 3, 2, 2, 5], [1, 2, 3], [3, 2, 1], [2, 2, 2], [1, 1, 2, 0, 0], [4], [1, nan, 2], [nan, 3, 4, 1],
                [3, nan, 1], [float("inf"), 1, 2], []):
        t.case("IsotonicRegression", np.array([row], np.float32))
    x = random.randint(-9, 10, [3, 2, 12])
    for d, r in ((np.float32, np.float32), (np.float64, np.float64), (np.float16, np.float16), (bf16, bf16),
                 (np.int8, np.float32), (np.int16, np.float32), (np.int32, np.float64), (np.int64, np.float64)):
        t.case("IsotonicRegression", x.astype(d), output_dtype=tf.as_dtype(r))
    t.case("IsotonicRegression", random.normal(size=[4, 50]), output_dtype=tf.float64)
    t.case("IsotonicRegression", np.float32([1, 2]))
    t.case("IsotonicRegression", np.float32(1))
    t.case("IsotonicRegression", np.zeros([0, 3], np.float32))
    t.case("IsotonicRegression", np.zeros([2, 0], np.float32))


def add_cases(t):
    isotonic(t)
    for op in ["Relu", "Relu6"]:
        for d in REAL:
            t.case(op, np.array([0, 3, 9]).astype(d))
        t.case(op, np.array([-3, 0, 3, 9], np.int32))
        t.case(op, np.array([float("nan"), -1.0, 2.0], np.float32))
        t.case(op, X, gradient=[0])
        t.case(op + "Grad", np.array([1, 2, 3, 4], np.float16), np.array([-1, 0, 5, 7], np.float16))
        t.case(op + "Grad", X, X[::-1].copy(), gradient=[0, 1])
    for op in ["Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"]:
        for d in FLOATS:
            t.case(op, X.astype(d))
        t.case(op, X, gradient=[0])
        t.case(op, np.zeros([0], np.float32))
        for d in FLOATS:
            t.case(op + "Grad", X.astype(d), X[::-1].astype(d))
        if op != "Softsign":
            t.case(op + "Grad", X, X[::-1].copy() / 8 - 0.2, gradient=[0, 1])
    t.case("Softplus", np.array([-50, 50, 0], np.float32))
    t.case("LeakyRelu", X, alpha=0.5, gradient=[0])
    t.case("LeakyRelu", np.array([-1000, -333, -0.07], np.float16), alpha=0.1)
    t.case("LeakyReluGrad", X.astype(np.float32), X[::-1].astype(np.float32), alpha=0.5)
    for d in REAL:
        t.case("BiasAdd", np.array([[1, 2, 3], [4, 5, 6]]).astype(d), np.array([1, 2, 3]).astype(d))
        t.case("BiasAddGrad", np.array([[1, 2, 3], [4, 5, 6]]).astype(d))
    image = np.arange(24.0).reshape(2, 3, 2, 2) / 7
    t.case("BiasAdd", X, np.array([1.0, 2.0, 3.0]), gradient=[0, 1])
    t.case("BiasAdd", image, np.array([1.0, 2.0]), gradient=[0, 1])
    t.case("BiasAdd", image, np.array([1.0, 2.0, 3.0]), data_format="NCHW", gradient=[0, 1])
    t.case("BiasAddV1", X, np.array([1.0, 2.0, 3.0]), gradient=[0, 1])
    t.case("BiasAddGrad", X, gradient=[0])
    t.case("BiasAddGrad", image, data_format="NCHW", gradient=[0])
    t.case("BiasAdd", X, np.array([1.0, 2.0]))
    t.case("BiasAdd", np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    t.case("BiasAdd", np.zeros([0, 3], np.float32), np.zeros([3], np.float32))
    for op in ["Softmax", "LogSoftmax"]:
        for d in FLOATS:
            t.case(op, X.astype(d))
        t.case(op, X, gradient=[0])
        t.case(op, np.arange(12.0).reshape(2, 2, 3) / 5, gradient=[0])
        t.case(op, np.array([[1000.0, -1000.0, 999.0]], np.float32))
        t.case(op, (np.arange(1000) % 37).reshape(10, 100).astype(np.float32))
        t.case(op, np.zeros([0, 3], np.float32))
        t.case(op, np.zeros([2, 0], np.float32))
        t.case(op, np.float32(1))
    labels = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    op = "SoftmaxCrossEntropyWithLogits"
    for d in FLOATS:
        t.case(op, X.astype(d), labels.astype(d))
    t.case(op, X, labels, gradient=[0, 1])
    t.case(op, X, labels[:1], gradient=[0, 1])
    t.case(op, np.array([[1000.0, -1000.0]], np.float32), np.array([[0.0, 1.0]], np.float32))
    t.case(op, X, labels[:, :2])
    t.case(op, X[0], labels[0])
    t.case(op, np.zeros([0, 3], np.float32), np.zeros([0, 3], np.float32))
    op = "SparseSoftmaxCrossEntropyWithLogits"
    for d in FLOATS:
        t.case(op, X.astype(d), np.array([2, 0], np.int64))
        t.case(op, X.astype(d), np.array([1, 2], np.int32))
    t.case(op, X, np.array([2, 1], np.int64), gradient=[0])
    t.case(op, X, np.array([2, 3], np.int64))
    t.case(op, X, np.array([2, -1], np.int64))
    t.case(op, X, np.array([2], np.int64))
    t.case(op, X, np.array([[2, 1]], np.int64))
    t.case(op, np.zeros([0, 3], np.float32), np.zeros([0], np.int64))
    for d in FLOATS:
        t.case("L2Loss", X.astype(d))
    t.case("L2Loss", X, gradient=[0])
    t.case("L2Loss", np.zeros([0], np.float32))
    predictions = np.array([[0.1, 0.9, 0.5], [0.3, 0.3, 0.3], [float("inf"), 0, 1]], np.float32)
    for d in [np.int32, np.int64]:
        t.case("InTopK", predictions, np.array([2, 1, 1], d), k=1)
        t.case("InTopKV2", predictions, np.array([2, 1, 1], d), d(2))
    t.case("InTopKV2", predictions, np.array([3, -1, 0], np.int32), np.int32(2))
    t.case("InTopKV2", predictions, np.array([0, 1], np.int32), np.int32(2))
