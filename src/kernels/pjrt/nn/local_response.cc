// Local response normalization: each element is divided by (bias + alpha * s)^beta, where s is the sum of squares over
// the channels near its own.
#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

struct LocalResponse {
  explicit LocalResponse(const EmitContext& ctx)
      : radius(ctx.attr<int64_t>("depth_radius")),
        bias(ctx.attr<float>("bias")),
        alpha(ctx.attr<float>("alpha")),
        beta(ctx.attr<float>("beta")) {}

  Status Check(const Shape& shape) const {
    if (shape.rank() != 4) return InvalidArgument("the input must have rank 4, got shape ", shape);
    if (radius >= 0 && radius <= INT32_MAX) return OkStatus();
    return InvalidArgument("depth_radius must be between 0 and ", INT32_MAX, ", got ", radius);
  }

  // The sum over the channels that are at most the radius away.
  Expr SumNear(const Expr& x) const {
    const int64_t reach = std::min(radius, std::max<int64_t>(x.shape().dim(3) - 1, 0));
    stablehlo::Builder& b = x.builder();
    const std::string sum = b.Region({x.dtype(), x.dtype()}, [&](const std::vector<stablehlo::Value>& v) {
      return std::vector<stablehlo::Value>{b.Binary("add", v[0], v[1])};
    });
    return {b, b.Op("reduce_window", {x.value(), x.Number(0).value()}, x.dtype(), x.shape(),
                    StrCat("padding = dense<[[0, 0], [0, 0], [0, 0], [", reach, ", ", reach,
                           "]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 1, ", 2 * reach + 1,
                           ">, window_strides = array<i64: 1, 1, 1, 1>"),
                    {sum})};
  }
  Expr Base(const Expr& x) const { return bias + alpha * SumNear(x * x); }
  // base to the power of -beta.
  Expr Power(const Expr& base) const {
    if (beta == 0.5f) return 1 / Sqrt(base);
    return beta == 1.0f ? 1 / base : Pow(base, -beta);
  }

  int64_t radius;
  float bias, alpha, beta;
};

Status EmitLocalResponse(EmitContext& ctx) {
  const LocalResponse norm(ctx);
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_RETURN_IF_ERROR(norm.Check(x.shape()));
  SetOutput(ctx, 0, x * norm.Power(norm.Base(x)));
  return OkStatus();
}

// Computes dx from dy, x and y.
Status EmitLocalResponseGrad(EmitContext& ctx) {
  const LocalResponse norm(ctx);
  TF_ASSIGN_OR_RETURN(const Expr dy, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 2));
  TF_RETURN_IF_ERROR(norm.Check(x.shape()));
  if (dy.shape() != x.shape() || y.shape() != x.shape()) {
    return InvalidArgument("gradient, input and output must have the same shape, got ", dy.shape(), ", ", x.shape(),
                           " and ", y.shape());
  }
  const Expr base = norm.Base(x);
  SetOutput(ctx, 0, dy * norm.Power(base) - 2 * norm.alpha * norm.beta * x * norm.SumNear(dy * y / base));
  return OkStatus();
}

}  // namespace

void RegisterNnLocalResponseEmitters(EmitterRegistry& r) {
  constexpr DTypeSet kTypes = {kFloat32, kFloat16, kBfloat16};
  r.Add("LRN", {{"T", kTypes}}, EmitLocalResponse);
  r.Add("LRNGrad", {{"T", kTypes}}, EmitLocalResponseGrad);
}

}  // namespace tensorbraid::pjrt
