#include "cluster/discovery/discover.h"

#include <algorithm>

#include "cluster/registry/digest.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::minutes kDefaultTimeout{5};
constexpr char kChoice[] = "TENSORBRAID_DISCOVERY";
constexpr char kTimeout[] = "TENSORBRAID_DISCOVERY_TIMEOUT";

StatusOr<std::chrono::milliseconds> Timeout(const Surroundings& around) {
  VariableReader reader(around);
  TF_ASSIGN_OR_RETURN(const auto seconds, reader.GetNumber(kTimeout, 1));
  if (!seconds.has_value()) return kDefaultTimeout;
  return std::chrono::milliseconds(int64_t{1000} * *seconds);
}

// The names of the sources to ask: those that have to be configured for us always, the others unless
// TENSORBRAID_DISCOVERY names one or "none".
StatusOr<bool> MayAsk(const std::string& choice, const std::string& source) {
  if (source == "flags" || source == "tf_config" || choice.empty() || choice == source) return true;
  if (choice == "none") return false;
  std::vector<std::string> names = {"none"};
  for (const Source& known : Sources()) names.emplace_back(known.name);
  if (std::find(names.begin(), names.end(), choice) != names.end()) return false;
  return InvalidArgument(kChoice, "='", choice, "' must be one of: ", StrJoin(names, ", "));
}

// The tasks of a registry, which come back one by one.
class RegisteredTasks final : public ClusterWatch {
 public:
  // `addresses` of the tasks in `all`, in the same order.
  RegisteredTasks(std::shared_ptr<RecordExchange> exchange, std::vector<NamedRecord> all,
                  std::vector<std::string> addresses)
      : exchange_(std::move(exchange)), all_(std::move(all)), addresses_(std::move(addresses)) {}

  std::unique_ptr<RunningWatch> Start(Changed changed) override {
    return exchange_->StartWatch([all = all_, addresses = addresses_, moves = AddressMoves(),
                                  changed = std::move(changed)](const std::vector<NamedRecord>& now) mutable {
      std::vector<ProcessRecord> records;
      for (const NamedRecord& one : now) records.push_back(one.record);
      const std::vector<std::string> as_now = AddressesOf(records);
      for (size_t i = 0; i < now.size(); ++i) {
        // A task that has stayed still listens where it did, even if all tasks are on one machine by now.
        if (i >= all.size()) return;
        if (now[i].record != all[i].record) moves[addresses[i]] = as_now[i];
      }
      all = now;
      changed(moves);
    });
  }

 private:
  const std::shared_ptr<RecordExchange> exchange_;
  const std::vector<NamedRecord> all_;
  const std::vector<std::string> addresses_;
};

// The cluster from the records of all processes. `own` is the name of this process.
StatusOr<FoundTask> TaskFromRecords(const Participant& participant, const std::vector<NamedRecord>& all) {
  if (participant.size > 0 && static_cast<int>(all.size()) != participant.size) {
    return InvalidArgument("this process belongs to a job of ", participant.size, " processes, but ", all.size(),
                           " have exchanged their addresses");
  }
  std::vector<ProcessRecord> records;
  std::vector<std::string> nodes;
  for (const NamedRecord& one : all) {
    TF_RETURN_IF_ERROR(CheckSameProgram(all.front(), one));
    records.push_back(one.record);
    nodes.push_back(one.record.node);
  }
  std::vector<TaskName> tasks;
  if (participant.tasks != nullptr) {
    TF_ASSIGN_OR_RETURN(tasks, participant.tasks(nodes));
  } else {
    for (const NamedRecord& one : all) {
      TF_ASSIGN_OR_RETURN(TaskName task, ParseTaskName(one.name));
      tasks.push_back(std::move(task));
    }
  }
  const std::vector<std::string> addresses = AddressesOf(records);
  std::map<std::string, ClusterSpec::Tasks> jobs;
  FoundTask found;
  for (size_t i = 0; i < all.size(); ++i) {
    jobs[tasks[i].job][tasks[i].index] = addresses[i];
    if (all[i].name != participant.name) continue;
    found.job = tasks[i].job;
    found.index = tasks[i].index;
  }
  if (found.job.empty()) return Internal("the exchange has lost ", participant.name);
  found.cluster = ClusterSpec::Sparse(std::move(jobs));
  TF_RETURN_IF_ERROR(found.cluster.Validate());
  return found;
}

