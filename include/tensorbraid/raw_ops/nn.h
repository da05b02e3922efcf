// A function for each op of src/ops/nn; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_NN_H_
#define TENSORBRAID_RAW_OPS_NN_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AvgPoolOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op AvgPool. The usual function is nn::AvgPool (ops/nn.h). It has a gradient.
// Inputs: value (T).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: floats.
inline Output AvgPool(const Operand& value, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    const std::string& padding, const AvgPoolOptions& options = {}) {
  return internal::Call("AvgPool", options.name, {value}).Attr("ksize", ksize).Attr("strides", strides)
      .Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct AvgPool3DOptions {
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op AvgPool3D. The usual function is nn::AvgPool3D (ops/nn.h). It has a gradient.
// Inputs: input (T).
// Attributes: ksize (list of ints, at least 5), strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: floats.
inline Output AvgPool3D(const Operand& input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    const std::string& padding, const AvgPool3DOptions& options = {}) {
  return internal::Call("AvgPool3D", options.name, {input}).Attr("ksize", ksize).Attr("strides", strides)
      .Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct AvgPool3DGradOptions {
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op AvgPool3DGrad. It has a gradient.
// Inputs: orig_input_shape (int32), grad (T).
// Attributes: ksize (list of ints, at least 5), strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: floats.
inline Output AvgPool3DGrad(const Operand& orig_input_shape, const Operand& grad, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, const std::string& padding, const AvgPool3DGradOptions& options = {}) {
  return internal::Call("AvgPool3DGrad", options.name, {orig_input_shape, grad}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct AvgPoolGradOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op AvgPoolGrad. It has a gradient.
// Inputs: orig_input_shape (int32), grad (T).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: floats.
inline Output AvgPoolGrad(const Operand& orig_input_shape, const Operand& grad, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, const std::string& padding, const AvgPoolGradOptions& options = {}) {
  return internal::Call("AvgPoolGrad", options.name, {orig_input_shape, grad}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("data_format", options.data_format).One();
}

// Adds a node of the op BatchNormWithGlobalNormalization. It has a gradient.
// Inputs: t (T), m (T), v (T), beta (T), gamma (T).
// Attributes: variance_epsilon (float), scale_after_normalization (bool).
// Output: result (T).
// T: floats.
inline Output BatchNormWithGlobalNormalization(const Operand& t, const Operand& m, const Operand& v,
    const Operand& beta, const Operand& gamma, float variance_epsilon, bool scale_after_normalization,
    const std::string& name = "") {
  return internal::Call("BatchNormWithGlobalNormalization", name, {t, m, v, beta, gamma})
      .Attr("variance_epsilon", variance_epsilon).Attr("scale_after_normalization", scale_after_normalization).One();
}

struct BatchNormWithGlobalNormalizationGradOutputs {
  Output dx;
  Output dm;
  Output dv;
  Output db;
  Output dg;
  Operation operation;
};
// Adds a node of the op BatchNormWithGlobalNormalizationGrad.
// Inputs: t (T), m (T), v (T), gamma (T), backprop (T).
// Attributes: variance_epsilon (float), scale_after_normalization (bool).
// Outputs: dx (T), dm (T), dv (T), db (T), dg (T).
// T: floats.
inline BatchNormWithGlobalNormalizationGradOutputs BatchNormWithGlobalNormalizationGrad(const Operand& t,
    const Operand& m, const Operand& v, const Operand& gamma, const Operand& backprop, float variance_epsilon,
    bool scale_after_normalization, const std::string& name = "") {
  auto results = internal::Call("BatchNormWithGlobalNormalizationGrad", name, {t, m, v, gamma, backprop})
      .Attr("variance_epsilon", variance_epsilon).Attr("scale_after_normalization", scale_after_normalization).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct BiasAddOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op BiasAdd. The usual function is nn::BiasAdd (ops/nn.h). It has a gradient.
// Inputs: value (T), bias (T).
// Attributes: data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: reals.
inline Output BiasAdd(const Operand& value, const Operand& bias, const BiasAddOptions& options = {}) {
  return internal::Call("BiasAdd", options.name, {value, bias}).Attr("data_format", options.data_format).One();
}

struct BiasAddGradOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op BiasAddGrad. It has a gradient.
// Inputs: out_backprop (T).
// Attributes: data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: reals.
inline Output BiasAddGrad(const Operand& out_backprop, const BiasAddGradOptions& options = {}) {
  return internal::Call("BiasAddGrad", options.name, {out_backprop}).Attr("data_format", options.data_format).One();
}

// Adds a node of the op BiasAddV1. It has a gradient.
// Inputs: value (T), bias (T).
// Output: output (T).
// T: reals.
inline Output BiasAddV1(const Operand& value, const Operand& bias, const std::string& name = "") {
  return internal::Call("BiasAddV1", name, {value, bias}).One();
}

struct CTCBeamSearchDecoderOptions {
  bool merge_repeated = true;
  std::string name = {};
};
struct CTCBeamSearchDecoderOutputs {
  std::vector<Output> decoded_indices;
  std::vector<Output> decoded_values;
  std::vector<Output> decoded_shape;
  Output log_probability;
  Operation operation;
};
// Adds a node of the op CTCBeamSearchDecoder. The usual function is nn::CtcBeamSearchDecode (ops/ctc.h).
// Inputs: inputs (T), sequence_length (int32).
// Attributes: beam_width (int, at least 1), top_paths (int, at least 1), merge_repeated (bool; default true).
// Outputs: decoded_indices (a list of top_paths tensors of type int64), decoded_values (a list of top_paths tensors of
//   type int64), decoded_shape (a list of top_paths tensors of type int64), log_probability (T).
// T: float32 float64.
inline CTCBeamSearchDecoderOutputs CTCBeamSearchDecoder(const Operand& inputs, const Operand& sequence_length,
    int64_t beam_width, int64_t top_paths, const CTCBeamSearchDecoderOptions& options = {}) {
  auto results = internal::Call("CTCBeamSearchDecoder", options.name, {inputs, sequence_length})
      .Attr("beam_width", beam_width).Attr("top_paths", top_paths).Attr("merge_repeated", options.merge_repeated).All();
  return {results.NextList(), results.NextList(), results.NextList(), results.Next(), results.operation()};
}

struct CTCGreedyDecoderOptions {
  bool merge_repeated = false;
  int64_t blank_index = -1;
  std::string name = {};
};
struct CTCGreedyDecoderOutputs {
  Output decoded_indices;
  Output decoded_values;
  Output decoded_shape;
  Output log_probability;
  Operation operation;
};
// Adds a node of the op CTCGreedyDecoder. The usual function is nn::CtcGreedyDecode (ops/ctc.h).
// Inputs: inputs (T), sequence_length (int32).
// Attributes: merge_repeated (bool; default false), blank_index (int; default -1).
// Outputs: decoded_indices (int64), decoded_values (int64), decoded_shape (int64), log_probability (T).
// T: float32 float64.
inline CTCGreedyDecoderOutputs CTCGreedyDecoder(const Operand& inputs, const Operand& sequence_length,
    const CTCGreedyDecoderOptions& options = {}) {
  auto results = internal::Call("CTCGreedyDecoder", options.name, {inputs, sequence_length})
      .Attr("merge_repeated", options.merge_repeated).Attr("blank_index", options.blank_index).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct CTCLossOptions {
  bool preprocess_collapse_repeated = false;
  bool ctc_merge_repeated = true;
  bool ignore_longer_outputs_than_inputs = false;
  std::string name = {};
};
struct CTCLossOutputs {
  Output loss;
  Output gradient;
  Operation operation;
};
// Adds a node of the op CTCLoss. The usual function is nn::CtcLoss (ops/ctc.h). It has a gradient.
// Inputs: inputs (T), labels_indices (int64), labels_values (int32), sequence_length (int32).
// Attributes: preprocess_collapse_repeated (bool; default false), ctc_merge_repeated (bool; default true),
//   ignore_longer_outputs_than_inputs (bool; default false).
// Outputs: loss (T), gradient (T).
// T: float32 float64.
inline CTCLossOutputs CTCLoss(const Operand& inputs, const Operand& labels_indices, const Operand& labels_values,
    const Operand& sequence_length, const CTCLossOptions& options = {}) {
  auto results = internal::Call("CTCLoss", options.name, {inputs, labels_indices, labels_values, sequence_length})
      .Attr("preprocess_collapse_repeated", options.preprocess_collapse_repeated)
      .Attr("ctc_merge_repeated", options.ctc_merge_repeated)
      .Attr("ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct CTCLossV2Options {
  bool preprocess_collapse_repeated = false;
  bool ctc_merge_repeated = true;
  bool ignore_longer_outputs_than_inputs = false;
  std::string name = {};
};
struct CTCLossV2Outputs {
  Output loss;
  Output gradient;
  Operation operation;
};
// Adds a node of the op CTCLossV2. It has a gradient.
// Inputs: inputs (float32), labels_indices (int64), labels_values (int32), sequence_length (int32).
// Attributes: preprocess_collapse_repeated (bool; default false), ctc_merge_repeated (bool; default true),
//   ignore_longer_outputs_than_inputs (bool; default false).
// Outputs: loss (float32), gradient (float32).
inline CTCLossV2Outputs CTCLossV2(const Operand& inputs, const Operand& labels_indices, const Operand& labels_values,
    const Operand& sequence_length, const CTCLossV2Options& options = {}) {
  auto results = internal::Call("CTCLossV2", options.name, {inputs, labels_indices, labels_values, sequence_length})
      .Attr("preprocess_collapse_repeated", options.preprocess_collapse_repeated)
      .Attr("ctc_merge_repeated", options.ctc_merge_repeated)
      .Attr("ignore_longer_outputs_than_inputs", options.ignore_longer_outputs_than_inputs).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct ConvOptions {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "CHANNELS_LAST";
  std::vector<int64_t> dilations = {};
  int64_t batch_dims = 1;
  int64_t groups = 1;
  std::string name = {};
};
// Adds a node of the op Conv.
// Inputs: input (T), filter (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), explicit_paddings (list of ints;
//   default []), data_format (string: 'CHANNELS_FIRST', 'CHANNELS_LAST'; default "CHANNELS_LAST"), dilations (list of
//   ints; default []), batch_dims (int; default 1), groups (int; default 1).
// Output: output (T).
// T: floats int32.
inline Output Conv(const Operand& input, const Operand& filter, const std::vector<int64_t>& strides,
    const std::string& padding, const ConvOptions& options = {}) {
  return internal::Call("Conv", options.name, {input, filter}).Attr("strides", strides).Attr("padding", padding)
      .Attr("explicit_paddings", options.explicit_paddings).Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations).Attr("batch_dims", options.batch_dims).Attr("groups", options.groups).One();
}

struct Conv2DOptions {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv2D. The usual function is nn::Conv2D (ops/nn.h). It has a gradient.
// Inputs: input (T), filter (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), use_cudnn_on_gpu (bool; default
//   true), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"),
//   dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats int32.
inline Output Conv2D(const Operand& input, const Operand& filter, const std::vector<int64_t>& strides,
    const std::string& padding, const Conv2DOptions& options = {}) {
  return internal::Call("Conv2D", options.name, {input, filter}).Attr("strides", strides).Attr("padding", padding)
      .Attr("use_cudnn_on_gpu", options.use_cudnn_on_gpu).Attr("explicit_paddings", options.explicit_paddings)
      .Attr("data_format", options.data_format).Attr("dilations", options.dilations).One();
}

struct Conv2DBackpropFilterOptions {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv2DBackpropFilter. It has a gradient.
// Inputs: input (T), filter_sizes (int32), out_backprop (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), use_cudnn_on_gpu (bool; default
//   true), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"),
//   dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats.
inline Output Conv2DBackpropFilter(const Operand& input, const Operand& filter_sizes, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding, const Conv2DBackpropFilterOptions& options = {}) {
  return internal::Call("Conv2DBackpropFilter", options.name, {input, filter_sizes, out_backprop})
      .Attr("strides", strides).Attr("padding", padding).Attr("use_cudnn_on_gpu", options.use_cudnn_on_gpu)
      .Attr("explicit_paddings", options.explicit_paddings).Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations).One();
}

struct Conv2DBackpropFilterV2Options {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv2DBackpropFilterV2. It has a gradient.
// Inputs: input (T), filter (T), out_backprop (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), use_cudnn_on_gpu (bool; default
//   true), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"),
//   dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats.
inline Output Conv2DBackpropFilterV2(const Operand& input, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding,
    const Conv2DBackpropFilterV2Options& options = {}) {
  return internal::Call("Conv2DBackpropFilterV2", options.name, {input, filter, out_backprop}).Attr("strides", strides)
      .Attr("padding", padding).Attr("use_cudnn_on_gpu", options.use_cudnn_on_gpu)
      .Attr("explicit_paddings", options.explicit_paddings).Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations).One();
}

struct Conv2DBackpropInputOptions {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv2DBackpropInput. It has a gradient.
// Inputs: input_sizes (int32), filter (T), out_backprop (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), use_cudnn_on_gpu (bool; default
//   true), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"),
//   dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats int32.
inline Output Conv2DBackpropInput(const Operand& input_sizes, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding, const Conv2DBackpropInputOptions& options = {}) {
  return internal::Call("Conv2DBackpropInput", options.name, {input_sizes, filter, out_backprop})
      .Attr("strides", strides).Attr("padding", padding).Attr("use_cudnn_on_gpu", options.use_cudnn_on_gpu)
      .Attr("explicit_paddings", options.explicit_paddings).Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations).One();
}

struct Conv2DBackpropInputV2Options {
  bool use_cudnn_on_gpu = true;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv2DBackpropInputV2. It has a gradient.
// Inputs: input (T), filter (T), out_backprop (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), use_cudnn_on_gpu (bool; default
//   true), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"),
//   dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats int32.
inline Output Conv2DBackpropInputV2(const Operand& input, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding, const Conv2DBackpropInputV2Options& options = {}) {
  return internal::Call("Conv2DBackpropInputV2", options.name, {input, filter, out_backprop}).Attr("strides", strides)
      .Attr("padding", padding).Attr("use_cudnn_on_gpu", options.use_cudnn_on_gpu)
      .Attr("explicit_paddings", options.explicit_paddings).Attr("data_format", options.data_format)
      .Attr("dilations", options.dilations).One();
}

struct Conv3DOptions {
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op Conv3D. The usual function is nn::Conv3D (ops/nn.h). It has a gradient.
// Inputs: input (T), filter (T).
// Attributes: strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'), dilations (list of ints; default
//   [1, 1, 1, 1, 1]), data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: floats.
inline Output Conv3D(const Operand& input, const Operand& filter, const std::vector<int64_t>& strides,
    const std::string& padding, const Conv3DOptions& options = {}) {
  return internal::Call("Conv3D", options.name, {input, filter}).Attr("strides", strides).Attr("padding", padding)
      .Attr("dilations", options.dilations).Attr("data_format", options.data_format).One();
}

struct Conv3DBackpropFilterOptions {
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv3DBackpropFilter. It has a gradient.
// Inputs: input (T), filter (T), out_backprop (T).
// Attributes: strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'), dilations (list of ints; default
//   [1, 1, 1, 1, 1]).
// Output: output (T).
// T: float32 float64 float16.
inline Output Conv3DBackpropFilter(const Operand& input, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding, const Conv3DBackpropFilterOptions& options = {}) {
  return internal::Call("Conv3DBackpropFilter", options.name, {input, filter, out_backprop}).Attr("strides", strides)
      .Attr("padding", padding).Attr("dilations", options.dilations).One();
}

struct Conv3DBackpropFilterV2Options {
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op Conv3DBackpropFilterV2. It has a gradient.
// Inputs: input (T), filter_sizes (int32), out_backprop (T).
// Attributes: strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'), dilations (list of ints; default
//   [1, 1, 1, 1, 1]), data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: floats.
inline Output Conv3DBackpropFilterV2(const Operand& input, const Operand& filter_sizes, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding,
    const Conv3DBackpropFilterV2Options& options = {}) {
  return internal::Call("Conv3DBackpropFilterV2", options.name, {input, filter_sizes, out_backprop})
      .Attr("strides", strides).Attr("padding", padding).Attr("dilations", options.dilations)
      .Attr("data_format", options.data_format).One();
}

struct Conv3DBackpropInputOptions {
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op Conv3DBackpropInput. It has a gradient.
// Inputs: input (T), filter (T), out_backprop (T).
// Attributes: strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'), dilations (list of ints; default
//   [1, 1, 1, 1, 1]).
// Output: output (T).
// T: float32 float64 float16.
inline Output Conv3DBackpropInput(const Operand& input, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding, const Conv3DBackpropInputOptions& options = {}) {
  return internal::Call("Conv3DBackpropInput", options.name, {input, filter, out_backprop}).Attr("strides", strides)
      .Attr("padding", padding).Attr("dilations", options.dilations).One();
}

struct Conv3DBackpropInputV2Options {
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op Conv3DBackpropInputV2. It has a gradient.
// Inputs: input_sizes (Tshape), filter (T), out_backprop (T).
// Attributes: strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'), dilations (list of ints; default
//   [1, 1, 1, 1, 1]), data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: floats; Tshape: int32 int64.
inline Output Conv3DBackpropInputV2(const Operand& input_sizes, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::string& padding, const Conv3DBackpropInputV2Options& options = {}) {
  return internal::Call("Conv3DBackpropInputV2", options.name, {input_sizes, filter, out_backprop})
      .Attr("strides", strides).Attr("padding", padding).Attr("dilations", options.dilations)
      .Attr("data_format", options.data_format).One();
}

struct DepthwiseConv2dNativeOptions {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op DepthwiseConv2dNative. The usual function is nn::DepthwiseConv2D (ops/nn.h). It has a gradient.
// Inputs: input (T), filter (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), explicit_paddings (list of ints;
//   default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"), dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats.
inline Output DepthwiseConv2dNative(const Operand& input, const Operand& filter, const std::vector<int64_t>& strides,
    const std::string& padding, const DepthwiseConv2dNativeOptions& options = {}) {
  return internal::Call("DepthwiseConv2dNative", options.name, {input, filter}).Attr("strides", strides)
      .Attr("padding", padding).Attr("explicit_paddings", options.explicit_paddings)
      .Attr("data_format", options.data_format).Attr("dilations", options.dilations).One();
}

struct DepthwiseConv2dNativeBackpropFilterOptions {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op DepthwiseConv2dNativeBackpropFilter. It has a gradient.
// Inputs: input (T), filter_sizes (int32), out_backprop (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), explicit_paddings (list of ints;
//   default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"), dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats.
inline Output DepthwiseConv2dNativeBackpropFilter(const Operand& input, const Operand& filter_sizes,
    const Operand& out_backprop, const std::vector<int64_t>& strides, const std::string& padding,
    const DepthwiseConv2dNativeBackpropFilterOptions& options = {}) {
  return internal::Call("DepthwiseConv2dNativeBackpropFilter", options.name, {input, filter_sizes, out_backprop})
      .Attr("strides", strides).Attr("padding", padding).Attr("explicit_paddings", options.explicit_paddings)
      .Attr("data_format", options.data_format).Attr("dilations", options.dilations).One();
}

struct DepthwiseConv2dNativeBackpropInputOptions {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::string name = {};
};
// Adds a node of the op DepthwiseConv2dNativeBackpropInput. It has a gradient.
// Inputs: input_sizes (int32), filter (T), out_backprop (T).
// Attributes: strides (list of ints), padding (string: 'SAME', 'VALID', 'EXPLICIT'), explicit_paddings (list of ints;
//   default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC"), dilations (list of ints; default [1, 1, 1, 1]).
// Output: output (T).
// T: floats.
inline Output DepthwiseConv2dNativeBackpropInput(const Operand& input_sizes, const Operand& filter,
    const Operand& out_backprop, const std::vector<int64_t>& strides, const std::string& padding,
    const DepthwiseConv2dNativeBackpropInputOptions& options = {}) {
  return internal::Call("DepthwiseConv2dNativeBackpropInput", options.name, {input_sizes, filter, out_backprop})
      .Attr("strides", strides).Attr("padding", padding).Attr("explicit_paddings", options.explicit_paddings)
      .Attr("data_format", options.data_format).Attr("dilations", options.dilations).One();
}

// Adds a node of the op Dilation2D. The usual function is nn::Dilation2D (ops/nn.h). It has a gradient.
// Inputs: input (T), filter (T).
// Attributes: strides (list of ints, at least 4), rates (list of ints, at least 4), padding (string: 'SAME', 'VALID').
// Output: output (T).
// T: reals.
inline Output Dilation2D(const Operand& input, const Operand& filter, const std::vector<int64_t>& strides,
    const std::vector<int64_t>& rates, const std::string& padding, const std::string& name = "") {
  return internal::Call("Dilation2D", name, {input, filter}).Attr("strides", strides).Attr("rates", rates)
      .Attr("padding", padding).One();
}

// Adds a node of the op Dilation2DBackpropFilter.
// Inputs: input (T), filter (T), out_backprop (T).
// Attributes: strides (list of ints, at least 4), rates (list of ints, at least 4), padding (string: 'SAME', 'VALID').
// Output: filter_backprop (T).
// T: reals.
inline Output Dilation2DBackpropFilter(const Operand& input, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates, const std::string& padding,
    const std::string& name = "") {
  return internal::Call("Dilation2DBackpropFilter", name, {input, filter, out_backprop}).Attr("strides", strides)
      .Attr("rates", rates).Attr("padding", padding).One();
}

// Adds a node of the op Dilation2DBackpropInput.
// Inputs: input (T), filter (T), out_backprop (T).
// Attributes: strides (list of ints, at least 4), rates (list of ints, at least 4), padding (string: 'SAME', 'VALID').
// Output: in_backprop (T).
// T: reals.
inline Output Dilation2DBackpropInput(const Operand& input, const Operand& filter, const Operand& out_backprop,
    const std::vector<int64_t>& strides, const std::vector<int64_t>& rates, const std::string& padding,
    const std::string& name = "") {
  return internal::Call("Dilation2DBackpropInput", name, {input, filter, out_backprop}).Attr("strides", strides)
      .Attr("rates", rates).Attr("padding", padding).One();
}

// Adds a node of the op Elu. The usual function is nn::Elu (ops/nn.h). It has a gradient.
// Inputs: features (T).
// Output: activations (T).
// T: floats.
inline Output Elu(const Operand& features, const std::string& name = "") {
  return internal::Call("Elu", name, {features}).One();
}

// Adds a node of the op EluGrad. It has a gradient.
// Inputs: gradients (T), outputs (T).
// Output: backprops (T).
// T: floats.
inline Output EluGrad(const Operand& gradients, const Operand& outputs, const std::string& name = "") {
  return internal::Call("EluGrad", name, {gradients, outputs}).One();
}

struct FakeQuantWithMinMaxArgsOptions {
  float min = -6.0f;
  float max = 6.0f;
  int64_t num_bits = 8;
  bool narrow_range = false;
  std::string name = {};
};
// Adds a node of the op FakeQuantWithMinMaxArgs. It has a gradient.
// Inputs: inputs (float32).
// Attributes: min (float; default -6), max (float; default 6), num_bits (int; default 8), narrow_range (bool; default
//   false).
// Output: outputs (float32).
inline Output FakeQuantWithMinMaxArgs(const Operand& inputs, const FakeQuantWithMinMaxArgsOptions& options = {}) {
  return internal::Call("FakeQuantWithMinMaxArgs", options.name, {inputs}).Attr("min", options.min)
      .Attr("max", options.max).Attr("num_bits", options.num_bits).Attr("narrow_range", options.narrow_range).One();
}

struct FakeQuantWithMinMaxArgsGradientOptions {
  float min = -6.0f;
  float max = 6.0f;
  int64_t num_bits = 8;
  bool narrow_range = false;
  std::string name = {};
};
// Adds a node of the op FakeQuantWithMinMaxArgsGradient.
// Inputs: gradients (float32), inputs (float32).
// Attributes: min (float; default -6), max (float; default 6), num_bits (int; default 8), narrow_range (bool; default
//   false).
// Output: backprops (float32).
inline Output FakeQuantWithMinMaxArgsGradient(const Operand& gradients, const Operand& inputs,
    const FakeQuantWithMinMaxArgsGradientOptions& options = {}) {
  return internal::Call("FakeQuantWithMinMaxArgsGradient", options.name, {gradients, inputs}).Attr("min", options.min)
      .Attr("max", options.max).Attr("num_bits", options.num_bits).Attr("narrow_range", options.narrow_range).One();
}

struct FakeQuantWithMinMaxVarsOptions {
  int64_t num_bits = 8;
  bool narrow_range = false;
  std::string name = {};
};
// Adds a node of the op FakeQuantWithMinMaxVars. It has a gradient.
// Inputs: inputs (float32), min (float32), max (float32).
// Attributes: num_bits (int; default 8), narrow_range (bool; default false).
// Output: outputs (float32).
inline Output FakeQuantWithMinMaxVars(const Operand& inputs, const Operand& min, const Operand& max,
    const FakeQuantWithMinMaxVarsOptions& options = {}) {
  return internal::Call("FakeQuantWithMinMaxVars", options.name, {inputs, min, max}).Attr("num_bits", options.num_bits)
      .Attr("narrow_range", options.narrow_range).One();
}

struct FakeQuantWithMinMaxVarsGradientOptions {
  int64_t num_bits = 8;
  bool narrow_range = false;
  std::string name = {};
};
struct FakeQuantWithMinMaxVarsGradientOutputs {
  Output backprops_wrt_input;
  Output backprop_wrt_min;
  Output backprop_wrt_max;
  Operation operation;
};
// Adds a node of the op FakeQuantWithMinMaxVarsGradient.
// Inputs: gradients (float32), inputs (float32), min (float32), max (float32).
// Attributes: num_bits (int; default 8), narrow_range (bool; default false).
// Outputs: backprops_wrt_input (float32), backprop_wrt_min (float32), backprop_wrt_max (float32).
inline FakeQuantWithMinMaxVarsGradientOutputs FakeQuantWithMinMaxVarsGradient(const Operand& gradients,
    const Operand& inputs, const Operand& min, const Operand& max,
    const FakeQuantWithMinMaxVarsGradientOptions& options = {}) {
  auto results = internal::Call("FakeQuantWithMinMaxVarsGradient", options.name, {gradients, inputs, min, max})
      .Attr("num_bits", options.num_bits).Attr("narrow_range", options.narrow_range).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FakeQuantWithMinMaxVarsPerChannelOptions {
  int64_t num_bits = 8;
  bool narrow_range = false;
  std::string name = {};
};
// Adds a node of the op FakeQuantWithMinMaxVarsPerChannel. It has a gradient.
// Inputs: inputs (float32), min (float32), max (float32).
// Attributes: num_bits (int; default 8), narrow_range (bool; default false).
// Output: outputs (float32).
inline Output FakeQuantWithMinMaxVarsPerChannel(const Operand& inputs, const Operand& min, const Operand& max,
    const FakeQuantWithMinMaxVarsPerChannelOptions& options = {}) {
  return internal::Call("FakeQuantWithMinMaxVarsPerChannel", options.name, {inputs, min, max})
      .Attr("num_bits", options.num_bits).Attr("narrow_range", options.narrow_range).One();
}

struct FakeQuantWithMinMaxVarsPerChannelGradientOptions {
  int64_t num_bits = 8;
  bool narrow_range = false;
  std::string name = {};
};
struct FakeQuantWithMinMaxVarsPerChannelGradientOutputs {
  Output backprops_wrt_input;
  Output backprop_wrt_min;
  Output backprop_wrt_max;
  Operation operation;
};
// Adds a node of the op FakeQuantWithMinMaxVarsPerChannelGradient.
// Inputs: gradients (float32), inputs (float32), min (float32), max (float32).
// Attributes: num_bits (int; default 8), narrow_range (bool; default false).
// Outputs: backprops_wrt_input (float32), backprop_wrt_min (float32), backprop_wrt_max (float32).
inline FakeQuantWithMinMaxVarsPerChannelGradientOutputs FakeQuantWithMinMaxVarsPerChannelGradient(
    const Operand& gradients, const Operand& inputs, const Operand& min, const Operand& max,
    const FakeQuantWithMinMaxVarsPerChannelGradientOptions& options = {}) {
  auto results = internal::Call("FakeQuantWithMinMaxVarsPerChannelGradient", options.name, {gradients, inputs, min,
      max}).Attr("num_bits", options.num_bits).Attr("narrow_range", options.narrow_range).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FractionalAvgPoolOptions {
  bool pseudo_random = false;
  bool overlapping = false;
  bool deterministic = false;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct FractionalAvgPoolOutputs {
  Output output;
  Output row_pooling_sequence;
  Output col_pooling_sequence;
  Operation operation;
};
// Adds a node of the op FractionalAvgPool. It has a gradient.
// Inputs: value (T).
// Attributes: pooling_ratio (list of floats, at least 4), pseudo_random (bool; default false), overlapping (bool;
//   default false), deterministic (bool; default false), seed (int; default 0), seed2 (int; default 0).
// Outputs: output (T), row_pooling_sequence (int64), col_pooling_sequence (int64).
// T: float32 float64 int32 int64.
inline FractionalAvgPoolOutputs FractionalAvgPool(const Operand& value, const std::vector<float>& pooling_ratio,
    const FractionalAvgPoolOptions& options = {}) {
  auto results = internal::Call("FractionalAvgPool", options.name, {value}).Attr("pooling_ratio", pooling_ratio)
      .Attr("pseudo_random", options.pseudo_random).Attr("overlapping", options.overlapping)
      .Attr("deterministic", options.deterministic).Attr("seed", options.seed).Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FractionalAvgPoolGradOptions {
  bool overlapping = false;
  std::string name = {};
};
// Adds a node of the op FractionalAvgPoolGrad.
// Inputs: orig_input_tensor_shape (int64), out_backprop (T), row_pooling_sequence (int64), col_pooling_sequence
//   (int64).
// Attributes: overlapping (bool; default false).
// Output: output (T).
// T: float32 float64 int32 int64.
inline Output FractionalAvgPoolGrad(const Operand& orig_input_tensor_shape, const Operand& out_backprop,
    const Operand& row_pooling_sequence, const Operand& col_pooling_sequence,
    const FractionalAvgPoolGradOptions& options = {}) {
  return internal::Call("FractionalAvgPoolGrad", options.name, {orig_input_tensor_shape, out_backprop,
      row_pooling_sequence, col_pooling_sequence}).Attr("overlapping", options.overlapping).One();
}

struct FractionalMaxPoolOptions {
  bool pseudo_random = false;
  bool overlapping = false;
  bool deterministic = false;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::string name = {};
};
struct FractionalMaxPoolOutputs {
  Output output;
  Output row_pooling_sequence;
  Output col_pooling_sequence;
  Operation operation;
};
// Adds a node of the op FractionalMaxPool. It has a gradient.
// Inputs: value (T).
// Attributes: pooling_ratio (list of floats, at least 4), pseudo_random (bool; default false), overlapping (bool;
//   default false), deterministic (bool; default false), seed (int; default 0), seed2 (int; default 0).
// Outputs: output (T), row_pooling_sequence (int64), col_pooling_sequence (int64).
// T: float32 float64 int32 int64.
inline FractionalMaxPoolOutputs FractionalMaxPool(const Operand& value, const std::vector<float>& pooling_ratio,
    const FractionalMaxPoolOptions& options = {}) {
  auto results = internal::Call("FractionalMaxPool", options.name, {value}).Attr("pooling_ratio", pooling_ratio)
      .Attr("pseudo_random", options.pseudo_random).Attr("overlapping", options.overlapping)
      .Attr("deterministic", options.deterministic).Attr("seed", options.seed).Attr("seed2", options.seed2).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FractionalMaxPoolGradOptions {
  bool overlapping = false;
  std::string name = {};
};
// Adds a node of the op FractionalMaxPoolGrad.
// Inputs: orig_input (T), orig_output (T), out_backprop (T), row_pooling_sequence (int64), col_pooling_sequence
//   (int64).
// Attributes: overlapping (bool; default false).
// Output: output (T).
// T: float32 float64 int32 int64.
inline Output FractionalMaxPoolGrad(const Operand& orig_input, const Operand& orig_output, const Operand& out_backprop,
    const Operand& row_pooling_sequence, const Operand& col_pooling_sequence,
    const FractionalMaxPoolGradOptions& options = {}) {
  return internal::Call("FractionalMaxPoolGrad", options.name, {orig_input, orig_output, out_backprop,
      row_pooling_sequence, col_pooling_sequence}).Attr("overlapping", options.overlapping).One();
}

struct FusedBatchNormOptions {
  float epsilon = 0.0001f;
  float exponential_avg_factor = 1.0f;
  std::string data_format = "NHWC";
  bool is_training = true;
  std::string name = {};
};
struct FusedBatchNormOutputs {
  Output y;
  Output batch_mean;
  Output batch_variance;
  Output reserve_space_1;
  Output reserve_space_2;
  Operation operation;
};
// Adds a node of the op FusedBatchNorm. It has a gradient.
// Inputs: x (T), scale (T), offset (T), mean (T), variance (T).
// Attributes: epsilon (float; default 0.0001), exponential_avg_factor (float; default 1), data_format (string: 'NHWC',
//   'NCHW'; default "NHWC"), is_training (bool; default true).
// Outputs: y (T), batch_mean (T), batch_variance (T), reserve_space_1 (T), reserve_space_2 (T).
// T: float32.
inline FusedBatchNormOutputs FusedBatchNorm(const Operand& x, const Operand& scale, const Operand& offset,
    const Operand& mean, const Operand& variance, const FusedBatchNormOptions& options = {}) {
  auto results = internal::Call("FusedBatchNorm", options.name, {x, scale, offset, mean, variance})
      .Attr("epsilon", options.epsilon).Attr("exponential_avg_factor", options.exponential_avg_factor)
      .Attr("data_format", options.data_format).Attr("is_training", options.is_training).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FusedBatchNormGradOptions {
  float epsilon = 0.0001f;
  std::string data_format = "NHWC";
  bool is_training = true;
  std::string name = {};
};
struct FusedBatchNormGradOutputs {
  Output x_backprop;
  Output scale_backprop;
  Output offset_backprop;
  Output reserve_space_3;
  Output reserve_space_4;
  Operation operation;
};
// Adds a node of the op FusedBatchNormGrad. It has a gradient.
// Inputs: y_backprop (T), x (T), scale (T), reserve_space_1 (T), reserve_space_2 (T).
// Attributes: epsilon (float; default 0.0001), data_format (string: 'NHWC', 'NCHW'; default "NHWC"), is_training (bool;
//   default true).
// Outputs: x_backprop (T), scale_backprop (T), offset_backprop (T), reserve_space_3 (T), reserve_space_4 (T).
// T: float32.
inline FusedBatchNormGradOutputs FusedBatchNormGrad(const Operand& y_backprop, const Operand& x, const Operand& scale,
    const Operand& reserve_space_1, const Operand& reserve_space_2, const FusedBatchNormGradOptions& options = {}) {
  auto results = internal::Call("FusedBatchNormGrad", options.name, {y_backprop, x, scale, reserve_space_1,
      reserve_space_2}).Attr("epsilon", options.epsilon).Attr("data_format", options.data_format)
      .Attr("is_training", options.is_training).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FusedBatchNormGradV2Options {
  float epsilon = 0.0001f;
  std::string data_format = "NHWC";
  bool is_training = true;
  std::string name = {};
};
struct FusedBatchNormGradV2Outputs {
  Output x_backprop;
  Output scale_backprop;
  Output offset_backprop;
  Output reserve_space_3;
  Output reserve_space_4;
  Operation operation;
};
// Adds a node of the op FusedBatchNormGradV2. It has a gradient.
// Inputs: y_backprop (T), x (T), scale (float32), reserve_space_1 (U), reserve_space_2 (U).
// Attributes: epsilon (float; default 0.0001), data_format (string: 'NHWC', 'NCHW'; default "NHWC"), is_training (bool;
//   default true).
// Outputs: x_backprop (T), scale_backprop (U), offset_backprop (U), reserve_space_3 (U), reserve_space_4 (U).
// T: float32 bfloat16 float16; U: float32.
inline FusedBatchNormGradV2Outputs FusedBatchNormGradV2(const Operand& y_backprop, const Operand& x,
    const Operand& scale, const Operand& reserve_space_1, const Operand& reserve_space_2,
    const FusedBatchNormGradV2Options& options = {}) {
  auto results = internal::Call("FusedBatchNormGradV2", options.name, {y_backprop, x, scale, reserve_space_1,
      reserve_space_2}).Attr("epsilon", options.epsilon).Attr("data_format", options.data_format)
      .Attr("is_training", options.is_training).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FusedBatchNormGradV3Options {
  float epsilon = 0.0001f;
  std::string data_format = "NHWC";
  bool is_training = true;
  std::string name = {};
};
struct FusedBatchNormGradV3Outputs {
  Output x_backprop;
  Output scale_backprop;
  Output offset_backprop;
  Output reserve_space_4;
  Output reserve_space_5;
  Operation operation;
};
// Adds a node of the op FusedBatchNormGradV3. It has a gradient.
// Inputs: y_backprop (T), x (T), scale (float32), reserve_space_1 (U), reserve_space_2 (U), reserve_space_3 (U).
// Attributes: epsilon (float; default 0.0001), data_format (string: 'NHWC', 'NCHW', 'NDHWC', 'NCDHW'; default "NHWC"),
//   is_training (bool; default true).
// Outputs: x_backprop (T), scale_backprop (U), offset_backprop (U), reserve_space_4 (U), reserve_space_5 (U).
// T: float32 bfloat16 float16; U: float32.
inline FusedBatchNormGradV3Outputs FusedBatchNormGradV3(const Operand& y_backprop, const Operand& x,
    const Operand& scale, const Operand& reserve_space_1, const Operand& reserve_space_2,
    const Operand& reserve_space_3, const FusedBatchNormGradV3Options& options = {}) {
  auto results = internal::Call("FusedBatchNormGradV3", options.name, {y_backprop, x, scale, reserve_space_1,
      reserve_space_2, reserve_space_3}).Attr("epsilon", options.epsilon).Attr("data_format", options.data_format)
      .Attr("is_training", options.is_training).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FusedBatchNormV2Options {
  float epsilon = 0.0001f;
  float exponential_avg_factor = 1.0f;
  std::string data_format = "NHWC";
  bool is_training = true;
  std::string name = {};
};
struct FusedBatchNormV2Outputs {
  Output y;
  Output batch_mean;
  Output batch_variance;
  Output reserve_space_1;
  Output reserve_space_2;
  Operation operation;
};
// Adds a node of the op FusedBatchNormV2. It has a gradient.
// Inputs: x (T), scale (U), offset (U), mean (U), variance (U).
// Attributes: epsilon (float; default 0.0001), exponential_avg_factor (float; default 1), data_format (string: 'NHWC',
//   'NCHW'; default "NHWC"), is_training (bool; default true).
// Outputs: y (T), batch_mean (U), batch_variance (U), reserve_space_1 (U), reserve_space_2 (U).
// T: float32 bfloat16 float16; U: float32.
inline FusedBatchNormV2Outputs FusedBatchNormV2(const Operand& x, const Operand& scale, const Operand& offset,
    const Operand& mean, const Operand& variance, const FusedBatchNormV2Options& options = {}) {
  auto results = internal::Call("FusedBatchNormV2", options.name, {x, scale, offset, mean, variance})
      .Attr("epsilon", options.epsilon).Attr("exponential_avg_factor", options.exponential_avg_factor)
      .Attr("data_format", options.data_format).Attr("is_training", options.is_training).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.operation()};
}

struct FusedBatchNormV3Options {
  float epsilon = 0.0001f;
  float exponential_avg_factor = 1.0f;
  std::string data_format = "NHWC";
  bool is_training = true;
  std::string name = {};
};
struct FusedBatchNormV3Outputs {
  Output y;
  Output batch_mean;
  Output batch_variance;
  Output reserve_space_1;
  Output reserve_space_2;
  Output reserve_space_3;
  Operation operation;
};
// Adds a node of the op FusedBatchNormV3. The usual function is nn::FusedBatchNorm (ops/nn.h). It has a gradient.
// Inputs: x (T), scale (U), offset (U), mean (U), variance (U).
// Attributes: epsilon (float; default 0.0001), exponential_avg_factor (float; default 1), data_format (string: 'NHWC',
//   'NCHW', 'NDHWC', 'NCDHW'; default "NHWC"), is_training (bool; default true).
// Outputs: y (T), batch_mean (U), batch_variance (U), reserve_space_1 (U), reserve_space_2 (U), reserve_space_3 (U).
// T: float32 bfloat16 float16; U: float32.
inline FusedBatchNormV3Outputs FusedBatchNormV3(const Operand& x, const Operand& scale, const Operand& offset,
    const Operand& mean, const Operand& variance, const FusedBatchNormV3Options& options = {}) {
  auto results = internal::Call("FusedBatchNormV3", options.name, {x, scale, offset, mean, variance})
      .Attr("epsilon", options.epsilon).Attr("exponential_avg_factor", options.exponential_avg_factor)
      .Attr("data_format", options.data_format).Attr("is_training", options.is_training).All();
  return {results.Next(), results.Next(), results.Next(), results.Next(), results.Next(), results.Next(),
          results.operation()};
}

// Adds a node of the op FusedPadConv2D.
// Inputs: input (T), paddings (int32), filter (T).
// Attributes: mode (string: 'REFLECT', 'SYMMETRIC'), strides (list of ints), padding (string: 'SAME', 'VALID').
// Output: output (T).
// T: floats.
inline Output FusedPadConv2D(const Operand& input, const Operand& paddings, const Operand& filter,
    const std::string& mode, const std::vector<int64_t>& strides, const std::string& padding,
    const std::string& name = "") {
  return internal::Call("FusedPadConv2D", name, {input, paddings, filter}).Attr("mode", mode).Attr("strides", strides)
      .Attr("padding", padding).One();
}

struct FusedResizeAndPadConv2DOptions {
  bool resize_align_corners = false;
  std::string name = {};
};
// Adds a node of the op FusedResizeAndPadConv2D.
// Inputs: input (T), size (int32), paddings (int32), filter (T).
// Attributes: mode (string: 'REFLECT', 'SYMMETRIC'), strides (list of ints), padding (string: 'SAME', 'VALID'),
//   resize_align_corners (bool; default false).
// Output: output (T).
// T: float32 float64 float16.
inline Output FusedResizeAndPadConv2D(const Operand& input, const Operand& size, const Operand& paddings,
    const Operand& filter, const std::string& mode, const std::vector<int64_t>& strides, const std::string& padding,
    const FusedResizeAndPadConv2DOptions& options = {}) {
  return internal::Call("FusedResizeAndPadConv2D", options.name, {input, size, paddings, filter}).Attr("mode", mode)
      .Attr("strides", strides).Attr("padding", padding).Attr("resize_align_corners", options.resize_align_corners)
      .One();
}

// Adds a node of the op InTopK.
// Inputs: predictions (float32), targets (T).
// Attributes: k (int).
// Output: precision (bool).
// T: int32 int64.
inline Output InTopK(const Operand& predictions, const Operand& targets, int64_t k, const std::string& name = "") {
  return internal::Call("InTopK", name, {predictions, targets}).Attr("k", k).One();
}

// Adds a node of the op InTopKV2. The usual function is nn::InTopK (ops/nn.h).
// Inputs: predictions (float32), targets (T), k (T).
// Output: precision (bool).
// T: int32 int64.
inline Output InTopKV2(const Operand& predictions, const Operand& targets, const Operand& k,
    const std::string& name = "") {
  return internal::Call("InTopKV2", name, {predictions, targets, k}).One();
}

struct IsotonicRegressionOptions {
  DType output_dtype = DType::kFloat32;
  std::string name = {};
};
struct IsotonicRegressionOutputs {
  Output output;
  Output segments;
  Operation operation;
};
// Adds a node of the op IsotonicRegression.
// Inputs: input (T).
// Attributes: output_dtype (dtype: floats; default float32).
// Outputs: output (output_dtype), segments (int32).
// T: floats int32 int16 int8 int64.
inline IsotonicRegressionOutputs IsotonicRegression(const Operand& input,
    const IsotonicRegressionOptions& options = {}) {
  auto results = internal::Call("IsotonicRegression", options.name, {input}).Attr("output_dtype", options.output_dtype)
      .All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op L2Loss. The usual function is nn::L2Loss (ops/nn.h). It has a gradient.
// Inputs: t (T).
// Output: output (T).
// T: floats.
inline Output L2Loss(const Operand& t, const std::string& name = "") {
  return internal::Call("L2Loss", name, {t}).One();
}

struct LRNOptions {
  int64_t depth_radius = 5;
  float bias = 1.0f;
  float alpha = 1.0f;
  float beta = 0.5f;
  std::string name = {};
};
// Adds a node of the op LRN. The usual function is nn::LocalResponseNormalization (ops/nn.h). It has a gradient.
// Inputs: input (T).
// Attributes: depth_radius (int; default 5), bias (float; default 1), alpha (float; default 1), beta (float; default
//   0.5).
// Output: output (T).
// T: float32 bfloat16 float16.
inline Output LRN(const Operand& input, const LRNOptions& options = {}) {
  return internal::Call("LRN", options.name, {input}).Attr("depth_radius", options.depth_radius)
      .Attr("bias", options.bias).Attr("alpha", options.alpha).Attr("beta", options.beta).One();
}

struct LRNGradOptions {
  int64_t depth_radius = 5;
  float bias = 1.0f;
  float alpha = 1.0f;
  float beta = 0.5f;
  std::string name = {};
};
// Adds a node of the op LRNGrad.
// Inputs: input_grads (T), input_image (T), output_image (T).
// Attributes: depth_radius (int; default 5), bias (float; default 1), alpha (float; default 1), beta (float; default
//   0.5).
// Output: output (T).
// T: float32 bfloat16 float16.
inline Output LRNGrad(const Operand& input_grads, const Operand& input_image, const Operand& output_image,
    const LRNGradOptions& options = {}) {
  return internal::Call("LRNGrad", options.name, {input_grads, input_image, output_image})
      .Attr("depth_radius", options.depth_radius).Attr("bias", options.bias).Attr("alpha", options.alpha)
      .Attr("beta", options.beta).One();
}

struct LeakyReluOptions {
  float alpha = 0.2f;
  std::string name = {};
};
// Adds a node of the op LeakyRelu. The usual function is nn::LeakyRelu (ops/nn.h). It has a gradient.
// Inputs: features (T).
// Attributes: alpha (float; default 0.2).
// Output: activations (T).
// T: floats.
inline Output LeakyRelu(const Operand& features, const LeakyReluOptions& options = {}) {
  return internal::Call("LeakyRelu", options.name, {features}).Attr("alpha", options.alpha).One();
}

struct LeakyReluGradOptions {
  float alpha = 0.2f;
  std::string name = {};
};
// Adds a node of the op LeakyReluGrad. It has a gradient.
// Inputs: gradients (T), features (T).
// Attributes: alpha (float; default 0.2).
// Output: backprops (T).
// T: floats.
inline Output LeakyReluGrad(const Operand& gradients, const Operand& features,
    const LeakyReluGradOptions& options = {}) {
  return internal::Call("LeakyReluGrad", options.name, {gradients, features}).Attr("alpha", options.alpha).One();
}

// Adds a node of the op LogSoftmax. The usual function is nn::LogSoftmax (ops/nn.h). It has a gradient.
// Inputs: logits (T).
// Output: logsoftmax (T).
// T: floats.
inline Output LogSoftmax(const Operand& logits, const std::string& name = "") {
  return internal::Call("LogSoftmax", name, {logits}).One();
}

struct MaxPoolOptions {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op MaxPool. The usual function is nn::MaxPool (ops/nn.h). It has a gradient.
// Inputs: input (T).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID',
//   'EXPLICIT'), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW', 'NCHW_VECT_C';
//   default "NHWC").
// Output: output (T).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output MaxPool(const Operand& input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    const std::string& padding, const MaxPoolOptions& options = {}) {
  return internal::Call("MaxPool", options.name, {input}).Attr("ksize", ksize).Attr("strides", strides)
      .Attr("padding", padding).Attr("explicit_paddings", options.explicit_paddings)
      .Attr("data_format", options.data_format).One();
}

struct MaxPool3DOptions {
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op MaxPool3D. The usual function is nn::MaxPool3D (ops/nn.h). It has a gradient.
// Inputs: input (T).
// Attributes: ksize (list of ints, at least 5), strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: float32 bfloat16 float16.
inline Output MaxPool3D(const Operand& input, const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides,
    const std::string& padding, const MaxPool3DOptions& options = {}) {
  return internal::Call("MaxPool3D", options.name, {input}).Attr("ksize", ksize).Attr("strides", strides)
      .Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct MaxPool3DGradOptions {
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op MaxPool3DGrad. It has a gradient.
// Inputs: orig_input (TInput), orig_output (TInput), grad (T).
// Attributes: ksize (list of ints, at least 5), strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: float32 bfloat16 float16; TInput: float32 bfloat16 float16.
inline Output MaxPool3DGrad(const Operand& orig_input, const Operand& orig_output, const Operand& grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding,
    const MaxPool3DGradOptions& options = {}) {
  return internal::Call("MaxPool3DGrad", options.name, {orig_input, orig_output, grad}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct MaxPool3DGradGradOptions {
  std::string data_format = "NDHWC";
  std::string name = {};
};
// Adds a node of the op MaxPool3DGradGrad. It has a gradient.
// Inputs: orig_input (T), orig_output (T), grad (T).
// Attributes: ksize (list of ints, at least 5), strides (list of ints, at least 5), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NDHWC', 'NCDHW'; default "NDHWC").
// Output: output (T).
// T: float32 bfloat16 float16.
inline Output MaxPool3DGradGrad(const Operand& orig_input, const Operand& orig_output, const Operand& grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding,
    const MaxPool3DGradGradOptions& options = {}) {
  return internal::Call("MaxPool3DGradGrad", options.name, {orig_input, orig_output, grad}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct MaxPoolGradOptions {
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op MaxPoolGrad. It has a gradient.
// Inputs: orig_input (T), orig_output (T), grad (T).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID',
//   'EXPLICIT'), explicit_paddings (list of ints; default []), data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: reals.
inline Output MaxPoolGrad(const Operand& orig_input, const Operand& orig_output, const Operand& grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding,
    const MaxPoolGradOptions& options = {}) {
  return internal::Call("MaxPoolGrad", options.name, {orig_input, orig_output, grad}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("explicit_paddings", options.explicit_paddings)
      .Attr("data_format", options.data_format).One();
}

struct MaxPoolGradGradOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op MaxPoolGradGrad. It has a gradient.
// Inputs: orig_input (T), orig_output (T), grad (T).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID'),
//   data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: reals.
inline Output MaxPoolGradGrad(const Operand& orig_input, const Operand& orig_output, const Operand& grad,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding,
    const MaxPoolGradGradOptions& options = {}) {
  return internal::Call("MaxPoolGradGrad", options.name, {orig_input, orig_output, grad}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct MaxPoolGradGradV2Options {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op MaxPoolGradGradV2. It has a gradient.
// Inputs: orig_input (T), orig_output (T), grad (T), ksize (int32), strides (int32).
// Attributes: padding (string: 'SAME', 'VALID'), data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: reals.
inline Output MaxPoolGradGradV2(const Operand& orig_input, const Operand& orig_output, const Operand& grad,
    const Operand& ksize, const Operand& strides, const std::string& padding,
    const MaxPoolGradGradV2Options& options = {}) {
  return internal::Call("MaxPoolGradGradV2", options.name, {orig_input, orig_output, grad, ksize, strides})
      .Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct MaxPoolGradGradWithArgmaxOptions {
  bool include_batch_in_index = false;
  std::string name = {};
};
// Adds a node of the op MaxPoolGradGradWithArgmax. It has a gradient.
// Inputs: input (T), grad (T), argmax (Targmax).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID'),
//   include_batch_in_index (bool; default false).
// Output: output (T).
// Targmax: int32 int64; T: reals.
inline Output MaxPoolGradGradWithArgmax(const Operand& input, const Operand& grad, const Operand& argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding,
    const MaxPoolGradGradWithArgmaxOptions& options = {}) {
  return internal::Call("MaxPoolGradGradWithArgmax", options.name, {input, grad, argmax}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("include_batch_in_index", options.include_batch_in_index)
      .One();
}

struct MaxPoolGradV2Options {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op MaxPoolGradV2. It has a gradient.
// Inputs: orig_input (T), orig_output (T), grad (T), ksize (int32), strides (int32).
// Attributes: padding (string: 'SAME', 'VALID'), data_format (string: 'NHWC', 'NCHW'; default "NHWC").
// Output: output (T).
// T: reals.
inline Output MaxPoolGradV2(const Operand& orig_input, const Operand& orig_output, const Operand& grad,
    const Operand& ksize, const Operand& strides, const std::string& padding,
    const MaxPoolGradV2Options& options = {}) {
  return internal::Call("MaxPoolGradV2", options.name, {orig_input, orig_output, grad, ksize, strides})
      .Attr("padding", padding).Attr("data_format", options.data_format).One();
}

struct MaxPoolGradWithArgmaxOptions {
  bool include_batch_in_index = false;
  std::string name = {};
};
// Adds a node of the op MaxPoolGradWithArgmax. It has a gradient.
// Inputs: input (T), grad (T), argmax (Targmax).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID'),
//   include_batch_in_index (bool; default false).
// Output: output (T).
// Targmax: int32 int64; T: reals.
inline Output MaxPoolGradWithArgmax(const Operand& input, const Operand& grad, const Operand& argmax,
    const std::vector<int64_t>& ksize, const std::vector<int64_t>& strides, const std::string& padding,
    const MaxPoolGradWithArgmaxOptions& options = {}) {
  return internal::Call("MaxPoolGradWithArgmax", options.name, {input, grad, argmax}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("include_batch_in_index", options.include_batch_in_index)
      .One();
}

struct MaxPoolV2Options {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op MaxPoolV2. It has a gradient.
// Inputs: input (T), ksize (int32), strides (int32).
// Attributes: padding (string: 'SAME', 'VALID'), data_format (string: 'NHWC', 'NCHW', 'NCHW_VECT_C'; default "NHWC").
// Output: output (T).
// T: floats int32 uint8 int16 int8 int64 uint16.
inline Output MaxPoolV2(const Operand& input, const Operand& ksize, const Operand& strides, const std::string& padding,
    const MaxPoolV2Options& options = {}) {
  return internal::Call("MaxPoolV2", options.name, {input, ksize, strides}).Attr("padding", padding)
      .Attr("data_format", options.data_format).One();
}

struct MaxPoolWithArgmaxOptions {
  DType targmax = DType::kInt64;
  bool include_batch_in_index = false;
  std::string name = {};
};
struct MaxPoolWithArgmaxOutputs {
  Output output;
  Output argmax;
  Operation operation;
};
// Adds a node of the op MaxPoolWithArgmax. It has a gradient.
// Inputs: input (T).
// Attributes: ksize (list of ints, at least 4), strides (list of ints, at least 4), padding (string: 'SAME', 'VALID'),
//   targmax (attribute Targmax, dtype: int32 int64; default int64), include_batch_in_index (bool; default false).
// Outputs: output (T), argmax (Targmax).
// T: reals.
inline MaxPoolWithArgmaxOutputs MaxPoolWithArgmax(const Operand& input, const std::vector<int64_t>& ksize,
    const std::vector<int64_t>& strides, const std::string& padding, const MaxPoolWithArgmaxOptions& options = {}) {
  auto results = internal::Call("MaxPoolWithArgmax", options.name, {input}).Attr("ksize", ksize)
      .Attr("strides", strides).Attr("padding", padding).Attr("Targmax", options.targmax)
      .Attr("include_batch_in_index", options.include_batch_in_index).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct QuantizeAndDequantizeOptions {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  float input_min = 0.0f;
  float input_max = 0.0f;
  std::string name = {};
};
// Adds a node of the op QuantizeAndDequantize. It has a gradient.
// Inputs: input (T).
// Attributes: signed_input (bool; default true), num_bits (int; default 8), range_given (bool; default false),
//   input_min (float; default 0), input_max (float; default 0).
// Output: output (T).
// T: float32 float64.
inline Output QuantizeAndDequantize(const Operand& input, const QuantizeAndDequantizeOptions& options = {}) {
  return internal::Call("QuantizeAndDequantize", options.name, {input}).Attr("signed_input", options.signed_input)
      .Attr("num_bits", options.num_bits).Attr("range_given", options.range_given).Attr("input_min", options.input_min)
      .Attr("input_max", options.input_max).One();
}

struct QuantizeAndDequantizeV2Options {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  std::string round_mode = "HALF_TO_EVEN";
  bool narrow_range = false;
  int64_t axis = -1;
  std::string name = {};
};
// Adds a node of the op QuantizeAndDequantizeV2. It has a gradient.
// Inputs: input (T), input_min (T), input_max (T).
// Attributes: signed_input (bool; default true), num_bits (int; default 8), range_given (bool; default false),
//   round_mode (string: 'HALF_TO_EVEN', 'HALF_UP'; default "HALF_TO_EVEN"), narrow_range (bool; default false), axis
//   (int; default -1).
// Output: output (T).
// T: float32 float64.
inline Output QuantizeAndDequantizeV2(const Operand& input, const Operand& input_min, const Operand& input_max,
    const QuantizeAndDequantizeV2Options& options = {}) {
  return internal::Call("QuantizeAndDequantizeV2", options.name, {input, input_min, input_max})
      .Attr("signed_input", options.signed_input).Attr("num_bits", options.num_bits)
      .Attr("range_given", options.range_given).Attr("round_mode", options.round_mode)
      .Attr("narrow_range", options.narrow_range).Attr("axis", options.axis).One();
}

struct QuantizeAndDequantizeV3Options {
  bool signed_input = true;
  bool range_given = true;
  bool narrow_range = false;
  int64_t axis = -1;
  std::string name = {};
};
// Adds a node of the op QuantizeAndDequantizeV3. It has a gradient.
// Inputs: input (T), input_min (T), input_max (T), num_bits (int32).
// Attributes: signed_input (bool; default true), range_given (bool; default true), narrow_range (bool; default false),
//   axis (int; default -1).
// Output: output (T).
// T: float32 float64.
inline Output QuantizeAndDequantizeV3(const Operand& input, const Operand& input_min, const Operand& input_max,
    const Operand& num_bits, const QuantizeAndDequantizeV3Options& options = {}) {
  return internal::Call("QuantizeAndDequantizeV3", options.name, {input, input_min, input_max, num_bits})
      .Attr("signed_input", options.signed_input).Attr("range_given", options.range_given)
      .Attr("narrow_range", options.narrow_range).Attr("axis", options.axis).One();
}

struct QuantizeAndDequantizeV4Options {
  bool signed_input = true;
  int64_t num_bits = 8;
  bool range_given = false;
  std::string round_mode = "HALF_TO_EVEN";
  bool narrow_range = false;
  int64_t axis = -1;
  std::string name = {};
};
// Adds a node of the op QuantizeAndDequantizeV4. It has a gradient.
// Inputs: input (T), input_min (T), input_max (T).
// Attributes: signed_input (bool; default true), num_bits (int; default 8), range_given (bool; default false),
//   round_mode (string: 'HALF_TO_EVEN', 'HALF_UP'; default "HALF_TO_EVEN"), narrow_range (bool; default false), axis
//   (int; default -1).
// Output: output (T).
// T: float32 float64.
inline Output QuantizeAndDequantizeV4(const Operand& input, const Operand& input_min, const Operand& input_max,
    const QuantizeAndDequantizeV4Options& options = {}) {
  return internal::Call("QuantizeAndDequantizeV4", options.name, {input, input_min, input_max})
      .Attr("signed_input", options.signed_input).Attr("num_bits", options.num_bits)
      .Attr("range_given", options.range_given).Attr("round_mode", options.round_mode)
      .Attr("narrow_range", options.narrow_range).Attr("axis", options.axis).One();
}

struct QuantizeAndDequantizeV4GradOptions {
  int64_t axis = -1;
  std::string name = {};
};
struct QuantizeAndDequantizeV4GradOutputs {
  Output input_backprop;
  Output input_min_backprop;
  Output input_max_backprop;
  Operation operation;
};
// Adds a node of the op QuantizeAndDequantizeV4Grad.
// Inputs: gradients (T), input (T), input_min (T), input_max (T).
// Attributes: axis (int; default -1).
// Outputs: input_backprop (T), input_min_backprop (T), input_max_backprop (T).
// T: float32 float64.
inline QuantizeAndDequantizeV4GradOutputs QuantizeAndDequantizeV4Grad(const Operand& gradients, const Operand& input,
    const Operand& input_min, const Operand& input_max, const QuantizeAndDequantizeV4GradOptions& options = {}) {
  auto results = internal::Call("QuantizeAndDequantizeV4Grad", options.name, {gradients, input, input_min, input_max})
      .Attr("axis", options.axis).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op Relu. The usual function is nn::Relu (ops/nn.h). It has a gradient.
// Inputs: features (T).
// Output: activations (T).
// T: reals.
inline Output Relu(const Operand& features, const std::string& name = "") {
  return internal::Call("Relu", name, {features}).One();
}

// Adds a node of the op Relu6. The usual function is nn::Relu6 (ops/nn.h). It has a gradient.
// Inputs: features (T).
// Output: activations (T).
// T: reals.
inline Output Relu6(const Operand& features, const std::string& name = "") {
  return internal::Call("Relu6", name, {features}).One();
}

// Adds a node of the op Relu6Grad. It has a gradient.
// Inputs: gradients (T), features (T).
// Output: backprops (T).
// T: reals.
inline Output Relu6Grad(const Operand& gradients, const Operand& features, const std::string& name = "") {
  return internal::Call("Relu6Grad", name, {gradients, features}).One();
}

// Adds a node of the op ReluGrad. It has a gradient.
// Inputs: gradients (T), features (T).
// Output: backprops (T).
// T: reals.
inline Output ReluGrad(const Operand& gradients, const Operand& features, const std::string& name = "") {
  return internal::Call("ReluGrad", name, {gradients, features}).One();
}

// Adds a node of the op Selu. It has a gradient.
// Inputs: features (T).
// Output: activations (T).
// T: floats.
inline Output Selu(const Operand& features, const std::string& name = "") {
  return internal::Call("Selu", name, {features}).One();
}

// Adds a node of the op SeluGrad. It has a gradient.
// Inputs: gradients (T), outputs (T).
// Output: backprops (T).
// T: floats.
inline Output SeluGrad(const Operand& gradients, const Operand& outputs, const std::string& name = "") {
  return internal::Call("SeluGrad", name, {gradients, outputs}).One();
}

// Adds a node of the op Softmax. The usual function is nn::Softmax (ops/nn.h). It has a gradient.
// Inputs: logits (T).
// Output: softmax (T).
// T: floats.
inline Output Softmax(const Operand& logits, const std::string& name = "") {
  return internal::Call("Softmax", name, {logits}).One();
}

struct SoftmaxCrossEntropyWithLogitsOutputs {
  Output loss;
  Output backprop;
  Operation operation;
};
// Adds a node of the op SoftmaxCrossEntropyWithLogits. The usual function is nn::SoftmaxCrossEntropy (ops/nn.h). It has
//   a gradient.
// Inputs: features (T), labels (T).
// Outputs: loss (T), backprop (T).
// T: floats.
inline SoftmaxCrossEntropyWithLogitsOutputs SoftmaxCrossEntropyWithLogits(const Operand& features,
    const Operand& labels, const std::string& name = "") {
  auto results = internal::Call("SoftmaxCrossEntropyWithLogits", name, {features, labels}).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op Softplus. The usual function is nn::Softplus (ops/nn.h). It has a gradient.
// Inputs: features (T).
// Output: activations (T).
// T: floats.
inline Output Softplus(const Operand& features, const std::string& name = "") {
  return internal::Call("Softplus", name, {features}).One();
}

// Adds a node of the op SoftplusGrad. It has a gradient.
// Inputs: gradients (T), features (T).
// Output: backprops (T).
// T: floats.
inline Output SoftplusGrad(const Operand& gradients, const Operand& features, const std::string& name = "") {
  return internal::Call("SoftplusGrad", name, {gradients, features}).One();
}

// Adds a node of the op Softsign. The usual function is nn::Softsign (ops/nn.h). It has a gradient.
// Inputs: features (T).
// Output: activations (T).
// T: floats.
inline Output Softsign(const Operand& features, const std::string& name = "") {
  return internal::Call("Softsign", name, {features}).One();
}

// Adds a node of the op SoftsignGrad.
// Inputs: gradients (T), features (T).
// Output: backprops (T).
// T: floats.
inline Output SoftsignGrad(const Operand& gradients, const Operand& features, const std::string& name = "") {
  return internal::Call("SoftsignGrad", name, {gradients, features}).One();
}

struct SparseSoftmaxCrossEntropyWithLogitsOutputs {
  Output loss;
  Output backprop;
  Operation operation;
};
// Adds a node of the op SparseSoftmaxCrossEntropyWithLogits. The usual function is nn::SparseSoftmaxCrossEntropy
//   (ops/nn.h). It has a gradient.
// Inputs: features (T), labels (Tlabels).
// Outputs: loss (T), backprop (T).
// T: floats; Tlabels: int32 int64.
inline SparseSoftmaxCrossEntropyWithLogitsOutputs SparseSoftmaxCrossEntropyWithLogits(const Operand& features,
    const Operand& labels, const std::string& name = "") {
  auto results = internal::Call("SparseSoftmaxCrossEntropyWithLogits", name, {features, labels}).All();
  return {results.Next(), results.Next(), results.operation()};
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_NN_H_
