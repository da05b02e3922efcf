// What the kernels of whole sequences share. x is [time, batch, inputs], states are [batch, cells], and the results of
// all steps are [time, batch, cells]. Only the first `steps` steps are computed; later results are 0.
#ifndef TENSORBRAID_KERNELS_CPU_RNN_SEQUENCE_H_
#define TENSORBRAID_KERNELS_CPU_RNN_SEQUENCE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/rnn/floats.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

struct SequenceSizes {
  int64_t time = 0, steps = 0, batch = 0, inputs = 0, cells = 0;

  int64_t rows() const { return steps * batch; }   // of all steps together
  int64_t state() const { return batch * cells; }  // elements of one state
  bool empty() const { return state() == 0; }      // nothing to compute, but perhaps a huge number of steps
};

// Checks and returns the number of steps to compute: the scalar in input 0.
inline StatusOr<int64_t> StepsToRun(KernelContext& ctx, int64_t time) {
  const Tensor& max = ctx.input(0);
  if (!max.shape().is_scalar()) return InvalidArgument("seq_len_max must be a scalar, got shape ", max.shape());
  const int64_t steps = max.scalar<int64_t>();
  if (steps < 0 || steps > time) {
    return InvalidArgument("seq_len_max must be between 0 and ", time, " but is ", steps);
  }
  return steps;
}

// Checks inputs 0 to 2: seq_len_max, x and h_prev.
inline StatusOr<SequenceSizes> CheckSequence(KernelContext& ctx) {
  const Shape& x = ctx.input(1).shape();
  const Shape& h_prev = ctx.input(2).shape();
  if (x.rank() != 3) return InvalidArgument("x must have shape [time, batch, inputs], got ", x);
  if (h_prev.rank() != 2) return InvalidArgument("h_prev must have shape [batch, cells], got ", h_prev);
  SequenceSizes s{.time = x.dim(0), .batch = x.dim(1), .inputs = x.dim(2), .cells = h_prev.dim(1)};
  if (s.cells > (int64_t{1} << 40)) return InvalidArgument("h_prev ", h_prev, " has too many cells");
  // An x without elements may have huge sizes, whose product would overflow.
  if (s.batch > 0 && s.time > (int64_t{1} << 40) / s.batch) return InvalidArgument("x ", x, " has too many rows");
  TF_RETURN_IF_ERROR(CheckShape("h_prev", ctx.input(2), {s.batch, s.cells}, "[batch, cells]"));
  TF_ASSIGN_OR_RETURN(s.steps, StepsToRun(ctx, s.time));
  return s;
}

// Checks that input `i` is [time, batch, cells].
inline Status CheckStates(KernelContext& ctx, const SequenceSizes& s, const char* name, int i) {
  return CheckShape(name, ctx.input(i), {s.time, s.batch, s.cells}, "[time, batch, cells]");
}

// The inputs from `first` to `first + count`, converted to the type in which they are computed.
template <typename T>
Status InputsAsFloats(KernelContext& ctx, int first, int count, std::vector<Tensor>* out) {
  for (int i = 0; i < count; ++i) {
    TF_ASSIGN_OR_RETURN(Tensor wide, AsFloats<T>(ctx, ctx.input(first + i)));
    out->push_back(std::move(wide));
  }
  return OkStatus();
}

// Allocates outputs 0, 1, ... of the given shapes.
template <typename T>
Status AllocateOutputs(KernelContext& ctx, const std::vector<Shape>& shapes, std::vector<FloatOutput<T>>* out) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    TF_ASSIGN_OR_RETURN(FloatOutput<T> one, FloatOutput<T>::Allocate(ctx, static_cast<int>(i), shapes[i]));
    out->push_back(std::move(one));
  }
  return OkStatus();
}

template <typename T>
void FinishAll(std::vector<FloatOutput<T>>& outputs) {
  for (FloatOutput<T>& out : outputs) out.Finish();
}

