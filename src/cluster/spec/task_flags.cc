#include "tensorbraid/cluster/task_flags.h"

#include <cstdlib>

#include "cluster/spec/tf_config.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/cluster/server.h"
#include "tensorbraid/core/flags.h"

namespace tensorbraid {

void TaskFlags::CheckParsed(const char* what) const {
  if (parsed_) return;
  TB_LOG(Error, "flags") << what << " of the task's flags is used before they are parsed; call "
                         << "Flags::ParseOrExit(argc, argv) first";
}

bool TaskFlags::has_cluster() const {
  CheckParsed("has_cluster()");
  return !job_name.empty();
}

const ClusterSpec& TaskFlags::cluster() const {
  CheckParsed("cluster()");
  return cluster_;
}

ServerOptions TaskFlags::server_options() const {
  CheckParsed("server_options()");
  return {.job_name = job_name,
          .task_index = task_index,
          .protocol = protocol,
          .tls = tls,
          .insecure = insecure,
          .token_file = token_file,
          .client_token_file = client_token_file,
          .allow_paths = allow_path,
          .op_libraries = load,
          .wire = wire_types_,
          .metrics_port = metrics_port};
}

std::string TaskFlags::device() const {
  CheckParsed("device()");
  return job_name.empty() ? "" : StrCat("/job:", job_name, "/task:", task_index);
}

bool TaskFlags::is_chief() const {
  CheckParsed("is_chief()");
  if (job_name.empty()) return true;
  for (const char* chief : {"chief", "master"}) {
    if (cluster_.num_tasks(chief) > 0) return job_name == chief && task_index == 0;
  }
  return job_name == "worker" && task_index == 0;
}

// Defines the flags of a TaskFlags, and builds its cluster after they have been parsed.
class TaskFlagsParser {
 public:
  static TaskFlags& Define(Flags& flags, bool required) {
    auto task = std::make_shared<TaskFlags>();
    flags.Keep(task);
    const std::string group = "Task in the cluster (or the environment variable TF_CONFIG)";
    flags.Bind("ps_hosts", &task->ps_hosts, "addresses of the parameter servers, host:port", group);
    flags.Bind("worker_hosts", &task->worker_hosts, "addresses of the workers, host:port", group);
    flags.Bind("job_name", &task->job_name, "job of this process: ps or worker", group);
    flags.Bind("task_index", &task->task_index, "index of this process in its job", group);
    flags.Bind("issync", &task->issync, "apply the gradients of all workers together", group);
    flags.Bind("tls_cert", &task->tls.cert, "PEM file: certificate of this host; 'tensorbraid certs' makes one", group);
    flags.Bind("tls_key", &task->tls.key, "PEM file: private key of --tls_cert", group);
    flags.Bind("tls_ca", &task->tls.ca, "PEM file: authority that certificates of tasks and clients come from", group);
    flags.Bind("insecure", &task->insecure, "listen without TLS where other machines can connect", group);
    flags.Bind("token_file", &task->token_file, "file with the token that tasks and clients must send", group);
    flags.Bind("client_token_file", &task->client_token_file,
               "file with tokens of clients, which may run sessions and nothing else", group);
    flags.Bind("allow_path", &task->allow_path,
               "directories, separated by commas, that graphs of sessions from other machines may use", group);
    flags.Bind("load", &task->load, "libraries of custom ops, separated by commas, for this task", group);
    flags.Bind("protocol", &task->protocol,
               "how tasks exchange messages: grpc, grpc+ucx, or the best that both ends have (default)", group);
    flags.Bind("wire", &task->wire,
               "how gradients of variables on a job travel: ps:int8, or another of float16, bfloat16, 1bit, topk; with "
               "float16 and bfloat16, the variables' values too; ps:parameters=bfloat16,ps:gradients=int8 sets both",
               group);
    flags.Bind("metrics_port", &task->metrics_port,
               "port for the status of the cluster: a page for browsers, and metrics for Prometheus at /metrics; "
               "-1: none, 0: any free port",
               group);
    flags.AtLeast("metrics_port", -1);
    flags.AddCheck([task = task.get(), &flags, required] { return Check(flags, *task, required); });
    return *task;
  }

 private:
  static Status Check(const Flags& flags, TaskFlags& task, bool required) {
    task.parsed_ = true;
    auto wire_types = ParseWireRules(task.wire);
    if (!wire_types.ok()) return Annotate(wire_types.status(), "--wire");
    task.wire_types_ = *std::move(wire_types);
    bool by_flags = false;
    for (const char* name : {"ps_hosts", "worker_hosts", "job_name", "task_index"}) by_flags |= flags.WasGiven(name);
    const char* tf_config = std::getenv("TF_CONFIG");
    if (by_flags) return FromFlags(task);
    if (tf_config != nullptr && *tf_config != '\0') return Annotate(FromTfConfig(tf_config, task), "TF_CONFIG");
    if (!required) return OkStatus();
    return InvalidArgument(
        "no cluster: give --ps_hosts, --worker_hosts, --job_name and --task_index, or TF_CONFIG; to run a whole "
        "cluster "
        "on one machine, use 'tensorbraid launch --ps=1 --workers=2 -- PROGRAM'");
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
      return InvalidArgument("--job_name is missing; must be one of: ", StrJoin(task.cluster_.jobs(), ", "));
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
    if (task.worker_hosts.empty()) return InvalidArgument("the cluster has neither a chief nor workers");
    return OkStatus();
  }
};

TaskFlags& Flags::DefineTask(bool required) { return TaskFlagsParser::Define(*this, required); }

}  // namespace tensorbraid
