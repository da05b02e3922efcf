// The L2Loss op.
#include <vector>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/functors.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Half the sum of squares.
template <typename T>
Status L2LossKernel(KernelContext& ctx) {
  using A = ComputeType<T>;
  const Tensor& in = ctx.input(0);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape()));
  const T* x = in.data<T>().data();
  constexpr int64_t kPiece = 1 << 14;
  const int64_t pieces = (in.num_elements() + kPiece - 1) / kPiece;
  std::vector<A> sums(pieces, A(0));
  Parallel(ctx, pieces, 0.3 * kPiece, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      A lanes[16] = {};
      const int64_t stop = std::min(in.num_elements(), (p + 1) * kPiece);
      int64_t i = p * kPiece;
      for (; i + 16 <= stop; i += 16) {
        for (int l = 0; l < 16; ++l) lanes[l] += static_cast<A>(x[i + l]) * static_cast<A>(x[i + l]);
      }
      for (; i < stop; ++i) lanes[0] += static_cast<A>(x[i]) * static_cast<A>(x[i]);
      for (A lane : lanes) sums[p] += lane;
    }
  });
  A total = 0;
  for (A s : sums) total += s;
  out->inplace_data<T>()[0] = static_cast<T>(total / A(2));
  return OkStatus();
}

template <typename... T>
void AddL2Loss(KernelRegistry& r, Types<T...>) {
  (r.Add("L2Loss", {{"T", {DTypeOf<T>::value}}}, L2LossKernel<T>), ...);
}

}  // namespace

void RegisterNnL2LossKernels(KernelRegistry& r) { AddL2Loss(r, FloatTypes{}); }

}  // namespace tensorbraid::cpu
