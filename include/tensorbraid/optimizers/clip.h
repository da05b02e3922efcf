// Limits for tensors and gradients.
//
//   TF_ASSIGN_OR_RETURN(auto grads, optimizer.ComputeGradients(loss));
//   auto train = optimizer.ApplyGradients(ClipByGlobalNorm(grads, 5.0), {.global_step = global_step});
//
// The norm of a tensor is the square root of the sum of its squared elements. All tensors are floating, except
// that ClipByValue also takes integers. All functions are differentiable. The operations have TensorFlow's values and
// names.
#ifndef TENSORBRAID_OPTIMIZERS_CLIP_H_
#define TENSORBRAID_OPTIMIZERS_CLIP_H_

#include <source_location>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

// min(max(x, low), high). `low` and `high` are scalars or have the shape of x. Any real dtype. Gradient: g, to x where
// x is within the limits, elsewhere to the limit that was used.
Output ClipByValue(const Operand& x, const Operand& low, const Operand& high, const std::string& name = "");

// x if its norm is at most clip_norm, else x * clip_norm / norm. With `axes`, the norms are those along these axes.
Output ClipByNorm(const Operand& x, const Operand& clip_norm, const Axes& axes = Axes::All(),
                  const std::string& name = "clip_by_norm");

// The norm of all tensors together, a scalar. Invalid tensors are left out.
Output GlobalNorm(const std::vector<Output>& tensors, const std::string& name = "global_norm",
                  std::source_location loc = std::source_location::current());

struct GlobalNormClip {
  std::vector<Output> tensors;  // one for each given tensor; invalid if the given tensor is
  Output norm;                  // the norm that was limited: `use_norm`, or the GlobalNorm of the given tensors
};
// Each tensor times clip_norm / max(norm, clip_norm), where `norm` is the GlobalNorm of all tensors, or `use_norm` if
// that is valid. If the norm is not finite, all results are NaN, so that a NanCheck sees it. clip_norm must be
// positive.
GlobalNormClip ClipByGlobalNorm(const std::vector<Output>& tensors, const Operand& clip_norm, Output use_norm = {},
                                const std::string& name = "clip_by_global_norm",
                                std::source_location loc = std::source_location::current());

// As above, for gradients. Variables without a gradient stay without one. If a gradient is slices, its values are
// clipped; as in TensorFlow, a row that occurs several times counts several times.
std::vector<GradAndVar> ClipByValue(const std::vector<GradAndVar>& grads, const Operand& low, const Operand& high,
                                    std::source_location loc = std::source_location::current());
std::vector<GradAndVar> ClipByNorm(const std::vector<GradAndVar>& grads, const Operand& clip_norm,
                                   std::source_location loc = std::source_location::current());
// Writes the norm to *norm unless it is null.
std::vector<GradAndVar> ClipByGlobalNorm(const std::vector<GradAndVar>& grads, const Operand& clip_norm,
                                         Output* norm = nullptr,
                                         std::source_location loc = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPTIMIZERS_CLIP_H_
