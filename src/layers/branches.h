// Selects between a computation for training and one for inference.
#ifndef TENSORBRAID_LAYERS_BRANCHES_H_
#define TENSORBRAID_LAYERS_BRANCHES_H_

#include <functional>
#include <vector>

#include "tensorbraid/layers/layers.h"

namespace tensorbraid::layers {

using Branch = std::function<std::vector<Output>(const std::vector<Output>& inputs)>;

// Returns the outputs of `train(inputs)` or of `infer(inputs)`, as `training` says. If `training` is a tensor, a step
// computes only the branch that the tensor selects (Cond). Both branches must have outputs of the same number and
// dtypes.
std::vector<Output> SelectBranch(const Training& training, const std::vector<Output>& inputs, const Branch& train,
                                 const Branch& infer);

}  // namespace tensorbraid::layers

#endif  // TENSORBRAID_LAYERS_BRANCHES_H_
