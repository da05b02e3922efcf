// The largest elements of rows.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// TopK and TopKV2: sorts each row in descending order, NaNs last, and takes the first k elements. Equal elements keep
// their order.
Status EmitTopK(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  int64_t k;
  if (ctx.num_inputs() == 1) {
    k = ctx.attr<int64_t>("k");
  } else {
    TF_ASSIGN_OR_RETURN(const Tensor number, ctx.static_input(1));
    if (!number.shape().is_scalar()) return InvalidArgument("k must be a scalar, got ", number.shape());
    TF_ASSIGN_OR_RETURN(k, IntegerOf(number, "k"));
  }
  if (k < 0) return InvalidArgument("Need k >= 0, got ", k);
  if (x.rank() < 1) return InvalidArgument("the input must have rank 1 or more, got a scalar");
  const int last = x.rank() - 1;
  if (k > x.shape.dim(last)) {
    return InvalidArgument("the input must have last dimension >= k = ", k, ", got ", x.shape.dim(last));
  }
  stablehlo::Builder& b = ctx.builder();
  const bool floats = IsFloating(x.dtype);
  const auto above = [&](const stablehlo::Value& u, const stablehlo::Value& v) {
    const Expr first(b, u), second(b, v);
    return (floats ? first > second || (second != second && first == first) : first > second).value();
  };
  const auto sorted = b.Sort({x, b.Iota(ctx.node().output_type(1), x.shape, last)}, last, above);
  std::vector<int64_t> limits(x.shape.dims().begin(), x.shape.dims().end());
  limits[last] = k;
  const std::vector<int64_t> zeros(x.rank(), 0), ones(x.rank(), 1);
  for (int i = 0; i < 2; ++i) ctx.set_output(i, b.Slice(sorted[i], zeros, limits, ones));
  return OkStatus();
}

// Without an order, the kernel of the CPU gives the elements as they are in its heap.
std::string RefuseUnsorted(const Node& node) {
  return node.attr<bool>("sorted") ? "" : "has no emitter for sorted = false";
}

}  // namespace

void RegisterArraySearchEmitters(EmitterRegistry& r) {
  r.Add("TopK", {{"T", kReals}}, EmitTopK).refuse = RefuseUnsorted;
  EmitterDef& def = r.Add("TopKV2", {{"T", kReals}}, EmitTopK);
  def.static_inputs = {"k"};
  def.refuse = RefuseUnsorted;
}

}  // namespace tensorbraid::pjrt
