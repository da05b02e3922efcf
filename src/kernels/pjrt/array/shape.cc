// Ops that change or return the shape of a tensor, fill or broadcast to a given shape, and OneHot.
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Sets output 0 to input 0 with another shape. A known tensor stays known.
Status SetReshaped(EmitContext& ctx, const Shape& shape) {
  if (ctx.is_static(0)) {
    TF_ASSIGN_OR_RETURN(const Tensor value, ctx.static_input(0));
    TF_ASSIGN_OR_RETURN(Tensor reshaped, value.Reshaped(shape));
    ctx.set_constant(0, std::move(reshaped));
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  ctx.set_output(0, ctx.builder().Reshape(x, shape));
  return OkStatus();
}

// The shape that a Reshape of `in` to `sizes` gives; one size may be -1.
StatusOr<Shape> ReshapedShape(const Shape& in, const Tensor& sizes_tensor) {
  if (sizes_tensor.shape().rank() != 1) {
    return InvalidArgument("the shape must be a vector, got shape ", sizes_tensor.shape());
  }
  TF_ASSIGN_OR_RETURN(IntVector sizes, IntegersOf(sizes_tensor, "the shape"));
  const auto mismatch = [&] {
    return InvalidArgument("cannot reshape ", in, " to ", sizes_tensor.ToString(),
                           ": Input to reshape is a tensor with ", in.num_elements(), " values");
  };
  // Dimensions of size 0 do not count for the size that is inferred, as in the kernel of the CPU.
  int64_t known = 1, have = 1;
  int64_t* inferred = nullptr;
  bool empty = false;
  for (const int64_t d : in.dims()) have *= d == 0 ? 1 : d;
  for (int64_t& size : sizes) {
    if (size == -1 && inferred == nullptr) {
      inferred = &size;
    } else if (size < 0) {
      return InvalidArgument("sizes must not be negative (one may be -1), got ", sizes_tensor.ToString());
    } else if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(known, size, &known)) {
      return InvalidArgument("shape ", sizes_tensor.ToString(), " has too many elements");
    }
  }
  const bool in_is_empty = in.num_elements() == 0;
  if (inferred != nullptr) {
    if (empty ? !in_is_empty || have % known != 0 : in.num_elements() % known != 0) return mismatch();
    *inferred = (empty ? have : in.num_elements()) / known;
  } else if ((empty ? 0 : known) != in.num_elements()) {
    return mismatch();
  }
  return Shape(std::span<const int64_t>(sizes.data(), sizes.size()));
}

Status EmitReshape(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const Shape shape, ReshapedShape(in, sizes));
  return SetReshaped(ctx, shape);
}

Status EmitExpandDims(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  TF_ASSIGN_OR_RETURN(const Tensor dim, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const int64_t named, IntegerOf(dim, "the axis"));
  TF_ASSIGN_OR_RETURN(const int axis, AxisOf(named, in.rank() + 1));
  Shape out;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.AddDim(1);
    if (i < in.rank()) out.AddDim(in.dim(i));
  }
  return SetReshaped(ctx, out);
}

Status EmitSqueeze(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  const auto& axes = ctx.attr<std::vector<int64_t>>("squeeze_dims");
  std::vector<bool> removed(in.rank(), false);
  for (const int64_t a : axes) {
    TF_ASSIGN_OR_RETURN(const int axis, AxisOf(a, in.rank()));
    if (in.dim(axis) != 1) return InvalidArgument("dimension ", axis, " of ", in, " does not have size 1");
    removed[axis] = true;
  }
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    if (axes.empty() ? in.dim(i) != 1 : !removed[i]) out.AddDim(in.dim(i));
  }
  return SetReshaped(ctx, out);
}

StatusOr<Tensor> IntegerTensor(DType dtype, const Shape& shape, std::span<const int64_t> values) {
  Tensor t(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kInt64) {
      t.inplace_data<int64_t>()[i] = values[i];
    } else if (values[i] > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("a size of ", values[i], " does not fit in int32; set out_type to int64");
    } else {
      t.inplace_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
  return t;
}

// Shapes are known when the program is made.
Status EmitShape(EmitContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(i));
    TF_ASSIGN_OR_RETURN(Tensor t, IntegerTensor(ctx.node().output_type(i), {in.rank()}, in.dims()));
    ctx.set_constant(i, std::move(t));
  }
  return OkStatus();
}

Status EmitSize(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  const int64_t n = in.num_elements();
  TF_ASSIGN_OR_RETURN(Tensor t, IntegerTensor(ctx.node().output_type(0), {}, {&n, 1}));
  ctx.set_constant(0, std::move(t));
  return OkStatus();
}

