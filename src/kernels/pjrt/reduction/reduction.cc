// Reductions over axes.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// The dimensions that input 1 names, in rising order.
StatusOr<std::vector<int64_t>> AxesOf(const EmitContext& ctx, int rank) {
  TF_ASSIGN_OR_RETURN(const Tensor axes, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const IntVector named, IntegersOf(axes, "axes"));
  std::vector<bool> reduced(rank, false);
  for (const int64_t axis : named) {
    TF_ASSIGN_OR_RETURN(const int at, AxisOf(axis, rank));
    if (reduced[at]) return InvalidArgument("axis ", at, " is given twice");
    reduced[at] = true;
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) {
    if (reduced[i]) dims.push_back(i);
  }
  return dims;
}

// The input and its axes.
struct Reduction {
  Expr input;
  std::vector<int64_t> axes;
  Shape shape;        // of the output
  int64_t count = 1;  // elements that are combined to one
};

StatusOr<Reduction> ReductionOf(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr input, WideInput(ctx, 0));
  const int rank = input.shape().rank();
  Reduction r{.input = input, .axes = {}, .shape = {}};
  TF_ASSIGN_OR_RETURN(r.axes, AxesOf(ctx, rank));
  size_t next = 0;
  for (int i = 0; i < rank; ++i) {
    if (next == r.axes.size() || r.axes[next] != i) {
      r.shape.AddDim(input.shape().dim(i));
      continue;
    }
    ++next;
    r.count *= input.shape().dim(i);
    if (ctx.attr<bool>("keep_dims")) r.shape.AddDim(1);
  }
  return r;
}

// The result for no elements.
enum class Identity { kZero, kOne, kLowest, kHighest };

void AddReductionOp(EmitterRegistry& registry, std::string_view op, const TypeConstraints& types, Identity identity,
                    Combination combine, std::source_location location = std::source_location::current()) {
  const EmitFn emit = [identity, combine](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Reduction r, ReductionOf(ctx));
    stablehlo::Builder& b = ctx.builder();
    const DType dtype = r.input.dtype();
    const Expr initial(b, identity == Identity::kLowest    ? b.Lowest(dtype)
                          : identity == Identity::kHighest ? b.Highest(dtype)
                                                           : b.Splat(dtype, identity == Identity::kOne ? 1 : 0));
    SetOutput(ctx, 0, Reduce(r.input, r.axes, initial, combine).Reshape(r.shape));
    return OkStatus();
  };
  registry.Add(op, types, emit, location).static_inputs = {"reduction_indices"};
}

// The sum of integers may need 64 bits. The mean of no integers is 0; the mean of no other numbers is NaN.
Status EmitMean(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Reduction r, ReductionOf(ctx));
  const bool integers = IsInteger(r.input.dtype());
  const Expr input = integers && r.input.dtype() != DType::kUint64 ? r.input.Convert(kInt64) : r.input;
  const Expr sum = Sum(input, r.axes).Reshape(r.shape);
  SetOutput(ctx, 0, integers && r.count == 0 ? sum : sum / static_cast<double>(r.count));
  return OkStatus();
}

Expr And(const Expr& x, const Expr& y) { return x && y; }
Expr Or(const Expr& x, const Expr& y) { return x || y; }
Expr Plus(const Expr& x, const Expr& y) { return x + y; }
Expr Times(const Expr& x, const Expr& y) { return x * y; }

}  // namespace

void RegisterReductionEmitters(EmitterRegistry& r) {
  AddReductionOp(r, "Sum", {{"T", kNumbers}}, Identity::kZero, Plus);
  AddReductionOp(r, "Prod", {{"T", kNumbers}}, Identity::kOne, Times);
  AddReductionOp(r, "Max", {{"T", kReals}}, Identity::kLowest, Max);
  AddReductionOp(r, "Min", {{"T", kReals}}, Identity::kHighest, Min);
  AddReductionOp(r, "All", {}, Identity::kOne, And);
  AddReductionOp(r, "Any", {}, Identity::kZero, Or);
  r.Add("Mean", {{"T", kReals}}, EmitMean).static_inputs = {"reduction_indices"};
}

}  // namespace tensorbraid::pjrt
