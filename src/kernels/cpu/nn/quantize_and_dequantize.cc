// QuantizeAndDequantize and its versions: rounding to the values of an integer of a few bits, with a scale for the
// whole tensor or for each slice along an axis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// A tensor viewed as [outer, slices, inner]; without an axis it is one slice.
struct SliceView {
  int64_t outer = 1, slices = 1, inner = 1;
};

StatusOr<SliceView> SlicesOf(const Shape& shape, int64_t axis) {
  if (axis < -1 || axis >= shape.rank()) {
    return InvalidArgument("axis must be -1, for none, or an axis of the input ", shape, ", got ", axis);
  }
  SliceView v;
  if (axis < 0) {
    v.inner = shape.num_elements();
    return v;
  }
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? v.outer : i == axis ? v.slices : v.inner) *= shape.dim(i);
  return v;
}

Status CheckRange(const char* what, const Tensor& t, int64_t axis, const SliceView& v) {
  const Shape wanted = axis < 0 ? Shape() : Shape({v.slices});
  if (t.shape() == wanted) return OkStatus();
  return InvalidArgument(what, " must have shape ", wanted, ", got ", t.shape());
}

// Calls f(begin, end, slice) for runs of elements of one slice.
template <typename F>
void ForEachRun(KernelContext& ctx, const SliceView& v, double cost_ns, const F& f) {
  if (v.outer * v.slices == 1) {
    Parallel(ctx, v.inner, cost_ns, [&](int64_t begin, int64_t end) { f(begin, end, int64_t{0}); });
    return;
  }
  Parallel(ctx, v.outer * v.slices, cost_ns * static_cast<double>(v.inner), [&](int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run) f(run * v.inner, (run + 1) * v.inner, run % v.slices);
  });
}

// The rounding of one slice: to round(x * scale) * inverse, for x in [min, max].
template <typename A>
struct RoundTripScale {
  // The integers are those from `low` to `high`. The side of the range that needs the coarser step determines the step,
  // and the other side is moved so that both have the same step.
  RoundTripScale(A min_of, A max_of, A low, A high) : min(min_of), max(max_of) {
    constexpr A kAny = std::numeric_limits<A>::max();
    const A from_min = low * min > 0 ? low / min : kAny;
    const A from_max = high * max > 0 ? high / max : kAny;
    if (from_min < from_max) {
      scale = from_min;
      inverse = min / low;
      max = high * inverse;
    } else {
      scale = from_max;
      inverse = max / high;
      min = low * inverse;
    }
  }
  A min, max, scale, inverse;
};

class RoundTripKernel final : public Kernel {
 public:
  explicit RoundTripKernel(const KernelConstruction& c)
      : is_signed_(c.attr<bool>("signed_input")), range_given_(c.attr<bool>("range_given")) {
    if (const AttrValue* v = c.node().FindAttr("axis")) axis_ = *v->get<int64_t>();
    if (const AttrValue* v = c.node().FindAttr("narrow_range")) narrow_ = *v->get<bool>();
    if (const AttrValue* v = c.node().FindAttr("round_mode")) half_up_ = *v->get<std::string>() == "HALF_UP";
    if (const AttrValue* v = c.node().FindAttr("num_bits")) bits_ = *v->get<int64_t>();
    if (const AttrValue* v = c.node().FindAttr("input_min")) min_ = *v->get<float>();
    if (const AttrValue* v = c.node().FindAttr("input_max")) max_ = *v->get<float>();
  }

  Status Compute(KernelContext& ctx) override {
    return ctx.input(0).dtype() == kFloat64 ? Run<double>(ctx) : Run<float>(ctx);
  }

 private:
  StatusOr<int64_t> Bits(KernelContext& ctx) const {
    int64_t bits = bits_;
    if (ctx.num_inputs() == 4) {  // V3 has num_bits as an input
      if (!ctx.input(3).shape().is_scalar()) {
        return InvalidArgument("num_bits must be a scalar, got shape ", ctx.input(3).shape());
      }
      bits = ctx.input(3).scalar<int32_t>();
    }
    const int most = is_signed_ ? 61 : 62;
    if (bits < 1 || bits > most) return InvalidArgument("num_bits must be between 1 and ", most, ", got ", bits);
    return bits;
  }

