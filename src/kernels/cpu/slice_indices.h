// Indices whose last dimension holds the first coordinates of a slice: of GatherNd and ScatterNd and their like.
#ifndef TENSORBRAID_KERNELS_CPU_SLICE_INDICES_H_
#define TENSORBRAID_KERNELS_CPU_SLICE_INDICES_H_

#include <vector>

#include "core/strings.h"
#include "graph/node.h"
#include "kernels/cpu/position.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Whether the node passes over indices that name no slice; they are an error for others. InvalidArgument when its
// bad_indices_policy is none.
inline StatusOr<bool> IgnoresBadIndices(const Node& node) {
  const AttrValue* attr = node.FindAttr("bad_indices_policy");
  if (attr == nullptr || attr->get<std::string>() == nullptr) return false;
  const std::string& policy = *attr->get<std::string>();
  if (policy == "IGNORE") return true;
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return false;
  return InvalidArgument("bad_indices_policy must be DEFAULT, ERROR or IGNORE, got '", policy, "'");
}

// For row `i` of the indices, which names no slice of a tensor of `shape` (which is called `what`).
template <typename I>
Status NoSuchSlice(const Tensor& indices, int64_t i, const char* what, const Shape& shape) {
  const Shape& is = indices.shape();
  const int64_t depth = is.dim(is.rank() - 1);
  std::vector<std::string> index;
  for (int64_t d = 0; d < depth; ++d) index.push_back(StrCat(static_cast<int64_t>(indices.data<I>()[i * depth + d])));
  const Shape rows(is.dims().first(is.rank() - 1));
  return InvalidArgument("indices", Position(rows, i), " = [", StrJoin(index, ", "), "] does not index into ", what,
                         " ", shape);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_SLICE_INDICES_H_
