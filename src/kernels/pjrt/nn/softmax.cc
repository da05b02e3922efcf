// Softmax, its logarithm, and the cross entropies.
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Along the last dimension: the logits minus their maximum, and the sum of the exponentials of these differences.
struct Shifted {
  Expr differences, exponentials, sum;
};
Shifted ShiftedOf(const Expr& logits) {
  const std::vector<int64_t> last = {logits.shape().rank() - 1};
  const Expr differences = logits - MaxOf(logits, last);
  const Expr exponentials = Exp(differences);
  return {differences, exponentials, Sum(exponentials, last)};
}

Status EmitSoftmax(EmitContext& ctx, bool log) {
  TF_ASSIGN_OR_RETURN(const Expr logits, WideInput(ctx, 0));
  if (logits.shape().rank() < 1) {
    return InvalidArgument("logits must have rank 1 or more, got shape ", logits.shape());
  }
  const Shifted s = ShiftedOf(logits);
  SetOutput(ctx, 0, log ? s.differences - Log(s.sum) : s.exponentials / s.sum);
  return OkStatus();
}

Status EmitCrossEntropy(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr logits, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr labels, WideInput(ctx, 1));
  if (logits.shape().rank() != 2 || labels.shape().rank() != 2) {
    return InvalidArgument("logits and labels must be matrices, got ", logits.shape(), " and ", labels.shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(logits.shape(), labels.shape()));
  if (shape.dim(1) == 0 && shape.dim(0) > 0) {
    return InvalidArgument("there must be at least one class, got logits ", logits.shape());
  }
  const Shifted s = ShiftedOf(logits.BroadcastTo(shape));
  // A label of 0 contributes nothing, even where the probability underflows.
  const Expr terms = Select(labels == 0, 0, labels * (Log(s.sum) - s.differences));
  SetOutput(ctx, 0, Sum(terms, {1}).Reshape({shape.dim(0)}));
  SetOutput(ctx, 1, s.exponentials / s.sum - labels);
  return OkStatus();
}

Status EmitSparseCrossEntropy(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr logits, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr labels, WideInput(ctx, 1));
  if (logits.shape().rank() != 2) return InvalidArgument("logits must be a matrix, got shape ", logits.shape());
  if (labels.shape().rank() != 1) {
    return InvalidArgument("labels must be 1-D with one class per row, got shape ", labels.shape());
  }
  const int64_t rows = logits.shape().dim(0), classes = logits.shape().dim(1);
  if (labels.shape().dim(0) != rows) {
    return InvalidArgument("logits and labels must have the same number of rows, got ", logits.shape(), " and ",
                           labels.shape());
  }
  if (classes == 0) return InvalidArgument("there must be at least one class, got logits ", logits.shape());
  const Shifted s = ShiftedOf(logits);
  const Expr column = labels.Reshape({rows, 1});
  const Expr is_label =
      Expr(ctx.builder(), ctx.builder().Iota(labels.dtype(), logits.shape(), 1)) == column.BroadcastTo(logits.shape());
  ctx.fail_where(
      (labels < 0 || labels >= static_cast<double>(classes)).value(), {labels.value()},
      [classes](std::span<const int64_t> numbers) { return cpu::LabelOutOfRange(numbers[0], numbers[1], classes); });
  const Expr loss = Log(s.sum) - Sum(Select(is_label, s.differences, 0), {1});
  SetOutput(ctx, 0, loss.Reshape({rows}));
  SetOutput(ctx, 1, s.exponentials / s.sum - Select(is_label, s.sum.Number(1), 0));
  return OkStatus();
}

}  // namespace

void RegisterNnSoftmaxEmitters(EmitterRegistry& r) {
  r.Add("Softmax", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitSoftmax(ctx, false); });
  r.Add("LogSoftmax", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitSoftmax(ctx, true); });
  r.Add("SoftmaxCrossEntropyWithLogits", {{"T", kFloats}}, EmitCrossEntropy);
  r.Add("SparseSoftmaxCrossEntropyWithLogits", {{"T", kFloats}}, EmitSparseCrossEntropy);
}

}  // namespace tensorbraid::pjrt
