// Helpers that reduction/segment.cc and sparse/segment.cc (reductions of segments of chosen rows) share.
#ifndef TENSORBRAID_OPS_REDUCTION_SEGMENT_H_
#define TENSORBRAID_OPS_REDUCTION_SEGMENT_H_

#include <source_location>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "ops/builder.h"
#include "tensorbraid/core/shape.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

// The value of an input with one integer, or kUnknownDim if it is not known while building the graph.
inline int64_t KnownInteger(ShapeContext& c, int input) {
  const Tensor t = c.input_value(input);
  if (!t.is_valid() || t.num_elements() != 1) return Shape::kUnknownDim;
  return t.dtype() == kInt64 ? t.scalar<int64_t>() : t.scalar<int32_t>();
}

// Sets output 0 to `rows` rows like those of input 0. Returns InvalidArgument if input 0 is a scalar, or if `rows` is
// negative but not kUnknownDim.
inline Status RowsLikeInput(ShapeContext& c, int64_t rows) {
  TF_ASSIGN_OR_RETURN(const Shape data, c.WithRankAtLeast(0, 1));
  if (rows < Shape::kUnknownDim) return InvalidArgument("the number of segments must not be negative, got ", rows);
  if (!data.has_rank()) return OkStatus();
  Shape out({rows});
  for (int i = 1; i < data.rank(); ++i) out.AddDim(data.dim(i));
  c.set_output(0, std::move(out));
  return OkStatus();
}

inline Output ScalarZero(Graph& graph) { return Operand(Tensor::Scalar(int32_t{0})).ToOutput(graph); }
inline constexpr const char* kSegmentReals = "T: realnumbertype";
inline constexpr const char* kNumSegmentsType = "Tnumsegments: {int32, int64} = DT_INT32";

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_REDUCTION_SEGMENT_H_
