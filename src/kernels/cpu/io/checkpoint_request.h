// What the kernels share that save tensors to checkpoints and restore them.
#ifndef TENSORBRAID_KERNELS_CPU_IO_CHECKPOINT_REQUEST_H_
#define TENSORBRAID_KERNELS_CPU_IO_CHECKPOINT_REQUEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/bundle_reader.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

// Inputs 0 to 2 of SaveV2 and RestoreV2.
struct CheckpointRequest {
  std::string prefix;
  std::span<const std::string> names;
  std::span<const std::string> slices;
};
// InvalidArgument if they do not name so many tensors.
StatusOr<CheckpointRequest> ReadCheckpointRequest(KernelContext& ctx, int num_tensors);

// The indices of the names in lexicographic order, which is often their order in the file.
std::vector<size_t> OrderByName(std::span<const std::string> names);

// Reads a tensor, or the slice of one that `slice` describes in the form of RestoreV2 if it is not "". NotFound if the
// checkpoint has no tensor of this name; InvalidArgument if it has another dtype, or another shape than `slice` says.
StatusOr<Tensor> RestoreOne(BundleReader& reader, const std::string& name, const std::string& slice, DType dtype);

// The kernel of RestoreV2, which ignores inputs that follow the first three.
Status RestoreTensors(KernelContext& ctx);

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_IO_CHECKPOINT_REQUEST_H_
