// The session of one client: compiles run signatures (what a step feeds, fetches and runs) and runs their steps on all
// tasks that take part.
#ifndef TENSORBRAID_CLUSTER_MASTER_MASTER_SESSION_H_
#define TENSORBRAID_CLUSTER_MASTER_MASTER_SESSION_H_

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/master/master_env.h"
#include "cluster/master/master_step.h"
#include "cluster/peer/remote_worker.h"
#include "cluster/worker/registered_partition.h"
#include "executor/optimize.h"
#include "graph/model/handles.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// A compiled signature: for each task that it needs, the part of the graph that the task runs.
struct CompiledGraph {
  struct Part {
    std::string task;
    std::string graph_def;                 // kept so that the part can be registered again over a new connection
    std::shared_ptr<RemoteWorker> worker;  // the worker with which the part is registered
  };
  uint64_t handle = 0;
  // The part of the master's own task, which takes the feeds and returns the fetches.
  std::shared_ptr<RegisteredPartition> local;
  std::vector<Part> remote;  // guarded by MasterSession::mu_ once steps run
  bool is_local_only = true;
  bool lasts_with_session = false;    // has a node that LastsWithSession (executor/step_watch.h)
  std::atomic<int64_t> num_steps{0};  // steps that clients have started so far
};

// What a step feeds, fetches and runs.
struct RunSignature {
  std::vector<Output> feeds;
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  // Replaced tensors: consumers of `second` get the value of `first` instead.
  std::vector<std::pair<Output, Output>> connections = {};
  // Feeds and fetches pass through ClientEdges (exchange/client_edges.h), in several calls.
  bool by_client_edges = false;
};

// InvalidArgument if the value does not fit the dtype or shape of the tensor that it is fed to.
Status CheckFeed(const Output& output, const Tensor& value);
// Checks each feed that has a value with CheckFeed. Also InvalidArgument if a tensor is fed twice, or is fetched
// although a connection replaces it. `values` may be shorter than the feeds.
Status CheckFeeds(const RunSignature& signature, const std::vector<Tensor>& values);

struct MasterSessionOptions {
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  std::chrono::milliseconds operation_timeout{0};
  // True: the session has its own variables and queues. False: all sessions share those of the tasks.
  bool isolated_state = false;
  // The client is on another machine: its graphs may use only the files that each task allows (--allow_path).
  bool limited_files = false;
  // The session sees only those devices of other tasks that match one of these filters; empty: all devices.
  std::vector<DeviceName> device_filters = {};
  OptimizeOptions optimize = {};
  // Every node must request a device that exists, even if the node is never run.
  bool check_all_devices = false;
  // The client gets a cost graph after every `cost_graph_every` steps of a signature (0: never), not counting the first
  // `cost_graph_after` steps.
  int64_t cost_graph_every = 0;
  int64_t cost_graph_after = 0;

  bool WantsCostGraph(int64_t step) const {
    return cost_graph_every > 0 && step >= cost_graph_after && (step - cost_graph_after + 1) % cost_graph_every == 0;
  }
};

// One client's session. Thread-safe. Held by shared_ptr.
class MasterSession : public std::enable_shared_from_this<MasterSession> {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // `env` and `graph` must outlive the session.
  MasterSession(MasterEnv* env, const Graph* graph, SessionId id, MasterSessionOptions options);
  ~MasterSession();

  // Returns the compiled signature. The first call compiles it, which may block until all tasks that it needs are up.
  StatusOr<std::shared_ptr<CompiledGraph>> Prepare(const RunSignature& signature, Deadline deadline);
  // Returns the compiled signature if it is in the cache, otherwise null. Does not block.
  std::shared_ptr<CompiledGraph> FindPrepared(const RunSignature& signature);
  // Starts a step, and runs the master's own part on this thread while kernels are ready. If CanStart is true, does not
  // block and does not use the deadline. Otherwise may block to register parts again over new connections.
  StatusOr<std::shared_ptr<MasterStep>> Start(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                              Deadline deadline, StepOptions step_options = {});
  // Whether the connection over which each remote part was registered is still up.
  bool CanStart(const CompiledGraph& graph);
  // Runs a step. Blocks until it has ended on all tasks or the deadline has passed. If `traces` is not null, traces the
  // step and returns a serialized StepStats of each task there.
  StatusOr<std::vector<Tensor>> Run(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                    Deadline deadline, std::vector<std::string>* traces = nullptr);
  // Ends the calls of Prepare, Start and Run that are in progress, with Cancelled.
  void CancelRuns();
  void Close();
  // InvalidArgument for the first node, beginning with node number `first`, whose device does not exist. On a task that
  // is not connected any device id is accepted, because its number of devices is unknown. Does nothing unless
  // options().check_all_devices is set.
  Status CheckDevices(const Graph& graph, size_t first) const;
  // The part of each task as a serialized GraphDef, the master's own first.
  static StatusOr<std::vector<std::string>> PartitionGraphs(const CompiledGraph& graph);

