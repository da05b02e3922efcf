#include "kernels/cpu/nn/pooling/pool_kernel.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/costs.h"

namespace tensorbraid::cpu {

Cost PoolCost(const CostContext& c) {
  Cost cost = DefaultCost(c);
  double covered = 4;  // by how many windows an element is covered; a guess if inputs give the sizes
  const AttrValue* ksize = c.node().FindAttr("ksize");
  const AttrValue* strides = c.node().FindAttr("strides");
  const auto* sizes = ksize == nullptr ? nullptr : ksize->get<std::vector<int64_t>>();
  const auto* steps = strides == nullptr ? nullptr : strides->get<std::vector<int64_t>>();
  if (sizes != nullptr && steps != nullptr && sizes->size() == steps->size()) {
    covered = 1;
    for (size_t i = 0; i < sizes->size(); ++i) {
      covered *= std::max(1.0, static_cast<double>((*sizes)[i]) / std::max(1.0, static_cast<double>((*steps)[i])));
    }
  }
  cost.flops = 5 * LargestElements(c) * std::min(covered, 1e4);
  return cost;
}

}  // namespace tensorbraid::cpu
