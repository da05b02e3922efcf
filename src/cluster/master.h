// The master of a task: compiles run signatures and runs their steps on all tasks that take part.
#ifndef TENSORBRAID_CLUSTER_MASTER_H_
#define TENSORBRAID_CLUSTER_MASTER_H_

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/links.h"
#include "cluster/worker.h"
#include "core/still_wanted.h"
#include "executor/optimize.h"
#include "tensorbraid/session.h"

namespace tensorbraid {

class ClientEdges;
class Master;

// A compiled signature: a plan on each task that it needs.
struct CompiledGraph {
  struct Part {
    std::string task;
    std::string graph_def;       // kept so that the part can be registered again when its link has been replaced
    std::shared_ptr<Link> link;  // over which the part was registered
  };
  uint64_t handle = 0;
  std::shared_ptr<Executor> local;  // the part of the master's own task; takes the feeds and returns the fetches
  std::vector<Part> remote;         // guarded by MasterSession::mu_ once steps run
  bool is_local_only = true;
  std::atomic<int64_t> num_steps{0};  // started by clients so far
};

struct RunSignature {
  std::vector<Output> feeds;
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  // Replaced tensors: consumers of `second` get the value of `first` instead.
  std::vector<std::pair<Output, Output>> connections = {};
  // Feeds and fetches pass through ClientEdges, in several calls.
  bool by_client_edges = false;
};

struct StepOptions {
  std::shared_ptr<ClientEdges> client = nullptr;  // required if the signature has by_client_edges
  bool trace = false;
};

// InvalidArgument if a value does not fit the dtype or shape of the tensor that it is fed to, or if a tensor is fed
// twice. `values` may be shorter than the feeds; feeds without a value are only checked for duplicates.
Status CheckFeed(const Output& output, const Tensor& value);
Status CheckFeeds(const RunSignature& signature, const std::vector<Tensor>& values);

struct MasterSessionOptions {
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  std::chrono::milliseconds operation_timeout{0};
  // True: the session has its own variables and queues. False: all sessions share those of the tasks.
  bool isolated_state = false;
  // The session sees only those devices of other tasks that match one of these filters; empty: all devices.
  std::vector<DeviceName> device_filters = {};
  OptimizeOptions optimize = {};
  // Every node must ask for a device that exists, even if the node is never run.
  bool check_all_devices = false;
  // The client gets a cost graph after every `cost_graph_every` steps of a signature (0: never), not counting the first
  // `cost_graph_after` steps.
  int64_t cost_graph_every = 0;
  int64_t cost_graph_after = 0;

  bool WantsCostGraph(int64_t step) const {
    return cost_graph_every > 0 && step >= cost_graph_after && (step - cost_graph_after + 1) % cost_graph_every == 0;
  }
};

// The error of a step that has not ended by its deadline.
Status LateStep();
// After the deadline all parts of the step are told to stop. A task that does not answer within this time (such as a
// stopped process) is not waited for.
inline constexpr std::chrono::milliseconds kStepGrace{500};

// One client's session. Thread-safe. Held by shared_ptr.
class MasterSession : public std::enable_shared_from_this<MasterSession> {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  MasterSession(Master* master, const Graph* graph, SessionId id, MasterSessionOptions options);
  ~MasterSession();

  // Returns the compiled signature. The first call compiles it, which may block until all tasks that it needs are up.
  StatusOr<std::shared_ptr<CompiledGraph>> Prepare(const RunSignature& signature, Deadline deadline);
  // Returns the compiled signature if it is in the cache, otherwise null. Does not block.
  std::shared_ptr<CompiledGraph> FindPrepared(const RunSignature& signature);
  // Starts a step, and runs the master's own part on this thread while kernels are ready. If CanStart is true, does not
  // block and does not use the deadline. Otherwise may block to register parts again whose link has been replaced.
  struct Step;  // master_step.h
  StatusOr<std::shared_ptr<Step>> Start(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                        Deadline deadline, StepOptions step_options = {});
  // Whether the link over which each remote part was registered is still in use.
  bool CanStart(const CompiledGraph& graph);
  // Runs a step. Blocks until it has ended on all tasks or the deadline has passed. If `traces` is not null, traces the
  // step and returns a serialized StepStats of each task there.
  StatusOr<std::vector<Tensor>> Run(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                    Deadline deadline, std::vector<std::string>* traces = nullptr);
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
  friend class Master;
  using Key = std::vector<uint64_t>;

  StatusOr<std::shared_ptr<CompiledGraph>> Compile(const RunSignature& signature, Deadline deadline);
  // Waits until the tasks that nodes name are connected, since only these tasks know which devices they have.
  Status ConnectTasksOf(const Graph& graph, Deadline deadline);
  // Cancelled if the session has been closed or the server stopped.
  Status CheckOpen();
  Status RegisterPart(CompiledGraph::Part* part, uint64_t handle, Deadline deadline);
  // Returns the current link for each remote part. If a link has been replaced by another to the same incarnation,
  // registers the part again.
  StatusOr<std::vector<std::shared_ptr<Link>>> CurrentLinks(CompiledGraph* graph, Deadline deadline);
  std::shared_ptr<CompiledGraph> FindCached(const Key& key);
  // Deregisters the graph on all tasks. Called when its last reference is released. REQUIRES: mu_ is not held.
  void Drop(const CompiledGraph& graph);

