// Limits of what clients can make a server do.
#ifndef TENSORBRAID_TRANSPORT_SERVER_LIMITS_H_
#define TENSORBRAID_TRANSPORT_SERVER_LIMITS_H_

#include <chrono>
#include <cstdint>

namespace tensorbraid {

// Limits on the memory, connections and calls that callers can make a server hold. A request above a limit fails with
// ResourceExhausted; the message names the limit and says how to raise it. The flags of `tensorbraid serve` have the
// same names.
struct ServerLimits {
  // Bytes of the request of one call.
  int64_t max_message_bytes = (int64_t{1} << 31) - 1;
  // Bytes of all requests that have arrived and are not answered yet, of all connections together.
  int64_t max_total_request_bytes = int64_t{8} << 30;
  // Bytes of a session's graph: the sum over the GraphDef with which the session begins and those that extend it.
  int64_t max_graph_bytes = (int64_t{1} << 31) - 1;
  // Bytes of one tensor. Applies to the whole process: the last server that is created sets it.
  int64_t max_tensor_bytes = int64_t{1} << 40;
  // Sessions whose master is this server. If the limit is reached, a new session replaces the session that has been
  // idle for longest; if all are busy, the new session is refused.
  int max_sessions = 256;
  // Simultaneous connections of clients and of tasks; a pair of tasks has two. 0: three quarters of the files that the
  // process may have open. A connection above the limit is closed at once, and logged.
  int max_connections = 0;
  // Simultaneous connections from one address. 0: half of max_connections. The server's own machine may then have
  // max_connections, because a whole cluster may run on it.
  int max_connections_per_address = 0;
  // Calls that one connection has in progress.
  int max_requests = 1024;
  // A call whose request has not arrived completely after this time is cancelled.
  std::chrono::milliseconds request_timeout{600'000};
  // A connection without a call is closed after this time. Clients connect again by themselves.
  std::chrono::milliseconds idle_timeout{300'000};
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_SERVER_LIMITS_H_
