// Cumulative sums and products along an axis.
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::ArrayText;
using stablehlo::Value;

// Each result combines a window that ends, or in reverse begins, at its place. The elements are padded with the
// identity, so that all windows are whole.
Status EmitScan(EmitContext& ctx, Combination combine, double identity) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Tensor axis_tensor, ctx.static_input(1));
  if (!axis_tensor.shape().is_scalar()) {
    return InvalidArgument("the axis must be a scalar, got shape ", axis_tensor.shape());
  }
  TF_ASSIGN_OR_RETURN(const int64_t named, IntegerOf(axis_tensor, "the axis"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(named, x.shape().rank()));
  const int64_t size = x.shape().dim(axis);
  if (x.shape().num_elements() == 0) {
    SetOutput(ctx, 0, x);
    return OkStatus();
  }
  stablehlo::Builder& b = ctx.builder();
  const auto rank = static_cast<size_t>(x.shape().rank());
  const int64_t skipped = ctx.attr<bool>("exclusive") ? 1 : 0;
  std::vector<int64_t> low(rank, 0), high(rank, 0), window(rank, 1);
  const std::vector<int64_t> ones(rank, 1);
  (ctx.attr<bool>("reverse") ? high : low)[axis] = size - 1 + skipped;
  (ctx.attr<bool>("reverse") ? low : high)[axis] = -skipped;
  window[axis] = size;
  const Value initial = x.Number(identity).value();
  const Value padded = b.Pad(x.value(), initial, low, high, std::vector<int64_t>(rank, 0));
  const std::string region = b.Region({x.dtype(), x.dtype()}, [&](const std::vector<Value>& v) {
    return std::vector<Value>{combine(Expr(b, v[0]), Expr(b, v[1])).value()};
  });
  SetOutput(ctx, 0,
            Expr(b, b.Op("reduce_window", {padded, initial}, x.dtype(), x.shape(),
                         StrCat("window_dimensions = ", ArrayText(window), ", window_strides = ", ArrayText(ones)),
                         {region})));
  return OkStatus();
}

Expr ScanSum(const Expr& x, const Expr& y) { return x + y; }
Expr ScanProduct(const Expr& x, const Expr& y) { return x * y; }
// log(exp(x) + exp(y)), by the larger one, so that nothing overflows. It is that one if it is infinite.
Expr LogSumExp(const Expr& x, const Expr& y) {
  const Expr most = Max(x, y), sum = most + Log1p(Exp(Min(x, y) - most));
  return Select(Abs(most) == std::numeric_limits<double>::infinity(), most, sum);
}

}  // namespace

void RegisterReductionScanEmitters(EmitterRegistry& r) {
  const EmitFn sum = [](EmitContext& ctx) { return EmitScan(ctx, ScanSum, 0); };
  const EmitFn product = [](EmitContext& ctx) { return EmitScan(ctx, ScanProduct, 1); };
  const EmitFn log_sum = [](EmitContext& ctx) {
    return EmitScan(ctx, LogSumExp, -std::numeric_limits<double>::infinity());
  };
  r.Add("CumulativeLogsumexp", {{"T", kFloats}}, log_sum).static_inputs = {"axis"};
  r.Add("Cumsum", {{"T", kReals}}, sum).static_inputs = {"axis"};
  r.Add("Cumprod", {{"T", kReals}}, product).static_inputs = {"axis"};
}

}  // namespace tensorbraid::pjrt
