"""Rows of fake quantization and of rounding to few bits and back."""
import numpy as np

f32 = np.float32
NAN, INF = float("nan"), float("inf")
V = np.array([-1.5, -0.3, 0, 0.2, 0.7, 1.1, 2.6], f32)
ODD = np.append(V, [NAN, INF, -INF]).astype(f32)
RANGES = ((-1, 1), (0, 0), (0.5, 3), (-3, -1), (0, 6), (-1e-30, 1e-30))


def fake_quant_cases(t):
    g = np.arange(1, 11, dtype=f32)
    for low, high in RANGES + ((1, 0), (NAN, 1), (-1, INF)):
        for attrs in ({}, dict(num_bits=2), dict(num_bits=16, narrow_range=True), dict(num_bits=4)):
            limits = f32(low), f32(high)
            t.case("FakeQuantWithMinMaxVars", ODD, *limits, **attrs)
            t.case("FakeQuantWithMinMaxVarsGradient", g, ODD, *limits, **attrs)
            if low < high < INF:
                t.case("FakeQuantWithMinMaxArgs", ODD, min=float(low), max=float(high), **attrs)
                t.case("FakeQuantWithMinMaxArgsGradient", g, ODD, min=float(low), max=float(high), **attrs)
    lows, highs = np.array([-1, 0, 0.2], f32), np.array([1, 0, 3], f32)
    for shape in ((6,), (2, 3), (1, 2, 3), (1, 2, 1, 3), (1, 1, 1, 2, 3)):
        x = V[:6].reshape(shape)
        low, high = (np.resize(a, shape[-1:]) for a in (lows, highs))
        t.case("FakeQuantWithMinMaxVarsPerChannel", x, low, high)
        if len(shape) < 5:  # TensorFlow's limit for the gradient
            t.case("FakeQuantWithMinMaxVarsPerChannelGradient", x + 7, x, low, high, num_bits=5)
    # 2.6 is half-way between two values, and rounds differently by division and by multiplication.
    for limits in (f32([0]), f32([6])), (np.zeros(7, f32), np.full(7, 6, f32)):
        x = V.reshape(-1, limits[0].size)
        t.case("FakeQuantWithMinMaxVarsPerChannel", x, *limits, num_bits=4)
    e = V[:0]
    t.case("FakeQuantWithMinMaxArgs", e)
    t.case("FakeQuantWithMinMaxArgsGradient", e, e)
    t.case("FakeQuantWithMinMaxVars", e, f32(-1), f32(1))
    t.case("FakeQuantWithMinMaxVarsGradient", e, e, f32(-1), f32(1), expected=[e, f32(0), f32(0)])
    t.case("FakeQuantWithMinMaxVarsPerChannel", np.zeros([2, 0], f32), e, e)
    bad = "INVALID_ARGUMENT"
    for bits in (1, 0, -3, 17, 2**40):
        t.case("FakeQuantWithMinMaxArgs", V, num_bits=bits, expected=bad)
        t.case("FakeQuantWithMinMaxArgsGradient", V, V, num_bits=bits, expected=bad)
        t.case("FakeQuantWithMinMaxVars", V, f32(-1), f32(1), num_bits=bits, expected=bad)
        t.case("FakeQuantWithMinMaxVarsGradient", V, V, f32(-1), f32(1), num_bits=bits, expected=bad)
        t.case("FakeQuantWithMinMaxVarsPerChannel", V[:3], lows, highs, num_bits=bits, expected=bad)
    for low, high in ((0.0, 0.0), (1.0, 0.0)):
        t.case("FakeQuantWithMinMaxArgs", V, min=low, max=high, expected=bad)
    t.case("FakeQuantWithMinMaxVars", V, lows, highs, expected=bad)
    t.case("FakeQuantWithMinMaxVars", V, lows[:1], f32(1), expected=bad)
    t.case("FakeQuantWithMinMaxArgsGradient", V[:2], V, expected=bad)
    t.case("FakeQuantWithMinMaxVarsGradient", V[:2], V, f32(-1), f32(1), expected=bad)
    t.case("FakeQuantWithMinMaxVarsPerChannel", V[:6].reshape(2, 3), lows[:2], highs, expected=bad)
    t.case("FakeQuantWithMinMaxVarsPerChannel", f32(1), lows, highs, expected=bad)  # TensorFlow ends the process
    t.case("FakeQuantWithMinMaxVarsPerChannelGradient", V[:3], V[:6].reshape(2, 3), lows, highs, expected=bad)


