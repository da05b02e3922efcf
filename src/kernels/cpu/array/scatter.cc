// Kernels that write slices into a new tensor or into a copy of one: ScatterNd, TensorScatter*, Inplace* and
// ParallelConcat. (The ops that scatter into variables are in kernels/cpu/state.)
#include <algorithm>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"
#include "runtime/variables/row_updates.h"
#include "runtime/variables/slice_indices.h"

namespace tensorbraid::cpu {
namespace {

// The slices of a tensor that are to be updated, in the form that UpdateRows (runtime/variables/row_updates.h) takes:
// slice numbers[i] gets update i, unless the number is negative. `size` is the number of elements of a slice.
struct ScatteredSlices {
  std::vector<int64_t> numbers;
  int64_t size = 0;
};

StatusOr<ScatteredSlices> SlicesFor(const Node& node, const Tensor& indices, const Shape& updates, const Shape& shape) {
  if (shape.rank() < 1) return InvalidArgument("the output must have rank 1 or more, got a scalar");
  TF_ASSIGN_OR_RETURN(const Shape wanted, SlicesShape(indices.shape(), shape, "shape"));
  if (wanted != updates) {
    return InvalidArgument("updates must have shape ", wanted, " for indices ", indices.shape(), " into ", shape,
                           ", got ", updates);
  }
  if (shape.num_elements() == 0 && updates.num_elements() > 0) {
    return InvalidArgument("Indices and updates specified for empty output of shape ", shape);
  }
  TF_ASSIGN_OR_RETURN(const bool ignore, IgnoresBadIndices(node));
  const int depth = static_cast<int>(indices.shape().dim(indices.shape().rank() - 1));
  ScatteredSlices slices;
  slices.size = SizeOf(shape, depth, shape.rank());
  if (slices.size == 0) return slices;  // no elements to update, so the indices are not checked
  TF_ASSIGN_OR_RETURN(slices.numbers, SlicesOf(indices, shape, ignore, "shape"));
  return slices;
}

// Inputs: indices, updates, shape. Updates with the same index are added.
Status ScatterNd(KernelContext& ctx) {
  if (ctx.input(2).shape().rank() != 1) {
    return InvalidArgument("the shape must be a vector, got shape ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(ctx.input(2), "the sizes"));
  TF_ASSIGN_OR_RETURN(const ScatteredSlices slices, SlicesFor(ctx.node(), ctx.input(0), ctx.input(1).shape(), shape));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  TF_RETURN_IF_ERROR(ForElementsOf(out->dtype(), [&]<typename E>() {
    RepeatElement(ZeroElement<E>(), out->num_elements(), MutableElements<E>(*out));
    return OkStatus();
  }));
  return UpdateRows(RowUpdate::kAdd, slices.numbers, slices.size, ctx.input(1), out);
}

// Sets output 0 to a copy of input `i`. If there is no other reference to the input, the output reuses its buffer.
StatusOr<Tensor*> Writable(KernelContext& ctx, int i) {
  if (ctx.input(i).IsWritable() && IsPlain(ctx.input(i).dtype()))
    return ctx.ForwardOrAllocateOutput({i}, 0, ctx.input(i).shape());
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(i).shape()));
  TF_RETURN_IF_ERROR(ForElementsOf(out->dtype(), [&]<typename E>() {
    CopyElements(Elements<E>(ctx.input(i)), out->num_elements(), MutableElements<E>(*out));
    return OkStatus();
  }));
  return out;
}

// Inputs: tensor, indices, updates.
template <RowUpdate how>
Status TensorScatter(KernelContext& ctx) {
  const Tensor indices = ctx.input(1), updates = ctx.input(2);
  TF_ASSIGN_OR_RETURN(const ScatteredSlices slices,
                      SlicesFor(ctx.node(), indices, updates.shape(), ctx.input(0).shape()));
  TF_ASSIGN_OR_RETURN(Tensor * out, Writable(ctx, 0));
  return UpdateRows(how, slices.numbers, slices.size, updates, out);
}

// Inputs: x, i, v. Updates rows i of x by v. `i` is a vector, or a scalar if v is a single row.
template <RowUpdate how>
Status Inplace(KernelContext& ctx) {
  const Tensor at = ctx.input(1), v = ctx.input(2);
  const Shape& xs = ctx.input(0).shape();
  if (xs.rank() < 1) return InvalidArgument("x must have rank 1 or more, got a scalar");
  if (at.shape().rank() > 1) return InvalidArgument("i must be a vector, or a scalar, got shape ", at.shape());
  Shape wanted = xs;
  if (at.shape().rank() == 1) {
    wanted.set_dim(0, at.num_elements());
  } else {
    wanted = Shape(xs.dims().subspan(1));
  }
  if (v.shape() != wanted) {
    const bool other_rows = at.shape().rank() == 1 && v.shape().rank() == xs.rank();
    return InvalidArgument(other_rows ? "i and x shape doesn't match: " : "x and v shape doesn't match: ",
                           "v must have shape ", wanted, ", got ", v.shape());
  }
  const int64_t num = xs.dim(0);
  std::vector<int64_t> rows;
  for (int32_t i : at.data<int32_t>()) {
    // Row numbers wrap around, as in TensorFlow.
    if (num == 0) return InvalidArgument("x has no row ", i);
    rows.push_back((i % num + num) % num);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, Writable(ctx, 0));
  return UpdateRows(how, rows, SizeOf(xs, 1, xs.rank()), v, out);
}

Status ParallelConcat(KernelContext& ctx) {
  const Shape& part = ctx.input(0).shape();
  if (part.rank() < 1 || part.dim(0) != 1) {
    return InvalidArgument("the first dimension of each value must have size 1, got shape ", part);
  }
  Shape shape = part;
  shape.set_dim(0, ctx.num_inputs());
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).shape() != part) {
      return InvalidArgument("all values must have the same shape, got ", part, " and ", ctx.input(i).shape());
    }
  }
  const Shape& declared = ctx.node().attr<Shape>("shape");
  if (!declared.IsCompatibleWith(shape)) {
    return InvalidArgument("the values concatenate to shape ", shape, ", but attribute 'shape' is ", declared);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    for (int i = 0; i < ctx.num_inputs(); ++i, to += part.num_elements()) {
      CopyElements(Elements<E>(ctx.input(i)), part.num_elements(), to);
    }
    return OkStatus();
  });
}