  template <typename A>
  Status Run(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    TF_ASSIGN_OR_RETURN(const SliceView v, SlicesOf(in.shape(), axis_));
    TF_ASSIGN_OR_RETURN(const int64_t bits, Bits(ctx));
    const bool reads_range = range_given_ && ctx.num_inputs() > 1;  // the first version has the range in attributes
    if (reads_range) {
      TF_RETURN_IF_ERROR(CheckRange("input_min", ctx.input(1), axis_, v));
      TF_RETURN_IF_ERROR(CheckRange("input_max", ctx.input(2), axis_, v));
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    if (in.num_elements() == 0) return OkStatus();
    const A* x = in.data<A>().data();
    std::vector<A> min(v.slices), max(v.slices);
    if (!range_given_) {
      std::fill(min.begin(), min.end(), std::numeric_limits<A>::max());
      std::fill(max.begin(), max.end(), std::numeric_limits<A>::lowest());
      for (int64_t run = 0; run < v.outer * v.slices; ++run) {
        A least = min[run % v.slices], most = max[run % v.slices];
        for (int64_t i = run * v.inner; i < (run + 1) * v.inner; ++i) {
          least = x[i] < least ? x[i] : least;
          most = x[i] > most ? x[i] : most;
        }
        min[run % v.slices] = least;
        max[run % v.slices] = most;
      }
    } else if (!reads_range) {
      min[0] = static_cast<A>(min_);
      max[0] = static_cast<A>(max_);
    } else {
      std::copy_n(ctx.input(1).data<A>().data(), v.slices, min.data());
      std::copy_n(ctx.input(2).data<A>().data(), v.slices, max.data());
    }
    if (range_given_) {
      for (int64_t s = 0; s < v.slices; ++s) {
        if (!(min[s] <= max[s])) {
          return InvalidArgument("input_min must not be larger than input_max, got ", min[s], " and ", max[s]);
        }
      }
    }
    const int64_t high = (int64_t{1} << (is_signed_ ? bits - 1 : bits)) - 1;
    const int64_t low = !is_signed_ ? 0 : narrow_ ? -high : -high - 1;
    std::vector<RoundTripScale<A>> scales;
    for (int64_t s = 0; s < v.slices; ++s) {
      scales.emplace_back(min[s], max[s], static_cast<A>(low), static_cast<A>(high));
    }
    A* y = out->inplace_data<A>().data();
    ForEachRun(ctx, v, 2.0, [&](int64_t begin, int64_t end, int64_t slice) {
      const RoundTripScale<A> s = scales[slice];
      for (int64_t i = begin; i < end; ++i) {
        A value = x[i];
        if (range_given_) {
          value = s.max < value ? s.max : value;
          value = value < s.min ? s.min : value;
        }
        value *= s.scale;
        y[i] = (half_up_ ? std::floor(value + A(0.5)) : std::nearbyint(value)) * s.inverse;
      }
    });
    return OkStatus();
  }

  const bool is_signed_, range_given_;
  int64_t axis_ = -1;
  int64_t bits_ = 8;
  bool narrow_ = false;
  bool half_up_ = false;
  float min_ = 0, max_ = 0;
};

// The gradient of V4: g within the range, else 0. Minimum and maximum get no gradient, as in TensorFlow.
class RoundTripGradKernel final : public Kernel {
 public:
  explicit RoundTripGradKernel(const KernelConstruction& c) : axis_(c.attr<int64_t>("axis")) {}

  Status Compute(KernelContext& ctx) override {
    return ctx.input(0).dtype() == kFloat64 ? Run<double>(ctx) : Run<float>(ctx);
  }

 private:
  template <typename A>
  Status Run(KernelContext& ctx) const {
    const Tensor& in = ctx.input(1);
    if (ctx.input(0).shape() != in.shape()) {
      return InvalidArgument("gradients and input must have the same shape, got ", ctx.input(0).shape(), " and ",
                             in.shape());
    }
    TF_ASSIGN_OR_RETURN(const SliceView v, SlicesOf(in.shape(), axis_));
    TF_RETURN_IF_ERROR(CheckRange("input_min", ctx.input(2), axis_, v));
    TF_RETURN_IF_ERROR(CheckRange("input_max", ctx.input(3), axis_, v));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, in.shape()));
    for (int i = 1; i < 3; ++i) {
      TF_ASSIGN_OR_RETURN(Tensor * zeros, ctx.AllocateOutput(i, ctx.input(2).shape()));
      std::fill(zeros->inplace_data<A>().begin(), zeros->inplace_data<A>().end(), A(0));
    }
    if (in.num_elements() == 0) return OkStatus();
    const A *g = ctx.input(0).data<A>().data(), *x = in.data<A>().data();
    const A *min = ctx.input(2).data<A>().data(), *max = ctx.input(3).data<A>().data();
    A* to = out->inplace_data<A>().data();
    ForEachRun(ctx, v, 0.5, [&](int64_t begin, int64_t end, int64_t slice) {
      const A least = min[slice], most = max[slice];
      for (int64_t i = begin; i < end; ++i) to[i] = x[i] >= least && x[i] <= most ? g[i] : A(0);
    });
    return OkStatus();
  }

  const int64_t axis_;
};

}  // namespace

void RegisterNnQuantizeAndDequantizeKernels(KernelRegistry& r) {
  constexpr DTypeSet kTypes = {kFloat32, kFloat64};
  for (const char* op :
       {"QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"}) {
    r.Add<RoundTripKernel>(op, {{"T", kTypes}}, ElementCost<3000>);
  }
  r.Add<RoundTripGradKernel>("QuantizeAndDequantizeV4Grad", {{"T", kTypes}}, ElementCost<500>);
}

}  // namespace tensorbraid::cpu
