// The worker of a task: holds the partitions that masters register, and runs them. A partition is the part of a graph
// that one task runs.
#ifndef TENSORBRAID_CLUSTER_WORKER_WORKER_H_
#define TENSORBRAID_CLUSTER_WORKER_WORKER_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/exchange/client_edges.h"
#include "cluster/exchange/exchange.h"
#include "cluster/worker/registered_partition.h"
#include "cluster/worker/worker_env.h"
#include "core/text/device_name.h"
#include "executor/executor.h"

namespace tensorbraid {

// Thread-safe.
class Worker {
 public:
  // All pointers must outlive the worker. If `owner` is set, each running step holds a reference to it, so the caller
  // may drop its own reference while steps run. `devices` are the names that the devices of `env` have in this cluster,
  // in the same order.
  Worker(std::vector<DeviceName> devices, WorkerEnv* env, Exchange* exchange, std::weak_ptr<void> owner = {});
  // Closes the sessions that are still open. No step may be running.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Compiles a partition. InvalidArgument, listing the existing devices, if it needs a device that this task does not
  // have. If the session is closed meanwhile, stops compiling soon and returns Cancelled. With `isolated_state` the
  // session has its own resources, which are freed with the session. With `limited_files` the partition may use only
  // the files that the task allows to clients on other machines.
  StatusOr<std::shared_ptr<RegisteredPartition>> Register(SessionId session, uint64_t handle,
                                                          std::unique_ptr<Graph> partition, bool isolated_state,
                                                          bool limited_files);
  // The executor for a step that begins. If the partition's plan is outdated, has a new one made, for later steps.
  std::shared_ptr<Executor> ExecutorOf(const std::shared_ptr<RegisteredPartition>& partition);
  // The limit of the files that a partition may use if it is registered with this value of `limited_files`. Null means
  // no limit.
  const FileAccess* FileLimit(bool limited_files) const {
    return limited_files ? &env_->files_of_strangers() : nullptr;
  }
  void Deregister(SessionId session, uint64_t handle);
  void Close(SessionId session);
  // Frees the resources in these containers (empty: in the default container).
  void ResetContainers(const std::vector<std::string>& containers);
  // Fails the steps of a master that is gone, and frees its sessions.
  void ForgetMaster(uint64_t master, const Status& why);

  // The variables, queues and tables that the open sessions use: one result for each session with isolated state, and
  // one for all other sessions together. The caller may use a result even after its session has been closed, but only
  // while the worker's environment exists.
  std::vector<std::shared_ptr<ResourceManager>> SessionResources();
  // The operations that running steps wait for here; see Executor::Waits.
  std::vector<Executor::StepWaits> Waits();
  // A part is one run of a partition here, for the master of another task. While a part runs, it is overtaken by each
  // part that ends. In plain asynchronous training, the number of parts that have overtaken a part is the age of its
  // gradients.
  struct Parts {
    int64_t ended = 0;
    int64_t overtaken = 0;      // by how many parts each part was overtaken: the sum over all parts that have ended
    int64_t overtaken_max = 0;  // and the largest number
  };
  Parts parts() const { return {parts_ended_, overtaken_, overtaken_max_}; }

  // Runs the executor of a registered partition as a part of `step`; see Executor::Run. `client` is null unless the
  // step is a partial run, and must live until `done` is called.
  void RunStep(StepId step, const std::shared_ptr<Executor>& executor, std::vector<Tensor> args, Executor::Done done,
               StepTracer* tracer = nullptr, ClientEdges* client = nullptr);

  // The requests of masters on other tasks. Replies go to `link`.
  void OnRegisterGraph(const std::shared_ptr<Link>& link, RegisterGraph m);
  void OnResetContainers(Link& link, const tensorbraid::ResetContainers& m);
  void OnRunGraph(const std::shared_ptr<Link>& link, const RunGraph& m);
  void OnAbortStep(const AbortStep& m);
  void OnEndStep(const EndStep& m);

  const std::vector<DeviceName>& devices() const { return devices_; }
  // The number of open sessions, of all masters.
  size_t num_sessions() const;

 private:
  struct Session {
    std::unique_ptr<ResourceManager> own_resources;  // with isolated state
    KernelCache kernels;
    std::map<uint64_t, std::shared_ptr<RegisteredPartition>> graphs;  // guarded by the worker's mutex
  };
  // Finds or makes the state of a session.
  std::shared_ptr<Session> Open(SessionId id, bool isolated_state);
  Status NumberPeers(Graph* partition);
  Status CheckOpen(SessionId id, const std::shared_ptr<Session>& session);
  StatusOr<std::shared_ptr<RegisteredPartition>> AddGraph(SessionId id, const std::shared_ptr<Session>& session,
                                                          uint64_t handle, std::unique_ptr<Graph> partition,
                                                          bool limited_files);
  StatusOr<std::shared_ptr<Executor>> MakeExecutor(SessionId id, const std::shared_ptr<Session>& session,
                                                   std::shared_ptr<const Graph> partition,
                                                   std::shared_ptr<ChangingValues> changing, bool limited_files);
  std::shared_ptr<RegisteredPartition> FindGraph(SessionId session, uint64_t handle);
  // A part has ended; `before` is the value of parts_ended_ when it began.
  void CountPart(int64_t before);

  const std::vector<DeviceName> devices_;
  WorkerEnv* const env_;
  ThreadPool* const pool_;  // of `env_`
  Exchange* const exchange_;
  const std::weak_ptr<void> owner_;
  std::atomic<int64_t> parts_ended_{0};
  std::atomic<int64_t> overtaken_{0};
  std::atomic<int64_t> overtaken_max_{0};
  mutable Mutex mu_;
  absl::flat_hash_map<SessionId, std::shared_ptr<Session>> sessions_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_WORKER_WORKER_H_
