// A function for each op of src/ops/reduction; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_REDUCTION_H_
#define TENSORBRAID_RAW_OPS_REDUCTION_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct AllOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op All. The usual function is ReduceAll (ops/math.h).
// Inputs: input (bool), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (bool).
// Tidx: int32 int64.
inline Output All(const Operand& input, const Operand& reduction_indices, const AllOptions& options = {}) {
  return internal::Call("All", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

struct AnyOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op Any. The usual function is ReduceAny (ops/math.h).
// Inputs: input (bool), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (bool).
// Tidx: int32 int64.
inline Output Any(const Operand& input, const Operand& reduction_indices, const AnyOptions& options = {}) {
  return internal::Call("Any", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

struct ArgMaxOptions {
  DType output_type = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op ArgMax. The usual function is ArgMax (ops/math.h).
// Inputs: input (T), dimension (Tidx).
// Attributes: output_type (dtype: int32 int16 int64 uint16; default int64).
// Output: output (output_type).
// T: reals bool; Tidx: int32 int16 int64.
inline Output ArgMax(const Operand& input, const Operand& dimension, const ArgMaxOptions& options = {}) {
  return internal::Call("ArgMax", options.name, {input, dimension}).Attr("output_type", options.output_type).One();
}

struct ArgMinOptions {
  DType output_type = DType::kInt64;
  std::string name = {};
};
// Adds a node of the op ArgMin. The usual function is ArgMin (ops/math.h).
// Inputs: input (T), dimension (Tidx).
// Attributes: output_type (dtype: int32 int64; default int64).
// Output: output (output_type).
// T: reals bool; Tidx: int32 int64.
inline Output ArgMin(const Operand& input, const Operand& dimension, const ArgMinOptions& options = {}) {
  return internal::Call("ArgMin", options.name, {input, dimension}).Attr("output_type", options.output_type).One();
}

// Adds a node of the op Bincount.
// Inputs: arr (int32), size (int32), weights (T).
// Output: bins (T).
// T: float32 float64 int32 int64.
inline Output Bincount(const Operand& arr, const Operand& size, const Operand& weights, const std::string& name = "") {
  return internal::Call("Bincount", name, {arr, size, weights}).One();
}

// Adds a node of the op Bucketize.
// Inputs: input (T).
// Attributes: boundaries (list of floats).
// Output: output (int32).
// T: float32 float64 int32 int64.
inline Output Bucketize(const Operand& input, const std::vector<float>& boundaries, const std::string& name = "") {
  return internal::Call("Bucketize", name, {input}).Attr("boundaries", boundaries).One();
}

struct CumprodOptions {
  bool exclusive = false;
  bool reverse = false;
  std::string name = {};
};
// Adds a node of the op Cumprod. It has a gradient.
// Inputs: x (T), axis (Tidx).
// Attributes: exclusive (bool; default false), reverse (bool; default false).
// Output: out (T).
// T: numbers; Tidx: int32 int64.
inline Output Cumprod(const Operand& x, const Operand& axis, const CumprodOptions& options = {}) {
  return internal::Call("Cumprod", options.name, {x, axis}).Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse).One();
}

struct CumsumOptions {
  bool exclusive = false;
  bool reverse = false;
  std::string name = {};
};
// Adds a node of the op Cumsum. The usual function is Cumsum (ops/math.h). It has a gradient.
// Inputs: x (T), axis (Tidx).
// Attributes: exclusive (bool; default false), reverse (bool; default false).
// Output: out (T).
// T: numbers; Tidx: int32 int64.
inline Output Cumsum(const Operand& x, const Operand& axis, const CumsumOptions& options = {}) {
  return internal::Call("Cumsum", options.name, {x, axis}).Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse).One();
}

struct CumulativeLogsumexpOptions {
  bool exclusive = false;
  bool reverse = false;
  std::string name = {};
};
// Adds a node of the op CumulativeLogsumexp. It has a gradient.
// Inputs: x (T), axis (Tidx).
// Attributes: exclusive (bool; default false), reverse (bool; default false).
// Output: out (T).
// T: floats; Tidx: int32 int64.
inline Output CumulativeLogsumexp(const Operand& x, const Operand& axis,
    const CumulativeLogsumexpOptions& options = {}) {
  return internal::Call("CumulativeLogsumexp", options.name, {x, axis}).Attr("exclusive", options.exclusive)
      .Attr("reverse", options.reverse).One();
}

struct DenseBincountOptions {
  bool binary_output = false;
  std::string name = {};
};
// Adds a node of the op DenseBincount.
// Inputs: input (Tidx), size (Tidx), weights (T).
// Attributes: binary_output (bool; default false).
// Output: output (T).
// Tidx: int32 int64; T: float32 float64 int32 int64.
inline Output DenseBincount(const Operand& input, const Operand& size, const Operand& weights,
    const DenseBincountOptions& options = {}) {
  return internal::Call("DenseBincount", options.name, {input, size, weights})
      .Attr("binary_output", options.binary_output).One();
}

struct EuclideanNormOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op EuclideanNorm. It has a gradient.
// Inputs: input (T), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: numbers; Tidx: int32 int64.
inline Output EuclideanNorm(const Operand& input, const Operand& reduction_indices,
    const EuclideanNormOptions& options = {}) {
  return internal::Call("EuclideanNorm", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims)
      .One();
}

struct HistogramFixedWidthOptions {
  DType dtype = DType::kInt32;
  std::string name = {};
};
// Adds a node of the op HistogramFixedWidth.
// Inputs: values (T), value_range (T), nbins (int32).
// Attributes: dtype (dtype: int32 int64; default int32).
// Output: out (dtype).
// T: float32 float64 int32 int64.
inline Output HistogramFixedWidth(const Operand& values, const Operand& value_range, const Operand& nbins,
    const HistogramFixedWidthOptions& options = {}) {
  return internal::Call("HistogramFixedWidth", options.name, {values, value_range, nbins}).Attr("dtype", options.dtype)
      .One();
}

struct MaxOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op Max. The usual function is ReduceMax (ops/math.h). It has a gradient.
// Inputs: input (T), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: reals; Tidx: int32 int64.
inline Output Max(const Operand& input, const Operand& reduction_indices, const MaxOptions& options = {}) {
  return internal::Call("Max", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

struct MeanOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op Mean. The usual function is ReduceMean (ops/math.h). It has a gradient.
// Inputs: input (T), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: numbers; Tidx: int32 int64.
inline Output Mean(const Operand& input, const Operand& reduction_indices, const MeanOptions& options = {}) {
  return internal::Call("Mean", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

struct MinOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op Min. The usual function is ReduceMin (ops/math.h). It has a gradient.
// Inputs: input (T), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: reals; Tidx: int32 int64.
inline Output Min(const Operand& input, const Operand& reduction_indices, const MinOptions& options = {}) {
  return internal::Call("Min", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

struct ProdOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op Prod. The usual function is ReduceProd (ops/math.h). It has a gradient.
// Inputs: input (T), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: numbers; Tidx: int32 int64.
inline Output Prod(const Operand& input, const Operand& reduction_indices, const ProdOptions& options = {}) {
  return internal::Call("Prod", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

struct RaggedBincountOptions {
  bool binary_output = false;
  std::string name = {};
};
// Adds a node of the op RaggedBincount.
// Inputs: splits (int64), values (Tidx), size (Tidx), weights (T).
// Attributes: binary_output (bool; default false).
// Output: output (T).
// Tidx: int32 int64; T: float32 float64 int32 int64.
inline Output RaggedBincount(const Operand& splits, const Operand& values, const Operand& size, const Operand& weights,
    const RaggedBincountOptions& options = {}) {
  return internal::Call("RaggedBincount", options.name, {splits, values, size, weights})
      .Attr("binary_output", options.binary_output).One();
}

// Adds a node of the op SegmentMax. The usual function is SegmentMax (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices).
// Output: output (T).
// T: reals; Tindices: int32 int64.
inline Output SegmentMax(const Operand& data, const Operand& segment_ids, const std::string& name = "") {
  return internal::Call("SegmentMax", name, {data, segment_ids}).One();
}

// Adds a node of the op SegmentMaxV2.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: reals; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output SegmentMaxV2(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("SegmentMaxV2", name, {data, segment_ids, num_segments}).One();
}

// Adds a node of the op SegmentMean. The usual function is SegmentMean (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices).
// Output: output (T).
// T: numbers; Tindices: int32 int64.
inline Output SegmentMean(const Operand& data, const Operand& segment_ids, const std::string& name = "") {
  return internal::Call("SegmentMean", name, {data, segment_ids}).One();
}

// Adds a node of the op SegmentMin. The usual function is SegmentMin (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices).
// Output: output (T).
// T: reals; Tindices: int32 int64.
inline Output SegmentMin(const Operand& data, const Operand& segment_ids, const std::string& name = "") {
  return internal::Call("SegmentMin", name, {data, segment_ids}).One();
}

// Adds a node of the op SegmentMinV2.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: reals; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output SegmentMinV2(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("SegmentMinV2", name, {data, segment_ids, num_segments}).One();
}

// Adds a node of the op SegmentProd. The usual function is SegmentProd (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices).
// Output: output (T).
// T: numbers; Tindices: int32 int64.
inline Output SegmentProd(const Operand& data, const Operand& segment_ids, const std::string& name = "") {
  return internal::Call("SegmentProd", name, {data, segment_ids}).One();
}

// Adds a node of the op SegmentProdV2.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: numbers; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output SegmentProdV2(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("SegmentProdV2", name, {data, segment_ids, num_segments}).One();
}

// Adds a node of the op SegmentSum. The usual function is SegmentSum (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices).
// Output: output (T).
// T: numbers; Tindices: int32 int64.
inline Output SegmentSum(const Operand& data, const Operand& segment_ids, const std::string& name = "") {
  return internal::Call("SegmentSum", name, {data, segment_ids}).One();
}

// Adds a node of the op SegmentSumV2. It has a gradient.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: numbers; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output SegmentSumV2(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("SegmentSumV2", name, {data, segment_ids, num_segments}).One();
}

struct SparseBincountOptions {
  bool binary_output = false;
  std::string name = {};
};
// Adds a node of the op SparseBincount.
// Inputs: indices (int64), values (Tidx), dense_shape (int64), size (Tidx), weights (T).
// Attributes: binary_output (bool; default false).
// Output: output (T).
// Tidx: int32 int64; T: float32 float64 int32 int64.
inline Output SparseBincount(const Operand& indices, const Operand& values, const Operand& dense_shape,
    const Operand& size, const Operand& weights, const SparseBincountOptions& options = {}) {
  return internal::Call("SparseBincount", options.name, {indices, values, dense_shape, size, weights})
      .Attr("binary_output", options.binary_output).One();
}

struct SumOptions {
  bool keep_dims = false;
  std::string name = {};
};
// Adds a node of the op Sum. The usual function is ReduceSum (ops/math.h). It has a gradient.
// Inputs: input (T), reduction_indices (Tidx).
// Attributes: keep_dims (bool; default false).
// Output: output (T).
// T: numbers; Tidx: int32 int64.
inline Output Sum(const Operand& input, const Operand& reduction_indices, const SumOptions& options = {}) {
  return internal::Call("Sum", options.name, {input, reduction_indices}).Attr("keep_dims", options.keep_dims).One();
}

// Adds a node of the op UnsortedSegmentMax. The usual function is UnsortedSegmentMax (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: reals; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output UnsortedSegmentMax(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("UnsortedSegmentMax", name, {data, segment_ids, num_segments}).One();
}

// Adds a node of the op UnsortedSegmentMin. The usual function is UnsortedSegmentMin (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: reals; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output UnsortedSegmentMin(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("UnsortedSegmentMin", name, {data, segment_ids, num_segments}).One();
}

// Adds a node of the op UnsortedSegmentProd. The usual function is UnsortedSegmentProd (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: numbers; Tindices: int32 int64; Tnumsegments: int32 int64.
inline Output UnsortedSegmentProd(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("UnsortedSegmentProd", name, {data, segment_ids, num_segments}).One();
}

// Adds a node of the op UnsortedSegmentSum. The usual function is UnsortedSegmentSum (ops/math.h). It has a gradient.
// Inputs: data (T), segment_ids (Tindices), num_segments (Tnumsegments).
// Output: output (T).
// T: numbers; Tindices: int32 int16 int64; Tnumsegments: int32 int64.
inline Output UnsortedSegmentSum(const Operand& data, const Operand& segment_ids, const Operand& num_segments,
    const std::string& name = "") {
  return internal::Call("UnsortedSegmentSum", name, {data, segment_ids, num_segments}).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_REDUCTION_H_
