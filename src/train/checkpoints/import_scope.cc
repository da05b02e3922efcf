#include "train/checkpoints/import_scope.h"

#include "core/text/strings.h"
#include "graph/format/graph.pb.h"

namespace tensorbraid {
namespace {

// "^copy/node" for "^node", and "copy/node:1" for "node:1".
std::string InputInScope(const std::string& input, const std::string& prefix) {
  return input.starts_with('^') ? "^" + prefix + input.substr(1) : prefix + input;
}

void PutInScope(const std::string& prefix, proto::NodeDef* node) {
  constexpr std::string_view kColocation = "loc:@";
  node->set_name(prefix + node->name());
  for (std::string& input : *node->mutable_input()) input = InputInScope(input, prefix);
  auto& attrs = *node->mutable_attr();
  if (const auto it = attrs.find("_class"); it != attrs.end()) {
    for (std::string& name : *it->second.mutable_list()->mutable_s()) {
      if (name.starts_with(kColocation)) name.insert(kColocation.size(), prefix);
    }
  }
  // Two loops of one frame would be one loop.
  if (const auto it = attrs.find("frame_name"); it != attrs.end()) it->second.mutable_s()->insert(0, prefix);
}

}  // namespace

StatusOr<std::string> GraphDefInScope(std::string_view graph_def, const std::string& prefix) {
  if (prefix.empty()) return std::string(graph_def);
  proto::GraphDef def;
  if (!def.ParseFromArray(graph_def.data(), static_cast<int>(graph_def.size()))) {
    return InvalidArgument("these ", graph_def.size(), " bytes are not a GraphDef");
  }
  for (proto::NodeDef& node : *def.mutable_node()) PutInScope(prefix, &node);
  return def.SerializeAsString();
}

}  // namespace tensorbraid
