// DynamicStitch and ParallelDynamicStitch, whose indices decide the shape of the result, so they must be known. Where
// gradients of sums use them to compute shapes, all inputs are known, and the host computes the node.
#include <algorithm>
#include <map>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/rows.h"

namespace tensorbraid::pjrt {
namespace {

// Inputs: n tensors of indices, then n tensors of rows. If an index occurs more than once, its last row is kept. A row
// without an index is zero.
Status EmitDynamicStitch(EmitContext& ctx) {
  const int n = ctx.num_inputs() / 2;
  stablehlo::Builder& b = ctx.builder();
  std::vector<int64_t> indices;
  std::vector<stablehlo::Value> parts;
  Shape row;
  int64_t size = 0;
  for (int i = 0; i < n; ++i) {
    TF_ASSIGN_OR_RETURN(const Tensor at, ctx.static_input(i));
    TF_ASSIGN_OR_RETURN(const stablehlo::Value data, ctx.input(n + i));
    const Shape& shape = data.shape;
    const int prefix = at.shape().rank();
    if (shape.rank() < prefix || Shape(shape.dims().first(prefix)) != at.shape()) {
      return InvalidArgument("the shape of data[", i, "] must start with that of indices[", i, "], got ", shape,
                             " and ", at.shape());
    }
    const Shape row_here(shape.dims().subspan(prefix));
    if (i == 0) {
      row = row_here;
      size = row.num_elements();
    }
    if (row_here != row) {
      return InvalidArgument("the row shape must be the same in all data: data[0] has rows of shape ", row, ", data[",
                             i, "] has shape ", shape, " for indices of shape ", at.shape());
    }
    for (const int32_t index : at.data<int32_t>()) {
      if (index < 0) return InvalidArgument("indices[", i, "] has ", index, ", which is negative");
      indices.push_back(index);
    }
    parts.push_back(b.Reshape(data, {at.num_elements(), size}));
  }
  const int64_t rows = indices.empty() ? 0 : *std::ranges::max_element(indices) + 1;
  Shape shape({rows});
  for (const int64_t d : row.dims()) shape.AddDim(d);
  if (shape.num_elements() < 0) return InvalidArgument("the result shape ", shape, " has too many elements");
  const DType dtype = ctx.node().output_type(0);
  // Of several rows with an index, the scatter gets the last one.
  std::map<int64_t, size_t> last;
  for (size_t i = 0; i < indices.size(); ++i) last[indices[i]] = i;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (last[indices[i]] != i) indices[i] = -1;
  }
  const Expr places(b, b.Constant(Tensor::Vector(indices)));
  const Expr out = ScatterRows(rows, Expr(b, b.Splat(dtype, 0)), places, Expr(b, b.Concatenate(parts, 0)),
                               CombinationOf(RowUpdate::kReplace));
  ctx.set_output(0, out.Reshape(shape).value());
  return OkStatus();
}

}  // namespace

void RegisterDataFlowDynamicPartitionEmitters(EmitterRegistry& r) {
  for (const char* op : {"DynamicStitch", "ParallelDynamicStitch"}) {
    r.Add(op, {{"T", kTensors}}, EmitDynamicStitch).static_inputs = {"indices"};
  }
}

}  // namespace tensorbraid::pjrt
