// The source for Kubernetes: the pods of a StatefulSet, an Indexed Job or a JobSet have numbers, and names behind a
// headless service.
#include <algorithm>

#include "cluster/discovery/source.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr int kDefaultPort = 2222;

// The name of a pod, split at its job and its number: "train-worker-0-3" is {"train-", "worker", "-0-3"} with the
// number 3.
struct PodName {
  std::string before, job, after;
  int number = -1;
};

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
}

// `job` is empty if it is not known. Then it is the last part of the name that is "ps" or "worker".
StatusOr<PodName> ParsePodName(const std::string& host_name, const std::string& job) {
  const std::string name = host_name.substr(0, host_name.find('.'));
  const std::vector<std::string> parts = StrSplit(name, '-');
  PodName pod;
  if (IsNumber(parts.back())) pod.number = std::stoi(parts.back());
  for (size_t i = parts.size(); i-- > 0;) {
    if (job.empty() ? parts[i] != "ps" && parts[i] != "worker" : parts[i] != job) continue;
    pod.job = parts[i];
    for (size_t j = 0; j < i; ++j) pod.before += parts[j] + "-";
    for (size_t j = i + 1; j < parts.size(); ++j) pod.after += "-" + parts[j];
    return pod;
  }
  return InvalidArgument("the host name '", host_name, "' does not contain ", job.empty() ? "ps or worker" : job,
                         " between dashes; name the StatefulSets or jobs so (train-ps, train-worker), or give the ",
                         "whole pattern: TENSORBRAID_SERVICE={job}-{index}.SERVICE, and TENSORBRAID_JOB");
}

std::string Replace(std::string text, const std::string& what, const std::string& with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// The pattern of the tasks' addresses, "train-{job}-{index}.train:2222". `service` is such a pattern, or the name of
// the service alone.
StatusOr<std::string> AddressPattern(const std::string& service, const std::string& host_name, const std::string& job) {
  std::string pattern = service;
  if (pattern.find('{') == std::string::npos) {
    TF_ASSIGN_OR_RETURN(PodName pod, ParsePodName(host_name, job));
    const std::string number = StrCat("-", pod.number);
    if (!pod.after.ends_with(number)) {
      return InvalidArgument("the host name '", host_name,
                             "' does not end in the number of the pod, as in train-worker-3; ",
                             "use a StatefulSet, an Indexed Job or a JobSet, or give the whole pattern: ",
                             "TENSORBRAID_SERVICE={job}-{index}.SERVICE");
    }
    pod.after.resize(pod.after.size() - number.size());
    pattern = StrCat(pod.before, "{job}", pod.after, "-{index}.", service);
  }
  for (const char* part : {"{job}", "{index}"}) {
    if (pattern.find(part) == std::string::npos) {
      return InvalidArgument("TENSORBRAID_SERVICE='", service, "' has no ", part, ", as in train-{job}-{index}.train");
    }
  }
  if (pattern.find(':') == std::string::npos) pattern += StrCat(":", kDefaultPort);
  const auto valid = ParseHostPort(Replace(Replace(pattern, "{job}", "ps"), "{index}", "0"));
  if (!valid.ok()) return Annotate(valid.status(), "TENSORBRAID_SERVICE");
  return pattern;
}

}  // namespace

StatusOr<Claim> LookAtKubernetes(const TaskArguments&, VariableReader& reader) {
  const auto service = reader.Get("TENSORBRAID_SERVICE");
  if (!service.has_value()) return Claim::NotMine("TENSORBRAID_SERVICE is not set");
  const auto given_job = reader.Get("TENSORBRAID_JOB");
  const std::string& host_name = reader.around().host_name;
  TF_ASSIGN_OR_RETURN(const int ps,
                      reader.NeedNumber("TENSORBRAID_PS", 0, "set it to the number of parameter servers"));
  TF_ASSIGN_OR_RETURN(const int workers,
                      reader.NeedNumber("TENSORBRAID_WORKERS", 1, "set it to the number of workers"));
  TF_ASSIGN_OR_RETURN(const std::string pattern, AddressPattern(*service, host_name, given_job.value_or("")));

  TaskName task{given_job.value_or(""), -1};
  if (task.job.empty()) {
    TF_ASSIGN_OR_RETURN(const PodName pod, ParsePodName(host_name, ""));
    task.job = pod.job;
  }
  if (task.job != "ps" && task.job != "worker") {
    return InvalidArgument("TENSORBRAID_JOB='", task.job, "' must be ps or worker");
  }
  TF_ASSIGN_OR_RETURN(const auto completion_index, reader.GetNumber("JOB_COMPLETION_INDEX"));
  if (completion_index.has_value()) {
    task.index = *completion_index;
  } else if (const std::string last = StrSplit(host_name.substr(0, host_name.find('.')), '-').back(); IsNumber(last)) {
    task.index = std::stoi(last);
  } else {
    return InvalidArgument("the number of this pod is not known: JOB_COMPLETION_INDEX is not set, and the host name '",
                           host_name, "' does not end in a number; use a StatefulSet, an Indexed Job or a JobSet");
  }
  const int count = task.job == "ps" ? ps : workers;
  if (task.index >= count) {
    const char* const variable = task.job == "ps" ? "TENSORBRAID_PS" : "TENSORBRAID_WORKERS";
    return InvalidArgument("this pod, '", host_name, "', is ", task.job, "/", task.index, ", but ", variable, "=",
                           count, "; set it to the number of pods");
  }
  std::map<std::string, std::vector<std::string>> jobs;
  for (const auto& [job, tasks] : {std::pair<std::string, int>("ps", ps), {"worker", workers}}) {
    for (int i = 0; i < tasks; ++i) {
      jobs[job].push_back(Replace(Replace(pattern, "{job}", job), "{index}", std::to_string(i)));
    }
  }
  return Claim{.known = KnownTask{task, ClusterSpec(jobs)},
               .why = StrCat("the host name is '", host_name, "', and the tasks are at ", pattern)};
}

}  // namespace tensorbraid
