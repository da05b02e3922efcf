#include <functional>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/array/moving_slice.h"
#include "kernels/pjrt/nn/pooling.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::ArrayText;
using stablehlo::Builder;
using stablehlo::Value;

// One window per dimension of a tensor.
struct Windows {
  std::vector<int64_t> sizes, strides, low, high;
};

// The window of each dimension, as attributes of reduce_window and select_and_scatter.
std::string WindowsText(const Windows& w) {
  std::vector<std::string> padding;
  for (size_t i = 0; i < w.low.size(); ++i) padding.push_back(StrCat("[", w.low[i], ", ", w.high[i], "]"));
  return StrCat("padding = dense<[", StrJoin(padding, ", "), "]> : tensor<", w.low.size(),
                "x2xi64>, window_dimensions = ", ArrayText(w.sizes), ", window_strides = ", ArrayText(w.strides));
}

// Spatial axis i of `windows`, whose last axes are those of an image.
const WindowAxis& AxisAt(const PoolAttrs& attrs, const PoolWindows& windows, int i) {
  return windows.axes[3 - attrs.spatial + i];
}

Windows WindowsOf(const PoolAttrs& attrs, const PoolWindows& windows) {
  const auto rank = static_cast<size_t>(attrs.rank());
  Windows w{std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 0),
            std::vector<int64_t>(rank, 0)};
  for (int i = 0; i < attrs.spatial; ++i) {
    const WindowAxis& a = AxisAt(attrs, windows, i);
    const int at = attrs.spatial_axis(i);
    w.sizes[at] = a.window;
    w.strides[at] = a.stride;
    w.low[at] = a.pad_before;
    w.high[at] = a.pad_after;
  }
  w.sizes[attrs.channel_axis()] = w.strides[attrs.channel_axis()] = windows.channel_window;
  return w;
}

// x with the padding that windows cover.
Value PadAround(Builder& b, const Value& x, const Windows& w) {
  return b.Pad(x, b.Splat(x.dtype, 0), w.low, w.high, std::vector<int64_t>(w.low.size(), 0));
}

// From the first to the last of the elements that are at one place of their windows.
std::vector<int64_t> CoveredBy(const Shape& output, const Windows& w) {
  std::vector<int64_t> covered;
  for (int i = 0; i < output.rank(); ++i) covered.push_back((output.dim(i) - 1) * w.strides[i] + 1);
  return covered;
}

// The elements of a padded tensor that are at place `begin` of their windows, which are scalars of int64.
Value AtPlace(Builder& b, const Value& padded, const std::vector<Value>& begin, const Shape& output, const Windows& w) {
  const std::vector<int64_t> covered = CoveredBy(output, w);
  return b.Slice(DynamicSlice(b, padded, begin, covered), std::vector<int64_t>(w.low.size(), 0), covered, w.strides);
}

// Replaces the tensors of `state` by what `step` makes of them and of a place of the windows, for all places. `step`
// uses no other values of the program. Windows of more than 64 elements are visited by a loop, so that programs stay
// small.
std::vector<Value> AtEachPlace(
    Builder& b, const Windows& w, std::vector<Value> state,
    const std::function<std::vector<Value>(const std::vector<Value>& state, const std::vector<Value>& begin)>& step) {
  constexpr int64_t kMostInText = 64;
  int64_t count = 1;
  for (const int64_t size : w.sizes) count *= size;
  std::vector<Value> begin(w.sizes.size());
  if (count <= kMostInText) {
    for (int64_t number = 0; number < count; ++number) {
      int64_t rest = number;
      for (size_t i = begin.size(); i-- > 0; rest /= w.sizes[i]) {
        begin[i] = b.Splat(kInt64, static_cast<double>(rest % w.sizes[i]));
      }
      state = step(state, begin);
    }
    return state;
  }
  state.push_back(b.Splat(kInt64, 0));
  return b.While(
      state, [&](const std::vector<Value>& s) { return (Expr(b, s.back()) < static_cast<double>(count)).value(); },
      [&](const std::vector<Value>& s) {
        Expr rest(b, s.back());
        for (size_t i = begin.size(); i-- > 0;) {
          const auto size = static_cast<double>(w.sizes[i]);
          begin[i] = Remainder(rest, size).value();
          rest = rest / size;
        }
        std::vector<Value> next = step({s.begin(), s.end() - 1}, begin);
        next.push_back((Expr(b, s.back()) + 1).value());
        return next;
      });
}

Value ReduceWindow(Builder& b, const Value& x, const Value& initial, const Shape& shape, const Windows& w,
                   const Builder::Combine& combine) {
  const std::string region = b.Region(
      {x.dtype, x.dtype}, [&](const std::vector<Value>& v) { return std::vector<Value>{combine(v[0], v[1])}; });
  return b.Op("reduce_window", {x, initial}, x.dtype, shape, WindowsText(w), {region});
}