  const MasterSessionOptions& options() const { return options_; }
  // The session holds this while it reads the graph. A caller that adds to the graph while steps run must hold it too.
  Mutex& graph_mutex() { return graph_mu_; }

 private:
  using Key = std::vector<uint64_t>;

  StatusOr<std::shared_ptr<CompiledGraph>> Compile(const RunSignature& signature, Deadline deadline)
      TB_REQUIRES(compile_mu_);
  // Does the work of Compile, without the accelerators in dead_accelerators_.
  StatusOr<std::shared_ptr<CompiledGraph>> CompileOnce(const RunSignature& signature, Deadline deadline)
      TB_REQUIRES(compile_mu_);
  // Notes that accelerators of another task cannot be started, if the status says so and this is new.
  bool NoteDeadAccelerators(const Status& status) TB_REQUIRES(compile_mu_);
  // Waits until the tasks that nodes name are connected, since only these tasks know which devices they have.
  Status ConnectTasksOf(const Graph& graph, Deadline deadline) TB_REQUIRES(compile_mu_);
  // Cancelled if the session has been closed or the server stopped.
  Status CheckOpen();
  // As CheckOpen, but also Cancelled once CancelRuns has been called.
  Status CheckWanted() TB_REQUIRES(compile_mu_);
  Status RegisterPart(CompiledGraph::Part* part, uint64_t handle, Deadline deadline) TB_REQUIRES(compile_mu_);
  // Returns the worker of each remote part. If the connection has been replaced by another to the same incarnation,
  // registers the part again.
  StatusOr<std::vector<std::shared_ptr<RemoteWorker>>> CurrentWorkers(CompiledGraph* graph, Deadline deadline);
  std::shared_ptr<CompiledGraph> FindCached(const Key& key);
  // Deregisters the graph on all tasks. Called when its last reference is released. REQUIRES: mu_ is not held.
  void Drop(const CompiledGraph& graph);

  MasterEnv* const env_;
  const GraphRef graph_;
  const SessionId id_;
  const MasterSessionOptions options_;
  Mutex compile_mu_;  // held while a signature is compiled; taken before mu_ and graph_mu_
  Mutex graph_mu_;
  std::atomic<uint64_t> cancellations_{0};  // calls of CancelRuns
  // Of other tasks, which have not been able to start them for this session: types of devices, without numbers.
  std::vector<DeviceName> dead_accelerators_ TB_GUARDED_BY(compile_mu_);
  // The value that cancellations_ had at the beginning of the call that holds compile_mu_.
  uint64_t cancellations_before_ TB_GUARDED_BY(compile_mu_) = 0;
  Mutex mu_;
  bool closed_ TB_GUARDED_BY(mu_) = false;
  uint64_t next_handle_ TB_GUARDED_BY(mu_) = 1;
  struct Cached {
    std::shared_ptr<CompiledGraph> graph;
    uint64_t last_used = 0;
  };
  absl::flat_hash_map<Key, Cached> cache_ TB_GUARDED_BY(mu_);
  uint64_t uses_ TB_GUARDED_BY(mu_) = 0;
  // By task: the workers that have registered parts.
  std::map<std::string, std::shared_ptr<RemoteWorker>> used_ TB_GUARDED_BY(mu_);
  // By task: the workers to which a part was sent, even if it could not be registered. Close tells them that the
  // session ends.
  std::map<std::string, std::shared_ptr<RemoteWorker>> told_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_MASTER_SESSION_H_
