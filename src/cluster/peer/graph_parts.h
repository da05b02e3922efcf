// Sends large graphs in parts (GraphPart in transport/messages.h), and puts the parts together. A message of a gigabyte
// would hold back the heartbeats behind it for so long that the receiver would consider the sender dead.
#ifndef TENSORBRAID_CLUSTER_PEER_GRAPH_PARTS_H_
#define TENSORBRAID_CLUSTER_PEER_GRAPH_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "tensorbraid/core/status.h"
#include "transport/transport.h"

namespace tensorbraid {

// Sends the message, after GraphParts if its graph is large.
void SendInParts(RegisterGraph message, Link* link);

// Puts the graphs that arrive on one link together. Not thread-safe.
class GraphParts {
 public:
  static constexpr size_t kMaxGraphDefBytes = (size_t{1} << 31) - 1;
  explicit GraphParts(size_t max_graph_bytes = kMaxGraphDefBytes) : max_graph_bytes_(max_graph_bytes) {}

  void Add(const GraphPart& part);
  // `message` carries the last part of its graph. Replaces this part with the whole graph. InvalidArgument if the graph
  // is larger than allowed.
  Status Complete(RegisterGraph* message);

 private:
  const size_t max_graph_bytes_;
  std::map<uint64_t, std::string> parts_;  // by request number
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_GRAPH_PARTS_H_
