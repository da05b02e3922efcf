// The HTTP server of a task: metrics for Prometheus, a page that shows the cluster in a browser, and probes.
#ifndef TENSORBRAID_CLUSTER_STATUS_STATUS_SERVER_H_
#define TENSORBRAID_CLUSTER_STATUS_STATUS_SERVER_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

namespace proto {
class ClusterReport;
}

struct StatusServerOptions {
  std::string address = "";       // of the task; the port is not used
  std::string bind_address = "";  // as in ServerOptions
  int port = 0;                   // 0: any free one
  // The same rules as for the task's own port: with TLS, serves HTTPS, and with a `ca` only to clients with a
  // certificate. Without TLS, listens on loopback only, unless `insecure` is set. The files are read for each
  // connection.
  TlsOptions tls = {};
  bool insecure = false;
  // Files with tokens (transport/token_file.h), as in ServerOptions. If a file is given, each request must carry a
  // token of one of the two files. Prometheus sends it as a bearer token, browsers as a password with any user name.
  std::string token_file = "";
  std::string client_token_file = "";
  // The time in which a client must have sent its request.
  std::chrono::milliseconds request_time{5000};
};

// Serves GET requests for "/metrics" (MetricsText), "/report.json" (ReportJson) and "/" (the page). Reports are at most
// half a second old.
//
// Without tokens, `tls.ca` and `insecure`, clients on this machine must belong to this process's user or root.
//
// Supervisors probe the task at two more paths, which need no token, serve all users, and never wait for other tasks:
// "/healthz" answers 200 as long as the process serves; "/readyz" answers 200 if the task can work, otherwise 503 and
// the reason.
//
// Clients that are slow, or send nothing, keep no other client waiting, however many they are (http_server.h).
// Thread-safe.
class StatusServer {
 public:
  // Asks for a report; calls back once, from any thread.
  using Source = std::function<void(std::function<void(const proto::ClusterReport&)>)>;
  // OK if the task can work; otherwise the message is the reason, which must not be secret. Called for each probe, from
  // any thread; must not block.
  using Readiness = std::function<Status()>;
  // Starts to listen. InvalidArgument when the address must not or cannot be bound, AlreadyExists when the port is
  // taken. If a file of `tls` or of tokens is wrong, the error names its flag.
  static StatusOr<std::unique_ptr<StatusServer>> Start(const StatusServerOptions& options, Source source,
                                                       Readiness readiness);
  virtual ~StatusServer() = default;  // Stops listening, and waits for reports that are asked.
  // "http://localhost:9090/".
  virtual const std::string& url() const = 0;
};

// The page: an HTML document without external parts.
extern const char kStatusPage[];

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_STATUS_STATUS_SERVER_H_