  Master* const master_;
  const Graph* const graph_;
  const SessionId id_;
  const MasterSessionOptions options_;
  Mutex compile_mu_;  // held while a signature is compiled; taken before mu_ and graph_mu_
  Mutex graph_mu_;
  Mutex mu_;
  bool closed_ TB_GUARDED_BY(mu_) = false;
  uint64_t next_handle_ TB_GUARDED_BY(mu_) = 1;
  struct Cached {
    std::shared_ptr<CompiledGraph> graph;
    uint64_t last_used = 0;
  };
  absl::flat_hash_map<Key, Cached> cache_ TB_GUARDED_BY(mu_);
  uint64_t uses_ TB_GUARDED_BY(mu_) = 0;
  // By task: the links that parts were registered over.
  std::map<std::string, std::shared_ptr<Link>> used_links_ TB_GUARDED_BY(mu_);
  // By task: the links over which a part was sent, even if it could not be registered. Close tells these tasks.
  std::map<std::string, std::shared_ptr<Link>> told_ TB_GUARDED_BY(mu_);
};

// One per task. Thread-safe.
class Master {
 public:
  // `links` is null in a cluster of one without a network. `own_devices` describes the worker's devices;
  // `remote_devices` are those that other tasks are assumed to have until they connect. All pointers must outlive the
  // master. If `owner` is set, running steps keep it alive, so its last reference may be released at any time.
  Master(std::string task, uint64_t incarnation, Worker* worker, Exchange* exchange, Links* links,
         std::vector<DeviceInfo> own_devices, std::vector<DeviceName> remote_devices,
         std::chrono::milliseconds slow_wait, std::weak_ptr<void> owner = {});
  ~Master();

  const std::string& task() const { return task_; }  // "/job:worker/replica:0/task:1"
  std::shared_ptr<MasterSession> NewSession(const Graph* graph, MasterSessionOptions options);

  // Handles replies to requests of this master. Returns false for all other messages.
  bool OnMessage(const std::shared_ptr<Link>& link, const Message& message);
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why);
  // Fails all steps and everything that sessions wait for.
  void Shutdown(const Status& why);

  struct Device {
    DeviceName name;
    int64_t memory_limit = 0;
    uint64_t incarnation = 0;  // 0 if its task is not connected: the other fields are then assumptions
    bool is_local = false;
  };
  // The master's own devices, followed by those of other tasks that match one of `filters` (empty: all).
  std::vector<Device> Devices(const std::vector<DeviceName>& filters = {}) const;
  std::vector<DeviceName> DeviceNames(const std::vector<DeviceName>& filters = {}) const;
  // As Devices, but first waits a few seconds for all these tasks to connect. The devices of a task that could not be
  // reached have incarnation 0.
  std::vector<Device> ListDevices(const std::vector<DeviceName>& filters) const;
  // Clears these containers (empty: the default container) on this task and on every connected task that matches
  // `device_filters` (empty: all). Blocks until all of them have replied.
  Status ResetContainers(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters);

 private:
  friend class MasterSession;
  struct Call {
    std::shared_ptr<Link> link;
    std::function<void(const Status&)> done;
  };
  // Returns the link to this incarnation of a task. Unavailable if the task is not connected, Aborted if it has been
  // restarted or has ended the session.
  StatusOr<std::shared_ptr<Link>> ConnectedTo(const Hello& peer) const;
  // Sends a request (a message with a field `request`, which is filled in here) and blocks until the reply comes, the
  // link breaks, the deadline passes, or soon after `still_wanted` has returned an error. `what` completes "waiting for
  // <task> ..." in logs and errors.
  template <typename M>
  Status CallAndWait(const std::shared_ptr<Link>& link, M request, const char* what, MasterSession::Deadline deadline,
                     const StillWanted& still_wanted = nullptr) {
    request.request = next_id_++;
    const uint64_t id = request.request;
    return CallAndWait(link, id, std::move(request), what, deadline, still_wanted);
  }
  Status CallAndWait(const std::shared_ptr<Link>& link, uint64_t id, Message request, const char* what,
                     MasterSession::Deadline deadline, const StillWanted& still_wanted);

  const std::string task_;
  const uint64_t incarnation_;
  Worker* const worker_;
  Exchange* const exchange_;
  Links* const links_;
  const std::vector<DeviceInfo> own_devices_;
  const std::vector<DeviceName> remote_devices_;
  const std::chrono::milliseconds slow_wait_;
  const std::weak_ptr<void> owner_;
  std::atomic<uint64_t> next_id_{1};  // of sessions, steps and requests
  std::atomic<bool> stopping_{false};
  Mutex mu_;
  absl::flat_hash_map<uint64_t, Call> calls_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, std::shared_ptr<MasterSession::Step>> steps_ TB_GUARDED_BY(mu_);  // by counter
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_MASTER_H_
