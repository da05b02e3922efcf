#include "tensorbraid/cluster/cluster_spec.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "cluster/protobuf/cluster_def.pb.h"
#include "core/text/host_port.h"
#include "core/text/json.h"
#include "core/text/strings.h"
#include "graph/format/deterministic_bytes.h"

namespace tensorbraid {
namespace {

bool IsJobName(const std::string& name) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_word);
}

// Whether the indices are 0, 1, 2, ... without a gap.
bool IsDense(const ClusterSpec::Tasks& tasks) {
  return tasks.empty() || (tasks.begin()->first == 0 && tasks.rbegin()->first == static_cast<int>(tasks.size()) - 1);
}

}  // namespace

ClusterSpec::ClusterSpec(const std::map<std::string, std::vector<std::string>>& jobs) {
  for (const auto& [job, addresses] : jobs) {
    Tasks& tasks = jobs_[job];
    for (const std::string& address : addresses) tasks.emplace(static_cast<int>(tasks.size()), address);
  }
}

ClusterSpec ClusterSpec::Sparse(std::map<std::string, Tasks> jobs) {
  ClusterSpec spec;
  spec.jobs_ = std::move(jobs);
  return spec;
}

Status ClusterSpec::Validate() const {
  std::map<std::string, std::string> task_at;
  for (const auto& [job, tasks] : jobs_) {
    if (!IsJobName(job)) {
      return InvalidArgument("bad job name '", job, "': a job name is a letter, followed by letters, digits and '_'");
    }
    for (const auto& [index, address] : tasks) {
      const std::string task = StrCat(job, "/", index);
      if (index < 0) return InvalidArgument("task ", task, ": the index must not be negative");
      const auto parsed = ParseHostPort(address);
      if (!parsed.ok()) return Annotate(parsed.status(), "task " + task);
      if (parsed->port == 0) continue;
      const auto [it, fresh] = task_at.emplace(parsed->ToString(), task);
      if (!fresh) return InvalidArgument("tasks ", it->second, " and ", task, " have the same address ", address);
    }
  }
  if (std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job.second.empty(); })) {
    return InvalidArgument("the cluster is empty: no job has a task");
  }
  return OkStatus();
}

std::vector<std::string> ClusterSpec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [job, tasks] : jobs_) names.push_back(job);
  return names;
}

int ClusterSpec::num_tasks(const std::string& job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? 0 : static_cast<int>(it->second.size());
}

std::vector<int> ClusterSpec::task_indices(const std::string& job) const {
  std::vector<int> indices;
  if (const auto it = jobs_.find(job); it != jobs_.end()) {
    for (const auto& [index, address] : it->second) indices.push_back(index);
  }
  return indices;
}

StatusOr<std::string> ClusterSpec::task_address(const std::string& job, int index) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) {
    const std::string nearest = NearestWord(job, jobs());
    return InvalidArgument("job '", job, "' does not exist in the cluster, whose jobs are: ", StrJoin(jobs(), ", "),
                           nearest.empty() ? "" : StrCat("; did you mean '", nearest, "'?"));
  }
  const Tasks& tasks = it->second;
  if (const auto task = tasks.find(index); task != tasks.end()) return task->second;
  std::string known;
  if (tasks.empty()) {
    known = "none";
  } else if (IsDense(tasks)) {
    known = tasks.size() == 1 ? std::string("only 0") : StrCat("0 to ", tasks.size() - 1);
  } else {
    for (const auto& [i, address] : tasks) known += StrCat(known.empty() ? "" : ", ", i);
  }
  return InvalidArgument("task ", index, " of job '", job, "' does not exist; existing indices: ", known);
}

std::string ClusterSpec::ToString() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [job, tasks] : jobs_) {
    auto& entry = json[job] = IsDense(tasks) ? nlohmann::ordered_json::array() : nlohmann::ordered_json::object();
    for (const auto& [index, address] : tasks) {
      if (entry.is_array()) {
        entry.push_back(address);
      } else {
        entry[std::to_string(index)] = address;
      }
    }
  }
  return JsonText(json);
}

std::string ClusterSpec::ToClusterDef() const {
  proto::ClusterDef def;
  for (const auto& [job, tasks] : jobs_) {
    proto::JobDef* job_def = def.add_job();
    job_def->set_name(job);
    for (const auto& [index, address] : tasks) (*job_def->mutable_tasks())[index] = address;
  }
  return DeterministicBytes(def);  // equal clusters have equal bytes
}

StatusOr<ClusterSpec> ClusterSpec::FromClusterDef(std::string_view bytes) {
  proto::ClusterDef def;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !def.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("cannot parse ", bytes.size(), " bytes as a ClusterDef message");
  }
  std::map<std::string, Tasks> jobs;
  for (const proto::JobDef& job : def.job()) {
    const auto [it, fresh] = jobs.emplace(job.name(), Tasks(job.tasks().begin(), job.tasks().end()));
    if (!fresh) return InvalidArgument("job '", job.name(), "' appears twice in the ClusterDef");
  }
  return Sparse(std::move(jobs));
}

}  // namespace tensorbraid
