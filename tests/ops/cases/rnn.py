"""Rows of recurrent cells."""
import numpy as np


class Values:
    """Draws the inputs of one cell or sequence."""

    def __init__(self, dtype=np.float32, seed=3):
        self.dtype = dtype
        self.random = np.random.RandomState(seed)

    def draw(self, *shape):
        return (self.random.randn(*shape) * 0.7).astype(self.dtype)


def lstm_inputs(v, batch=2, inputs=3, cells=2, time=None):
    """x, cs_prev, h_prev, w, wci, wcf, wco, b."""
    x = v.draw(batch, inputs) if time is None else v.draw(time, batch, inputs)
    return [x, v.draw(batch, cells), v.draw(batch, cells), v.draw(inputs + cells, 4 * cells), v.draw(cells), v.draw(cells), v.draw(cells),
            v.draw(4 * cells)]


def wrong_shapes(inputs, first, add):
    """Adds a row for each input from `first` on with one element more in its last dimension, and one with a dimension
    more."""
    for i in range(first, len(inputs)):
        for wrong in (np.concatenate([inputs[i], inputs[i][..., :1]], -1), inputs[i][None]):
            add(*inputs[:i], wrong, *inputs[i + 1:])


def add_lstm_cells(t):
    op = "LSTMBlockCell"
    for dtype in (np.float32, np.float16):
        for peephole in (False, True):
            t.case(op, *lstm_inputs(Values(dtype)), use_peephole=peephole)
            t.case(op, *lstm_inputs(Values(dtype), 3, 5, 17), use_peephole=peephole, forget_bias=0.3, cell_clip=0.5)
    for clip in (-1.0, 0.0, 0.1):
        t.case(op, *[3 * x for x in lstm_inputs(Values())], cell_clip=clip)
    inputs = lstm_inputs(Values())
    t.case(op, *[x * 100 for x in inputs])
    t.case(op, *[x * np.float32(np.nan) if i == 0 else x for i, x in enumerate(inputs)])
    t.case(op, *inputs[:4], *[np.zeros([0], np.float32)] * 3, inputs[7])
    t.case(op, *lstm_inputs(Values(), inputs=0))
    t.case(op, *lstm_inputs(Values(), batch=0))
    t.case(op, *lstm_inputs(Values(), cells=0))
    wrong_shapes(inputs, 0, lambda *x: t.case(op, *x, use_peephole=True, expected="INVALID_ARGUMENT"))  # TensorFlow crashes for some

    op = "LSTMBlockCellGrad"
    for dtype in (np.float32, np.float16):
        for batch, size, cells in ((2, 3, 2), (3, 5, 17)):
            v = Values(dtype)
            inputs = lstm_inputs(v, batch, size, cells)
            for peephole in (False, True):
                forward = t.tensorflow("LSTMBlockCell", inputs, {"use_peephole": peephole})
                gradients = [v.draw(batch, cells), v.draw(batch, cells)]
                result = t.tensorflow(op, [*inputs, *forward[:6], *gradients], {"use_peephole": peephole})
                if not peephole:  # TensorFlow leaves the gradients of the peephole weights uninitialized
                    result = [*result[:2], *[np.zeros([cells], dtype)] * 3]
                t.case(op, *inputs, *forward[:6], *gradients, use_peephole=peephole, expected=result)
    inputs = lstm_inputs(Values())
    inputs += t.tensorflow("LSTMBlockCell", inputs, {})[:6] + [inputs[1], inputs[2]]
    wrong_shapes(inputs, 0, lambda *x: t.case(op, *x, use_peephole=True, expected="INVALID_ARGUMENT"))


