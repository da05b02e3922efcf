#include <cstdlib>

#include "cluster/tf_config.h"
#include "core/strings.h"
#include "tensorbraid/flags.h"

namespace tensorbraid {

std::string TaskFlags::device() const { return StrCat("/job:", job_name, "/task:", task_index); }

bool TaskFlags::is_chief() const {
  for (const char* chief : {"chief", "master"}) {
    if (cluster_.num_tasks(chief) > 0) return job_name == chief && task_index == 0;
  }
  return job_name == "worker" && task_index == 0;
}

// Defines the flags of a TaskFlags and, once they are parsed, makes its cluster of them.
class TaskFlagsParser {
 public:
  static TaskFlags& Define(Flags& flags) {
    auto task = std::make_shared<TaskFlags>();
    flags.Keep(task);
    const std::string group = "Task in the cluster (or the environment variable TF_CONFIG)";
    flags.Bind("ps_hosts", &task->ps_hosts, "addresses of the parameter servers, host:port", group);
    flags.Bind("worker_hosts", &task->worker_hosts, "addresses of the workers, host:port", group);
    flags.Bind("job_name", &task->job_name, "job of this process: ps or worker", group);
    flags.Bind("task_index", &task->task_index, "index of this process in its job", group);
    flags.Bind("issync", &task->issync, "apply the gradients of all workers together", group);
    flags.AddCheck([task = task.get(), &flags] { return Check(flags, *task); });
    return *task;
  }

 private:
  static Status Check(const Flags& flags, TaskFlags& task) {
    bool by_flags = false;
    for (const char* name : {"ps_hosts", "worker_hosts", "job_name", "task_index"}) by_flags |= flags.WasGiven(name);
    const char* tf_config = std::getenv("TF_CONFIG");
    if (by_flags) return FromFlags(task);
    if (tf_config != nullptr && *tf_config != '\0') return Annotate(FromTfConfig(tf_config, task), "TF_CONFIG");
    return InvalidArgument(
        "no cluster: give --ps_hosts, --worker_hosts, --job_name and --task_index, or TF_CONFIG; on one machine "
        "'tensorbraid launch --ps=1 --workers=2 -- PROGRAM' does it");
  }

  static Status FromFlags(TaskFlags& task) {
    std::map<std::string, std::vector<std::string>> jobs;
    if (!task.ps_hosts.empty()) jobs["ps"] = task.ps_hosts;
    if (!task.worker_hosts.empty()) jobs["worker"] = task.worker_hosts;
    task.cluster_ = ClusterSpec(jobs);
    if (jobs.empty()) return InvalidArgument("the cluster is empty: give --worker_hosts (and --ps_hosts)");
    if (task.worker_hosts.empty()) return InvalidArgument("the cluster has no workers: give --worker_hosts");
    TF_RETURN_IF_ERROR(Annotate(task.cluster_.Validate(), "--ps_hosts, --worker_hosts"));
    if (task.job_name.empty()) {
      return InvalidArgument("--job_name is missing; one of: ", StrJoin(task.cluster_.jobs(), ", "));
    }
    return Annotate(task.cluster_.task_address(task.job_name, task.task_index).status(), "--job_name, --task_index");
  }

  static Status FromTfConfig(const char* json, TaskFlags& task) {
    TF_ASSIGN_OR_RETURN(TfConfig config, ParseTfConfig(json));
    TF_RETURN_IF_ERROR(config.cluster.Validate());
    TF_RETURN_IF_ERROR(config.cluster.task_address(config.task_type, config.task_index).status());
    task.cluster_ = std::move(config.cluster);
    task.job_name = std::move(config.task_type);
    task.task_index = config.task_index;
    for (const char* job : {"chief", "master", "worker", "ps"}) {
      auto& hosts = job == std::string("ps") ? task.ps_hosts : task.worker_hosts;
      for (int index : task.cluster_.task_indices(job)) hosts.push_back(*task.cluster_.task_address(job, index));
    }
    if (task.worker_hosts.empty()) return InvalidArgument("the cluster has neither chief nor workers");
    return OkStatus();
  }
};

TaskFlags& Flags::DefineTask() { return TaskFlagsParser::Define(*this); }

}  // namespace tensorbraid
