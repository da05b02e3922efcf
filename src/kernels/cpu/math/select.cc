// Selects elements from two tensors by a condition.
#include <algorithm>
#include <string>

#include "kernels/cpu/elements.h"
#include "kernels/cpu/elementwise.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The condition, the two operands and the output. Elements are only copied, so U may be any type of the same size as
// the elements.
template <typename U>
struct Pointers {
  const bool* condition;
  const U* t;
  const U* e;
  U* out;
};

template <typename U>
Pointers<U> PointersOf(KernelContext& ctx, Tensor* out) {
  return {ctx.input(0).data<bool>().data(), Elements<U>(ctx.input(1)), Elements<U>(ctx.input(2)),
          MutableElements<U>(*out)};
}

template <typename U>
void SelectFlat(KernelContext& ctx, Tensor* out) {
  const Pointers<U> p = PointersOf<U>(ctx, out);
  Parallel(ctx, out->num_elements(), 0.5, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) p.out[i] = p.condition[i] ? p.t[i] : p.e[i];
  });
}

// Selects whole rows of `row` elements, with one condition per row. The output may share the memory of an operand.
template <typename U>
void SelectRows(KernelContext& ctx, int64_t rows, int64_t row, Tensor* out) {
  const Pointers<U> p = PointersOf<U>(ctx, out);
  Parallel(ctx, rows, 5 + 0.2 * row, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const U* from = (p.condition[i] ? p.t : p.e) + i * row;
      if (from != p.out + i * row) std::copy(from, from + row, p.out + i * row);
    }
  });
}

// For each dimension of `out`, the distance between two elements of the operand that are neighbours along the
// dimension; 0 if the operand is broadcast along it.
absl::InlinedVector<int64_t, 4> Steps(const Shape& operand, const Shape& out) {
  absl::InlinedVector<int64_t, 4> steps(out.rank(), 0);
  int64_t step = 1;
  for (int i = 1; i <= operand.rank(); ++i) {
    const int64_t size = operand.dim(operand.rank() - i);
    if (size != 1) steps[out.rank() - i] = step;
    step *= size;
  }
  return steps;
}

// Selects n elements of a row. The steps are 1, or 0 for an operand that is broadcast along the row.
template <typename U>
void SelectRow(const bool* condition, int64_t c_step, const U* t, int64_t t_step, const U* e, int64_t e_step, int64_t n,
               U* out) {
  if (c_step == 0) {
    const U* from = *condition ? t : e;
    if ((*condition ? t_step : e_step) == 0) {
      std::fill_n(out, n, *from);
    } else {
      std::copy_n(from, n, out);
    }
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = condition[i] ? t[i * t_step] : e[i * e_step];
}

template <typename U>
void SelectBroadcast(KernelContext& ctx, const Shape& shape, Tensor* out) {
  const Pointers<U> p = PointersOf<U>(ctx, out);
  const auto sc = Steps(ctx.input(0).shape(), shape);
  const auto st = Steps(ctx.input(1).shape(), shape);
  const auto se = Steps(ctx.input(2).shape(), shape);
  const int last = shape.rank() - 1;
  Parallel(ctx, shape.num_elements(), 1, [&](int64_t begin, int64_t end) {
    absl::InlinedVector<int64_t, 4> index(shape.rank(), 0);
    // The positions, in the condition and in the two operands, of the element at `index` of the output.
    int64_t c = 0, t = 0, e = 0, rest = begin;
    for (int d = last; d >= 0; --d) {
      index[d] = rest % shape.dim(d);
      rest /= shape.dim(d);
      c += index[d] * sc[d];
      t += index[d] * st[d];
      e += index[d] * se[d];
    }
    for (int64_t i = begin; i < end;) {
      const int64_t n = std::min(end - i, shape.dim(last) - index[last]);
      SelectRow(p.condition + c, sc[last], p.t + t, st[last], p.e + e, se[last], n, p.out + i);
      i += n;
      index[last] += n;
      c += n * sc[last];
      t += n * st[last];
      e += n * se[last];
      for (int d = last; d >= 0 && index[d] == shape.dim(d); --d) {
        c -= sc[d] * shape.dim(d);
        t -= st[d] * shape.dim(d);
        e -= se[d] * shape.dim(d);
        index[d] = 0;
        if (d == 0) break;
        ++index[d - 1];
        c += sc[d - 1];
        t += st[d - 1];
        e += se[d - 1];
      }
    }
  });
}

// The condition is a scalar, has the shape of the operands, or is a vector with one condition per row.
Status SelectKernel(KernelContext& ctx) {
  const Shape& condition = ctx.input(0).shape();
  const Shape shape = ctx.input(1).shape();
  if (ctx.input(2).shape() != shape) {
    return InvalidArgument("'then' and 'else' must have the same shape, got ", shape, " and ", ctx.input(2).shape());
  }
  if (condition.is_scalar()) {
    ctx.set_output(0, ctx.input(ctx.input(0).scalar<bool>() ? 1 : 2));
    return OkStatus();
  }
  const bool rows = condition != shape;
  if (rows && (condition.rank() != 1 || shape.rank() < 1 || condition.dim(0) != shape.dim(0))) {
    return InvalidArgument(
        "the condition must be a scalar, a vector with one element per row, or have the shape of "
        "'then'; got ",
        condition, " for ", shape);
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({1, 2}, 0, shape));
  return ForElementsOf(out->dtype(), [&]<typename U>() {
    if (!rows) {
      SelectFlat<U>(ctx, out);
    } else if (out->num_elements() > 0) {
      SelectRows<U>(ctx, shape.dim(0), out->num_elements() / shape.dim(0), out);
    }
    return OkStatus();
  });
}

Status SelectV2Kernel(KernelContext& ctx) {
  const Shape& condition = ctx.input(0).shape();
  const Shape& then_shape = ctx.input(1).shape();
  if (condition == then_shape && condition == ctx.input(2).shape()) return SelectKernel(ctx);
  if (condition.is_scalar() && then_shape == ctx.input(2).shape()) return SelectKernel(ctx);
  TF_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(then_shape, ctx.input(2).shape()));
  TF_ASSIGN_OR_RETURN(shape, BroadcastShapes(condition, shape));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  return ForElementsOf(out->dtype(), [&]<typename U>() {
    SelectBroadcast<U>(ctx, shape, out);
    return OkStatus();
  });
}

}  // namespace

void RegisterMathSelectKernels(KernelRegistry& r) {
  r.Add("Select", {}, SelectKernel);
  r.Add("SelectV2", {}, SelectV2Kernel);
}

}  // namespace tensorbraid::cpu
