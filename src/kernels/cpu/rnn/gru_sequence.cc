// The GRU over whole sequences, and its gradient.
//
// x is known for all steps, so its products with the weights are computed for all steps at once. Only the products with
// the state are computed step by step. The gradients of x and of the weights are also computed for all steps at once.
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/rnn/sequence.h"
#include "kernels/cpu/vector_math.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Checks the inputs seq_len_max, x, h_prev, w_ru, w_c, b_ru, b_c.
StatusOr<SequenceSizes> CheckGruSequence(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const SequenceSizes s, CheckSequence(ctx));
  TF_RETURN_IF_ERROR(
      CheckShape("w_ru", ctx.input(3), {s.inputs + s.cells, 2 * s.cells}, "[inputs + cells, 2 * cells]"));
  TF_RETURN_IF_ERROR(CheckShape("w_c", ctx.input(4), {s.inputs + s.cells, s.cells}, "[inputs + cells, cells]"));
  TF_RETURN_IF_ERROR(CheckShape("b_ru", ctx.input(5), {2 * s.cells}, "[2 * cells]"));
  TF_RETURN_IF_ERROR(CheckShape("b_c", ctx.input(6), {s.cells}, "[cells]"));
  return s;
}

// r, u = sigmoid([x, h_prev] w_ru + b_ru); c = tanh([x, r h_prev] w_c + b_c); h = u h_prev + (1 - u) c.
template <typename T>
Status BlockGru(KernelContext& ctx) {
  using A = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(const SequenceSizes s, CheckGruSequence(ctx));
  std::vector<FloatOutput<T>> out;  // r, u, c, h
  TF_RETURN_IF_ERROR(AllocateOutputs<T>(ctx, std::vector<Shape>(4, {s.time, s.batch, s.cells}), &out));
  if (s.empty()) return OkStatus();
  std::vector<Tensor> in;
  TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 6, &in));
  const auto input = [&](int i) { return in[i - 1].template data<A>().data(); };
  TF_ASSIGN_OR_RETURN(Tensor x_gates, Scratch<T>(ctx, s.rows(), 2 * s.cells));
  TF_ASSIGN_OR_RETURN(Tensor h_gates, Scratch<T>(ctx, s.batch, 2 * s.cells));
  TF_ASSIGN_OR_RETURN(Tensor reset, Scratch<T>(ctx, s.batch, s.cells));
  TF_ASSIGN_OR_RETURN(Tensor h_candidate, Scratch<T>(ctx, s.batch, s.cells));
  A *const ru_x = x_gates.inplace_data<A>().data(), *const ru_h = h_gates.inplace_data<A>().data(),
           *const hr = reset.inplace_data<A>().data(), *const c_h = h_candidate.inplace_data<A>().data();
  const A *const w_ru = input(3), *const w_c = input(4), *const b_ru = input(5), *const b_c = input(6);
  const int64_t cells = s.cells;
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.rows(), 2 * cells, s.inputs, input(1), w_ru, ru_x);
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.rows(), cells, s.inputs, input(1), w_c,
       out[2].data());
  const A* h_prev = input(2);
  for (int64_t t = 0; t < s.steps; ++t) {
    const int64_t now = t * s.state();
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.batch, 2 * cells, cells, h_prev,
         w_ru + s.inputs * 2 * cells, ru_h);
    Parallel(ctx, s.batch, 2.0 * cells, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        A *const r = out[0].data() + now + row * cells, *const u = out[1].data() + now + row * cells;
        const A *const one = ru_x + 2 * (now + row * cells), *const other = ru_h + 2 * row * cells;
#pragma GCC ivdep
        for (int64_t k = 0; k < cells; ++k) {
          r[k] = VectorSigmoid(one[k] + other[k] + b_ru[k]);
          u[k] = VectorSigmoid(one[cells + k] + other[cells + k] + b_ru[cells + k]);
          hr[row * cells + k] = r[k] * h_prev[row * cells + k];
        }
      }
    });
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/false, s.batch, cells, cells, hr, w_c + s.inputs * cells,
         c_h);
    Parallel(ctx, s.batch, 1.5 * cells, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const A *const u = out[1].data() + now + row * cells, *const from_h = c_h + row * cells,
                       *const before = h_prev + row * cells;
        A *const c = out[2].data() + now + row * cells, *const h = out[3].data() + now + row * cells;
#pragma GCC ivdep
        for (int64_t k = 0; k < cells; ++k) {
          c[k] = VectorTanh(c[k] + from_h[k] + b_c[k]);
          h[k] = u[k] * (before[k] - c[k]) + c[k];
        }
      }
    });
    h_prev = out[3].data() + now;
  }
  for (FloatOutput<T>& one : out) ClearRest(s, cells, one.data());
  FinishAll(out);
  return OkStatus();
}

