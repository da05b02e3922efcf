// Where a process can find out which task of which cluster it is.
#ifndef TENSORBRAID_CLUSTER_DISCOVERY_SOURCE_H_
#define TENSORBRAID_CLUSTER_DISCOVERY_SOURCE_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/discovery/rank_tasks.h"
#include "cluster/discovery/record_exchange.h"
#include "cluster/discovery/surroundings.h"
#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/status.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

// What the command line says about the task.
struct TaskArguments {
  // Whether any of the next four was given.
  bool given = false;
  std::vector<std::string> ps_hosts = {};
  std::vector<std::string> worker_hosts = {};
  std::string job_name = "";
  int task_index = 0;
  // For a registry.
  TlsOptions tls = {};
  std::string token_file = "";
};

// Reads variables, and remembers them for `tensorbraid task --explain`.
class VariableReader {
 public:
  explicit VariableReader(const Surroundings& around) : around_(around) {}

  // std::nullopt if the variable is not set or empty.
  std::optional<std::string> Get(const std::string& name);
  // The same for a number. InvalidArgument, with the name and the value, for anything but a number of at least `least`.
  StatusOr<std::optional<int>> GetNumber(const std::string& name, int least = 0);
  // The same for a variable that must be set; `needed_for` completes the error for a missing one: "... is missing; ".
  StatusOr<int> NeedNumber(const std::string& name, int least, const std::string& needed_for);

  const Surroundings& around() const { return around_; }
  // The variables that were looked at, in order, and their values.
  const std::vector<std::pair<std::string, std::optional<std::string>>>& read() const { return read_; }

 private:
  const Surroundings& around_;
  std::vector<std::pair<std::string, std::optional<std::string>>> read_;
};

// A task in a cluster whose addresses are known.
struct KnownTask {
  TaskName task;
  ClusterSpec cluster;
};

// A process among others, whose addresses are not known yet: an exchange brings them.
struct Participant {
  // The name of this process in the exchange, and its place in what the exchange returns.
  std::string name;
  int rank = 0;
  int size = 0;  // 0: only the exchange knows it
  // The tasks by rank, from the ranks' nodes. If null, the names that the exchange returns are those of tasks.
  std::function<StatusOr<std::vector<TaskName>>(const std::vector<std::string>& nodes)> tasks = nullptr;
  // See ProcessRecord.
  bool may_move = false;
  // The engine's name of this machine; may be empty.
  std::string host = "";
  std::function<StatusOr<std::unique_ptr<RecordExchange>>(std::chrono::milliseconds timeout)> exchange = nullptr;
};

// What a source says about a process: that it is not responsible (neither member is set), or who the process is.
struct Claim {
  std::optional<KnownTask> known = std::nullopt;
  std::optional<Participant> participant = std::nullopt;
  // Why the source is responsible or not, in a few words.
  std::string why;
  bool responsible() const { return known.has_value() || participant.has_value(); }

  static Claim NotMine(std::string why) { return {.why = std::move(why)}; }
};

// A source looks at the surroundings of the process, without blocking. An error means that it is responsible, and that
// what it read is wrong.
struct Source {
  const char* name;   // in messages, and the value of TENSORBRAID_DISCOVERY: "slurm"
  const char* title;  // for people: "Slurm"
  StatusOr<Claim> (*look)(const TaskArguments& arguments, VariableReader& reader);
};

// The sources, each in a file of its own.
StatusOr<Claim> LookAtFlags(const TaskArguments& arguments, VariableReader& reader);
StatusOr<Claim> LookAtTfConfig(const TaskArguments& arguments, VariableReader& reader);
StatusOr<Claim> LookAtRegistry(const TaskArguments& arguments, VariableReader& reader);
StatusOr<Claim> LookAtKubernetes(const TaskArguments& arguments, VariableReader& reader);
StatusOr<Claim> LookAtMpi(const TaskArguments& arguments, VariableReader& reader);
StatusOr<Claim> LookAtSlurm(const TaskArguments& arguments, VariableReader& reader);

// All sources. The first one that is responsible wins.
const std::vector<Source>& Sources();

// For sources that know only ranks: reads TENSORBRAID_PS and TENSORBRAID_WORKERS and sets `tasks` of a participant.
// Errors as in NumParameterServers.
Status SetTasksOfRanks(VariableReader& reader, Participant* participant);

// "worker/3" as a task; InvalidArgument for another text.
StatusOr<TaskName> ParseTaskName(const std::string& text);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_DISCOVERY_SOURCE_H_
