// Finds out which task of which cluster this process is (docs/discovery.md, docs/design/0026).
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_DISCOVER_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_DISCOVER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/discovery/cluster_watch.h"
#include "cluster/discovery/source.h"
#include "core/system/held_port.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct FoundTask {
  std::string job = "";
  int index = 0;
  ClusterSpec cluster = {};
  std::string source = "";  // its name, such as "slurm"
  // Null if the task's port was given. Otherwise the port of the task's address, which stays reserved for the task's
  // server as long as this lives.
  std::shared_ptr<HeldPort> port = nullptr;
  // Null, or what must live as long as other tasks may still ask this process for the cluster.
  std::shared_ptr<RecordExchange> exchange = nullptr;
  // For ServerOptions::watch; null if the tasks do not come back at other addresses, or behind names that stay.
  std::shared_ptr<ClusterWatch> watch = nullptr;
};

// What one source said.
struct SourceReport {
  std::string name;                                                           // "slurm"
  std::string title;                                                          // "Slurm"
  std::vector<std::pair<std::string, std::optional<std::string>>> read = {};  // variables and their values
  bool asked = false;  // false if an earlier source was responsible, or TENSORBRAID_DISCOVERY excludes it
  bool responsible = false;
  std::string why = "";
};

struct Discovery {
  std::vector<SourceReport> sources;  // in the order of precedence
  // The task; std::nullopt if no source is responsible; or the error of the responsible source.
  StatusOr<std::optional<FoundTask>> task = std::optional<FoundTask>();
};

// Asks the sources in their order. Blocks until all processes of the job have said where they listen, if they have to:
// by default for up to five minutes, or for the seconds in TENSORBRAID_DISCOVERY_TIMEOUT. Logs what it waits for.
// Thread-safe, but call it once per process: engines let a process exchange addresses only once.
Discovery Discover(const TaskArguments& arguments, const Surroundings& around);

// The certificates and the token that the variables TENSORBRAID_TLS_CERT, TENSORBRAID_TLS_KEY, TENSORBRAID_TLS_CA and
// TENSORBRAID_TOKEN_FILE name, for those that are still empty.
void ReadAccess(const Surroundings& around, TlsOptions* tls, std::string* token_file);

// The version of this library: "0.1.0".
const char* LibraryVersion();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_DISCOVER_H_
