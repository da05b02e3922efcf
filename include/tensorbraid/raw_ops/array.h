// A function for each op of src/ops/array; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_ARRAY_H_
#define TENSORBRAID_RAW_OPS_ARRAY_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

// Adds a node of the op BatchToSpace. It has a gradient.
// Inputs: input (T), crops (Tidx).
// Attributes: block_size (int, at least 2).
// Output: output (T).
// T: any; Tidx: int32 int64.
inline Output BatchToSpace(const Operand& input, const Operand& crops, int64_t block_size,
    const std::string& name = "") {
  return internal::Call("BatchToSpace", name, {input, crops}).Attr("block_size", block_size).One();
}

// Adds a node of the op BatchToSpaceND. It has a gradient.
// Inputs: input (T), block_shape (Tblock_shape), crops (Tcrops).
// Output: output (T).
// T: any; Tblock_shape: int32 int64; Tcrops: int32 int64.
inline Output BatchToSpaceND(const Operand& input, const Operand& block_shape, const Operand& crops,
    const std::string& name = "") {
  return internal::Call("BatchToSpaceND", name, {input, block_shape, crops}).One();
}

// Adds a node of the op Bitcast.
// Inputs: input (T).
// Attributes: type (dtype: numbers quantized).
// Output: output (type).
// T: numbers quantized.
inline Output Bitcast(const Operand& input, DType type, const std::string& name = "") {
  return internal::Call("Bitcast", name, {input}).Attr("type", type).One();
}

// Adds a node of the op BroadcastArgs.
// Inputs: s0 (T), s1 (T).
// Output: r0 (T).
// T: int32 int64.
inline Output BroadcastArgs(const Operand& s0, const Operand& s1, const std::string& name = "") {
  return internal::Call("BroadcastArgs", name, {s0, s1}).One();
}

