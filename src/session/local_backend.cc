#include <future>

#include "cluster/protobuf/report.pb.h"
#include "cluster/server/task.h"
#include "cluster/status/status_service.h"
#include "cluster/trace/step_stats.h"
#include "pjrt/accelerator.h"
#include "pjrt/find_plugins.h"
#include "session/backend.h"

namespace tensorbraid {
namespace {

class PreparedStep final : public SessionBackend::Prepared {
 public:
  PreparedStep(std::shared_ptr<MasterSession> session, std::shared_ptr<CompiledGraph> graph)
      : session_(std::move(session)), graph_(std::move(graph)) {}
  StatusOr<std::vector<Tensor>> Run(std::vector<Tensor> feeds, SessionBackend::Deadline deadline) const override {
    return session_->Run(graph_, std::move(feeds), deadline);
  }

 private:
  const std::shared_ptr<MasterSession> session_;
  const std::shared_ptr<CompiledGraph> graph_;
};

// Uses a master in this process: the master of a server, or the master of a task created for this session alone.
class LocalBackend final : public SessionBackend {
 public:
  // `cluster` is set if the session has its own cluster (SessionOptions::cluster), otherwise null.
  LocalBackend(std::shared_ptr<Task> task, bool has_network, std::shared_ptr<Member> cluster, const Graph& graph,
               const MasterSessionOptions& options)
      : task_(std::move(task)),
        has_network_(has_network),
        cluster_(std::move(cluster)),
        device_filters_(options.device_filters),
        session_(master().NewSession(&graph, options)) {}
  ~LocalBackend() override { Close().IgnoreError(); }

  StatusOr<std::shared_ptr<const Prepared>> Prepare(const RunSignature& signature, Deadline deadline) override {
    TF_ASSIGN_OR_RETURN(auto graph, session_->Prepare(signature, deadline));
    return std::make_shared<PreparedStep>(session_, std::move(graph));
  }
  StatusOr<std::vector<Tensor>> Run(const RunSignature& signature, std::vector<Tensor> feeds, Deadline deadline,
                                    Recording* recording) override {
    TF_ASSIGN_OR_RETURN(auto graph, session_->Prepare(signature, deadline));
    if (recording == nullptr) return session_->Run(graph, std::move(feeds), deadline);
    std::vector<std::string> traces;
    std::vector<std::string> graphs;
    TF_ASSIGN_OR_RETURN(auto values,
                        session_->Run(graph, std::move(feeds), deadline, recording->step_stats ? &traces : nullptr));
    if (recording->partition_graphs) {
      TF_ASSIGN_OR_RETURN(graphs, MasterSession::PartitionGraphs(*graph));
    }
    recording->metadata = EncodeRunMetadata(
        traces, graphs, {.step_stats = recording->step_stats, .partition_graphs = recording->partition_graphs});
    return values;
  }
  void CancelRuns() override { session_->CancelRuns(); }
  Status Close() override {
    session_->Close();
    if (cluster_ != nullptr) cluster_->Stop(OkStatus());
    return OkStatus();
  }
  std::map<std::string, CpuTime> TaskCpuTimes() override {
    if (!has_network_) return {};
    auto times = std::make_shared<std::promise<std::map<std::string, CpuTime>>>();
    task_->status().Collect(kReportTimeout, [times](const proto::ClusterReport& report) {
      std::map<std::string, CpuTime> of_task;
      for (const auto& task : report.tasks()) {
        if (task.state() != "up") continue;
        of_task[task.task()] = {.all = task.cpu_seconds(), .polling = task.polling_seconds()};
      }
      times->set_value(std::move(of_task));
    });
    return times->get_future().get();
  }
  std::vector<std::string> ListDevices() override {
    std::vector<std::string> names;
    for (const DeviceName& d : master().DeviceNames(device_filters_)) names.push_back(d.ToString());
    return names;
  }
  std::vector<DeviceDescription> DescribeDevices() override {
    std::vector<DeviceDescription> devices;
    for (const ClusterDevice& d : DevicesOf(*membership().view(), device_filters_)) {
      const std::string type = d.name.type.value_or("CPU");
      DeviceDescription device{.name = d.name.ToString(),
                               .type = type,
                               .memory_limit = d.memory_limit,
                               .incarnation = d.incarnation,
                               .physical = ""};
      if (d.is_local && pjrt::IsAcceleratorType(type)) {
        const pjrt::AcceleratorDevice there = pjrt::DescribeAccelerator(type, d.name.id.value_or(0), /*start=*/true);
        device.memory_limit = there.memory_limit;
        device.physical = there.physical;
      }
      devices.push_back(std::move(device));
    }
    return devices;
  }

 private:
  Master& master() { return cluster_ != nullptr ? cluster_->master() : task_->master(); }
  Membership& membership() { return cluster_ != nullptr ? cluster_->membership() : task_->membership(); }

  const std::shared_ptr<Task> task_;
  const bool has_network_;
  const std::shared_ptr<Member> cluster_;
  const std::vector<DeviceName> device_filters_;
  const std::shared_ptr<MasterSession> session_;
};

}  // namespace

StatusOr<std::unique_ptr<SessionBackend>> NewLocalBackend(const Graph& graph, const SessionOptions& options) {
  std::shared_ptr<Task> task;
  if (options.target.empty()) {
    TF_RETURN_IF_ERROR(pjrt::UseGpuOptions(options.gpu_options));
    TF_ASSIGN_OR_RETURN(task, Task::CreateLocal({.device_count = options.device_count,
                                                 .inter_op_threads = options.inter_op_parallelism_threads,
                                                 .membership = {},
                                                 .exchange = {},
                                                 .default_session_config = {}}));
  } else {
    TF_ASSIGN_OR_RETURN(task, FindTask(options.target));
  }
  MasterSessionOptions session_options{.allow_soft_placement = options.allow_soft_placement,
                                       .log_device_placement = options.log_device_placement,
                                       .operation_timeout = options.operation_timeout,
                                       .isolated_state = options.isolate_session_state};
  for (const std::string& filter : options.device_filters) {
    TF_ASSIGN_OR_RETURN(DeviceName name, DeviceName::Parse(filter));
    session_options.device_filters.push_back(std::move(name));
  }
  std::shared_ptr<Member> cluster;
  if (!options.cluster.empty()) {
    if (options.target.empty()) {
      return InvalidArgument("a session with its own cluster needs a target: set it to a task of that cluster");
    }
    TF_ASSIGN_OR_RETURN(cluster, task->session_clusters().Open(options.cluster, options.target));
    session_options.isolated_state = true;
  }
  return std::make_unique<LocalBackend>(std::move(task), !options.target.empty(), std::move(cluster), graph,
                                        session_options);
}

}  // namespace tensorbraid