Builder::Combine Sums(Builder& b) {
  return [&b](const Value& u, const Value& v) { return b.Binary("add", u, v); };
}

// The windows on an input of this shape. `sizes`: the number of the input ksize, which strides follow; -1: none.
StatusOr<PlacedPool> Place(const EmitContext& ctx, const Shape& input, int spatial, bool pools_channels, int sizes) {
  PlacedPool p;
  TF_ASSIGN_OR_RETURN(p.attrs, ReadPoolAttrs(ctx.node(), spatial));
  p.attrs.pools_channels = pools_channels;
  if (sizes >= 0) {
    TF_ASSIGN_OR_RETURN(const Tensor ksize, ctx.static_input(sizes));
    TF_ASSIGN_OR_RETURN(const Tensor strides, ctx.static_input(sizes + 1));
    TF_RETURN_IF_ERROR(SetPoolSizes(ksize, strides, &p.attrs));
  }
  TF_ASSIGN_OR_RETURN(p.windows, PlacePool(p.attrs, input));
  if (p.windows.output.num_elements() < 0) {
    return InvalidArgument("the output ", p.windows.output, " is too large");
  }
  if (input.num_elements() == 0 && p.windows.output.num_elements() > 0) {
    return InvalidArgument("the input ", input, " is empty, so windows would be over padding alone");
  }
  return p;
}

Status CheckShape(const char* what, const Shape& shape, const Shape& wanted) {
  if (shape == wanted) return OkStatus();
  return InvalidArgument(what, " must have shape ", wanted, ", got ", shape);
}

// The number of elements of each window that are inside the input, in a shape that broadcasts to the output.
Expr CountsOf(Builder& b, DType dtype, const PoolAttrs& attrs, const PoolWindows& windows) {
  Shape shape(std::vector<int64_t>(attrs.rank(), 1));
  Expr counts(b, b.Splat(dtype, 1, shape));
  for (int i = 0; i < attrs.spatial; ++i) {
    const WindowAxis& a = AxisAt(attrs, windows, i);
    std::vector<double> inside;
    for (int64_t o = 0; o < a.output; ++o) inside.push_back(static_cast<double>(a.EndInside(o) - a.FirstInside(o)));
    Shape along = shape;
    const bool equal = std::all_of(inside.begin(), inside.end(), [&](double n) { return n == inside[0]; });
    if (equal && !inside.empty()) {
      counts = counts * inside[0];
      continue;
    }
    along.set_dim(attrs.spatial_axis(i), a.output);
    counts = counts * Expr(b, b.Constant(Tensor::Of<double>(along, inside))).Convert(dtype);
  }
  return counts;
}

// The shape of the input of an average, which the gradient op gets as a vector.
StatusOr<Shape> OriginalShape(const Tensor& t, int rank) {
  if (t.shape() != Shape({rank})) {
    return InvalidArgument("the shape of the original input must be a vector of ", rank, " sizes, got shape ",
                           t.shape());
  }
  return ShapeFrom(t, "the shape of the original input");
}

// x without NaNs, which a maximum ignores: they become the lowest number.
Expr NumbersOf(const Expr& x, const Expr& lowest) { return IsFloating(x.dtype()) ? Select(x == x, x, lowest) : x; }

// The lowest finite number of a dtype.
Expr LowestFinite(const Expr& x) {
  if (!IsFloating(x.dtype())) return {x.builder(), x.builder().Lowest(x.dtype())};
  const double most = x.dtype() == kFloat16    ? 65504.0
                      : x.dtype() == kBfloat16 ? 0x1.FEp127
                      : x.dtype() == kFloat32  ? std::numeric_limits<float>::max()
                                               : std::numeric_limits<double>::max();
  return x.Number(-most);
}

// The maximum of windows; `lowest` for a window without numbers.
Expr MaxOfWindows(const Expr& x, const PlacedPool& p, const Expr& lowest) {
  Builder& b = x.builder();
  return {b,
          ReduceWindow(b, NumbersOf(x, lowest).value(), lowest.value(), p.windows.output, WindowsOf(p.attrs, p.windows),
                       [&b](const Value& u, const Value& v) { return b.Binary("maximum", u, v); })};
}

}  // namespace

StatusOr<PlacedPool> PlaceTiles(const Shape& images, const std::vector<int64_t>& ksize) {
  PlacedPool p;
  p.attrs.ksize = p.attrs.strides = ksize;
  TF_ASSIGN_OR_RETURN(p.windows, PlacePool(p.attrs, images));
  return p;
}

Expr MaxOfImage(const Expr& x, const PlacedPool& pool) { return MaxOfWindows(x, pool, LowestFinite(x)); }

