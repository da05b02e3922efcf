// Helpers for the axes of reductions, for shape rules and gradients.
#ifndef TENSORBRAID_OPS_REDUCTION_AXES_H_
#define TENSORBRAID_OPS_REDUCTION_AXES_H_

#include <algorithm>
#include <source_location>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "ops/builder.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

// The elements of an int32 or int64 tensor.
inline std::vector<int64_t> AxisValues(const Tensor& t) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    v.push_back(t.dtype() == kInt64 ? t.data<int64_t>()[i] : t.data<int32_t>()[i]);
  }
  return v;
}

// The axes in ascending order, in [0, rank). Returns InvalidArgument if one is out of range or a duplicate.
inline StatusOr<std::vector<int64_t>> CheckedAxes(std::vector<int64_t> axes, int rank) {
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return InvalidArgument("axis ", axis, " is not in [", -rank, ", ", rank, ")");
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end()) return InvalidArgument("axis ", *twice, " is named twice");
  return axes;
}

inline Output ConstantScalar(Graph& graph, int32_t value) { return Operand(Tensor::Scalar(value)).ToOutput(graph); }

// Adds a dimension of size 1 to x.
inline Output InsertDimension(Output x, int64_t axis) {
  return NodeBuilder(*x.graph(), "ExpandDims")
      .Input(x)
      .Input(ConstantScalar(*x.graph(), static_cast<int32_t>(axis)))
      .Output();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_REDUCTION_AXES_H_