struct BroadcastGradientArgsOutputs {
  Output r0;
  Output r1;
  Operation operation;
};
// Adds a node of the op BroadcastGradientArgs.
// Inputs: s0 (T), s1 (T).
// Outputs: r0 (T), r1 (T).
// T: int32 int64.
inline BroadcastGradientArgsOutputs BroadcastGradientArgs(const Operand& s0, const Operand& s1,
    const std::string& name = "") {
  auto results = internal::Call("BroadcastGradientArgs", name, {s0, s1}).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op BroadcastTo. The usual function is BroadcastTo (ops/array.h). It has a gradient.
// Inputs: input (T), shape (Tidx).
// Output: output (T).
// T: any; Tidx: int32 int64.
inline Output BroadcastTo(const Operand& input, const Operand& shape, const std::string& name = "") {
  return internal::Call("BroadcastTo", name, {input, shape}).One();
}

// Adds a node of the op Concat. It has a gradient.
// Inputs: concat_dim (int32), values (a list of N tensors of type T).
// Output: output (T).
// T: any.
inline Output Concat(const Operand& concat_dim, const std::vector<Output>& values, const std::string& name = "") {
  return internal::Call("Concat", name, {concat_dim, values}).One();
}

struct ConcatOffsetOutputs {
  std::vector<Output> offset;
  Operation operation;
};
// Adds a node of the op ConcatOffset.
// Inputs: concat_dim (int32), shape (a list of N tensors of type shape_type).
// Output: offset (a list of N tensors of type shape_type).
// shape_type: int32 int64.
inline ConcatOffsetOutputs ConcatOffset(const Operand& concat_dim, const std::vector<Output>& shape,
    const std::string& name = "") {
  auto results = internal::Call("ConcatOffset", name, {concat_dim, shape}).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op ConcatV2. The usual function is Concat (ops/array.h). It has a gradient.
// Inputs: values (a list of N tensors of type T), axis (Tidx).
// Output: output (T).
// T: any; Tidx: int32 int64.
inline Output ConcatV2(const std::vector<Output>& values, const Operand& axis, const std::string& name = "") {
  return internal::Call("ConcatV2", name, {values, axis}).One();
}

// Adds a node of the op ConjugateTranspose. It has a gradient.
// Inputs: x (T), perm (Tperm).
// Output: y (T).
// T: numbers string bool resource variant; Tperm: int32 int64.
inline Output ConjugateTranspose(const Operand& x, const Operand& perm, const std::string& name = "") {
  return internal::Call("ConjugateTranspose", name, {x, perm}).One();
}

// Adds a node of the op Const. The usual function is Const (ops/array.h).
// Attributes: value (tensor), dtype (dtype: any).
// Output: output (dtype).
inline Output Const(Graph& graph, const Tensor& value, DType dtype, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Const", name, {}, loc).Attr("value", value).Attr("dtype", dtype).One();
}

struct CopyOptions {
  std::string tensor_name = "";
  std::vector<std::string> debug_ops_spec = {};
  std::string name = {};
};
// Adds a node of the op Copy.
// Inputs: input (T).
// Attributes: tensor_name (string; default ""), debug_ops_spec (list of strings; default []).
// Output: output (T).
// T: any.
inline Output Copy(const Operand& input, const CopyOptions& options = {}) {
  return internal::Call("Copy", options.name, {input}).Attr("tensor_name", options.tensor_name)
      .Attr("debug_ops_spec", options.debug_ops_spec).One();
}

struct CopyHostOptions {
  std::string tensor_name = "";
  std::vector<std::string> debug_ops_spec = {};
  std::string name = {};
};
// Adds a node of the op CopyHost.
// Inputs: input (T).
// Attributes: tensor_name (string; default ""), debug_ops_spec (list of strings; default []).
// Output: output (T).
// T: any.
inline Output CopyHost(const Operand& input, const CopyHostOptions& options = {}) {
  return internal::Call("CopyHost", options.name, {input}).Attr("tensor_name", options.tensor_name)
      .Attr("debug_ops_spec", options.debug_ops_spec).One();
}

struct DataFormatDimMapOptions {
  std::string src_format = "NHWC";
  std::string dst_format = "NCHW";
  std::string name = {};
};
// Adds a node of the op DataFormatDimMap.
// Inputs: x (T).
// Attributes: src_format (string; default "NHWC"), dst_format (string; default "NCHW").
// Output: y (T).
// T: int32 int64.
inline Output DataFormatDimMap(const Operand& x, const DataFormatDimMapOptions& options = {}) {
  return internal::Call("DataFormatDimMap", options.name, {x}).Attr("src_format", options.src_format)
      .Attr("dst_format", options.dst_format).One();
}

struct DataFormatVecPermuteOptions {
  std::string src_format = "NHWC";
  std::string dst_format = "NCHW";
  std::string name = {};
};
// Adds a node of the op DataFormatVecPermute.
// Inputs: x (T).
// Attributes: src_format (string; default "NHWC"), dst_format (string; default "NCHW").
// Output: y (T).
// T: int32 int64.
inline Output DataFormatVecPermute(const Operand& x, const DataFormatVecPermuteOptions& options = {}) {
  return internal::Call("DataFormatVecPermute", options.name, {x}).Attr("src_format", options.src_format)
      .Attr("dst_format", options.dst_format).One();
}

// Adds a node of the op DebugGradientIdentity.
// Inputs: input (T).
// Output: output (T).
// T: any.
inline Output DebugGradientIdentity(const Operand& input, const std::string& name = "") {
  return internal::Call("DebugGradientIdentity", name, {input}).One();
}

// Adds a node of the op DeepCopy.
// Inputs: x (T).
// Output: y (T).
// T: any.
inline Output DeepCopy(const Operand& x, const std::string& name = "") {
  return internal::Call("DeepCopy", name, {x}).One();
}

struct DepthToSpaceOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op DepthToSpace. It has a gradient.
// Inputs: input (T).
// Attributes: block_size (int, at least 2), data_format (string: 'NHWC', 'NCHW', 'NCHW_VECT_C'; default "NHWC").
// Output: output (T).
// T: any.
inline Output DepthToSpace(const Operand& input, int64_t block_size, const DepthToSpaceOptions& options = {}) {
  return internal::Call("DepthToSpace", options.name, {input}).Attr("block_size", block_size)
      .Attr("data_format", options.data_format).One();
}

struct EmptyOptions {
  bool init = false;
  std::string name = {};
};
// Adds a node of the op Empty.
// Inputs: shape (int32).
// Attributes: dtype (dtype: any), init (bool; default false).
// Output: output (dtype).
inline Output Empty(const Operand& shape, DType dtype, const EmptyOptions& options = {}) {
  return internal::Call("Empty", options.name, {shape}).Attr("dtype", dtype).Attr("init", options.init).One();
}

// Adds a node of the op EnsureShape. It has a gradient.
// Inputs: input (T).
// Attributes: shape (shape).
// Output: output (T).
// T: any.
inline Output EnsureShape(const Operand& input, const tensorbraid::Shape& shape, const std::string& name = "") {
  return internal::Call("EnsureShape", name, {input}).Attr("shape", shape).One();
}

// Adds a node of the op ExpandDims. The usual function is ExpandDims (ops/array.h). It has a gradient.
// Inputs: input (T), dim (Tdim).
// Output: output (T).
// T: any; Tdim: int32 int64.
inline Output ExpandDims(const Operand& input, const Operand& dim, const std::string& name = "") {
  return internal::Call("ExpandDims", name, {input, dim}).One();
}

// Adds a node of the op Fill. The usual function is Fill (ops/array.h). It has a gradient.
// Inputs: dims (index_type), value (T).
// Output: output (T).
// T: any; index_type: int32 int64.
inline Output Fill(const Operand& dims, const Operand& value, const std::string& name = "") {
  return internal::Call("Fill", name, {dims, value}).One();
}

struct GatherOptions {
  bool validate_indices = true;
  std::string name = {};
};
// Adds a node of the op Gather. It has a gradient.
// Inputs: params (Tparams), indices (Tindices).
// Attributes: validate_indices (bool; default true).
// Output: output (Tparams).
// Tparams: any; Tindices: int32 int16 int64.
inline Output Gather(const Operand& params, const Operand& indices, const GatherOptions& options = {}) {
  return internal::Call("Gather", options.name, {params, indices}).Attr("validate_indices", options.validate_indices)
      .One();
}

struct GatherNdOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op GatherNd. The usual function is GatherNd (ops/array.h). It has a gradient.
// Inputs: params (Tparams), indices (Tindices).
// Attributes: bad_indices_policy (string; default "").
// Output: output (Tparams).
// Tparams: any; Tindices: int32 int16 int64.
inline Output GatherNd(const Operand& params, const Operand& indices, const GatherNdOptions& options = {}) {
  return internal::Call("GatherNd", options.name, {params, indices})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct GatherV2Options {
  int64_t batch_dims = 0;
  std::string name = {};
};
// Adds a node of the op GatherV2. The usual function is Gather (ops/array.h). It has a gradient.
// Inputs: params (Tparams), indices (Tindices), axis (Taxis).
// Attributes: batch_dims (int; default 0).
// Output: output (Tparams).
// Tparams: any; Tindices: int32 int16 int64; Taxis: int32 int64.
inline Output GatherV2(const Operand& params, const Operand& indices, const Operand& axis,
    const GatherV2Options& options = {}) {
  return internal::Call("GatherV2", options.name, {params, indices, axis}).Attr("batch_dims", options.batch_dims).One();
}

// Adds a node of the op GuaranteeConst.
// Inputs: input (T).
// Output: output (T).
// T: any.
inline Output GuaranteeConst(const Operand& input, const std::string& name = "") {
  return internal::Call("GuaranteeConst", name, {input}).One();
}

// Adds a node of the op Identity. The usual function is Identity (ops/array.h). It has a gradient.
// Inputs: input (T).
// Output: output (T).
// T: any.
inline Output Identity(const Operand& input, const std::string& name = "") {
  return internal::Call("Identity", name, {input}).One();
}

struct IdentityNOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op IdentityN. The usual function is IdentityN (ops/array.h). It has a gradient.
// Inputs: input (a list of tensors of the types T).
// Output: output (a list of tensors of the types T).
// T: any.
inline IdentityNOutputs IdentityN(const std::vector<Output>& input, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("IdentityN", name, {input}, loc).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op InplaceAdd.
// Inputs: x (T), i (int32), v (T).
// Output: y (T).
// T: numbers.
inline Output InplaceAdd(const Operand& x, const Operand& i, const Operand& v, const std::string& name = "") {
  return internal::Call("InplaceAdd", name, {x, i, v}).One();
}

// Adds a node of the op InplaceSub.
// Inputs: x (T), i (int32), v (T).
// Output: y (T).
// T: numbers.
inline Output InplaceSub(const Operand& x, const Operand& i, const Operand& v, const std::string& name = "") {
  return internal::Call("InplaceSub", name, {x, i, v}).One();
}

// Adds a node of the op InplaceUpdate.
// Inputs: x (T), i (int32), v (T).
// Output: y (T).
// T: any.
inline Output InplaceUpdate(const Operand& x, const Operand& i, const Operand& v, const std::string& name = "") {
  return internal::Call("InplaceUpdate", name, {x, i, v}).One();
}

// Adds a node of the op InvertPermutation. The usual function is InvertPermutation (ops/array.h).
// Inputs: x (T).
// Output: y (T).
// T: int32 int64.
inline Output InvertPermutation(const Operand& x, const std::string& name = "") {
  return internal::Call("InvertPermutation", name, {x}).One();
}

struct ListDiffOptions {
  DType out_idx = DType::kInt32;
  std::string name = {};
};
struct ListDiffOutputs {
  Output out;
  Output idx;
  Operation operation;
};
// Adds a node of the op ListDiff.
// Inputs: x (T), y (T).
// Attributes: out_idx (dtype: int32 int64; default int32).
// Outputs: out (T), idx (out_idx).
// T: numbers string bool.
inline ListDiffOutputs ListDiff(const Operand& x, const Operand& y, const ListDiffOptions& options = {}) {
  auto results = internal::Call("ListDiff", options.name, {x, y}).Attr("out_idx", options.out_idx).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct LowerBoundOptions {
  DType out_type = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op LowerBound.
// Inputs: sorted_inputs (T), values (T).
// Attributes: out_type (dtype: int32 int64; default int32).
// Output: output (out_type).
// T: reals.
inline Output LowerBound(const Operand& sorted_inputs, const Operand& values, const LowerBoundOptions& options = {}) {
  return internal::Call("LowerBound", options.name, {sorted_inputs, values}).Attr("out_type", options.out_type).One();
}

// Adds a node of the op MirrorPad. It has a gradient.
// Inputs: input (T), paddings (Tpaddings).
// Attributes: mode (string: 'REFLECT', 'SYMMETRIC').
// Output: output (T).
// T: any; Tpaddings: int32 int64.
inline Output MirrorPad(const Operand& input, const Operand& paddings, const std::string& mode,
    const std::string& name = "") {
  return internal::Call("MirrorPad", name, {input, paddings}).Attr("mode", mode).One();
}

// Adds a node of the op MirrorPadGrad. It has a gradient.
// Inputs: input (T), paddings (Tpaddings).
// Attributes: mode (string: 'REFLECT', 'SYMMETRIC').
// Output: output (T).
// T: numbers; Tpaddings: int32 int64.
inline Output MirrorPadGrad(const Operand& input, const Operand& paddings, const std::string& mode,
    const std::string& name = "") {
  return internal::Call("MirrorPadGrad", name, {input, paddings}).Attr("mode", mode).One();
}

// Adds a node of the op NoOp. The usual function is NoOp (ops/array.h).
inline Operation NoOp(Graph& graph, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "NoOp", name, {}, loc).Finish();
}

struct NthElementOptions {
  bool reverse = false;
  std::string name = {};
};
// Adds a node of the op NthElement. It has a gradient.
// Inputs: input (T), n (int32).
// Attributes: reverse (bool; default false).
// Output: values (T).
// T: reals.
inline Output NthElement(const Operand& input, const Operand& n, const NthElementOptions& options = {}) {
  return internal::Call("NthElement", options.name, {input, n}).Attr("reverse", options.reverse).One();
}

struct OneHotOptions {
  int64_t axis = -1;
  std::string name = {};
};
// Adds a node of the op OneHot. The usual function is OneHot (ops/array.h).
// Inputs: indices (TI), depth (int32), on_value (T), off_value (T).
// Attributes: axis (int; default -1).
// Output: output (T).
// T: any; TI: int32 uint8 int8 int64.
inline Output OneHot(const Operand& indices, const Operand& depth, const Operand& on_value, const Operand& off_value,
    const OneHotOptions& options = {}) {
  return internal::Call("OneHot", options.name, {indices, depth, on_value, off_value}).Attr("axis", options.axis).One();
}

// Adds a node of the op OnesLike. The usual function is OnesLike (ops/array.h).
// Inputs: x (T).
// Output: y (T).
// T: numbers bool.
inline Output OnesLike(const Operand& x, const std::string& name = "") {
  return internal::Call("OnesLike", name, {x}).One();
}

struct PackOptions {
  int64_t axis = 0;
  std::string name = {};
};
// Adds a node of the op Pack. The usual function is Stack (ops/array.h). It has a gradient.
// Inputs: values (a list of N tensors of type T).
// Attributes: axis (int; default 0).
// Output: output (T).
// T: any.
inline Output Pack(const std::vector<Output>& values, const PackOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call("Pack", options.name, {values}, loc).Attr("axis", options.axis).One();
}

// Adds a node of the op Pad. The usual function is Pad (ops/array.h). It has a gradient.
// Inputs: input (T), paddings (Tpaddings).
// Output: output (T).
// T: any; Tpaddings: int32 int64.
inline Output Pad(const Operand& input, const Operand& paddings, const std::string& name = "") {
  return internal::Call("Pad", name, {input, paddings}).One();
}

// Adds a node of the op PadV2. The usual function is PadV2 (ops/array.h). It has a gradient.
// Inputs: input (T), paddings (Tpaddings), constant_values (T).
// Output: output (T).
// T: any; Tpaddings: int32 int64.
inline Output PadV2(const Operand& input, const Operand& paddings, const Operand& constant_values,
    const std::string& name = "") {
  return internal::Call("PadV2", name, {input, paddings, constant_values}).One();
}

// Adds a node of the op ParallelConcat.
// Inputs: values (a list of N tensors of type T).
// Attributes: shape (shape).
// Output: output (T).
// T: any.
inline Output ParallelConcat(const std::vector<Output>& values, const tensorbraid::Shape& shape,
    const std::string& name = "", std::source_location loc = std::source_location::current()) {
  return internal::Call("ParallelConcat", name, {values}, loc).Attr("shape", shape).One();
}

struct PlaceholderOptions {
  tensorbraid::Shape shape = tensorbraid::Shape::Unknown();
  std::string name = {};
};
// Adds a node of the op Placeholder. The usual function is Placeholder (ops/array.h).
// Attributes: dtype (dtype: any), shape (shape; default <unknown>).
// Output: output (dtype).
inline Output Placeholder(Graph& graph, DType dtype, const PlaceholderOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "Placeholder", options.name, {}, loc).Attr("dtype", dtype).Attr("shape", options.shape)
      .One();
}

// Adds a node of the op PlaceholderV2.
// Attributes: dtype (dtype: any), shape (shape).
// Output: output (dtype).
inline Output PlaceholderV2(Graph& graph, DType dtype, const tensorbraid::Shape& shape, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call(graph, "PlaceholderV2", name, {}, loc).Attr("dtype", dtype).Attr("shape", shape).One();
}

// Adds a node of the op PlaceholderWithDefault. The usual function is PlaceholderWithDefault (ops/array.h). It has a
//   gradient.
// Inputs: input (dtype).
// Attributes: shape (shape).
// Output: output (dtype).
// dtype: any.
inline Output PlaceholderWithDefault(const Operand& input, const tensorbraid::Shape& shape,
    const std::string& name = "") {
  return internal::Call("PlaceholderWithDefault", name, {input}).Attr("shape", shape).One();
}

struct PreventGradientOptions {
  std::string message = "";
  std::string name = {};
};
// Adds a node of the op PreventGradient. The usual function is PreventGradient (ops/array.h). It has a gradient.
// Inputs: input (T).
// Attributes: message (string; default "").
// Output: output (T).
// T: any.
inline Output PreventGradient(const Operand& input, const PreventGradientOptions& options = {}) {
  return internal::Call("PreventGradient", options.name, {input}).Attr("message", options.message).One();
}

// Adds a node of the op Rank. The usual function is Rank (ops/array.h).
// Inputs: input (T).
// Output: output (int32).
// T: any.
inline Output Rank(const Operand& input, const std::string& name = "") {
  return internal::Call("Rank", name, {input}).One();
}

// Adds a node of the op Reshape. The usual function is Reshape (ops/array.h). It has a gradient.
// Inputs: tensor (T), shape (Tshape).
// Output: output (T).
// T: any; Tshape: int32 int64.
inline Output Reshape(const Operand& tensor, const Operand& shape, const std::string& name = "") {
  return internal::Call("Reshape", name, {tensor, shape}).One();
}

struct ResourceGatherOptions {
  int64_t batch_dims = 0;
  bool validate_indices = true;
  std::string name = {};
};
// Adds a node of the op ResourceGather. It has a gradient.
// Inputs: resource (resource), indices (Tindices).
// Attributes: dtype (dtype: any), batch_dims (int; default 0), validate_indices (bool; default true).
// Output: output (dtype).
// Tindices: int32 int16 int64.
inline Output ResourceGather(const Output& resource, const Operand& indices, DType dtype,
    const ResourceGatherOptions& options = {}) {
  return internal::Call("ResourceGather", options.name, {resource, indices}).Attr("dtype", dtype)
      .Attr("batch_dims", options.batch_dims).Attr("validate_indices", options.validate_indices).One();
}

// Adds a node of the op ResourceGatherNd. It has a gradient.
// Inputs: resource (resource), indices (Tindices).
// Attributes: dtype (dtype: any).
// Output: output (dtype).
// Tindices: int32 int16 int64.
inline Output ResourceGatherNd(const Output& resource, const Operand& indices, DType dtype,
    const std::string& name = "") {
  return internal::Call("ResourceGatherNd", name, {resource, indices}).Attr("dtype", dtype).One();
}

// Adds a node of the op Reverse. It has a gradient.
// Inputs: tensor (T), dims (bool).
// Output: output (T).
// T: numbers string bool.
inline Output Reverse(const Operand& tensor, const Operand& dims, const std::string& name = "") {
  return internal::Call("Reverse", name, {tensor, dims}).One();
}

struct ReverseSequenceOptions {
  int64_t batch_dim = 0;
  std::string name = {};
};
// Adds a node of the op ReverseSequence. It has a gradient.
// Inputs: input (T), seq_lengths (Tlen).
// Attributes: seq_dim (int), batch_dim (int; default 0).
// Output: output (T).
// T: any; Tlen: int32 int64.
inline Output ReverseSequence(const Operand& input, const Operand& seq_lengths, int64_t seq_dim,
    const ReverseSequenceOptions& options = {}) {
  return internal::Call("ReverseSequence", options.name, {input, seq_lengths}).Attr("seq_dim", seq_dim)
      .Attr("batch_dim", options.batch_dim).One();
}

// Adds a node of the op ReverseV2. The usual function is Reverse (ops/array.h). It has a gradient.
// Inputs: tensor (T), axis (Tidx).
// Output: output (T).
// Tidx: int32 int64; T: numbers string bool.
inline Output ReverseV2(const Operand& tensor, const Operand& axis, const std::string& name = "") {
  return internal::Call("ReverseV2", name, {tensor, axis}).One();
}

// Adds a node of the op Roll. It has a gradient.
// Inputs: input (T), shift (Tshift), axis (Taxis).
// Output: output (T).
// T: any; Tshift: int32 int64; Taxis: int32 int64.
inline Output Roll(const Operand& input, const Operand& shift, const Operand& axis, const std::string& name = "") {
  return internal::Call("Roll", name, {input, shift, axis}).One();
}

struct ScatterNdOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNd. The usual function is ScatterNd (ops/array.h). It has a gradient.
// Inputs: indices (Tindices), updates (T), shape (Tindices).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: numbers string bool; Tindices: int32 int16 int64.
inline Output ScatterNd(const Operand& indices, const Operand& updates, const Operand& shape,
    const ScatterNdOptions& options = {}) {
  return internal::Call("ScatterNd", options.name, {indices, updates, shape})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ScatterNdNonAliasingAddOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op ScatterNdNonAliasingAdd. It has a gradient.
// Inputs: input (T), indices (Tindices), updates (T).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: numbers bool; Tindices: int32 int64.
inline Output ScatterNdNonAliasingAdd(const Operand& input, const Operand& indices, const Operand& updates,
    const ScatterNdNonAliasingAddOptions& options = {}) {
  return internal::Call("ScatterNdNonAliasingAdd", options.name, {input, indices, updates})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct ShapeOptions {
  DType out_type = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op Shape. The usual function is ShapeOf (ops/array.h).
// Inputs: input (T).
// Attributes: out_type (dtype: int32 int64; default int32).
// Output: output (out_type).
// T: any.
inline Output Shape(const Operand& input, const ShapeOptions& options = {}) {
  return internal::Call("Shape", options.name, {input}).Attr("out_type", options.out_type).One();
}

struct ShapeNOptions {
  DType out_type = DType::kInt32;
  std::string name = {};
};
struct ShapeNOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op ShapeN. The usual function is ShapeN (ops/array.h).
// Inputs: input (a list of N tensors of type T).
// Attributes: out_type (dtype: int32 int64; default int32).
// Output: output (a list of N tensors of type out_type).
// T: any.
inline ShapeNOutputs ShapeN(const std::vector<Output>& input, const ShapeNOptions& options = {},
    std::source_location loc = std::source_location::current()) {
  auto results = internal::Call("ShapeN", options.name, {input}, loc).Attr("out_type", options.out_type).All();
  return {results.NextList(), results.operation()};
}

struct SizeOptions {
  DType out_type = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op Size. The usual function is Size (ops/array.h).
// Inputs: input (T).
// Attributes: out_type (dtype: int32 int64; default int32).
// Output: output (out_type).
// T: any.
inline Output Size(const Operand& input, const SizeOptions& options = {}) {
  return internal::Call("Size", options.name, {input}).Attr("out_type", options.out_type).One();
}

// Adds a node of the op Slice. The usual function is Slice (ops/array.h). It has a gradient.
// Inputs: input (T), begin (Index), size (Index).
// Output: output (T).
// T: any; Index: int32 int64.
inline Output Slice(const Operand& input, const Operand& begin, const Operand& size, const std::string& name = "") {
  return internal::Call("Slice", name, {input, begin, size}).One();
}

// Adds a node of the op Snapshot. It has a gradient.
// Inputs: input (T).
// Output: output (T).
// T: any.
inline Output Snapshot(const Operand& input, const std::string& name = "") {
  return internal::Call("Snapshot", name, {input}).One();
}

// Adds a node of the op SpaceToBatch. It has a gradient.
// Inputs: input (T), paddings (Tpaddings).
// Attributes: block_size (int, at least 2).
// Output: output (T).
// T: any; Tpaddings: int32 int64.
inline Output SpaceToBatch(const Operand& input, const Operand& paddings, int64_t block_size,
    const std::string& name = "") {
  return internal::Call("SpaceToBatch", name, {input, paddings}).Attr("block_size", block_size).One();
}

// Adds a node of the op SpaceToBatchND. It has a gradient.
// Inputs: input (T), block_shape (Tblock_shape), paddings (Tpaddings).
// Output: output (T).
// T: any; Tblock_shape: int32 int64; Tpaddings: int32 int64.
inline Output SpaceToBatchND(const Operand& input, const Operand& block_shape, const Operand& paddings,
    const std::string& name = "") {
  return internal::Call("SpaceToBatchND", name, {input, block_shape, paddings}).One();
}

struct SpaceToDepthOptions {
  std::string data_format = "NHWC";
  std::string name = {};
};
// Adds a node of the op SpaceToDepth. It has a gradient.
// Inputs: input (T).
// Attributes: block_size (int, at least 2), data_format (string: 'NHWC', 'NCHW', 'NCHW_VECT_C'; default "NHWC").
// Output: output (T).
// T: any.
inline Output SpaceToDepth(const Operand& input, int64_t block_size, const SpaceToDepthOptions& options = {}) {
  return internal::Call("SpaceToDepth", options.name, {input}).Attr("block_size", block_size)
      .Attr("data_format", options.data_format).One();
}

struct SplitOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op Split. The usual function is Split (ops/array.h). It has a gradient.
// Inputs: split_dim (int32), value (T).
// Attributes: num_split (int, at least 1).
// Output: output (a list of num_split tensors of type T).
// T: any.
inline SplitOutputs Split(const Operand& split_dim, const Operand& value, int64_t num_split,
    const std::string& name = "") {
  auto results = internal::Call("Split", name, {split_dim, value}).Attr("num_split", num_split).All();
  return {results.NextList(), results.operation()};
}

struct SplitVOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op SplitV. The usual function is SplitV (ops/array.h). It has a gradient.
// Inputs: value (T), size_splits (Tlen), split_dim (int32).
// Attributes: num_split (int, at least 1).
// Output: output (a list of num_split tensors of type T).
// T: any; Tlen: int32 int8 int64.
inline SplitVOutputs SplitV(const Operand& value, const Operand& size_splits, const Operand& split_dim,
    int64_t num_split, const std::string& name = "") {
  auto results = internal::Call("SplitV", name, {value, size_splits, split_dim}).Attr("num_split", num_split).All();
  return {results.NextList(), results.operation()};
}

struct SqueezeOptions {
  std::vector<int64_t> squeeze_dims = {};
  std::string name = {};
};
// Adds a node of the op Squeeze. The usual function is Squeeze (ops/array.h). It has a gradient.
// Inputs: input (T).
// Attributes: squeeze_dims (list of ints, at least 0; default []).
// Output: output (T).
// T: any.
inline Output Squeeze(const Operand& input, const SqueezeOptions& options = {}) {
  return internal::Call("Squeeze", options.name, {input}).Attr("squeeze_dims", options.squeeze_dims).One();
}

// Adds a node of the op StopGradient. The usual function is StopGradient (ops/array.h).
// Inputs: input (T).
// Output: output (T).
// T: any.
inline Output StopGradient(const Operand& input, const std::string& name = "") {
  return internal::Call("StopGradient", name, {input}).One();
}

struct StridedSliceOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  std::string name = {};
};
// Adds a node of the op StridedSlice. The usual function is StridedSlice (ops/array.h). It has a gradient.
// Inputs: input (T), begin (Index), end (Index), strides (Index).
// Attributes: begin_mask (int; default 0), end_mask (int; default 0), ellipsis_mask (int; default 0), new_axis_mask
//   (int; default 0), shrink_axis_mask (int; default 0).
// Output: output (T).
// T: any; Index: int32 int16 int64.
inline Output StridedSlice(const Operand& input, const Operand& begin, const Operand& end, const Operand& strides,
    const StridedSliceOptions& options = {}) {
  return internal::Call("StridedSlice", options.name, {input, begin, end, strides})
      .Attr("begin_mask", options.begin_mask).Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask).Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask).One();
}

struct StridedSliceGradOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  std::string name = {};
};
// Adds a node of the op StridedSliceGrad. It has a gradient.
// Inputs: shape (Index), begin (Index), end (Index), strides (Index), dy (T).
// Attributes: begin_mask (int; default 0), end_mask (int; default 0), ellipsis_mask (int; default 0), new_axis_mask
//   (int; default 0), shrink_axis_mask (int; default 0).
// Output: output (T).
// T: any; Index: int32 int64.
inline Output StridedSliceGrad(const Operand& shape, const Operand& begin, const Operand& end, const Operand& strides,
    const Operand& dy, const StridedSliceGradOptions& options = {}) {
  return internal::Call("StridedSliceGrad", options.name, {shape, begin, end, strides, dy})
      .Attr("begin_mask", options.begin_mask).Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask).Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask).One();
}

struct TensorScatterAddOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op TensorScatterAdd. It has a gradient.
// Inputs: tensor (T), indices (Tindices), updates (T).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: numbers; Tindices: int32 int64.
inline Output TensorScatterAdd(const Operand& tensor, const Operand& indices, const Operand& updates,
    const TensorScatterAddOptions& options = {}) {
  return internal::Call("TensorScatterAdd", options.name, {tensor, indices, updates})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct TensorScatterMaxOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op TensorScatterMax. It has a gradient.
// Inputs: tensor (T), indices (Tindices), updates (T).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: reals; Tindices: int32 int64.
inline Output TensorScatterMax(const Operand& tensor, const Operand& indices, const Operand& updates,
    const TensorScatterMaxOptions& options = {}) {
  return internal::Call("TensorScatterMax", options.name, {tensor, indices, updates})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct TensorScatterMinOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op TensorScatterMin. It has a gradient.
// Inputs: tensor (T), indices (Tindices), updates (T).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: reals; Tindices: int32 int64.
inline Output TensorScatterMin(const Operand& tensor, const Operand& indices, const Operand& updates,
    const TensorScatterMinOptions& options = {}) {
  return internal::Call("TensorScatterMin", options.name, {tensor, indices, updates})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct TensorScatterSubOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op TensorScatterSub. It has a gradient.
// Inputs: tensor (T), indices (Tindices), updates (T).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: numbers; Tindices: int32 int64.
inline Output TensorScatterSub(const Operand& tensor, const Operand& indices, const Operand& updates,
    const TensorScatterSubOptions& options = {}) {
  return internal::Call("TensorScatterSub", options.name, {tensor, indices, updates})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct TensorScatterUpdateOptions {
  std::string bad_indices_policy = "";
  std::string name = {};
};
// Adds a node of the op TensorScatterUpdate. It has a gradient.
// Inputs: tensor (T), indices (Tindices), updates (T).
// Attributes: bad_indices_policy (string; default "").
// Output: output (T).
// T: any; Tindices: int32 int16 int64 uint16.
inline Output TensorScatterUpdate(const Operand& tensor, const Operand& indices, const Operand& updates,
    const TensorScatterUpdateOptions& options = {}) {
  return internal::Call("TensorScatterUpdate", options.name, {tensor, indices, updates})
      .Attr("bad_indices_policy", options.bad_indices_policy).One();
}

struct TensorStridedSliceUpdateOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  std::string name = {};
};
// Adds a node of the op TensorStridedSliceUpdate. It has a gradient.
// Inputs: input (T), begin (Index), end (Index), strides (Index), value (T).
// Attributes: begin_mask (int; default 0), end_mask (int; default 0), ellipsis_mask (int; default 0), new_axis_mask
//   (int; default 0), shrink_axis_mask (int; default 0).
// Output: output (T).
// T: any; Index: int32 int64.
inline Output TensorStridedSliceUpdate(const Operand& input, const Operand& begin, const Operand& end,
    const Operand& strides, const Operand& value, const TensorStridedSliceUpdateOptions& options = {}) {
  return internal::Call("TensorStridedSliceUpdate", options.name, {input, begin, end, strides, value})
      .Attr("begin_mask", options.begin_mask).Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask).Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask).One();
}

// Adds a node of the op Tile. The usual function is Tile (ops/array.h). It has a gradient.
// Inputs: input (T), multiples (Tmultiples).
// Output: output (T).
// T: any; Tmultiples: int32 int64.
inline Output Tile(const Operand& input, const Operand& multiples, const std::string& name = "") {
  return internal::Call("Tile", name, {input, multiples}).One();
}

struct TopKOptions {
  bool sorted = true;
  std::string name = {};
};
struct TopKOutputs {
  Output values;
  Output indices;
  Operation operation;
};
// Adds a node of the op TopK. It has a gradient.
// Inputs: input (T).
// Attributes: k (int, at least 0), sorted (bool; default true).
// Outputs: values (T), indices (int32).
// T: reals.
inline TopKOutputs TopK(const Operand& input, int64_t k, const TopKOptions& options = {}) {
  auto results = internal::Call("TopK", options.name, {input}).Attr("k", k).Attr("sorted", options.sorted).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct TopKV2Options {
  bool sorted = true;
  DType index_type = DType::kInt32;
  std::string name = {};
};
struct TopKV2Outputs {
  Output values;
  Output indices;
  Operation operation;
};
// Adds a node of the op TopKV2. The usual function is TopK (ops/array.h). It has a gradient.
// Inputs: input (T), k (Tk).
// Attributes: sorted (bool; default true), index_type (dtype: int32 int16 int64; default int32).
// Outputs: values (T), indices (index_type).
// T: reals; Tk: int32 int16 int64.
inline TopKV2Outputs TopKV2(const Operand& input, const Operand& k, const TopKV2Options& options = {}) {
  auto results = internal::Call("TopKV2", options.name, {input, k}).Attr("sorted", options.sorted)
      .Attr("index_type", options.index_type).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op Transpose. The usual function is Transpose (ops/array.h). It has a gradient.
// Inputs: x (T), perm (Tperm).
// Output: y (T).
// T: any; Tperm: int32 int64.
inline Output Transpose(const Operand& x, const Operand& perm, const std::string& name = "") {
  return internal::Call("Transpose", name, {x, perm}).One();
}

struct UniqueOptions {
  DType out_idx = DType::kInt32;
  std::string name = {};
};
struct UniqueOutputs {
  Output y;
  Output idx;
  Operation operation;
};
// Adds a node of the op Unique.
// Inputs: x (T).
// Attributes: out_idx (dtype: int32 int64; default int32).
// Outputs: y (T), idx (out_idx).
// T: numbers string bool.
inline UniqueOutputs Unique(const Operand& x, const UniqueOptions& options = {}) {
  auto results = internal::Call("Unique", options.name, {x}).Attr("out_idx", options.out_idx).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct UniqueV2Options {
  DType out_idx = DType::kInt32;
  std::string name = {};
};
struct UniqueV2Outputs {
  Output y;
  Output idx;
  Operation operation;
};
// Adds a node of the op UniqueV2.
// Inputs: x (T), axis (Taxis).
// Attributes: out_idx (dtype: int32 int64; default int32).
// Outputs: y (T), idx (out_idx).
// T: numbers string bool; Taxis: int32 int64.
inline UniqueV2Outputs UniqueV2(const Operand& x, const Operand& axis, const UniqueV2Options& options = {}) {
  auto results = internal::Call("UniqueV2", options.name, {x, axis}).Attr("out_idx", options.out_idx).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct UniqueWithCountsOptions {
  DType out_idx = DType::kInt32;
  std::string name = {};
};
struct UniqueWithCountsOutputs {
  Output y;
  Output idx;
  Output count;
  Operation operation;
};
// Adds a node of the op UniqueWithCounts.
// Inputs: x (T).
// Attributes: out_idx (dtype: int32 int64; default int32).
// Outputs: y (T), idx (out_idx), count (out_idx).
// T: numbers string bool.
inline UniqueWithCountsOutputs UniqueWithCounts(const Operand& x, const UniqueWithCountsOptions& options = {}) {
  auto results = internal::Call("UniqueWithCounts", options.name, {x}).Attr("out_idx", options.out_idx).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct UniqueWithCountsV2Options {
  DType out_idx = DType::kInt32;
  std::string name = {};
};
struct UniqueWithCountsV2Outputs {
  Output y;
  Output idx;
  Output count;
  Operation operation;
};
// Adds a node of the op UniqueWithCountsV2.
// Inputs: x (T), axis (Taxis).
// Attributes: out_idx (dtype: int32 int64; default int32).
// Outputs: y (T), idx (out_idx), count (out_idx).
// T: numbers string bool; Taxis: int32 int64.
inline UniqueWithCountsV2Outputs UniqueWithCountsV2(const Operand& x, const Operand& axis,
    const UniqueWithCountsV2Options& options = {}) {
  auto results = internal::Call("UniqueWithCountsV2", options.name, {x, axis}).Attr("out_idx", options.out_idx).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

struct UnpackOptions {
  int64_t axis = 0;
  std::string name = {};
};
struct UnpackOutputs {
  std::vector<Output> output;
  Operation operation;
};
// Adds a node of the op Unpack. The usual function is Unstack (ops/array.h). It has a gradient.
// Inputs: value (T).
// Attributes: num (int, at least 0), axis (int; default 0).
// Output: output (a list of num tensors of type T).
// T: any.
inline UnpackOutputs Unpack(const Operand& value, int64_t num, const UnpackOptions& options = {}) {
  auto results = internal::Call("Unpack", options.name, {value}).Attr("num", num).Attr("axis", options.axis).All();
  return {results.NextList(), results.operation()};
}

// Adds a node of the op UnravelIndex.
// Inputs: indices (Tidx), dims (Tidx).
// Output: output (Tidx).
// Tidx: int32 int64.
inline Output UnravelIndex(const Operand& indices, const Operand& dims, const std::string& name = "") {
  return internal::Call("UnravelIndex", name, {indices, dims}).One();
}

struct UpperBoundOptions {
  DType out_type = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op UpperBound.
// Inputs: sorted_inputs (T), values (T).
// Attributes: out_type (dtype: int32 int64; default int32).
// Output: output (out_type).
// T: reals.
inline Output UpperBound(const Operand& sorted_inputs, const Operand& values, const UpperBoundOptions& options = {}) {
  return internal::Call("UpperBound", options.name, {sorted_inputs, values}).Attr("out_type", options.out_type).One();
}

// Adds a node of the op Where. The usual function is Where (ops/array.h).
// Inputs: input (T).
// Output: index (int64).
// T: numbers bool.
inline Output Where(const Operand& input, const std::string& name = "") {
  return internal::Call("Where", name, {input}).One();
}

// Adds a node of the op ZerosLike. The usual function is ZerosLike (ops/array.h).
// Inputs: x (T).
// Output: y (T).
// T: any.
inline Output ZerosLike(const Operand& x, const std::string& name = "") {
  return internal::Call("ZerosLike", name, {x}).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_ARRAY_H_
