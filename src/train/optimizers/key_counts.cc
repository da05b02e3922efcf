#include "train/optimizers/key_counts.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

// What SetCountsOfKeys has set. An extension of the graph.
struct CountsOfSums {
  std::map<std::pair<const Node*, int>, Output> of;
};

// The counts that a lookup of these keys in the table was given. Not valid if there is no such lookup.
Output CountsOfLookup(const Output& keys, const Output& handle) {
  const GraphLock lock(*keys.graph());
  for (const auto& node : ImplOf(*keys.graph()).nodes()) {
    if (node->type() == "KvResourceGatherV1" && node->inputs()[0] == handle && node->inputs()[1] == keys) {
      return node->inputs()[3];
    }
  }
  return {};
}

Output AsInt64(const Output& x) {
  if (x.dtype() == kInt64) return x;
  return NodeBuilder(*x.graph(), "Cast").Input(x).Attr("DstT", kInt64).Output();
}

Output CountsOf(const Output& keys, const Output& handle) {
  const auto& set = ImplOf(*keys.graph()).extension<CountsOfSums>().of;
  if (const auto found = set.find({NodeOf(keys), keys.index()}); found != set.end()) return found->second;
  if (const Output counts = CountsOfLookup(keys, handle); counts.valid()) return AsInt64(Reshape(counts, {-1}));
  const Node& node = *NodeOf(keys);
  const std::string_view type = node.type();
  if (type == "Identity" || type == "Reshape" || type == "Cast" || type == "Switch") {
    return CountsOf(node.inputs()[0], handle);
  }
  if (type == "ConcatV2") {
    std::vector<Operand> counts;
    for (size_t i = 0; i + 1 < node.inputs().size(); ++i) counts.push_back(CountsOf(node.inputs()[i], handle));
    return Concat(counts, 0);
  }
  if (type == "Unique") {
    Graph& g = *keys.graph();
    const Operation unique = keys.op();
    const Output size = NodeBuilder(g, "Size").Input(unique.output(0)).Output();
    return NodeBuilder(g, "UnsortedSegmentSum")
        .Input(CountsOf(node.inputs()[0], handle))
        .Input(unique.output(1))
        .Input(size)
        .Output();
  }
  return AsInt64(OnesLike(Reshape(keys, {-1})));
}

}  // namespace

Output CountsOfKeys(const Output& keys, const Output& handle) {
  auto device = keys.graph()->ColocateWith(keys.op());
  return CountsOf(keys, handle);
}

void SetCountsOfKeys(const Output& keys, const Output& counts) {
  ImplOf(*keys.graph()).extension<CountsOfSums>().of[{NodeOf(keys), keys.index()}] = counts;
}

}  // namespace tensorbraid
