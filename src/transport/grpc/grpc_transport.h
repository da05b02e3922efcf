// The transport between processes and machines: two gRPC streams per link, each on a TCP connection of its own.
#ifndef TENSORBRAID_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "transport/transport.h"

namespace tensorbraid {

struct GrpcOptions {
  // The local address to bind instead of what the name of the server implies: loopback names bind that address alone,
  // all others every interface.
  std::string bind_address;
  // A caller that connects but does not finish its hello is dropped after this.
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
  // How long a closed link may take to send what is queued on its control lane.
  std::chrono::milliseconds close_grace = std::chrono::milliseconds(500);
  // How long a thread goes on looking for messages after one before it sleeps, with the processor offered to others at
  // each look. A step's next message mostly comes within this time, and to wake a thread on a processor that has gone
  // to sleep takes 20 to 60 us on a virtual machine: longer than the message itself.
  std::chrono::microseconds stay_awake{100};
  // BulkTensors travel in parts of this size.
  size_t bulk_part_bytes = 1 << 20;
};

// Has four to sixteen threads for lanes, by the number of cores, and one for time. Handler calls come straight from the
// thread that got the message off the network.
std::unique_ptr<Transport> NewGrpcTransport(const GrpcOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
