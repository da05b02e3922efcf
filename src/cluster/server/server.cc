#include "tensorbraid/cluster/server.h"

#include "cluster/discovery/cluster_watch.h"
#include "cluster/discovery/moves_file.h"
#include "cluster/membership/cluster_view.h"
#include "cluster/membership/join.h"
#include "cluster/server/server_config.h"
#include "cluster/server/task.h"
#include "cluster/status/report_file.h"
#include "cluster/status/status_server.h"
#include "core/text/host_port.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/values/tensor_limit.h"
#include "pjrt/accelerator.h"
#include "tensorbraid/custom_op/library.h"
#include "transport/address.h"
#include "transport/new_transport.h"

namespace tensorbraid {

struct Server::Impl {
  std::shared_ptr<Task> task;
  std::string listen_address;  // as given in the cluster
  int metrics_port;
  StatusServerOptions metrics;
  bool encrypted;
  bool accepts_anyone;  // everyone who can reach the port may use the server
  Mutex mu;
  std::string address TB_GUARDED_BY(mu);  // with the port in use; empty before Start
  bool stopped TB_GUARDED_BY(mu) = false;
  std::unique_ptr<StatusServer> status_server TB_GUARDED_BY(mu);
  ClusterSpec cluster;                  // as given
  std::shared_ptr<ClusterWatch> watch;  // may be null
  std::unique_ptr<RunningWatch> watching TB_GUARDED_BY(mu);
  std::unique_ptr<ReportFile> report_file TB_GUARDED_BY(mu);
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StatusOr<std::unique_ptr<Server>> Server::Create(const ClusterSpec& cluster, ServerOptions options) {
  if (cluster.empty()) {
    return InvalidArgument("the cluster is empty: it needs at least the task of this server; if it comes from ",
                           "TaskFlags, call Flags::ParseOrExit(argc, argv) first");
  }
  TF_RETURN_IF_ERROR(cluster.Validate());
  TF_ASSIGN_OR_RETURN(const std::string address, cluster.task_address(options.job_name, options.task_index));
  for (const auto& [job, types] : options.wire) {
    if (cluster.num_tasks(job) == 0) return InvalidArgument("wire types for job '", job, "', which does not exist");
    if (const Status valid = CheckWireTypes(types); !valid.ok()) return Annotate(valid, StrCat("job '", job, "'"));
  }
  for (const std::string& library : options.op_libraries) {
    TF_ASSIGN_OR_RETURN(const std::vector<std::string> ops, LoadOpLibrary(library));
    TB_LOG(Info, "cluster") << "loaded the ops of '" << library << "': " << StrJoin(ops, ", ");
  }
  TF_ASSIGN_OR_RETURN(const ServerConfig config, ParseServerConfig(options.config));
  if (!config.device_count.empty()) options.device_count = config.device_count;
  TF_RETURN_IF_ERROR(pjrt::UseGpuOptions(config.gpu_options));
  if (config.inter_op_threads > 0) options.inter_op_parallelism_threads = config.inter_op_threads;
  TaskOptions task_options{.job = options.job_name,
                           .index = options.task_index,
                           .device_count = options.device_count,
                           .inter_op_threads = options.inter_op_parallelism_threads,
                           .membership = {.heartbeat_interval = options.heartbeat_interval,
                                          .heartbeat_timeout = options.heartbeat_timeout,
                                          .lost_after = options.lost_after,
                                          .slow_wait = options.slow_wait,
                                          .stop_grace = options.stop_grace},
                           .exchange = {},
                           .default_session_config = config.session_config,
                           .allow_paths = options.allow_paths,
                           .limits = options.limits,
                           .wire = options.wire};
  SetMaxTensorBytes(options.limits.max_tensor_bytes);
  auto impl = std::make_unique<Impl>();
  TF_ASSIGN_OR_RETURN(const HostPort host_port, ParseHostPort(address));
  TF_ASSIGN_OR_RETURN(auto transport, NewTransport(options.protocol, host_port.host,
                                                   {.bind_address = options.bind_address,
                                                    .tls = options.tls,
                                                    .token_file = options.token_file,
                                                    .client_token_file = options.client_token_file,
                                                    .limits = options.limits,
                                                    .insecure = options.insecure}));
  TF_ASSIGN_OR_RETURN(impl->task, Task::Create(cluster, task_options, std::move(transport)));
  impl->encrypted = options.tls.enabled();
  impl->accepts_anyone = options.token_file.empty() && (impl->encrypted ? options.tls.ca.empty() : options.insecure);
  impl->listen_address = address;
  impl->cluster = cluster;
  impl->watch = options.watch != nullptr ? std::move(options.watch) : MovesFile::FromEnvironment();
  impl->metrics_port = options.metrics_port;
  impl->metrics = {.address = address,
                   .bind_address = options.bind_address,
                   .port = options.metrics_port,
                   .tls = options.tls,
                   .insecure = options.insecure,
                   .token_file = options.token_file,
                   .client_token_file = options.client_token_file};
  SetLogTask(StrCat(options.job_name, "/", options.task_index));
  auto server = std::unique_ptr<Server>(new Server(std::move(impl)));
  if (options.start) TF_RETURN_IF_ERROR(server->Start());
  return server;
}

Server::~Server() { Stop(); }

Status Server::Start() {
  {
    MutexLock lock(impl_->mu);
    if (impl_->stopped) return FailedPrecondition("the server has been stopped");
    if (!impl_->address.empty()) return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const int port, impl_->task->Start(impl_->listen_address));
  TF_ASSIGN_OR_RETURN(HostPort host_port, ParseHostPort(impl_->listen_address));
  host_port.port = port;
  {
    MutexLock lock(impl_->mu);
    impl_->address = host_port.ToString();
  }
  PublishTask(target(), impl_->task);
  TB_LOG(Info, "cluster") << ShortTaskName(impl_->task->name()) << " listens on " << host_port.ToString();
  // The report file, the status server and the watch end before the task does.
  Task* const task = impl_->task.get();
  {
    MutexLock lock(impl_->mu);
    impl_->report_file = ReportFile::FromEnvironment([task](proto::TaskReport* report) { task->FillReport(report); });
  }
  if (impl_->metrics_port >= 0) {
    TF_ASSIGN_OR_RETURN(
        auto status_server,
        StatusServer::Start(
            impl_->metrics, [task](auto done) { task->status().Collect(kReportTimeout, std::move(done)); },
            [task] { return ReadyToWork(*task->membership().view()); }));
    TB_LOG(Info, "cluster") << "the status of the cluster is at " << status_server->url() << ", metrics at "
                            << status_server->url() << "metrics";
    MutexLock lock(impl_->mu);
    impl_->status_server = std::move(status_server);
  }
  if (impl_->watch != nullptr) {
    auto watching = impl_->watch->Start([task, cluster = impl_->cluster](const AddressMoves& moves) {
      task->membership().Update(AfterMoves(cluster, moves));
    });
    MutexLock lock(impl_->mu);
    if (!impl_->stopped) impl_->watching = std::move(watching);
  }
  if (impl_->accepts_anyone && !IsLoopbackHost(host_port.host)) {
    TB_LOG(Warning, "cluster") << "listening " << (impl_->encrypted ? "without --tls_ca" : "without encryption")
                               << ": anyone who can reach port " << host_port.port
                               << " can run steps here; keep it inside a trusted network";
  }
  return OkStatus();
}

std::string Server::address() const {
  MutexLock lock(impl_->mu);
  return impl_->address;
}

std::string Server::target() const { return "grpc://" + address(); }

std::string Server::status_url() const {
  MutexLock lock(impl_->mu);
  return impl_->status_server == nullptr ? "" : impl_->status_server->url();
}

Status Server::Join() { return JoinCluster(&impl_->task->membership()); }

void Server::Stop(const Status& why) {
  std::unique_ptr<StatusServer> status_server;
  std::unique_ptr<RunningWatch> watching;
  std::unique_ptr<ReportFile> report_file;
  {
    MutexLock lock(impl_->mu);
    if (std::exchange(impl_->stopped, true)) return;
    status_server = std::move(impl_->status_server);
    watching = std::move(impl_->watching);
    report_file = std::move(impl_->report_file);
  }
  watching.reset();
  status_server.reset();  // while the task can still answer it
  report_file.reset();    // writes the last report
  WithdrawTask(target());
  impl_->task->Stop(why);
}

}  // namespace tensorbraid
