// Merges pure nodes that compute the same from the same inputs and control inputs on the same device.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/text/strings.h"
#include "executor/passes/pass.h"

namespace tensorbraid {
namespace {

// Larger tensors in attributes are not compared, but taken to be different.
constexpr size_t kMaxComparedBytes = 64 << 10;

bool SameTensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape() || !a.is_valid()) return false;
  if (a.num_bytes() > kMaxComparedBytes) return false;
  if (!IsPlain(a.dtype())) {
    return a.dtype() == kString && std::ranges::equal(a.data<std::string>(), b.data<std::string>());
  }
  return a.num_bytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

bool SameAttr(const AttrValue& a, const AttrValue& b) {
  if (a.value().index() != b.value().index()) return false;
  return std::visit(
      [&b]<typename T>(const T& left) {
        const T& right = *b.get<T>();
        if constexpr (std::is_same_v<T, Tensor>) {
          return SameTensor(left, right);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
          return std::ranges::equal(left, right, SameTensor);
        } else {
          return left == right;
        }
      },
      a.value());
}

// Whether the attribute may affect what the node computes. "_class" does not; only placement reads it.
bool AffectsResult(const std::string& attr) { return attr != "_class"; }

bool SameAttrs(const Node& a, const Node& b) {
  auto i = a.attrs().begin();
  auto j = b.attrs().begin();
  while (true) {
    while (i != a.attrs().end() && !AffectsResult(i->first)) ++i;
    while (j != b.attrs().end() && !AffectsResult(j->first)) ++j;
    if (i == a.attrs().end() || j == b.attrs().end()) return i == a.attrs().end() && j == b.attrs().end();
    if (i->first != j->first || !SameAttr(i->second, j->second)) return false;
    ++i;
    ++j;
  }
}

// Equal nodes have the same key; different nodes rarely do.
std::string KeyOf(const Node& node) {
  std::string key = StrCat(node.type(), "@", node.device());
  for (const Output& in : node.inputs()) key += StrCat(";", NodeOf(in)->id(), ":", in.index());
  if (node.inputs().empty()) {
    for (const auto& [name, value] : node.attrs()) {
      if (AffectsResult(name)) key += StrCat(";", name, "=", value.ToString());
    }
  }
  return key;
}

bool IsSame(const Node& a, const Node& b) {
  return &a.op() == &b.op() && a.device() == b.device() && a.inputs() == b.inputs() &&
         a.control_inputs() == b.control_inputs() && SameAttrs(a, b);
}

}  // namespace

Status MergeCommonSubexpressions(Graph* graph, PassContext& context) {
  Replacements r(graph, context);
  std::unordered_multimap<std::string, Node*> seen;  // keyed by KeyOf
  for (Node* node : r.nodes()) {
    r.Update(node);
    if (!IsPure(*node)) continue;
    std::string key = KeyOf(*node);
    const auto [begin, end] = seen.equal_range(key);
    const auto same = std::find_if(begin, end, [node](const auto& entry) { return IsSame(*entry.second, *node); });
    if (same == end) {
      seen.emplace(std::move(key), node);
      continue;
    }
    r.Replace(node, same->second);
  }
  return r.Finish();
}

}  // namespace tensorbraid
