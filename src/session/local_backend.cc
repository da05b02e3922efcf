#include "cluster/task.h"
#include "session/backend.h"

namespace tensorbraid {
namespace {

// A master of this process: that of a server, or of a task made for this session alone.
class LocalBackend final : public SessionBackend {
 public:
  LocalBackend(std::shared_ptr<Task> task, const Graph& graph, const SessionOptions& options)
      : task_(std::move(task)),
        session_(task_->master().NewSession(&graph, {.allow_soft_placement = options.allow_soft_placement,
                                                     .log_device_placement = options.log_device_placement,
                                                     .operation_timeout = options.operation_timeout})) {}

  StatusOr<std::shared_ptr<const Prepared>> Prepare(const RunSignature& signature, Deadline deadline) override {
    auto prepared = std::make_shared<Compiled>();
    TF_ASSIGN_OR_RETURN(prepared->graph, session_->Prepare(signature, deadline));
    return prepared;
  }
  StatusOr<std::vector<Tensor>> RunPrepared(const Prepared& prepared, std::vector<Tensor> feeds,
                                            Deadline deadline) override {
    return session_->Run(static_cast<const Compiled&>(prepared).graph, std::move(feeds), deadline);
  }
  StatusOr<std::vector<Tensor>> Run(const RunSignature& signature, std::vector<Tensor> feeds,
                                    Deadline deadline) override {
    TF_ASSIGN_OR_RETURN(auto graph, session_->Prepare(signature, deadline));
    return session_->Run(graph, std::move(feeds), deadline);
  }
  Status Close() override {
    session_->Close();
    return OkStatus();
  }
  std::vector<std::string> ListDevices() override {
    std::vector<std::string> names;
    for (const DeviceName& d : task_->master().devices()) names.push_back(d.ToString());
    return names;
  }

 private:
  struct Compiled final : Prepared {
    std::shared_ptr<CompiledGraph> graph;
  };
  const std::shared_ptr<Task> task_;
  const std::shared_ptr<MasterSession> session_;
};

}  // namespace

StatusOr<std::unique_ptr<SessionBackend>> NewLocalBackend(const Graph& graph, const SessionOptions& options) {
  std::shared_ptr<Task> task;
  if (options.target.empty()) {
    TF_ASSIGN_OR_RETURN(task, Task::CreateLocal({.device_count = options.device_count,
                                                 .inter_op_threads = options.inter_op_parallelism_threads,
                                                 .links = {},
                                                 .exchange = {},
                                                 .default_session_config = {}}));
  } else {
    TF_ASSIGN_OR_RETURN(task, FindTask(options.target));
  }
  return std::make_unique<LocalBackend>(std::move(task), graph, options);
}

}  // namespace tensorbraid
