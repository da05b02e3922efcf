#include "kernels/cpu/elementwise.h"

#include <algorithm>
#include <atomic>

namespace tensorbraid::cpu {
namespace {

// A dimension of a broadcast operation: its size, and the step of each operand in elements (0 if it is broadcast).
struct Axis {
  int64_t size;
  int64_t a_step;
  int64_t b_step;
};

// The axes of the result, innermost last. Adjacent axes are merged if the layout of both operands allows it.
absl::InlinedVector<Axis, 4> MergedAxes(const Shape& a, const Shape& b, const Shape& out) {
  absl::InlinedVector<Axis, 4> axes;  // innermost first while building
  int64_t a_step = 1, b_step = 1;
  for (int i = 1; i <= out.rank(); ++i) {
    const int64_t size = out.dim(out.rank() - i);
    if (size == 1) continue;
    const int64_t a_dim = i <= a.rank() ? a.dim(a.rank() - i) : 1;
    const int64_t b_dim = i <= b.rank() ? b.dim(b.rank() - i) : 1;
    const Axis axis{size, a_dim == 1 ? 0 : a_step, b_dim == 1 ? 0 : b_step};
    a_step *= a_dim;
    b_step *= b_dim;
    if (!axes.empty()) {
      Axis& inner = axes.back();
      if (axis.a_step == inner.a_step * inner.size && axis.b_step == inner.b_step * inner.size) {
        inner.size *= size;
        continue;
      }
    }
    axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  std::reverse(axes.begin(), axes.end());
  return axes;
}

// Runs the loop over n elements. According to `spread`, one operand may be a single element.
Status RunFlat(KernelContext& ctx, const BinaryLoop& loop, const char* a, const char* b, char* out, int64_t n,
               Spread spread) {
  const int64_t a_size = spread == Spread::kLeft ? 0 : loop.in_size;
  const int64_t b_size = spread == Spread::kRight ? 0 : loop.in_size;
  std::atomic<bool> ok{true};
  Parallel(ctx, n, loop.cost_ns, [&](int64_t begin, int64_t end) {
    if (!loop.row(a + begin * a_size, b + begin * b_size, out + begin * loop.out_size, end - begin, spread)) {
      ok.store(false, std::memory_order_relaxed);
    }
  });
  return ok ? OkStatus() : InvalidArgument(loop.refusal);
}

// Runs the loop over each row of the innermost axis.
Status RunAxes(KernelContext& ctx, const BinaryLoop& loop, absl::InlinedVector<Axis, 4> axes, const char* a,
               const char* b, char* out) {
  const Axis inner = axes.back();
  axes.pop_back();
  int64_t rows = 1;
  for (const Axis& axis : axes) rows *= axis.size;
  const Spread spread = inner.a_step == 0 ? Spread::kLeft : inner.b_step == 0 ? Spread::kRight : Spread::kNone;
  std::atomic<bool> ok{true};
  Parallel(ctx, rows, 4 + inner.size * loop.cost_ns, [&](int64_t begin, int64_t end) {
    absl::InlinedVector<int64_t, 4> index(axes.size(), 0);
    int64_t a_at = 0, b_at = 0, rest = begin;
    for (int d = static_cast<int>(axes.size()) - 1; d >= 0; --d) {
      index[d] = rest % axes[d].size;
      rest /= axes[d].size;
      a_at += index[d] * axes[d].a_step;
      b_at += index[d] * axes[d].b_step;
    }
    for (int64_t row = begin; row < end; ++row) {
      if (!loop.row(a + a_at * loop.in_size, b + b_at * loop.in_size, out + row * inner.size * loop.out_size,
                    inner.size, spread)) {
        ok.store(false, std::memory_order_relaxed);
        return;
      }
      for (int d = static_cast<int>(axes.size()) - 1; d >= 0; --d) {
        a_at += axes[d].a_step;
        b_at += axes[d].b_step;
        if (++index[d] < axes[d].size) break;
        a_at -= axes[d].a_step * axes[d].size;
        b_at -= axes[d].b_step * axes[d].size;
        index[d] = 0;
      }
    }
  });
  return ok ? OkStatus() : InvalidArgument(loop.refusal);
}

const char* Bytes(const Tensor& t) { return static_cast<const char*>(t.raw_data()); }

}  // namespace

void Parallel(KernelContext& ctx, int64_t total, double cost_ns, absl::FunctionRef<void(int64_t, int64_t)> body) {
  if (total * cost_ns < 40'000 || ctx.env().pool == nullptr) {
    if (total > 0) body(0, total);
    return;
  }
  ctx.pool().ParallelFor(total, cost_ns, body);
}

Status RunBinary(KernelContext& ctx, const BinaryLoop& loop) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  if (a.shape() == b.shape()) return RunSameShape(ctx, loop);
  const int64_t na = a.num_elements();
  const int64_t nb = b.num_elements();
  if (nb == 1 && b.shape().rank() <= a.shape().rank()) {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, a.shape()));
    return RunFlat(ctx, loop, Bytes(a), Bytes(b), static_cast<char*>(out->inplace_raw_data()), na, Spread::kRight);
  }
  if (na == 1 && a.shape().rank() <= b.shape().rank()) {
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({1}, 0, b.shape()));
    return RunFlat(ctx, loop, Bytes(a), Bytes(b), static_cast<char*>(out->inplace_raw_data()), nb, Spread::kLeft);
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(a.shape(), b.shape()));
  const int64_t n = shape.num_elements();
  // An operand as large as the result is read in the order of the result, so the result may reuse its buffer.
  Tensor* out;
  if (na == n) {
    TF_ASSIGN_OR_RETURN(out, ctx.ForwardOrAllocateOutput({0}, 0, shape));
  } else if (nb == n) {
    TF_ASSIGN_OR_RETURN(out, ctx.ForwardOrAllocateOutput({1}, 0, shape));
  } else {
    TF_ASSIGN_OR_RETURN(out, ctx.AllocateOutput(0, shape));
  }
  if (n == 0) return OkStatus();
  return RunAxes(ctx, loop, MergedAxes(a.shape(), b.shape(), shape), Bytes(a), Bytes(b),
                 static_cast<char*>(out->inplace_raw_data()));
}

Status RunSameShape(KernelContext& ctx, const BinaryLoop& loop) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  if (a.shape() != b.shape()) {
    return InvalidArgument("inputs must have the same shape, got ", a.shape(), " and ", b.shape());
  }
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0, 1}, 0, a.shape()));
  return RunFlat(ctx, loop, Bytes(a), Bytes(b), static_cast<char*>(out->inplace_raw_data()), a.num_elements(),
                 Spread::kNone);
}

Status RunUnary(KernelContext& ctx, UnaryRow row, int in_size, int out_size, double cost_ns) {
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocateOutput({0}, 0, in.shape()));
  const char* from = Bytes(in);
  char* to = static_cast<char*>(out->inplace_raw_data());
  Parallel(ctx, in.num_elements(), cost_ns,
           [&](int64_t begin, int64_t end) { row(from + begin * in_size, to + begin * out_size, end - begin); });
  return OkStatus();
}

}  // namespace tensorbraid::cpu
