// What the kernels of datasets share.
#ifndef TENSORBRAID_KERNELS_CPU_DATASET_UTIL_H_
#define TENSORBRAID_KERNELS_CPU_DATASET_UTIL_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/dataset.h"
#include "runtime/kernel.h"

namespace tensorbraid {

// Makes the dataset that the node describes (its op, output_types and output_shapes) the kernel's output 0.
Status EmitDataset(KernelContext& ctx, const std::vector<RefPtr<Dataset>>& inputs, Dataset::Make make,
                   int64_t cardinality = Dataset::kUnknown);
// The dataset of an input.
StatusOr<RefPtr<Dataset>> InputDataset(const KernelContext& ctx, int i);
// The number, truth or string of a scalar input; InvalidArgument, naming `what`.
StatusOr<int64_t> NumberInput(const KernelContext& ctx, int i, const char* what);
StatusOr<bool> BoolInput(const KernelContext& ctx, int i, const char* what);
StatusOr<std::string> StringInput(const KernelContext& ctx, int i, const char* what);

// A row of a tensor, without copying. REQUIRES: rank >= 1, 0 <= i < dim(0).
Tensor RowOf(const Tensor& t, int64_t i);
// The elements, of one shape, stacked in each component. InvalidArgument when the shapes differ, ResourceExhausted.
StatusOr<Element> StackElements(const std::vector<Element>& elements);
// As many calls at once as a graph asks for, within reason; -1 leaves it to us.
int64_t ParallelCalls(int64_t wanted);

// As Iterator, but keeps state in an object that the lambda may change: std::function wants to be copyable.
template <typename State, typename Pull>
Iterator MakeStateful(State state, Pull pull) {
  auto shared = std::make_shared<State>(std::move(state));
  return [shared, pull = std::move(pull)](const IteratorContext& ctx, Element* out) { return pull(*shared, ctx, out); };
}

void RegisterDatasetSourceKernels(KernelRegistry& r);
void RegisterDatasetShapingKernels(KernelRegistry& r);
void RegisterDatasetBatchKernels(KernelRegistry& r);
void RegisterDatasetShuffleKernels(KernelRegistry& r);
void RegisterDatasetFunctionKernels(KernelRegistry& r);
void RegisterDatasetParallelKernels(KernelRegistry& r);
void RegisterIteratorKernels(KernelRegistry& r);

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_DATASET_UTIL_H_
