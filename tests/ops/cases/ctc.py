"""Rows of connectionist temporal classification."""
import numpy as np


def logits(time, batch, classes, dtype=np.float32, seed=1):
    return np.random.RandomState(seed).randn(time, batch, classes).astype(dtype)


def add_loss_cases(t):
    op = "CTCLoss"
    indices = np.array([[0, 0], [0, 1], [1, 0]], np.int64)
    values = np.array([0, 1, 2], np.int32)
    lengths = np.array([3, 2], np.int32)
    x = logits(3, 2, 4)

    def case(x=x, indices=indices, values=values, lengths=lengths, **attrs):
        # TensorFlow computes sums of logarithms in float32, also for float64.
        if x.dtype == np.float64:
            attrs.setdefault("tolerance", 1e-6)
        t.case(op, x, np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int32), np.array(lengths, np.int32), **attrs)

    for dtype in (np.float32, np.float64):
        case(x.astype(dtype))
        case(logits(20, 3, 5, dtype), [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1], [2, 2], [2, 3], [2, 4]],
             [0, 1, 1, 3, 2, 2, 2, 0, 2], [20, 7, 13])
    # Repeated labels, with all combinations of the two attributes that merge them.
    repeated = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], [1, 1, 0, 2, 2], [6, 4]
    for collapse in (False, True):
        for merge in (False, True):
            case(logits(6, 2, 4), *repeated, preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge)
            case(logits(6, 2, 4, np.float64), *repeated, preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge)
    # As many labels as steps; more labels than steps, without and with ignore_longer_outputs_than_inputs; no steps; too
    # few steps for the blanks between equal labels; lengths that do not fit the logits.
    case(lengths=[2, 1])
    case(lengths=[1, 2])
    case(lengths=[1, 2], ignore_longer_outputs_than_inputs=True)
    case(lengths=[0, 2], ignore_longer_outputs_than_inputs=True)
    case(lengths=[0, 2])
    case(values=[1, 1, 2], lengths=[2, 2])
    case(lengths=[-1, 2], ignore_longer_outputs_than_inputs=True)
    case(lengths=[4, 2])
    case(lengths=[3])
    # The blank, or a class that does not exist, ends the labels of a sequence.
    case(values=[0, 3, 2])
    case(values=[0, 30, 2])
    for dtype in (np.float32, np.float64):
        case(x.astype(dtype), values=[3, 3, 7])
        case(logits(6, 2, 4, dtype), values=[3, 3, 7], lengths=[6, 2])
    case(values=[3, 0, 2])
    case(values=[0, -1, 2])
    # Indices with gaps, then indices and shapes that are not valid.
    case(indices=[[0, 3], [0, 5], [1, 7]])
    case(indices=[[0, 1], [0, 0], [1, 0]])
    case(indices=[[0, 0], [0, 0], [1, 0]])
    case(indices=[[1, 0], [0, 0], [0, 1]])
    case(indices=[[0, 0], [0, 1], [2, 0]])
    case(indices=[[-1, 0], [0, 1], [1, 0]])
    case(indices=[[0, -1], [0, 1], [1, 0]])
    case(indices=[[0, 0], [0, 1]], values=[0, 1])
    case(values=[1])
    case(x=x[0])
    t.case(op, x, indices[:, :1], values, lengths, expected="INVALID_ARGUMENT")  # TensorFlow crashes
    case(np.zeros([3, 0, 4], np.float32), [], [], [])
    case(np.zeros([0, 2, 4], np.float32), lengths=[0, 0], ignore_longer_outputs_than_inputs=True)
    t.case(op, np.zeros([3, 2, 0], np.float32), indices, values, lengths, expected="INVALID_ARGUMENT")  # as above
    for bad in (np.nan, np.inf, -np.inf, 1000.0, -1000.0):
        y = x.copy()
        y[1, 0, 1] = bad
        case(y)
    case(np.full([3, 2, 4], -np.inf, np.float32))

    # TensorFlow has CTCLossV2 on GPUs only. In this op the blank is class 0, so the numbers of all other classes are
    # higher by one.
    def v2(x, indices, values, lengths, **attrs):
        args = [np.array(indices, np.int64).reshape(-1, 2), np.array(values, np.int32), np.array(lengths, np.int32)]
        loss, gradient = t.tensorflow(op, (np.roll(x, -1, 2), args[0], args[1] - 1, args[2]), attrs)
        t.case("CTCLossV2", x, *args, expected=[loss, np.roll(gradient, 1, 2)], **attrs)

    v2(x, indices, values + 1, lengths)
    v2(logits(6, 2, 4), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]], [2, 2, 1, 3, 3], [6, 4])
    v2(x, indices, values + 1, [1, 2], ignore_longer_outputs_than_inputs=True)
    for wrong in (0, -1, 4):
        t.case("CTCLossV2", x, indices, np.array([1, wrong, 2], np.int32), lengths, expected="INVALID_ARGUMENT")
    # A sequence without labels is all blanks.
    blanks = -np.log(np.exp(x[:, 1, 0]) / np.exp(x[:, 1]).sum(1))[:2].sum()
    first = t.tensorflow(op, (np.roll(x, -1, 2), indices, values, lengths), {})
    softmax = np.exp(x[:2, 1]) / np.exp(x[:2, 1]).sum(1, keepdims=True)
    gradient = np.roll(first[1], 1, 2)
    gradient[:2, 1] = softmax - np.eye(4)[0]
    t.case("CTCLossV2", x, indices[:2], values[:2] + 1, lengths, expected=[np.array([first[0][0], blanks], np.float32), gradient])


