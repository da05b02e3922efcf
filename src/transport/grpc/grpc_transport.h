// The transport between processes and machines: two gRPC streams per link, each on a TCP connection of its own.
#ifndef TENSORBRAID_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
#define TENSORBRAID_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "tensorbraid/transport/server_limits.h"
#include "tensorbraid/transport/tls_options.h"
#include "transport/transport.h"

namespace tensorbraid {

struct GrpcOptions {
  // The local host address to bind. When empty, it follows from the server's name: a loopback name binds that address
  // alone, any other name all interfaces.
  std::string bind_address = "";
  // Used by Listen and Connect. An error in the files is returned by Listen (see credentials.h).
  TlsOptions tls = {};
  // The files of the same names in ServerOptions; "" for none. An error in them is returned by Listen.
  std::string token_file = "";
  std::string client_token_file = "";
  ServerLimits limits = {};
  // Allows listening without TLS on an address that other machines can reach.
  bool insecure = false;
  // An accepted connection that has not completed its handshake after this time is dropped.
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
  // How long a closed link may take to send what is queued on its control channel.
  std::chrono::milliseconds close_grace = std::chrono::milliseconds(500);
  // How long a thread keeps polling after each message before it sleeps; it yields the processor between polls. The
  // next message of a step usually arrives within this time. Waking a thread on an idle processor takes 20 to 60 us on
  // a virtual machine, longer than the message itself. A process that may use only one core does not poll: its polls
  // would take processor time from the step's kernels.
  std::chrono::microseconds stay_awake{100};
  // BulkTensors are sent in parts of this size.
  size_t bulk_part_bytes = 1 << 20;
};

// Has four to sixteen threads for channels, depending on the number of cores, and one timer thread. A handler is called
// directly on the thread that read the message from the network.
std::unique_ptr<Transport> NewGrpcTransport(const GrpcOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
