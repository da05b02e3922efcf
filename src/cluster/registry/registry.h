// The processes of a job find each other through a registry: one process serves it, all register with it and get the
// records of all. A registry is needed where the engine itself carries no data between processes (docs/design/0026).
#ifndef TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_H_
#define TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/registry/process_record.h"
#include "cluster/registry/running_watch.h"
#include "cluster/registry/seal.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

struct RegistryServerOptions {
  // Names the job. A process that registers for another job is refused.
  std::string job = "";
  // The processes of the job: "ps/0", "worker/0", ...
  std::vector<std::string> names = {};
  // "host:port". As for a Server, a loopback name listens on loopback alone, any other name on all interfaces. Port 0
  // takes a free port.
  std::string address = "";
  TlsOptions tls = {};
};

// Serves a registry. A process that waits costs a call, but no thread. Thread-safe.
//
// A name belongs to the process that registered it last, so that a task which was started again can replace its
// address. The process that had the name before is told if it asks again. Those that watch the registry get the new
// address. A process with another program or another version of the library than those before it is refused, and so are
// those that wait for it to register: the job cannot start.
//
// Callers that do not know the secret cost it little: a request has at most 64 KiB, and is forgotten with its answer.
class RegistryServer {
 public:
  // AlreadyExists if the port is taken; InvalidArgument for an address that cannot be bound or wrong files of `tls`.
  static StatusOr<std::unique_ptr<RegistryServer>> Start(RegistryServerOptions options, std::shared_ptr<Seal> seal);
  ~RegistryServer();
  RegistryServer(const RegistryServer&) = delete;
  RegistryServer& operator=(const RegistryServer&) = delete;

  int port() const { return port_; }
  // The names of processes that have not registered yet.
  std::vector<std::string> Missing() const;
  // For a server that may end soon: blocks until all processes have got the records of all, or the reason why there
  // will be none, or until `timeout`. Returns whether they have.
  bool AwaitAnswered(std::chrono::milliseconds timeout) const;

 private:
  struct Impl;
  explicit RegistryServer(std::unique_ptr<Impl> impl, int port);
  const std::unique_ptr<Impl> impl_;
  const int port_;
};

struct RegistryClientOptions {
  std::string job = "";
  // Where the registry may be, "host:port" each: they are tried in turn until one of them answers as the job's
  // registry.
  std::vector<std::string> addresses = {};
  TlsOptions tls = {};
  // How long to wait for the registry and for all processes.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
  // While it waits, the client logs what it waits for at this interval.
  std::chrono::milliseconds log_every = std::chrono::seconds(5);
  // A watch asks again after this time if nothing has changed, because the registry may have died without a word.
  std::chrono::milliseconds watch_time = std::chrono::minutes(1);
};

// A process at a registry: registers itself, and follows the addresses of the others from then on. Not thread-safe.
class RegistryClient {
 public:
  RegistryClient(RegistryClientOptions options, const NamedRecord& own, std::shared_ptr<Seal> seal);
  ~RegistryClient();
  RegistryClient(const RegistryClient&) = delete;
  RegistryClient& operator=(const RegistryClient&) = delete;

  // Registers the process and blocks until all processes of the job have registered. Returns them in the order of the
  // server's names. Call once. DeadlineExceeded, with the names that are missing, after `timeout`; Cancelled if the
  // process is asked to stop (core/stop.h); Unauthenticated if the two sides have different secrets;
  // FailedPrecondition for another program or version; Aborted if another process takes the name meanwhile;
  // InvalidArgument for a name that the job does not have.
  StatusOr<std::vector<NamedRecord>> Register();

  using Changed = std::function<void(const std::vector<NamedRecord>& all)>;
  // Calls `changed` with the records of all processes whenever one of them has changed since the last call, or since
  // Register. A registry that cannot be reached is asked again until it answers; a registry that was started again
  // learns the processes anew. Ends by itself, with a warning, when another process takes the name of this one.
  // REQUIRES: Register has succeeded (checked).
  std::unique_ptr<RunningWatch> StartWatch(Changed changed) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_REGISTRY_REGISTRY_H_