Expr GradientOfMax(const Expr& x, const Expr& dy, const PlacedPool& pool) {
  Builder& b = x.builder();
  if (dy.shape().num_elements() == 0) return dy.Number(0).BroadcastTo(x.shape());
  const Value zero = dy.Number(0).value();
  // Keeps an element unless the next one is greater. So a NaN at the begin of a window gets the gradient.
  const std::string select = b.Region({x.dtype(), x.dtype()}, [&](const std::vector<Value>& v) {
    return std::vector<Value>{b.Unary("not", b.Compare("GT", v[1], v[0]))};
  });
  const std::string scatter = b.Region({dy.dtype(), dy.dtype()}, [&](const std::vector<Value>& v) {
    return std::vector<Value>{b.Binary("add", v[0], v[1])};
  });
  return {b, b.Op("select_and_scatter", {x.value(), dy.value(), zero}, dy.dtype(), x.shape(),
                  WindowsText(WindowsOf(pool.attrs, pool.windows)), {select, scatter})};
}

Status EmitMaxPool(EmitContext& ctx, int spatial) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_ASSIGN_OR_RETURN(const PlacedPool p, Place(ctx, x.shape, spatial, spatial == 2, ctx.num_inputs() == 3 ? 1 : -1));
  const Expr in(ctx.builder(), x);
  // A window without numbers gives the lowest finite number for images, and minus infinity for volumes.
  const Expr lowest = spatial == 2 ? LowestFinite(in) : Expr(ctx.builder(), ctx.builder().Lowest(x.dtype));
  SetOutput(ctx, 0, MaxOfWindows(in, p, lowest));
  return OkStatus();
}

Status EmitMaxPoolGrad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Shape y, ctx.input_shape(1));
  TF_ASSIGN_OR_RETURN(const Expr dy, WideInput(ctx, 2));
  TF_ASSIGN_OR_RETURN(const PlacedPool p,
                      Place(ctx, x.shape(), /*spatial=*/2, /*pools_channels=*/false, ctx.num_inputs() == 5 ? 3 : -1));
  TF_RETURN_IF_ERROR(CheckShape("the original output", y, p.windows.output));
  TF_RETURN_IF_ERROR(CheckShape("the gradient", dy.shape(), p.windows.output));
  const Expr dx = GradientOfMax(x, dy, p);
  SetOutput(ctx, 0, ctx.node().type() == "_MaxPoolReluGrad" ? Select(x > 0, dx, 0) : dx);
  return OkStatus();
}

// The gradient of EmitMaxPoolGrad, or, of volumes, of EmitMaxPool3DGrad. At each place of the windows: the elements of
// ddx, where x is the first element of the window that equals the maximum.
Status EmitMaxPoolGradGrad(EmitContext& ctx, int spatial) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Expr ddx, WideInput(ctx, 2));
  TF_ASSIGN_OR_RETURN(const PlacedPool p,
                      Place(ctx, x.shape(), spatial, /*pools_channels=*/false, ctx.num_inputs() == 5 ? 3 : -1));
  const Shape& shape = p.windows.output;
  TF_RETURN_IF_ERROR(CheckShape("the original output", y.shape(), shape));
  TF_RETURN_IF_ERROR(CheckShape("the gradient", ddx.shape(), x.shape()));
  Builder& b = ctx.builder();
  const Value zeros = ddx.Number(0).BroadcastTo(shape).value();
  if (shape.num_elements() == 0) {
    SetOutput(ctx, 0, Expr(b, zeros));
    return OkStatus();
  }
  const Windows w = WindowsOf(p.attrs, p.windows);
  const auto step = [&](const std::vector<Value>& state, const std::vector<Value>& begin) {
    const auto here = [&](const Value& v) { return Expr(b, AtPlace(b, v, begin, shape, w)); };
    const Expr sum(b, state[0]), found(b, state[1]), max(b, state[2]);
    const Expr is_first = here(state[3]) == max && here(state[4]) && !found;
    std::vector<Value> next = state;
    next[0] = Select(is_first, here(state[5]), sum).value();
    next[1] = (found || is_first).value();
    return next;
  };
  const auto sums = AtEachPlace(b, w,
                                {zeros, b.Splat(kBool, 0, shape), y.value(), PadAround(b, x.value(), w),
                                 PadAround(b, b.Splat(kBool, 1, x.shape()), w), PadAround(b, ddx.value(), w)},
                                step);
  SetOutput(ctx, 0, Expr(b, sums[0]));
  return OkStatus();
}

