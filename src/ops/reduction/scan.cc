// Cumulative sums and products along an axis: schemas, shape rules, gradients.
#include <limits>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

Status ScanShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(1, 0).status());
  const Tensor axis = c.input_value(1);
  if (axis.is_valid() && c.input(0).has_rank()) {
    const int64_t at = axis.dtype() == kInt64 ? axis.scalar<int64_t>() : axis.scalar<int32_t>();
    const int rank = c.input(0).rank();
    if (at < -rank || at >= rank) return InvalidArgument("axis ", at, " is not in [", -rank, ", ", rank, ")");
  }
  return UnchangedShape(c);
}

// Applies `scan` to x along the axis of `op`, in the opposite direction. So element i of the result combines those
// elements j of x for which element j of the output of `op` depends on element i of its input.
Output ReverseScan(const char* scan, const Operation& op, Output x) {
  return NodeBuilder(*op.graph(), scan)
      .Input(x)
      .Input(NodeOf(op)->inputs()[1])
      .Attr("exclusive", NodeOf(op)->attr<bool>("exclusive"))
      .Attr("reverse", !NodeOf(op)->attr<bool>("reverse"))
      .Output();
}

Status CumsumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = ReverseScan("Cumsum", op, grads[0]);
  return OkStatus();
}

// As in TensorFlow, an element that is 0 gets a gradient of 0.
Status CumprodGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  (*input_grads)[0] = DivNoNan(ReverseScan("Cumsum", op, op.output(0) * grads[0]), x);
  return OkStatus();
}

// The gradient for an element x is exp(x) times the sum of g exp(-y) over all results y that depend on x, where g is
// the gradient of y. Positive and negative g are summed apart, as logarithms, so that large x do not overflow.
Status CumulativeLogsumexpGradient(const Operation& op, const std::vector<Output>& grads,
                                   std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output g = grads[0];
  // Stands for the logarithm of 0: the lowest number of the dtype, as in TensorFlow.
  const Operand log_of_none = g.dtype() == kFloat64   ? std::numeric_limits<double>::lowest()
                              : g.dtype() == kFloat16 ? -65504.0
                              : g.dtype() == kFloat32 ? double{std::numeric_limits<float>::lowest()}
                                                      : -0x1.fep127;  // bfloat16
  const auto sum = [&](Output positive_part) {
    const Output log = Select(Greater(positive_part, 0.0), Log(positive_part), log_of_none);
    return Exp(ReverseScan("CumulativeLogsumexp", op, log - op.output(0)) + x);
  };
  (*input_grads)[0] = sum(g) - sum(Neg(g));
  return OkStatus();
}

}  // namespace

void RegisterReductionScanOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Cumsum", "T: numbertype", CumsumGradient},
           {"Cumprod", "T: numbertype", CumprodGradient},
           {"CumulativeLogsumexp", "T: {bfloat16, half, float, double}", CumulativeLogsumexpGradient}}) {
    r.Add(Op(row.name)
              .Input("x: T")
              .Input("axis: Tidx")
              .Output("out: T")
              .Attr("exclusive: bool = false")
              .Attr("reverse: bool = false")
              .Attr(row.types)
              .Attr("Tidx: {int32, int64} = DT_INT32")
              .Shape(ScanShape)
              .Gradient(row.gradient));
  }
}

}  // namespace tensorbraid
