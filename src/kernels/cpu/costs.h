// Cost functions of CPU kernels (runtime/kernel/cost.h).
#ifndef TENSORBRAID_KERNELS_CPU_COSTS_H_
#define TENSORBRAID_KERNELS_CPU_COSTS_H_

#include "runtime/kernel/cost.h"

namespace tensorbraid::cpu {

// The number of elements of the largest input or output.
double LargestElements(const CostContext& c);

// DefaultCost, with kPicoseconds of arithmetic per element of the largest input or output.
template <int64_t kPicoseconds>
Cost ElementCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  cost.flops = LargestElements(c) * FlopsOfNs(kPicoseconds / 1000.0);
  return cost;
}
// The cost of an elementwise kernel of functor F, which may have `static constexpr double kCostNs` (per element).
template <typename F>
Cost FunctorCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  if constexpr (requires { F::kCostNs; }) cost.flops = LargestElements(c) * FlopsOfNs(F::kCostNs);
  return cost;
}

Cost ReductionCost(const CostContext& c);    // reads input 0; the outputs are small
Cost ProductCost(const CostContext& c);      // MatMul, BatchMatMul, SparseMatMul, of inputs 0 and 1
Cost ProductSumCost(const CostContext& c);   // the sum of the products a_i * b_i of inputs a_0, a_1, ..., b_0, b_1, ...
Cost ConvolutionCost(const CostContext& c);  // convolutions and their gradients, also depthwise ones
Cost EinsumCost(const CostContext& c);
Cost SparseProductCost(const CostContext& c);  // SparseTensorDenseMatMul
Cost LinalgCost(const CostContext& c);         // cubic algorithms on the matrices of input 0; for solvers, input 1 is B
Cost FourierCost(const CostContext& c);
Cost GatherCost(const CostContext& c);  // copies rows of input 0, which may be a large table, at the indices in input 1
Cost UpdateCost(const CostContext& c);  // for each variable: reads and writes as many elements as the operand has
Cost RowUpdateCost(const CostContext& c);  // reads indices and updates; reads and writes as many bytes of the variable
Cost FileCost(const CostContext& c);       // accesses files, so the kernel may wait for a disk

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_COSTS_H_