template <typename T>
void SetToZero(std::vector<FloatOutput<T>>& outputs) {
  for (FloatOutput<T>& out : outputs) std::fill_n(out.data(), out.size(), 0);
  FinishAll(outputs);
}

// A temporary tensor [rows, columns] of the type in which elements of type T are computed.
template <typename T>
StatusOr<Tensor> Scratch(KernelContext& ctx, int64_t rows, int64_t columns) {
  return ctx.AllocateTemp(DTypeOf<ComputeType<T>>::value, {rows, columns});
}

// Copies the states before each step to `previous`: the first one, then those after all steps but the last.
template <typename A>
void PreviousStates(const SequenceSizes& s, const A* first, const A* all, A* previous) {
  if (s.steps == 0) return;
  previous = std::copy_n(first, s.state(), previous);
  std::copy_n(all, (s.steps - 1) * s.state(), previous);
}

// Sets everything after the first `steps` steps of `all` [time, batch, columns] to 0.
template <typename A>
void ClearRest(const SequenceSizes& s, int64_t columns, A* all) {
  std::fill(all + s.rows() * columns, all + s.time * s.batch * columns, A(0));
}

// out[k] = sum over rows of x[row, k] (* y[row, k] unless y is null), for k from `from` to `to`. Row lengths of x and y
// are given. If `add`, adds to `out`.
template <typename A>
void SumColumns(int64_t rows, int64_t from, int64_t to, const A* x, int64_t x_row, const A* y, int64_t y_row, bool add,
                A* out) {
  if (!add) std::fill(out + from, out + to, A(0));
  for (int64_t r = 0; r < rows; ++r) {
    const A* a = x + r * x_row;
    if (y == nullptr) {
      for (int64_t k = from; k < to; ++k) out[k] += a[k];
    } else {
      const A* b = y + r * y_row;
      for (int64_t k = from; k < to; ++k) out[k] += a[k] * b[k];
    }
  }
}

// Like SumColumns, for all columns. Threads share the columns, so the result does not depend on the number of threads.
template <typename A>
void SumRows(KernelContext& ctx, int64_t rows, int64_t columns, const A* x, int64_t x_row, const A* y, int64_t y_row,
             A* out) {
  constexpr int64_t kBlock = 64;
  Parallel(ctx, (columns + kBlock - 1) / kBlock, 0.2 * rows * kBlock, [&](int64_t begin, int64_t end) {
    SumColumns(rows, begin * kBlock, std::min(columns, end * kBlock), x, x_row, y, y_row, /*add=*/false, out);
  });
}

// The gradient of weights [inputs + cells, columns] that multiply [x, state]: `bar` [rows, columns] is the derivative
// of the product.
template <typename A>
void WeightGradient(KernelContext& ctx, const SequenceSizes& s, int64_t columns, const A* x, const A* state,
                    const A* bar, A* out) {
  Gemm(&ctx.pool(), /*transpose_a=*/true, /*transpose_b=*/false, s.inputs, columns, s.rows(), x, bar, out);
  Gemm(&ctx.pool(), /*transpose_a=*/true, /*transpose_b=*/false, s.cells, columns, s.rows(), state, bar,
       out + s.inputs * columns);
}

// The number of rows of x, input number `x` of the kernel, in all steps; 0 if it is not known.
inline double SequenceRows(const CostContext& c, int x) {
  const double inputs = c.input_dim(x, -1);
  return inputs > 0 ? c.input_elements(x) / inputs : 0;
}

// The cost of kProducts products of each row of x (input number kX) with each of the weights (inputs number kWeights).
// These products take most of the time of a sequence.
template <int kProducts, int kX, int... kWeights>
Cost SequenceCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  cost.flops = kProducts * 2 * SequenceRows(c, kX) * (c.input_elements(kWeights) + ...);
  return cost;
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RNN_SEQUENCE_H_
