// The master of a task: prepares run signatures and drives their steps over all tasks.
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
#include "executor/optimize.h"
#include "tensorbraid/session.h"

namespace tensorbraid {

class ClientEdges;
class Master;

// What one signature has become: a plan on each task that it needs.
struct CompiledGraph {
  struct Part {
    std::string task;
    std::string graph_def;       // as it was registered, to register it again when a link has been replaced
    std::shared_ptr<Link> link;  // that it was registered over
  };
  uint64_t handle = 0;
  std::shared_ptr<Executor> local;  // the master's own task; takes the feeds, gives the fetches
  std::vector<Part> remote;         // guarded by MasterSession::mu_ once steps run
  bool is_local_only = true;
  std::atomic<int64_t> num_steps{0};  // that clients have started
};

struct RunSignature {
  std::vector<Output> feeds;
  std::vector<Output> fetches;
  std::vector<Operation> targets;
  // Tensors of the graph that take the place of others: consumers of `second` get the value of `first`.
  std::vector<std::pair<Output, Output>> connections = {};
  // Feeds and fetches come and go through ClientEdges, bit by bit.
  bool by_client_edges = false;
};

// What one step does besides running.
struct StepOptions {
  std::shared_ptr<ClientEdges> client = nullptr;  // of a signature with by_client_edges
  bool trace = false;
};

// InvalidArgument when a value (as far as there are some) does not fit the tensor it is fed to, or a tensor is fed
// twice.
Status CheckFeed(const Output& output, const Tensor& value);
Status CheckFeeds(const RunSignature& signature, const std::vector<Tensor>& values);

struct MasterSessionOptions {
  bool allow_soft_placement = false;
  bool log_device_placement = false;
  std::chrono::milliseconds operation_timeout{0};
  // The session's variables and queues are its own; otherwise all sessions share the tasks'.
  bool isolated_state = false;
  // The devices of other tasks that the session sees are those that fit one of these; none: all.
  std::vector<DeviceName> device_filters = {};
  OptimizeOptions optimize = {};
  // Nodes that are never run may not ask for devices that do not exist either.
  bool check_all_devices = false;
  // Clients learn what the nodes of a step have cost after every so many steps of a signature (0: never), the first
  // ones not counted.
  int64_t cost_graph_every = 0;
  int64_t cost_graph_after = 0;

  bool WantsCostGraph(int64_t step) const {
    return cost_graph_every > 0 && step >= cost_graph_after && (step - cost_graph_after + 1) % cost_graph_every == 0;
  }
};

// What a step ends with that its deadline has caught.
Status LateStep();
// After a deadline the parts are told to stop; a task that does not answer (a stopped process) is not waited for
// longer.
inline constexpr std::chrono::milliseconds kStepGrace{500};

// One client's session. Thread-safe. Held by shared_ptr.
class MasterSession : public std::enable_shared_from_this<MasterSession> {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  MasterSession(Master* master, const Graph* graph, SessionId id, MasterSessionOptions options);
  ~MasterSession();

  // The plans of a signature; made on first use, which may wait for tasks that are not there yet.
  StatusOr<std::shared_ptr<CompiledGraph>> Prepare(const RunSignature& signature, Deadline deadline);
  // Those, if they have been made; null otherwise. Does not block.
  std::shared_ptr<CompiledGraph> FindPrepared(const RunSignature& signature);
  // Starts a step, taking part in it on this thread as long as there is something to do. Does not block, and so does
  // not need the deadline, if CanStart; otherwise may have to prepare parts anew where a connection has been replaced.
  struct Step;  // master_step.h
  StatusOr<std::shared_ptr<Step>> Start(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                        Deadline deadline, StepOptions step_options = {});
  bool CanStart(const CompiledGraph& graph);
  // Runs a step. Blocks until it has ended everywhere, or the deadline has passed.
  StatusOr<std::vector<Tensor>> Run(const std::shared_ptr<CompiledGraph>& graph, std::vector<Tensor> feeds,
                                    Deadline deadline);
  void Close();
  // Whether the nodes from the `first` on ask for devices that exist, as far as that is known of tasks that are not
  // connected: InvalidArgument for the first that does not. Does nothing unless the options want it.
  Status CheckDevices(const Graph& graph, size_t first) const;
  // What each task was given to run: a GraphDef each, the master's own first.
  static StatusOr<std::vector<std::string>> PartitionGraphs(const CompiledGraph& graph);

