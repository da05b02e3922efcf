// The arithmetic of one row of LSTM cells, forward and backward. The loops are vectorised. A is float or double.
#ifndef TENSORBRAID_KERNELS_CPU_RNN_LSTM_GATES_H_
#define TENSORBRAID_KERNELS_CPU_RNN_LSTM_GATES_H_

#include <cstdint>
#include <limits>

#include "kernels/cpu/vector_math.h"

namespace tensorbraid::cpu {

// Estimated costs of the arithmetic of one cell.
constexpr double kLstmForwardNs = 3;
constexpr double kLstmBackwardNs = 2;

struct LstmSizes {
  int64_t steps, batch, inputs, cells;
};

// The order of the gates in w and b: input, cell input, forget, output; or input, forget, cell input, output.
enum class GateOrder { kIcfo, kIfco };

struct LstmOptions {
  double forget_bias = 0;
  double cell_clip = 0;  // cells are clipped to [-cell_clip, cell_clip] if this is positive
  bool peephole = false;
  GateOrder order = GateOrder::kIcfo;
};

// Where each gate begins in a row of 4 * cells elements.
struct GateOffsets {
  GateOffsets(GateOrder order, int64_t cells)
      : i(0),
        ci(order == GateOrder::kIcfo ? cells : 2 * cells),
        f(order == GateOrder::kIcfo ? 2 * cells : cells),
        o(3 * cells) {}
  int64_t i, ci, f, o;
};

// wci, wcf and wco are the peephole weights of the gates i, f and o.
template <typename A>
struct LstmParameters {
  const A *w, *wci, *wcf, *wco, *b;
};

// The values of some rows of cells: the gates i, f and o, the cell input ci, the cell state cs, co = tanh(cs) and the
// output h. F is A or const A. `h` is null where it is not needed.
template <typename F>
struct LstmRows {
  F *i, *cs, *f, *o, *ci, *co, *h;
  LstmRows From(int64_t at) const {
    return {i + at, cs + at, f + at, o + at, ci + at, co + at, h == nullptr ? nullptr : h + at};
  }
};

// Computes one row of cells. `product` is the row of [x, h_prev] * w. The pointers must not overlap.
template <bool kPeephole, typename A>
void LstmForwardRow(const LstmOptions& options, const GateOffsets& at, int64_t cells, const LstmParameters<A>& p,
                    const A* __restrict product, const A* __restrict cs_prev, const LstmRows<A>& out) {
  const A clip = options.cell_clip > 0 ? A(options.cell_clip) : std::numeric_limits<A>::infinity();
  const A forget_bias = A(options.forget_bias);
  A* __restrict i_out = out.i, * __restrict cs_out = out.cs, * __restrict f_out = out.f, * __restrict o_out = out.o;
  A* __restrict ci_out = out.ci, * __restrict co_out = out.co, * __restrict h_out = out.h;
  const A* __restrict b = p.b, * __restrict wci = p.wci, * __restrict wcf = p.wcf, * __restrict wco = p.wco;
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    A i = product[at.i + k] + b[at.i + k];
    A f = product[at.f + k] + b[at.f + k] + forget_bias;
    if constexpr (kPeephole) {
      i += cs_prev[k] * wci[k];
      f += cs_prev[k] * wcf[k];
    }
    i = VectorSigmoid(i);
    f = VectorSigmoid(f);
    const A ci = VectorTanh(product[at.ci + k] + b[at.ci + k]);
    A cs = i * ci + f * cs_prev[k];
    cs = cs > clip ? clip : cs;
    cs = cs < -clip ? -clip : cs;
    A o = product[at.o + k] + b[at.o + k];
    if constexpr (kPeephole) o += cs * wco[k];
    o = VectorSigmoid(o);
    const A co = VectorTanh(cs);
    i_out[k] = i;
    f_out[k] = f;
    ci_out[k] = ci;
    cs_out[k] = cs;
    o_out[k] = o;
    co_out[k] = co;
    h_out[k] = o * co;
  }
}

// Computes the derivative of the gates before their activation, and in `dcs` the derivative of the previous cells.
// `cs_grad` and `h_grad` are the derivatives of the cells and of h. If kLater, the derivatives that the next step
// passes back, the initial `dcs` and `dh`, are added to them. If kClip, cells that were clipped pass nothing on.
template <bool kPeephole, bool kClip, bool kLater, typename A>
void LstmBackwardRow(const LstmOptions& options, const GateOffsets& at, int64_t cells, const LstmParameters<A>& p,
                     const A* __restrict cs_prev, const LstmRows<const A>& a, const A* __restrict cs_grad,
                     const A* __restrict h_grad, const A* __restrict dh, A* __restrict dcs, A* __restrict dgates) {
  [[maybe_unused]] const A clip = A(options.cell_clip);
  [[maybe_unused]] const A* __restrict cs_in = a.cs;
  const A* __restrict i_in = a.i, * __restrict f_in = a.f, * __restrict o_in = a.o, * __restrict ci_in = a.ci;
  const A* __restrict co_in = a.co, * __restrict wci = p.wci, * __restrict wcf = p.wcf, * __restrict wco = p.wco;
#pragma GCC ivdep
  for (int64_t k = 0; k < cells; ++k) {
    const A i = i_in[k], f = f_in[k], o = o_in[k], ci = ci_in[k], co = co_in[k];
    A d_h = h_grad[k], d_cs = cs_grad[k];
    if constexpr (kLater) {
      d_h += dh[k];
      d_cs += dcs[k];
    }
    const A d_o = o * (A(1) - o) * d_h * co;
    d_cs += (A(1) - co * co) * d_h * o;
    if constexpr (kPeephole) d_cs += d_o * wco[k];
    if constexpr (kClip) d_cs = cs_in[k] >= clip || cs_in[k] <= -clip ? A(0) : d_cs;
    const A d_ci = (A(1) - ci * ci) * d_cs * i;
    const A d_f = f * (A(1) - f) * d_cs * cs_prev[k];
    const A d_i = i * (A(1) - i) * d_cs * ci;
    A d_prev = d_cs * f;
    if constexpr (kPeephole) d_prev += d_i * wci[k] + d_f * wcf[k];
    dgates[at.i + k] = d_i;
    dgates[at.ci + k] = d_ci;
    dgates[at.f + k] = d_f;
    dgates[at.o + k] = d_o;
    dcs[k] = d_prev;
  }
}

// Chooses the instance of LstmForwardRow or LstmBackwardRow that is compiled for these options.
template <typename A>
auto LstmForwardRowOf(const LstmOptions& options) {
  return options.peephole ? LstmForwardRow<true, A> : LstmForwardRow<false, A>;
}
template <typename A>
auto LstmBackwardRowOf(const LstmOptions& options, bool later) {
  const auto choose = [&]<bool kPeephole, bool kClip>() {
    return later ? LstmBackwardRow<kPeephole, kClip, true, A> : LstmBackwardRow<kPeephole, kClip, false, A>;
  };
  if (options.cell_clip > 0) {
    return options.peephole ? choose.template operator()<true, true>() : choose.template operator()<false, true>();
  }
  return options.peephole ? choose.template operator()<true, false>() : choose.template operator()<false, false>();
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RNN_LSTM_GATES_H_