def add_block_lstms(t):
    def rest_zero(outputs, steps):
        """TensorFlow's outputs, with zeros after the last step, where TensorFlow leaves memory uninitialized."""
        outputs = [x.copy() for x in outputs]
        for x in outputs:
            x[steps:] = 0
        return outputs

    for version, attrs in (("", {"forget_bias": 0.4}), ("V2", {})):
        op, grad = "BlockLSTM" + version, "BlockLSTMGrad" + version
        for dtype in (np.float32, np.float16):
            for time, steps, batch, size, cells in ((4, 4, 2, 3, 2), (5, 3, 3, 5, 17), (2, 0, 2, 3, 2), (1, 1, 1, 1, 1)):
                for peephole in (False, True):
                    v = Values(dtype)
                    inputs = [np.int64(steps), *lstm_inputs(v, batch, size, cells, time)]
                    flags = {"use_peephole": peephole}
                    forward = rest_zero(t.tensorflow(op, inputs, {**flags, **attrs}), steps)
                    # Rounding of 16-bit floats adds up over steps.
                    tolerance = None if dtype == np.float32 else 5e-3
                    t.case(op, *inputs, expected=forward, tolerance=tolerance, **flags, **attrs)
                    gradients = [v.draw(time, batch, cells), v.draw(time, batch, cells)]
                    t.case(grad, *inputs, *forward, *gradients, tolerance=tolerance and 3e-2, **flags)
        inputs = [np.int64(2), *lstm_inputs(Values(), time=2)]
        for clip in (-1.0, 0.0, 0.3):
            t.case(op, *inputs[:1], *[3 * x for x in inputs[1:]], cell_clip=clip)
        for steps in (np.int64(-1), np.int64(3), np.array([1], np.int64)):
            t.case(op, steps, *inputs[1:], expected="INVALID_ARGUMENT")  # TensorFlow crashes for some
        t.case(op, *inputs[:4], inputs[4][:, :7], *inputs[5:8], inputs[8][:7], expected="INVALID_ARGUMENT")
        for sizes in ({"batch": 0}, {"inputs": 0}, {"cells": 0}, {"time": 0}):
            sizes = {"time": 2, **sizes}
            empty = [np.int64(sizes["time"]), *lstm_inputs(Values(), **sizes)]
            shape = [sizes["time"], sizes.get("batch", 2), sizes.get("cells", 2)]
            zeros = np.zeros(shape, np.float32)
            if zeros.size == 0:
                t.case(op, *empty, expected=[zeros] * 7)
                t.case(grad, *empty, *[zeros] * 9, use_peephole=True, expected=[np.zeros_like(x) for x in empty[1:]])
            else:
                t.case(op, *empty)
        wrong_shapes(inputs, 1, lambda *x: t.case(op, *x, expected="INVALID_ARGUMENT"))
        # Empty tensors may have any sizes, and take no time.
        many = [np.int64(2**50), np.zeros([2**50, 0, 3], np.float32), *lstm_inputs(Values(), batch=0)[1:]]
        none = np.zeros([2**50, 0, 2], np.float32)
        t.case(op, *many, expected=[none] * 7)
        t.case(grad, *many, *[none] * 9, use_peephole=False, expected=[many[1], *[np.zeros_like(x) for x in many[2:]]])
        inputs += t.tensorflow(op, inputs, {}) + [np.zeros([2, 2, 2], np.float32)] * 2
        t.case(grad, np.int64(3), *inputs[1:], use_peephole=False, expected="INVALID_ARGUMENT")
        wrong_shapes(inputs, 1, lambda *x: t.case(grad, *x, use_peephole=False, expected="INVALID_ARGUMENT"))


def add_grus(t):
    def gru_inputs(v, batch=2, inputs=3, cells=2):
        """x, h_prev, w_ru, w_c, b_ru, b_c."""
        return [v.draw(batch, inputs), v.draw(batch, cells), v.draw(inputs + cells, 2 * cells), v.draw(inputs + cells, cells),
                v.draw(2 * cells), v.draw(cells)]

    for sizes in ((2, 3, 2), (3, 5, 17), (1, 1, 1)):
        v = Values()
        inputs = gru_inputs(v, *sizes)
        t.case("GRUBlockCell", *inputs)
        forward = t.tensorflow("GRUBlockCell", inputs, {})
        t.case("GRUBlockCellGrad", *inputs, *forward[:3], v.draw(sizes[0], sizes[2]))
    inputs = gru_inputs(Values())
    t.case("GRUBlockCell", *[x * 100 for x in inputs])
    wrong_shapes(inputs, 0, lambda *x: t.case("GRUBlockCell", *x))
    inputs += t.tensorflow("GRUBlockCell", inputs, {})[:3] + [inputs[1]]
    wrong_shapes(inputs, 0, lambda *x: t.case("GRUBlockCellGrad", *x))
    for sizes in ((0, 3, 2), (2, 3, 0), (2, 0, 2)):
        inputs = gru_inputs(Values(), *sizes)
        shape = [np.zeros([sizes[0], sizes[2]], np.float32)]
        if 0 in shape[0].shape:
            t.case("GRUBlockCell", *inputs, expected=shape * 4)
        else:
            t.case("GRUBlockCell", *inputs)
    many = np.zeros([2**50, 0], np.float32)
    empty = [many, many, *[np.zeros([0, 0], np.float32)] * 2, *[np.zeros([0], np.float32)] * 2]
    t.case("GRUBlockCell", *empty, expected=[many] * 4)
    t.case("GRUBlockCellGrad", *empty, *[many] * 4, expected=[many] * 4)


def add_cases(t):
    add_lstm_cells(t)
    add_block_lstms(t)
    add_grus(t)