StatusOr<FoundTask> Meet(const Participant& participant, const Surroundings& around) {
  TF_ASSIGN_OR_RETURN(const auto timeout, Timeout(around));
  TF_ASSIGN_OR_RETURN(std::shared_ptr<RecordExchange> exchange, participant.exchange(timeout));
  TF_ASSIGN_OR_RETURN(HeldPort port, HeldPort::Take());
  ProcessRecord record{.host = ReachableHost(around, participant.host),
                       .node = around.node,
                       .port = port.port(),
                       .version = LibraryVersion()};
  const bool has_address = !around.addresses.empty() || around.variables.contains("TENSORBRAID_HOST");
  record.may_move = participant.may_move && has_address;
  TF_ASSIGN_OR_RETURN(record.program, Sha256OfFile(around.program));
  TF_ASSIGN_OR_RETURN(const auto all, exchange->Gather({participant.name, std::move(record)}));
  TF_ASSIGN_OR_RETURN(FoundTask found, TaskFromRecords(participant, all));
  if (participant.tasks == nullptr) {
    std::vector<std::string> addresses;
    for (const NamedRecord& one : all) {
      TF_ASSIGN_OR_RETURN(const TaskName task, ParseTaskName(one.name));
      TF_ASSIGN_OR_RETURN(addresses.emplace_back(), found.cluster.task_address(task.job, task.index));
    }
    found.watch = std::make_shared<RegisteredTasks>(exchange, all, std::move(addresses));
  }
  found.port = std::make_shared<HeldPort>(std::move(port));
  found.exchange = std::move(exchange);
  return found;
}

StatusOr<std::optional<FoundTask>> Resolve(const Claim& claim, const Surroundings& around) {
  if (claim.known.has_value()) {
    const KnownTask& known = *claim.known;
    return FoundTask{.job = known.task.job, .index = known.task.index, .cluster = known.cluster};
  }
  return Meet(*claim.participant, around);
}

}  // namespace

Discovery Discover(const TaskArguments& arguments, const Surroundings& around) {
  Discovery discovery;
  VariableReader choices(around);
  const std::string choice = choices.Get(kChoice).value_or("");
  bool decided = false;
  for (const Source& source : Sources()) {
    SourceReport report{.name = source.name, .title = source.title};
    const auto may_ask = MayAsk(choice, source.name);
    if (!may_ask.ok()) {
      report.why = std::string(may_ask.status().message());
      if (!decided) discovery.task = may_ask.status();
      decided = true;
    } else if (decided) {
      report.why = "an earlier source is responsible";
    } else if (!*may_ask) {
      report.why = StrCat("excluded by ", kChoice, "=", choice);
    } else {
      report.asked = true;
      VariableReader reader(around);
      const StatusOr<Claim> claim = source.look(arguments, reader);
      report.read = reader.read();
      report.why = claim.ok() ? claim->why : std::string(claim.status().message());
      report.responsible = !claim.ok() || claim->responsible();
      decided = report.responsible;
      if (!claim.ok()) {
        discovery.task = claim.status();
      } else if (claim->responsible()) {
        discovery.task = Resolve(*claim, around);
        if (discovery.task.ok()) (*discovery.task)->source = source.name;
      }
    }
    discovery.sources.push_back(std::move(report));
  }
  return discovery;
}

void ReadAccess(const Surroundings& around, TlsOptions* tls, std::string* token_file) {
  for (const auto& [name, value] : {std::pair<const char*, std::string*>("TENSORBRAID_TLS_CERT", &tls->cert),
                                    {"TENSORBRAID_TLS_KEY", &tls->key},
                                    {"TENSORBRAID_TLS_CA", &tls->ca},
                                    {"TENSORBRAID_TOKEN_FILE", token_file}}) {
    const auto found = around.variables.find(name);
    if (value->empty() && found != around.variables.end()) *value = found->second;
  }
}

}  // namespace tensorbraid