Status ParallelConcatStart(KernelContext& ctx) {
  const Shape& shape = ctx.node().attr<Shape>("shape");
  if (!shape.is_fully_defined()) return InvalidArgument("the shape must be fully known, got ", shape);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename E>() {
    RepeatElement(ZeroElement<E>(), out->num_elements(), MutableElements<E>(*out));
    return OkStatus();
  });
}

Status ParallelConcatUpdate(KernelContext& ctx) {
  const Tensor update = ctx.input(1);
  const Shape& whole = ctx.input(0).shape();
  if (whole.rank() < 1 || update.shape().rank() != whole.rank() || update.shape().dim(0) != 1 ||
      SizeOf(whole, 1, whole.rank()) != update.num_elements()) {
    return InvalidArgument("update must have the shape of a row of ", whole, ", with a first dimension of 1, got ",
                           update.shape());
  }
  const int64_t loc = ctx.node().attr<int64_t>("loc");
  const int64_t row = loc < 0 ? loc + whole.dim(0) : loc;
  if (row < 0 || row >= whole.dim(0)) return InvalidArgument("row ", loc, " is out of range for ", whole);
  TF_ASSIGN_OR_RETURN(Tensor * out, Writable(ctx, 0));
  return UpdateRows(RowUpdate::kReplace, std::span(&row, 1), update.num_elements(), update, out);
}

}  // namespace

void RegisterArrayScatterKernels(KernelRegistry& r) {
  const DTypeSet indices = {kInt32, kInt64};
  const DTypeSet numbers = TypesOf(RowUpdate::kAdd);
  const DTypeSet and_bool = numbers | DTypeSet{kBool};
  const DTypeSet and_strings = and_bool | DTypeSet{kString};
  r.Add("ScatterNd", {{"T", and_strings}, {"Tindices", {DType::kInt16, kInt32, kInt64}}}, ScatterNd);
  r.Add("TensorScatterUpdate", {{"Tindices", {DType::kInt16, DType::kUint16, kInt32, kInt64}}},
        TensorScatter<RowUpdate::kReplace>);
  r.Add("ScatterNdNonAliasingAdd", {{"T", and_bool}, {"Tindices", indices}}, TensorScatter<RowUpdate::kAdd>);
  r.Add("TensorScatterAdd", {{"T", numbers}, {"Tindices", indices}}, TensorScatter<RowUpdate::kAdd>);
  r.Add("TensorScatterSub", {{"T", numbers}, {"Tindices", indices}}, TensorScatter<RowUpdate::kSubtract>);
  r.Add("TensorScatterMin", {{"T", TypesOf(RowUpdate::kMin)}, {"Tindices", indices}}, TensorScatter<RowUpdate::kMin>);
  r.Add("TensorScatterMax", {{"T", TypesOf(RowUpdate::kMax)}, {"Tindices", indices}}, TensorScatter<RowUpdate::kMax>);
  r.Add("InplaceUpdate", {}, Inplace<RowUpdate::kReplace>);
  r.Add("InplaceAdd", {{"T", numbers}}, Inplace<RowUpdate::kAdd>);
  r.Add("InplaceSub", {{"T", numbers}}, Inplace<RowUpdate::kSubtract>);
  r.Add("ParallelConcat", {}, ParallelConcat);
  r.Add("_ParallelConcatStart", {}, ParallelConcatStart);
  r.Add("_ParallelConcatUpdate", {}, ParallelConcatUpdate);
}

}  // namespace tensorbraid::cpu
