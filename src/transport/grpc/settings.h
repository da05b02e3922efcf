// The settings of gRPC, for both ends of a connection.
#ifndef TENSORBRAID_TRANSPORT_GRPC_SETTINGS_H_
#define TENSORBRAID_TRANSPORT_GRPC_SETTINGS_H_

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "tensorbraid/transport/server_limits.h"

namespace tensorbraid {

// The trailing metadata of a call that the server has failed. It is missing if the transport failed the call.
inline constexpr char kFromServer[] = "tensorbraid-from-server";

// Our settings for channels and servers.
grpc::ChannelArguments ClientChannelArguments();
void ConfigureServer(const ServerLimits& limits, std::chrono::milliseconds handshake_timeout,
                     grpc::ServerBuilder* builder);
// Applies gRPC's process-wide settings. Must be called before any other use of gRPC; further calls have no effect.
// - Poll with poll(), unless GRPC_POLL_STRATEGY is set. The default is one epoll set for the whole process, with which
//   the thread of one channel reads the socket of the other. With 100 MB in flight, small messages then took up to 6 ms
//   (p99) instead of 0.1 ms, and the 100 MB took 45 ms instead of 25 ms.
// - Turn off Abseil's deadlock detection, which Debian's build runs by default in every lock of gRPC. It took 4 % of
//   the time of a small step.
// - Let malloc keep up to 64 MiB of free memory at the end of the heap. gRPC allocates a buffer for each read and then
//   frees it. When that memory goes back to the system each time, most reads have to fault in new pages: 100 MB took 55
//   ms instead of 30 ms.
// - Send gRPC's own log lines to our log, with area "grpc" and level debug, unless GRPC_VERBOSITY is set.
void InitGrpc();

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_GRPC_SETTINGS_H_
