#include "cluster/peer/graph_parts.h"

#include <string_view>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {

void SendInParts(RegisterGraph message, Link* link) {
  if (message.partition.size() <= kMaxGraphPartBytes) return link->Send(std::move(message));
  std::string_view rest = message.partition;
  for (; rest.size() > kMaxGraphPartBytes; rest.remove_prefix(kMaxGraphPartBytes)) {
    link->Send(GraphPart{.request = message.request, .bytes = std::string(rest.substr(0, kMaxGraphPartBytes))});
  }
  message.partition = std::string(rest);  // a new string, which does not keep the memory of the whole graph
  link->Send(std::move(message));
}

void GraphParts::Add(const GraphPart& part) {
  std::string& parts = parts_[part.request];
  // Once the parts exceed the limit, Complete sees that the graph is too large, so further parts are not kept.
  if (parts.size() <= max_graph_bytes_) parts += part.bytes;
}

Status GraphParts::Complete(RegisterGraph* message) {
  const auto it = parts_.find(message->request);
  if (it == parts_.end()) return OkStatus();
  std::string whole = std::move(it->second);
  parts_.erase(it);
  whole += message->partition;
  if (whole.size() > max_graph_bytes_) {
    return InvalidArgument("a part of a graph has more than the allowed ", max_graph_bytes_, " bytes");
  }
  message->partition = std::move(whole);
  return OkStatus();
}

}  // namespace tensorbraid
