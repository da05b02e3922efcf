// Cumulative sums and products along an axis: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/reduction/registration.h"
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

// The gradient of an element is the sum of the gradients of all sums that include it: a Cumsum in reverse.
Status CumsumGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = NodeBuilder(*op.graph(), "Cumsum")
                          .Input(grads[0])
                          .Input(NodeOf(op)->inputs()[1])
                          .Attr("exclusive", NodeOf(op)->attr<bool>("exclusive"))
                          .Attr("reverse", !NodeOf(op)->attr<bool>("reverse"))
                          .Output();
  return OkStatus();
}

}  // namespace

void RegisterReductionScanOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row :
       std::initializer_list<Row>{{"Cumsum", "T: numbertype", CumsumGradient},
                                  {"Cumprod", "T: numbertype", nullptr},
                                  {"CumulativeLogsumexp", "T: {bfloat16, half, float, double}", nullptr}}) {
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
