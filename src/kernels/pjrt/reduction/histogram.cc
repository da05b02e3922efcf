// Bucketize. The other ops on histograms report values out of range, which a program cannot.
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The number of boundaries that an element is not below.
Status EmitBucketize(EmitContext& ctx) {
  const auto& boundaries = ctx.attr<std::vector<float>>("boundaries");
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) return InvalidArgument("Expected sorted boundaries");
  TF_ASSIGN_OR_RETURN(const Expr in, WideInput(ctx, 0));
  stablehlo::Builder& b = ctx.builder();
  const Expr x = in.Convert(in.dtype() == kFloat64 ? kFloat64 : kFloat32);
  Shape column = x.shape();
  column.AddDim(1);
  const Expr limits = Expr(b, b.Constant(Tensor::Vector(boundaries))).Convert(x.dtype());
  const Expr counted = (!(x.Reshape(column) < limits)).Convert(kInt32);
  ctx.set_output(0, Sum(counted, {x.shape().rank()}).Reshape(x.shape()).value());
  return OkStatus();
}

}  // namespace

void RegisterReductionHistogramEmitters(EmitterRegistry& r) {
  r.Add("Bucketize", {{"T", {kInt32, kInt64, kFloat32, kFloat64}}}, EmitBucketize);
}

}  // namespace tensorbraid::pjrt
