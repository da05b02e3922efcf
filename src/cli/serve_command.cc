#include <signal.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "CLI/CLI.hpp"
#include "cli/accelerator_option.h"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cluster/discovery/discover.h"
#include "cluster/spec/tf_config.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/cluster/server.h"

namespace tensorbraid {
namespace {

struct ServeFlags {
  std::string cluster_spec;
  std::string job_name;
  int task_index = 0;
  std::string protocol = "";
  std::string config;
  std::string bind_address;
  TlsOptions tls;
  bool insecure = false;
  std::string token_file;
  std::string client_token_file;
  std::vector<std::string> allow_paths;
  std::vector<std::string> op_libraries;
  std::vector<std::string> wire;
  ServerLimits limits;
  int metrics_port = -1;
  int verbosity = -1;
};

// Parses a cluster such as "worker|h:p;h:p,ps|h:p".
StatusOr<ClusterSpec> ParseBarForm(const std::string& text) {
  std::map<std::string, std::vector<std::string>> jobs;
  for (const std::string& job : StrSplit(text, ',')) {
    const auto parts = StrSplit(job, '|');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return InvalidArgument("invalid job '", job,
                             "'; expected job|host:port;host:port, with jobs separated by commas");
    }
    if (jobs.contains(parts[0])) return InvalidArgument("job '", parts[0], "' is listed twice");
    jobs[parts[0]] = StrSplit(parts[1], ';');
  }
  return ClusterSpec(jobs);
}

StatusOr<ClusterSpec> ParseClusterSpec(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first != std::string::npos && text[first] == '{') return ParseClusterJson(text);
  return ParseBarForm(text);
}

StatusOr<FoundTask> TaskOf(const ServeFlags& flags) {
  FoundTask task;
  if (!flags.cluster_spec.empty()) {
    auto cluster = ParseClusterSpec(flags.cluster_spec);
    if (!cluster.ok()) return Annotate(cluster.status(), "--cluster_spec");
    task.cluster = *std::move(cluster);
    task.job = flags.job_name;
    task.index = flags.task_index;
    if (task.job.empty()) {
      return InvalidArgument("--job_name is missing; it must be one of: ", StrJoin(task.cluster.jobs(), ", "));
    }
    return task;
  }
  Discovery discovery = Discover({.tls = flags.tls, .token_file = flags.token_file}, Surroundings::OfProcess());
  TF_RETURN_IF_ERROR(discovery.task);
  if (!discovery.task->has_value()) {
    return InvalidArgument(
        "no cluster is given; set --cluster_spec, --job_name and --task_index, or TF_CONFIG; for example "
        "--cluster_spec='{\"ps\":[\"localhost:2222\"],\"worker\":[\"localhost:2223\"]}' --job_name=ps --task_index=0; "
        "'tensorbraid task --explain' says what else was looked at");
  }
  task = **std::move(discovery.task);
  if (!flags.job_name.empty()) {
    task.job = flags.job_name;
    task.index = flags.task_index;
  }
  return task;
}

StatusOr<std::string> ReadConfig(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("--config: cannot read the file '", path, "'");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Status Serve(ServeFlags flags) {
  if (flags.verbosity >= 0) {
    ConfigureLog(flags.verbosity == 0 ? "warning" : flags.verbosity == 1 ? "info" : "debug");
  }
  // Block the signals before any thread starts. All threads inherit this, so that only sigwait receives the signals.
  sigset_t stop;
  sigemptyset(&stop);
  for (int signal : {SIGINT, SIGTERM}) sigaddset(&stop, signal);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);

  ReadAccess(Surroundings::OfProcess(), &flags.tls, &flags.token_file);
  TF_ASSIGN_OR_RETURN(const FoundTask task, TaskOf(flags));
  TF_ASSIGN_OR_RETURN(const std::string config, ReadConfig(flags.config));
  auto wire = ParseWireRules(flags.wire);
  if (!wire.ok()) return Annotate(wire.status(), "--wire");
  auto created = Server::Create(task.cluster, {.job_name = task.job,
                                               .task_index = task.index,
                                               .protocol = flags.protocol,
                                               .config = config,
                                               .bind_address = flags.bind_address,
                                               .tls = flags.tls,
                                               .insecure = flags.insecure,
                                               .token_file = flags.token_file,
                                               .client_token_file = flags.client_token_file,
                                               .allow_paths = flags.allow_paths,
                                               .op_libraries = flags.op_libraries,
                                               .limits = flags.limits,
                                               .wire = *std::move(wire),
                                               .metrics_port = flags.metrics_port,
                                               .watch = task.watch});
  // TensorFlow's servers report a taken port as Unknown, and programs that start servers check for that code.
  if (absl::IsAlreadyExists(created.status())) return absl::UnknownError(created.status().message());
  TF_RETURN_IF_ERROR(created.status());
  const auto server = *std::move(created);
  std::printf("%s/%d serves at %s\n", task.job.c_str(), task.index, server->target().c_str());
  if (!server->status_url().empty()) std::printf("status at %s\n", server->status_url().c_str());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&stop, &signal);
  server->Stop();
  return OkStatus();
}

}  // namespace

void AddServeCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* serve =
      app.add_subcommand("serve", "Run one task of a cluster as a server for TensorFlow's clients and ours");
  serve->add_option("--cluster_spec", flags->cluster_spec,
                    "the cluster: JSON {\"ps\":[\"h:p\"],\"worker\":{\"1\":\"h:p\"}}, or worker|h:p;h:p,ps|h:p");
  serve->add_option("--job_name", flags->job_name, "job of this task");
  serve->add_option("--task_index", flags->task_index, "index of this task in its job")->capture_default_str();
  serve->add_option("--protocol", flags->protocol,
                    "protocol between tasks: grpc, grpc+ucx, or the best that both ends have (default)");
  AddAcceleratorPluginOption(serve);
  AddCompileCacheOption(serve);
  serve->add_option("--config", flags->config, "ConfigProto in text format with device_count and defaults for sessions")
      ->type_name("FILE");
  serve->add_option("--bind_address", flags->bind_address, "listen on this host address instead of the cluster's");
  serve->add_option("--tls_cert", flags->tls.cert, "certificate of this host; 'tensorbraid certs' makes one")
      ->type_name("FILE");
  serve->add_option("--tls_key", flags->tls.key, "private key of --tls_cert")->type_name("FILE");
  serve->add_option("--tls_ca", flags->tls.ca, "authority that the certificates of tasks and clients come from")
      ->type_name("FILE");
  serve->add_flag("--insecure", flags->insecure, "listen without TLS where other machines can connect");
  serve->add_option("--token_file", flags->token_file, "token that tasks and clients must send")->type_name("FILE");
  serve
      ->add_option("--client_token_file", flags->client_token_file,
                   "tokens of clients, which may run sessions, but not reset the cluster")
      ->type_name("FILE");
  serve
      ->add_option("--allow_path", flags->allow_paths,
                   "directory that graphs of sessions from other machines may use; may be repeated")
      ->type_name("DIR");
  serve
      ->add_option(
          "--load", flags->op_libraries,
          "library of custom ops (docs/custom_ops.md), which runs with the rights of this server; may be repeated")
      ->type_name("FILE");
  serve
      ->add_option("--wire", flags->wire,
                   "how gradients of variables on a job travel: ps:int8, or another of float16, bfloat16, 1bit, topk; "
                   "with float16 and bfloat16, the variables' values too. ps:parameters=bfloat16 and ps:gradients=int8 "
                   "set one of the two. For sessions whose master is this task; may be repeated")
      ->type_name("JOB:TYPE");
  const auto limit = [serve](const std::string& name, auto& value, const std::string& help, int least) {
    serve->add_option(name, value, help)->check(AtLeast(least))->type_name("NUMBER")->capture_default_str();
  };
  limit("--max_message_bytes", flags->limits.max_message_bytes, "largest request of a client", 1);
  limit("--max_total_request_bytes", flags->limits.max_total_request_bytes,
        "requests of all clients together that are in progress", 1);
  limit("--max_graph_bytes", flags->limits.max_graph_bytes, "largest graph of a session", 1);
  limit("--max_tensor_bytes", flags->limits.max_tensor_bytes, "largest tensor", 1);
  limit("--max_sessions", flags->limits.max_sessions, "sessions whose master is this server", 1);
  limit("--max_connections", flags->limits.max_connections,
        "open connections; 0: three quarters of the files that the process may open", 0);
  limit("--max_connections_per_address", flags->limits.max_connections_per_address,
        "of these, from one address; 0: half of them, but all of them from this machine", 0);
  limit("--max_requests", flags->limits.max_requests, "requests in progress of one connection", 1);
  serve
      ->add_option("--metrics_port", flags->metrics_port,
                   "port for the status of the cluster: a page for browsers, and metrics for Prometheus at /metrics; "
                   "0: any free port")
      ->check(CLI::Range(0, 65535));
  serve->add_option("--verbosity", flags->verbosity, "log level: 0 warnings, 1 information, 2 debug")
      ->check(CLI::Range(0, 2));
  serve->footer(
      "\nWithout --cluster_spec, the environment variable TF_CONFIG defines the cluster and the task, or the engine\n"
      "that starts this process does (docs/discovery.md). The server prints a line to standard output when it is "
      "ready, and runs until SIGINT or SIGTERM. A session on any task\n"
      "can use the whole cluster: tf.compat.v1.Session(\"grpc://localhost:2223\"), or tensorbraid::Session with that "
      "target.\n\n"
      "Example:\n"
      "  C='{\"ps\":[\"localhost:2222\"],\"worker\":[\"localhost:2223\"]}'\n"
      "  tensorbraid serve --cluster_spec=\"$C\" --job_name=ps --task_index=0 &\n"
      "  tensorbraid serve --cluster_spec=\"$C\" --job_name=worker --task_index=0");
  serve->callback([flags, invocation] { invocation->run = [flags] { return ExitCode(Serve(*flags)); }; });
}

}  // namespace tensorbraid