Status EmitRank(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Shape in, ctx.input_shape(0));
  ctx.set_constant(0, Tensor::Scalar<int32_t>(in.rank()));
  return OkStatus();
}

Status EmitFill(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Tensor dims, ctx.static_input(0));
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(dims, "the sizes"));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(1));
  if (value.shape.num_elements() != 1) {
    return InvalidArgument("the value must be a scalar, got shape ", value.shape);
  }
  ctx.set_output(0, ctx.builder().BroadcastTo(ctx.builder().Reshape(value, {}), shape));
  return OkStatus();
}

Status EmitSameNumber(EmitContext& ctx, double number) {
  TF_ASSIGN_OR_RETURN(const Shape shape, ctx.input_shape(0));
  ctx.set_output(0, ctx.builder().Splat(ctx.node().output_type(0), number, shape));
  return OkStatus();
}

Status EmitBroadcastTo(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const Shape shape, ShapeFrom(sizes, "the sizes"));
  bool fits = x.rank() <= shape.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = x.shape.dim(i) == 1 || x.shape.dim(i) == shape.dim(shape.rank() - x.rank() + i);
  }
  if (!fits) return InvalidArgument("shape ", x.shape, " does not broadcast to ", shape);
  ctx.set_output(0, ctx.builder().BroadcastTo(x, shape));
  return OkStatus();
}

// An index out of range gives a row of off_value.
Status EmitOneHot(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value indices, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const Tensor depth_tensor, ctx.static_input(1));
  TF_ASSIGN_OR_RETURN(const int64_t depth, IntegerOf(depth_tensor, "the depth"));
  if (depth < 0) return InvalidArgument("the depth must not be negative, got ", depth);
  TF_ASSIGN_OR_RETURN(const stablehlo::Value on, ctx.input(2));
  TF_ASSIGN_OR_RETURN(const stablehlo::Value off, ctx.input(3));
  if (on.shape.num_elements() != 1 || off.shape.num_elements() != 1) {
    return InvalidArgument("on_value and off_value must be scalars, got shapes ", on.shape, " and ", off.shape);
  }
  const int rank = indices.rank();
  const int64_t named = ctx.attr<int64_t>("axis");
  if (named < -1 || named > rank) {
    return InvalidArgument("axis ", named, " is out of range for indices of shape ", indices.shape);
  }
  const int axis = named == -1 ? rank : static_cast<int>(named);
  Shape shape;
  std::vector<int64_t> dims;
  for (int i = 0; i <= rank; ++i) {
    if (i == axis) shape.AddDim(depth);
    if (i == rank) break;
    dims.push_back(shape.rank());
    shape.AddDim(indices.shape.dim(i));
  }
  stablehlo::Builder& b = ctx.builder();
  const Expr index = Expr(b, b.BroadcastInDim(b.Convert(indices, kInt64), shape, dims));
  const Expr is_on = index == Expr(b, b.Iota(kInt64, shape, axis));
  ctx.set_output(
      0, b.Select(is_on.value(), b.BroadcastTo(b.Reshape(on, {}), shape), b.BroadcastTo(b.Reshape(off, {}), shape)));
  return OkStatus();
}

}  // namespace

void RegisterArrayShapeEmitters(EmitterRegistry& r) {
  r.Add("Reshape", {{"T", kTensors}}, EmitReshape).static_inputs = {"shape"};
  r.Add("ExpandDims", {{"T", kTensors}}, EmitExpandDims).static_inputs = {"dim"};
  r.Add("Squeeze", {{"T", kTensors}}, EmitSqueeze);
  r.Add("Shape", {{"T", kTensors}}, EmitShape);
  r.Add("ShapeN", {{"T", kTensors}}, EmitShape);
  r.Add("Size", {{"T", kTensors}}, EmitSize);
  r.Add("Rank", {{"T", kTensors}}, EmitRank);
  r.Add("Fill", {{"T", kTensors}}, EmitFill).static_inputs = {"dims"};
  r.Add("ZerosLike", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitSameNumber(ctx, 0); });
  r.Add("OnesLike", {{"T", kTensors}}, [](EmitContext& ctx) { return EmitSameNumber(ctx, 1); });
  r.Add("BroadcastTo", {{"T", kTensors}}, EmitBroadcastTo).static_inputs = {"shape"};
  r.Add("OneHot", {{"T", kTensors}}, EmitOneHot).static_inputs = {"depth"};
  r.Add("BroadcastArgs", {}, nullptr).static_inputs = {"s0", "s1"};
  r.Add("BroadcastGradientArgs", {}, nullptr).static_inputs = {"s0", "s1"};
}

}  // namespace tensorbraid::pjrt