// Of volumes: each of several equal elements of a window gets the gradient. At each place of the windows: dy, where x
// equals the maximum.
Status EmitMaxPool3DGrad(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const Expr y, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const Expr dy, WideInput(ctx, 2));
  TF_ASSIGN_OR_RETURN(const PlacedPool p, Place(ctx, x.shape(), /*spatial=*/3, /*pools_channels=*/false, -1));
  const Shape& shape = p.windows.output;
  TF_RETURN_IF_ERROR(CheckShape("the original output", y.shape(), shape));
  TF_RETURN_IF_ERROR(CheckShape("the gradient", dy.shape(), shape));
  Builder& b = ctx.builder();
  if (shape.num_elements() == 0) {
    SetOutput(ctx, 0, dy.Number(0).BroadcastTo(x.shape()));
    return OkStatus();
  }
  const Windows w = WindowsOf(p.attrs, p.windows);
  const std::vector<int64_t> covered = CoveredBy(shape, w), zeros(w.low.size(), 0);
  std::vector<int64_t> interior;
  for (const int64_t stride : w.strides) interior.push_back(stride - 1);
  const auto step = [&](const std::vector<Value>& state, const std::vector<Value>& begin) {
    const auto here = [&](const Value& v) { return Expr(b, AtPlace(b, v, begin, shape, w)); };
    const Expr max(b, state[1]), gradient(b, state[2]);
    const Expr part = Select(here(state[3]) == max && here(state[4]), gradient, 0);
    const Value spread = b.Pad(part.value(), part.Number(0).value(), zeros, zeros, interior);
    const Value old = DynamicSlice(b, state[0], begin, covered);
    std::vector<Value> update = {state[0], b.Binary("add", old, spread)};
    update.insert(update.end(), begin.begin(), begin.end());
    std::vector<Value> next = state;
    next[0] = b.Op("dynamic_update_slice", update, spread.dtype, state[0].shape);
    return next;
  };
  const Value padded = PadAround(b, x.value(), w);
  const auto sums = AtEachPlace(b, w,
                                {b.Splat(dy.dtype(), 0, padded.shape), y.value(), dy.value(), padded,
                                 PadAround(b, b.Splat(kBool, 1, x.shape()), w)},
                                step);
  std::vector<int64_t> low, high;
  for (size_t i = 0; i < w.low.size(); ++i) {
    low.push_back(-w.low[i]);
    high.push_back(-w.high[i]);
  }
  SetOutput(ctx, 0, Expr(b, b.Pad(sums[0], dy.Number(0).value(), low, high, zeros)));
  return OkStatus();
}

Status EmitAvgPool(EmitContext& ctx, int spatial) {
  TF_ASSIGN_OR_RETURN(const Expr x, WideInput(ctx, 0));
  TF_ASSIGN_OR_RETURN(const PlacedPool p, Place(ctx, x.shape(), spatial, /*pools_channels=*/false, -1));
  Builder& b = ctx.builder();
  const Expr sums(
      b, ReduceWindow(b, x.value(), x.Number(0).value(), p.windows.output, WindowsOf(p.attrs, p.windows), Sums(b)));
  SetOutput(ctx, 0, sums / CountsOf(b, x.dtype(), p.attrs, p.windows));
  return OkStatus();
}

// Each element of the gradient is spread over its window: the gradient, dilated by the strides, is summed over windows
// that begin where windows with this element end.
Status EmitAvgPoolGrad(EmitContext& ctx, int spatial) {
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(0));
  TF_ASSIGN_OR_RETURN(const Shape shape, OriginalShape(sizes, spatial + 2));
  TF_ASSIGN_OR_RETURN(const Expr dy, WideInput(ctx, 1));
  TF_ASSIGN_OR_RETURN(const PlacedPool p, Place(ctx, shape, spatial, /*pools_channels=*/false, -1));
  TF_RETURN_IF_ERROR(CheckShape("the gradient", dy.shape(), p.windows.output));
  if (dy.shape().num_elements() == 0) {
    SetOutput(ctx, 0, dy.Number(0).BroadcastTo(shape));
    return OkStatus();
  }
  Builder& b = ctx.builder();
  const Expr spread = dy / CountsOf(b, dy.dtype(), p.attrs, p.windows);
  const auto rank = static_cast<size_t>(p.attrs.rank());
  std::vector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0);
  Windows w{std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 1), low, high};
  for (int i = 0; i < spatial; ++i) {
    const WindowAxis& a = AxisAt(p.attrs, p.windows, i);
    const int at = p.attrs.spatial_axis(i);
    low[at] = a.window - 1 - a.pad_before;
    high[at] = a.input + a.window - 1 - ((a.output - 1) * a.stride + 1) - low[at];
    interior[at] = a.stride - 1;
    w.sizes[at] = a.window;
  }
  const Value zero = dy.Number(0).value();
  const Value padded = b.Pad(spread.value(), zero, low, high, interior);
  SetOutput(ctx, 0, Expr(b, ReduceWindow(b, padded, zero, shape, w, Sums(b))));
  return OkStatus();
}

}  // namespace tensorbraid::pjrt
