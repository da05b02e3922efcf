// The transport within one process: messages are passed without encoding, payloads by reference.
#ifndef TENSORBRAID_TRANSPORT_INPROC_INPROC_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_INPROC_INPROC_TRANSPORT_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "core/threads/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

namespace inproc {
class Node;
}

// The listening addresses of a group of transports, which reach only each other. Thread-safe.
class InprocNetwork {
 public:
  // Returns the port. AlreadyExists when another transport listens there, InvalidArgument when `address` is malformed.
  StatusOr<int> Add(const std::string& address, const std::shared_ptr<inproc::Node>& node);
  void Remove(const inproc::Node* node);
  // Null when no transport listens there.
  std::shared_ptr<inproc::Node> Find(const std::string& address);

 private:
  Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<inproc::Node>> listeners_ TB_GUARDED_BY(mu_);
  int next_port_ TB_GUARDED_BY(mu_) = 10000;
};

struct InprocOptions {
  size_t bulk_part_bytes = 0;  // BulkTensors arrive in parts of this size; 0: in one piece
};

// Has four threads, two for each channel, which call the handler. Received payloads have their owner set, so handlers
// may keep them.
std::unique_ptr<Transport> NewInprocTransport(std::shared_ptr<InprocNetwork> network,
                                              const InprocOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_INPROC_INPROC_TRANSPORT_H_
