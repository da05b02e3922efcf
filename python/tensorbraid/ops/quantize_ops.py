"""Quantization: floats that are rounded to the numbers that few bits have."""

from tensorbraid.ops.op_functions import op_function

_BITS = "num_bits=8, narrow_range=False"
_GRADIENTS = "backprops_wrt_input backprop_wrt_min backprop_wrt_max"
fake_quant_with_min_max_args = op_function("FakeQuantWithMinMaxArgs", "inputs", f"min=-6, max=6, {_BITS}")
fake_quant_with_min_max_args_gradient = op_function("FakeQuantWithMinMaxArgsGradient", "gradients, inputs",
                                                    f"min=-6, max=6, {_BITS}")
fake_quant_with_min_max_vars = op_function("FakeQuantWithMinMaxVars", "inputs, min, max", _BITS)
fake_quant_with_min_max_vars_gradient = op_function("FakeQuantWithMinMaxVarsGradient", "gradients, inputs, min, max",
                                                    _BITS, outputs=_GRADIENTS)
fake_quant_with_min_max_vars_per_channel = op_function("FakeQuantWithMinMaxVarsPerChannel", "inputs, min, max", _BITS)
fake_quant_with_min_max_vars_per_channel_gradient = op_function(
    "FakeQuantWithMinMaxVarsPerChannelGradient", "gradients, inputs, min, max", _BITS, outputs=_GRADIENTS)
quantize_and_dequantize = op_function(
    "QuantizeAndDequantizeV2", "input, input_min, input_max",
    "signed_input=True, num_bits=8, range_given=False, round_mode='HALF_TO_EVEN', narrow_range=False, axis=-1")

__all__ = [
    "fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient", "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient", "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
]
