// The worker of a task: keeps the partitions that masters register, and runs them.
#ifndef TENSORBRAID_CLUSTER_WORKER_H_
#define TENSORBRAID_CLUSTER_WORKER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/client_edges.h"
#include "cluster/exchange.h"
#include "core/device_name.h"
#include "executor/executor.h"

namespace tensorbraid {

// Thread-safe.
class Worker {
 public:
  // All pointers must outlive the worker. Who owns it may end while steps run if it is given: they hold it.
  Worker(std::vector<DeviceName> devices, ResourceManager* resources, ThreadPool* pool, Exchange* exchange,
         std::weak_ptr<void> owner = {});

  // Compiles a partition. InvalidArgument when it needs a device that this task does not have, naming those it has.
  // With `isolated_state` the session's resources are its own, and go with it.
  StatusOr<std::shared_ptr<Executor>> Register(SessionId session, uint64_t handle, std::unique_ptr<Graph> partition,
                                               bool isolated_state);
  void Deregister(SessionId session, uint64_t handle);
  void Close(SessionId session);
  // Forgets the resources of these containers; of none named, those of the default one.
  void ResetContainers(const std::vector<std::string>& containers);
  // Frees the sessions of a master that is gone and fails its steps.
  void ForgetMaster(uint64_t master, const Status& why);

  // Runs a registered partition as a part of `step`; see Executor::Run. `client` (null: the step is not fed and fetched
  // bit by bit) must live until `done` is called.
  void RunStep(StepId step, const std::shared_ptr<Executor>& executor, std::vector<Tensor> args, Executor::Done done,
               StepTracer* tracer = nullptr, ClientEdges* client = nullptr);

  // What masters on other tasks ask; answers go back on `link`. False for messages that are not for a worker.
  bool OnMessage(const std::shared_ptr<Link>& link, const Message& message);

  const std::vector<DeviceName>& devices() const { return devices_; }
  ResourceManager* resources() const { return resources_; }
  ThreadPool* pool() const { return pool_; }

 private:
  struct Session {
    std::unique_ptr<ResourceManager> own_resources;  // with isolated state
    KernelCache kernels;
    std::map<uint64_t, std::shared_ptr<Executor>> graphs;  // guarded by the worker's mutex
  };
  std::shared_ptr<Executor> FindGraph(SessionId session, uint64_t handle);
  void OnRegisterGraph(const std::shared_ptr<Link>& link, const RegisterGraph& m);
  void OnRunGraph(const std::shared_ptr<Link>& link, const RunGraph& m);

  const std::vector<DeviceName> devices_;
  ResourceManager* const resources_;
  ThreadPool* const pool_;
  Exchange* const exchange_;
  const std::weak_ptr<void> owner_;
  Mutex mu_;
  absl::flat_hash_map<SessionId, std::shared_ptr<Session>> sessions_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_WORKER_H_
