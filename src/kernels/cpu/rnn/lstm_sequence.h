// A sequence of LSTM cells, forward and backward. A is float or double.
//
// The rows of a batch do not depend on each other. Each thread computes some rows over all steps, so that no thread
// waits for another one between two steps. How the rows are divided depends only on the sizes.
#ifndef TENSORBRAID_KERNELS_CPU_RNN_LSTM_SEQUENCE_H_
#define TENSORBRAID_KERNELS_CPU_RNN_LSTM_SEQUENCE_H_

#include "kernels/cpu/rnn/lstm_gates.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// x is [steps, batch, inputs], cs_prev and h_prev are [batch, cells].
template <typename A>
struct LstmSequence {
  LstmSizes sizes;
  LstmOptions options;
  LstmParameters<A> parameters;
  const A *x, *cs_prev, *h_prev;
};

// Computes `out`, seven arrays [steps, batch, cells]. Returns ResourceExhausted if scratch memory cannot be allocated.
template <typename A>
Status LstmForward(KernelContext& ctx, const LstmSequence<A>& s, const LstmRows<A>& out);

// Each gradient has the shape of its value. If `x` is null, its gradient is not computed.
template <typename A>
struct LstmGradients {
  A *x = nullptr, *cs_prev = nullptr, *h_prev = nullptr, *w = nullptr;
  A *wci = nullptr, *wcf = nullptr, *wco = nullptr, *b = nullptr;
};

// Computes `out`. `a` has the results of LstmForward; cs_grad and h_grad are the gradients of cs and h. Returns
// ResourceExhausted if scratch memory cannot be allocated.
template <typename A>
Status LstmBackward(KernelContext& ctx, const LstmSequence<A>& s, const LstmRows<const A>& a, const A* cs_grad,
                    const A* h_grad, const LstmGradients<A>& out);

// Computes the gradients of the peephole weights: sums over `rows` rows of cells. `dgates` has the derivatives of the
// gates. If `add`, adds to the gradients instead of replacing them.
template <typename A>
void PeepholeGradients(KernelContext& ctx, int64_t rows, int64_t cells, GateOrder order, const A* dgates,
                       const A* cs_prev, const A* cs, bool add, const LstmGradients<A>& out);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RNN_LSTM_SEQUENCE_H_