  const MasterSessionOptions& options() const { return options_; }
  // Held while the graph is read; to be held by who adds to it while steps run.
  Mutex& graph_mutex() { return graph_mu_; }

 private:
  friend class Master;
  using Key = std::vector<uint64_t>;

  StatusOr<std::shared_ptr<CompiledGraph>> Compile(const RunSignature& signature, Deadline deadline);
  // Waits for the tasks that nodes name: what devices they have only they know.
  Status ConnectTasksOf(const Graph& graph, Deadline deadline);
  bool IsClosed();
  Status RegisterPart(CompiledGraph::Part* part, uint64_t handle, Deadline deadline);
  // The links to run the parts on now; registers again where a link to the same incarnation has been replaced.
  StatusOr<std::vector<std::shared_ptr<Link>>> CurrentLinks(CompiledGraph* graph, Deadline deadline);
  std::shared_ptr<CompiledGraph> FindCached(const Key& key);
  // Tells the tasks that nobody runs it any more. Called when the last reference goes, with no lock held that it takes.
  void Drop(const CompiledGraph& graph);

  Master* const master_;
  const Graph* const graph_;
  const SessionId id_;
  const MasterSessionOptions options_;
  Mutex compile_mu_;  // one signature is prepared at a time; taken before mu_ and graph_mu_
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
  std::map<std::string, std::shared_ptr<Link>> used_links_ TB_GUARDED_BY(mu_);  // by task, to close the session there
};

// One per task. Thread-safe.
class Master {
 public:
  // `links` is null for a cluster of one without a network. `own_devices` describes those of the worker;
  // `remote_devices` are what other tasks are taken to have until they tell. All pointers must outlive the master. Who
  // owns it may end while steps run if it is given: they hold it.
  Master(std::string task, uint64_t incarnation, Worker* worker, Exchange* exchange, Links* links,
         std::vector<DeviceInfo> own_devices, std::vector<DeviceName> remote_devices,
         std::chrono::milliseconds slow_wait, std::weak_ptr<void> owner = {});
  ~Master();

  std::shared_ptr<MasterSession> NewSession(const Graph* graph, MasterSessionOptions options);

  // Answers to what the master asked of others. False for messages that are not for a master.
  bool OnMessage(const std::shared_ptr<Link>& link, const Message& message);
  void OnLinkDown(const std::shared_ptr<Link>& link, const Status& why);
  // Fails all steps and everything that sessions wait for.
  void Shutdown(const Status& why);

  struct Device {
    DeviceName name;
    int64_t memory_limit = 0;
    uint64_t incarnation = 0;  // 0 when its task is not connected now: then the rest is a guess
    bool is_local = false;
  };
  // The master's own devices first, then those of other tasks that fit one of the filters (none: all).
  std::vector<Device> Devices(const std::vector<DeviceName>& filters = {}) const;
  std::vector<DeviceName> DeviceNames(const std::vector<DeviceName>& filters = {}) const;
  // As Devices, once all these tasks are connected. Blocks until they are, but not for long: a task that cannot be
  // reached is told from its incarnation.
  std::vector<Device> ListDevices(const std::vector<DeviceName>& filters) const;
  // Forgets the contents of these containers (none: the default one) on this task and on every other that fits
  // `device_filters` (none: all) and is connected. Blocks until they have.
  Status ResetContainers(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters);

 private:
  friend class MasterSession;
  struct Call {
    std::shared_ptr<Link> link;
    std::function<void(const Status&)> done;
  };
  // The link to this very incarnation of a task: Unavailable when there is none now, Aborted when there is a newer one.
  StatusOr<std::shared_ptr<Link>> ConnectedTo(const Hello& peer) const;
  // Sends a request (a message with a field of that name, which is filled in here) and blocks until the answer, the
  // link's end or the deadline. `what` says what the other task is asked to do.
  template <typename M>
  Status CallAndWait(const std::shared_ptr<Link>& link, M request, const char* what, MasterSession::Deadline deadline) {
    request.request = next_id_++;
    const uint64_t id = request.request;
    return CallAndWait(link, id, std::move(request), what, deadline);
  }
  Status CallAndWait(const std::shared_ptr<Link>& link, uint64_t id, Message request, const char* what,
                     MasterSession::Deadline deadline);

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
