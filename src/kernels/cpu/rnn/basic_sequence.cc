// The basic RNN over whole sequences, and its gradient. The products of x, and the gradients of x and of the weights,
// are computed for all steps at once, as in gru_sequence.cc.
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/rnn/sequence.h"
#include "kernels/cpu/vector_math.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Checks the inputs seq_len_max, x, h_prev, w, b.
StatusOr<SequenceSizes> CheckBasicSequence(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SequenceSizes s, CheckSequence(ctx));
  TF_RETURN_IF_ERROR(CheckShape("w", ctx.input(3), {s.inputs + s.cells, s.cells}, "[inputs + cells, cells]"));
  TF_RETURN_IF_ERROR(CheckShape("b", ctx.input(4), {s.cells}, "[cells]"));
  return s;
}

// h = tanh([x, h_prev] w + b).
template <typename T>
Status BlockBasic(KernelContext& ctx) {
  using A = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(const SequenceSizes s, CheckBasicSequence(ctx));
  std::vector<FloatOutput<T>> out;
  TF_RETURN_IF_ERROR(AllocateOutputs<T>(ctx, {{s.time, s.batch, s.cells}}, &out));
  if (s.empty()) return OkStatus();
  std::vector<Tensor> in;
  TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 4, &in));
  const auto input = [&](int i) { return in[i - 1].template data<A>().data(); };
  TF_ASSIGN_OR_RETURN(Tensor product, Scratch<T>(ctx, s.batch, s.cells));
  A* const from_h = product.inplace_data<A>().data();
  const A *const w = input(3), *const b = input(4);
  const A* h_prev = input(2);
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.rows(), s.cells, s.inputs, input(1), w,
       out[0].data());
  for (int64_t t = 0; t < s.steps; ++t) {
    A* const h = out[0].data() + t * s.state();  // has the product of x
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.batch, s.cells, s.cells, h_prev,
         w + s.inputs * s.cells, from_h);
    Parallel(ctx, s.batch, 1.0 * s.cells, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * s.cells;
#pragma GCC ivdep
        for (int64_t k = 0; k < s.cells; ++k) h[at + k] = VectorTanh(h[at + k] + from_h[at + k] + b[k]);
      }
    });
    h_prev = h;
  }
  ClearRest(s, s.cells, out[0].data());
  FinishAll(out);
  return OkStatus();
}

// The gradients of x, h_prev, w and b. Inputs: the inputs of BlockBasic, its output h, and the derivative of h.
template <typename T>
Status BlockBasicGrad(KernelContext& ctx) {
  using A = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(const SequenceSizes s, CheckBasicSequence(ctx));
  TF_RETURN_IF_ERROR(CheckStates(ctx, s, "h", 5));
  TF_RETURN_IF_ERROR(CheckStates(ctx, s, "h_grad", 6));
  std::vector<Shape> shapes;
  for (int i = 1; i <= 4; ++i) shapes.push_back(ctx.input(i).shape());
  std::vector<FloatOutput<T>> out;
  TF_RETURN_IF_ERROR(AllocateOutputs<T>(ctx, shapes, &out));
  if (s.empty()) {
    SetToZero(out);
    return OkStatus();
  }
  std::vector<Tensor> in;
  TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 6, &in));
  const auto input = [&](int i) { return in[i - 1].template data<A>().data(); };
  TF_ASSIGN_OR_RETURN(Tensor all_bars, Scratch<T>(ctx, s.rows(), s.cells));
  TF_ASSIGN_OR_RETURN(Tensor before, Scratch<T>(ctx, s.rows(), s.cells));
  A *const bars = all_bars.inplace_data<A>().data(), *const h_before = before.inplace_data<A>().data();
  const A* const w = input(3);
  A* const d_h = out[1].data();  // the derivative of the state, carried from step to step
  std::fill_n(d_h, s.state(), A(0));
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    const int64_t now = t * s.state();
    const A *const h = input(5) + now, *const h_grad = input(6) + now;
    A* const bar = bars + now;
    Parallel(ctx, s.state(), 0.5, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
      for (int64_t k = begin; k < end; ++k) bar[k] = (d_h[k] + h_grad[k]) * (A(1) - h[k] * h[k]);
    });
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.batch, s.cells, s.cells, bar,
         w + s.inputs * s.cells, d_h);
  }
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.rows(), s.inputs, s.cells, bars, w, out[0].data());
  ClearRest(s, s.inputs, out[0].data());
  PreviousStates(s, input(2), input(5), h_before);
  WeightGradient(ctx, s, s.cells, input(1), h_before, bars, out[2].data());
  SumRows<A>(ctx, s.rows(), s.cells, bars, s.cells, /*y=*/nullptr, /*y_row=*/0, out[3].data());
  FinishAll(out);
  return OkStatus();
}

}  // namespace

void RegisterRnnBasicSequenceKernels(KernelRegistry& r) {
  ForEachType<float, double, Float16, Bfloat16>([&]<typename T>() {
    const TypeConstraints types = {{"T", {DTypeOf<T>::value}}};
    r.Add("_BlockRNN", types, BlockBasic<T>, SequenceCost<1, 1, 3>);
    r.Add("_BlockRNNGrad", types, BlockBasicGrad<T>, SequenceCost<2, 1, 3>);
  });
}

}  // namespace tensorbraid::cpu
