#include "tensorbraid/cluster/task_flags.h"

#include "cluster/discovery/discover.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "pjrt/find_plugins.h"
#include "pjrt/program_files.h"
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
          .metrics_port = metrics_port,
          .watch = found_ == nullptr ? nullptr : found_->watch};
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
    const std::string group = "Task in the cluster (or TF_CONFIG, or what the engine that starts the tasks says)";
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
    auto plugins = std::make_shared<std::string>();
    flags.Keep(plugins);
    flags.Bind("accelerator_plugin", plugins.get(),
               "PJRT plugins for accelerators, as $TENSORBRAID_ACCELERATOR_PLUGIN names them: PATH, or TYPE=PATH,...",
               group);
    auto programs = std::make_shared<std::string>();
    flags.Keep(programs);
    flags.Bind("compile_cache", programs.get(),
               "directory in which the programs of accelerators are kept for later processes, as "
               "$TENSORBRAID_COMPILE_CACHE names it",
               group);
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
    flags.AddCheck([task = task.get(), plugins = plugins.get(), programs = programs.get(), &flags, required] {
      if (flags.WasGiven("accelerator_plugin")) pjrt::NamePlugins(*plugins);
      if (flags.WasGiven("compile_cache")) KeepPrograms(*programs);
      return Check(flags, *task, required);
    });
    return *task;
  }

 private:
  static Status Check(const Flags& flags, TaskFlags& task, bool required) {
    task.parsed_ = true;
    auto wire_types = ParseWireRules(task.wire);
    if (!wire_types.ok()) return Annotate(wire_types.status(), "--wire");
    task.wire_types_ = *std::move(wire_types);
    const Surroundings around = Surroundings::OfProcess();
    ReadAccess(around, &task.tls, &task.token_file);
    VariableReader variables(around);
    if (task.client_token_file.empty()) {
      task.client_token_file = variables.Get("TENSORBRAID_CLIENT_TOKEN_FILE").value_or("");
    }
    if (!flags.WasGiven("insecure")) task.insecure = variables.Get("TENSORBRAID_INSECURE") == "1";
    TaskArguments arguments{.ps_hosts = task.ps_hosts,
                            .worker_hosts = task.worker_hosts,
                            .job_name = task.job_name,
                            .task_index = task.task_index,
                            .tls = task.tls,
                            .token_file = task.token_file};
    for (const char* name : {"ps_hosts", "worker_hosts", "job_name", "task_index"}) {
      arguments.given |= flags.WasGiven(name);
    }
    Discovery discovery = Discover(arguments, around);
    TF_RETURN_IF_ERROR(discovery.task);
    if (discovery.task->has_value()) {
      Set(**std::move(discovery.task), &task);
      return OkStatus();
    }
    if (!required) return OkStatus();
    return InvalidArgument(
        "no cluster: give --ps_hosts, --worker_hosts, --job_name and --task_index, or TF_CONFIG; to run a whole "
        "cluster on one machine, use 'tensorbraid launch --ps=1 --workers=2 -- PROGRAM'; 'tensorbraid task --explain' "
        "says what else was looked at");
  }

  static void Set(FoundTask found, TaskFlags* task) {
    task->ps_hosts.clear();
    task->worker_hosts.clear();
    for (const char* job : {"chief", "master", "worker", "ps"}) {
      auto& hosts = job == std::string("ps") ? task->ps_hosts : task->worker_hosts;
      for (int index : found.cluster.task_indices(job)) hosts.push_back(*found.cluster.task_address(job, index));
    }
    task->job_name = found.job;
    task->task_index = found.index;
    task->cluster_ = found.cluster;
    if (found.port != nullptr) {
      TB_LOG(Info, "discovery") << "this is " << found.job << "/" << found.index << " of " << task->ps_hosts.size()
                                << " parameter servers and " << task->worker_hosts.size() << " workers, at "
                                << *found.cluster.task_address(found.job, found.index) << " (" << found.source << ")";
    }
    task->found_ = std::make_shared<FoundTask>(std::move(found));
  }
};

TaskFlags& Flags::DefineTask(bool required) { return TaskFlagsParser::Define(*this, required); }

}  // namespace tensorbraid