// The gradients of x, h_prev, w_ru, w_c, b_ru and b_c. Inputs: those of BlockGru, its outputs, and the derivative of h.
template <typename T>
Status BlockGruGrad(KernelContext& ctx) {
  using A = ComputeType<T>;
  TF_ASSIGN_OR_RETURN(const SequenceSizes s, CheckGruSequence(ctx));
  constexpr const char* kNames[] = {"r", "u", "c", "h", "h_grad"};
  for (int i = 0; i < 5; ++i) TF_RETURN_IF_ERROR(CheckStates(ctx, s, kNames[i], 7 + i));
  std::vector<Shape> shapes;
  for (int i = 1; i <= 6; ++i) shapes.push_back(ctx.input(i).shape());
  std::vector<FloatOutput<T>> out;
  TF_RETURN_IF_ERROR(AllocateOutputs<T>(ctx, shapes, &out));
  if (s.empty()) {
    SetToZero(out);
    return OkStatus();
  }
  std::vector<Tensor> in;
  TF_RETURN_IF_ERROR(InputsAsFloats<T>(ctx, 1, 11, &in));
  const auto input = [&](int i) { return in[i - 1].template data<A>().data(); };
  const int64_t cells = s.cells;
  TF_ASSIGN_OR_RETURN(Tensor gates_bar, Scratch<T>(ctx, s.rows(), 2 * cells));
  TF_ASSIGN_OR_RETURN(Tensor candidate_bar, Scratch<T>(ctx, s.rows(), cells));
  TF_ASSIGN_OR_RETURN(Tensor before, Scratch<T>(ctx, s.rows(), cells));
  TF_ASSIGN_OR_RETURN(Tensor reset, Scratch<T>(ctx, s.rows(), cells));
  TF_ASSIGN_OR_RETURN(Tensor reset_grad, Scratch<T>(ctx, s.batch, cells));
  TF_ASSIGN_OR_RETURN(Tensor state_grad, Scratch<T>(ctx, s.batch, cells));
  TF_ASSIGN_OR_RETURN(Tensor more_x_grad, Scratch<T>(ctx, s.rows(), s.inputs));
  A *const ru_bar = gates_bar.inplace_data<A>().data(), *const c_bar = candidate_bar.inplace_data<A>().data(),
           *const h_before = before.inplace_data<A>().data(), *const hr = reset.inplace_data<A>().data(),
           *const d_hr = reset_grad.inplace_data<A>().data(), *const by_ru = state_grad.inplace_data<A>().data();
  const A *const w_ru = input(3), *const w_c = input(4);
  PreviousStates(s, input(2), input(10), h_before);
  A* const d_h = out[1].data();  // the derivative of the state, carried from step to step
  std::fill_n(d_h, s.state(), A(0));
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    const int64_t now = t * s.state();
    const A *const r = input(7) + now, *const u = input(8) + now, *const c = input(9) + now,
                   *const h_grad = input(11) + now, *const h_prev = h_before + now;
    Parallel(ctx, s.batch, 1.0 * cells, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        A* const u_bar = ru_bar + 2 * (now + row * cells) + cells;
        const int64_t at = row * cells;
#pragma GCC ivdep
        for (int64_t k = 0; k < cells; ++k) {
          const A g = d_h[at + k] + h_grad[at + k], one_less_u = A(1) - u[at + k];
          d_h[at + k] = g;
          c_bar[now + at + k] = g * one_less_u * (A(1) - c[at + k] * c[at + k]);
          u_bar[k] = g * (h_prev[at + k] - c[at + k]) * u[at + k] * one_less_u;
        }
      }
    });
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.batch, cells, cells, c_bar + now,
         w_c + s.inputs * cells, d_hr);
    Parallel(ctx, s.batch, 1.0 * cells, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        A* const r_bar = ru_bar + 2 * (now + row * cells);
        const int64_t at = row * cells;
#pragma GCC ivdep
        for (int64_t k = 0; k < cells; ++k) {
          hr[now + at + k] = r[at + k] * h_prev[at + k];
          r_bar[k] = d_hr[at + k] * h_prev[at + k] * r[at + k] * (A(1) - r[at + k]);
        }
      }
    });
    Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.batch, cells, 2 * cells, ru_bar + 2 * now,
         w_ru + s.inputs * 2 * cells, by_ru);
    Parallel(ctx, s.state(), 0.5, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
      for (int64_t k = begin; k < end; ++k) d_h[k] = d_h[k] * u[k] + d_hr[k] * r[k] + by_ru[k];
    });
  }
  A *const dx = out[0].data(), *const more_dx = more_x_grad.inplace_data<A>().data();
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.rows(), s.inputs, 2 * cells, ru_bar, w_ru, dx);
  Gemm(&ctx.pool(), /*transpose_a=*/false, /*transpose_b=*/true, s.rows(), s.inputs, cells, c_bar, w_c, more_dx);
  Parallel(ctx, s.rows() * s.inputs, 0.3, [&](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t k = begin; k < end; ++k) dx[k] += more_dx[k];
  });
  ClearRest(s, s.inputs, dx);
  WeightGradient(ctx, s, 2 * cells, input(1), h_before, ru_bar, out[2].data());
  WeightGradient(ctx, s, cells, input(1), hr, c_bar, out[3].data());
  SumRows<A>(ctx, s.rows(), 2 * cells, ru_bar, 2 * cells, /*y=*/nullptr, /*y_row=*/0, out[4].data());
  SumRows<A>(ctx, s.rows(), cells, c_bar, cells, /*y=*/nullptr, /*y_row=*/0, out[5].data());
  FinishAll(out);
  return OkStatus();
}

}  // namespace

void RegisterRnnGruSequenceKernels(KernelRegistry& r) {
  ForEachType<float, double, Float16, Bfloat16>([&]<typename T>() {
    const TypeConstraints types = {{"T", {DTypeOf<T>::value}}};
    r.Add("_BlockGRU", types, BlockGru<T>, SequenceCost<1, 1, 3, 4>);
    r.Add("_BlockGRUGrad", types, BlockGruGrad<T>, SequenceCost<2, 1, 3, 4>);
  });
}

}  // namespace tensorbraid::cpu
