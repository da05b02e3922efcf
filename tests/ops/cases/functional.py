"""Rows of ToBool, which converts the conditions of control flow v2."""
import numpy as np


def add_cases(t):
    for dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8):
        for value in (0, 1, 7):
            t.case("ToBool", np.array(value, dtype))
    t.case("ToBool", np.array(True))
    t.case("ToBool", np.array(False))
    t.case("ToBool", np.array(-0.0, np.float32))
    t.case("ToBool", np.array(""))
    t.case("ToBool", np.array("false"))
    t.case("ToBool", np.zeros([1], np.float32))
    t.case("ToBool", np.zeros([2, 0], np.float32))