def round_trip_cases(t):
    bad = "INVALID_ARGUMENT"
    for d in (f32, np.float64):
        v = V.astype(d)
        for signed in (True, False):
            for low, high in ((-1, 1), (0, 0), (1, 1), (0.5, 1), (-1, -0.5), (0, 3)):
                for bits in (1, 4, 8, 20):
                    t.case("QuantizeAndDequantizeV2", v, d(low), d(high), signed_input=signed, range_given=True, num_bits=bits)
                    t.case("QuantizeAndDequantizeV3", v, d(low), d(high), np.int32(bits), signed_input=signed)
            for narrow in (True, False):
                for mode in ("HALF_TO_EVEN", "HALF_UP"):
                    for given in (True, False):
                        attrs = dict(signed_input=signed, narrow_range=narrow, round_mode=mode, range_given=given, num_bits=3)
                        t.case("QuantizeAndDequantizeV2", v, d(-1), d(1), **attrs)
                        t.case("QuantizeAndDequantizeV4", v, d(-1), d(1), **attrs)
            for given in (True, False):
                attrs = dict(signed_input=signed, range_given=given, num_bits=5)
                expected = t.tensorflow("QuantizeAndDequantizeV2", [v, d(-1), d(2)], attrs)  # V1 has been removed
                t.case("QuantizeAndDequantize", v, input_min=-1.0, input_max=2.0, expected=expected, **attrs)
        m = v[:6].reshape(2, 3)
        for axis, low, high in ((0, [-1, -2], [1, 2]), (1, [-1, -1, -1], [1, 2, 3])):
            low, high = np.array(low, d), np.array(high, d)
            for given in (True, False):
                expected = t.tensorflow("QuantizeAndDequantizeV3", [m, low, high, np.int32(5)],
                                        dict(axis=axis, range_given=given))
                t.case("QuantizeAndDequantizeV3", m, low, high, np.int32(5), axis=axis, range_given=given)
                # TensorFlow refuses ranges per slice here, though the definition has them.
                for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
                    t.case(op, m, low, high, num_bits=5, axis=axis, range_given=given, expected=expected)
            t.case("QuantizeAndDequantizeV4Grad", m + 7, m, low, high, axis=axis)
        t.case("QuantizeAndDequantizeV4Grad", v + 7, v, d(-1), d(1))
    nan = np.array([1, NAN, 2], f32)
    for given in (True, False):
        t.case("QuantizeAndDequantizeV2", nan, f32(-1), f32(1), range_given=given)
        t.case("QuantizeAndDequantizeV2", V[:0], f32(-1), f32(1), range_given=given)
    t.case("QuantizeAndDequantizeV4Grad", V, V * f32(NAN), f32(-1), f32(1))
    t.case("QuantizeAndDequantizeV2", np.zeros([0, 3], f32), np.zeros(3, f32), np.ones(3, f32), axis=1, range_given=True,
           expected=[np.zeros([0, 3], f32)])
    for low, high in ((2, 1), (NAN, 1), (0, NAN)):
        t.case("QuantizeAndDequantizeV2", V, f32(low), f32(high), range_given=True, expected=bad)
        t.case("QuantizeAndDequantizeV3", V, f32(low), f32(high), np.int32(8), expected=bad)
    for bits in (0, -1, 62, 63, 64):
        t.case("QuantizeAndDequantizeV2", V, f32(-1), f32(1), num_bits=bits, expected=bad)
        t.case("QuantizeAndDequantizeV3", V, f32(-1), f32(1), np.int32(bits), expected=bad)
        t.case("QuantizeAndDequantizeV4", V, f32(-1), f32(1), num_bits=bits, expected=bad)
    t.case("QuantizeAndDequantizeV3", V, f32(-1), f32(1), np.array([4], np.int32), expected=bad)
    m = V[:6].reshape(2, 3)
    two, three = np.ones(2, f32), np.ones(3, f32)
    for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
        for axis in (-2, 2, 2**40):
            t.case(op, m, two, two, axis=axis, range_given=True, expected=bad)
        t.case(op, m, two, three, axis=1, range_given=True, expected=bad)
        t.case(op, m, two, two, range_given=True, expected=bad)
    t.case("QuantizeAndDequantizeV4Grad", V[:3], V, f32(-1), f32(1), expected=bad)
    t.case("QuantizeAndDequantizeV4Grad", m, m, two, two, expected=bad)
    t.case("QuantizeAndDequantizeV4Grad", m, m, two, two, axis=1, expected=bad)


def add_cases(t):
    fake_quant_cases(t)
    round_trip_cases(t)
