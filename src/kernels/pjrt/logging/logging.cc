// Checks of values.
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Whether an element is true: a scalar.
Expr Any(const Expr& x) {
  std::vector<int64_t> dims;
  for (int i = 0; i < x.shape().rank(); ++i) dims.push_back(i);
  return Reduce(x, dims, x.Number(0), [](const Expr& u, const Expr& v) { return u || v; }).Reshape({});
}

// If `signs`, the message tells infinities apart.
Status EmitCheckNumerics(EmitContext& ctx, bool signs) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(0));
  const Expr x(ctx.builder(), value);
  const Expr negative = Any(x == -std::numeric_limits<double>::infinity()),
             positive = Any(x == std::numeric_limits<double>::infinity()), nan = Any(x != x);
  std::vector<stablehlo::Value> found;
  for (const Expr& each : {negative, positive, nan}) found.push_back(each.Convert(kInt64).value());
  ctx.fail_if((negative || positive || nan).value(), std::move(found),
              [message = ctx.attr<std::string>("message"), signs](std::span<const int64_t> numbers) {
                return cpu::NotFinite(message, signs, numbers[0] != 0, numbers[1] != 0, numbers[2] != 0);
              });
  ctx.set_output(0, value);
  return OkStatus();
}

}  // namespace

void RegisterLoggingEmitters(EmitterRegistry& r) {
  r.Add("CheckNumerics", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitCheckNumerics(ctx, false); });
  r.Add("CheckNumericsV2", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitCheckNumerics(ctx, true); });
}

}  // namespace tensorbraid::pjrt