def add_decoder_cases(t):
    x = logits(7, 3, 4)
    lengths = np.array([7, 4, 1], np.int32)
    twice = np.repeat(x, 2, axis=0)
    for op, attrs in (("CTCGreedyDecoder", {}), ("CTCBeamSearchDecoder", {"beam_width": 4, "top_paths": 1})):
        for dtype in (np.float32, np.float64):
            # TensorFlow computes sums of logarithms in float32, also for float64.
            tolerance = 1e-5 if dtype == np.float64 else None
            t.case(op, x.astype(dtype), lengths, tolerance=tolerance, **attrs)
            for merge in (False, True):
                t.case(op, twice.astype(dtype), 2 * lengths, merge_repeated=merge, tolerance=tolerance, **attrs)
        t.case(op, x, np.array([0, -1, 2], np.int32), **attrs)
        t.case(op, x, np.array([7, 8, 1], np.int32), **attrs)
        t.case(op, x[0], lengths, **attrs)
        t.case(op, np.zeros([7, 0, 4], np.float32), np.zeros([0], np.int32), **attrs)
        t.case(op, np.zeros([7, 3, 0], np.float32), lengths, **attrs)
        t.case(op, np.full([2, 1, 3], np.nan, np.float32), np.array([2], np.int32), **attrs)
        t.case(op, np.zeros([2, 1, 1], np.float32), np.array([2], np.int32), **attrs)
    for blank in (0, 3, -4, -1, 4, -5):
        t.case("CTCGreedyDecoder", twice, 2 * lengths, blank_index=blank, merge_repeated=True)
    op = "CTCBeamSearchDecoder"
    for width, paths in ((1, 1), (3, 3), (10, 4), (100, 20)):
        for merge in (False, True):
            t.case(op, logits(9, 2, 3), np.array([9, 5], np.int32), beam_width=width, top_paths=paths, merge_repeated=merge)
            t.case(op, 3 * logits(12, 2, 6, np.float64, 2), np.array([12, 8], np.int32), beam_width=width, top_paths=paths,
                   merge_repeated=merge, tolerance=1e-5)
    t.case(op, x, lengths, beam_width=2, top_paths=3)
    t.case(op, x, lengths, beam_width=100, top_paths=10)
    t.case(op, x, np.array([7, 4, 0], np.int32), beam_width=4, top_paths=2)


def add_cases(t):
    add_loss_cases(t)
    add_decoder_cases(t)
