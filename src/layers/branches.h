// Two versions of a computation, of which a step runs the one that a bool tensor selects.
#ifndef TENSORBRAID_LAYERS_BRANCHES_H_
#define TENSORBRAID_LAYERS_BRANCHES_H_

#include <functional>
#include <vector>

#include "tensorbraid/layers/layers.h"

namespace tensorbraid::layers {

using Branch = std::function<std::vector<Output>(const std::vector<Output>& inputs)>;

// The outputs of `train(inputs)` or of `infer(inputs)`, as `training` says. If it is a tensor, a step computes only the
// branch that it selects (Switch and Merge). A branch must not use other tensors than its inputs and constants that it
// adds, and gives the same number of outputs, of the same dtypes, as the other one.
std::vector<Output> SelectBranch(const Training& training, const std::vector<Output>& inputs, const Branch& train,
                                 const Branch& infer);

}  // namespace tensorbraid::layers

#endif  // TENSORBRAID_LAYERS_BRANCHES_H_
