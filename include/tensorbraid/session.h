// Running graphs.
#ifndef TENSORBRAID_SESSION_H_
#define TENSORBRAID_SESSION_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/cluster_spec.h"
#include "tensorbraid/graph.h"
#include "tensorbraid/variable.h"

namespace tensorbraid {

// What a run returns or does: a tensor, a variable's value, an operation that only has to run, or any of them by name
// ("loss:0", "train").
class Fetch {
 public:
  Fetch(Output output) : output_(output), is_tensor_(true) {}                       // NOLINT (all): converts
  Fetch(Operation operation) : output_(operation.node(), 0), is_tensor_(false) {}   // NOLINT
  Fetch(const Variable& variable) : output_(variable.value()), is_tensor_(true) {}  // NOLINT
  Fetch(std::string name) : name_(std::move(name)) {}                               // NOLINT
  Fetch(const char* name) : name_(name) {}                                          // NOLINT

  bool is_tensor() const { return is_tensor_; }  // of those not given by name
  const Output& output() const { return output_; }
  const std::string& name() const { return name_; }

 private:
  Output output_;
  bool is_tensor_ = false;
  std::string name_;
};

// A value in place of a tensor of the graph, by the tensor or its name.
struct Feed {
  Feed(Output tensor, Tensor value) : output(tensor), value(std::move(value)) {}
  Feed(std::string name, Tensor value) : name(std::move(name)), value(std::move(value)) {}
  Output output;
  std::string name = "";
  Tensor value;
};

struct SessionOptions {
  // "" runs in this process; Server::target(), "grpc://host:port", runs on that server's cluster, wherever it is.
  std::string target = "";
  // How many virtual devices of a type this process has; for local sessions.
  std::map<std::string, int> device_count = {};
  // Threads for the kernels of a local session; 0: as many as cores.
  int inter_op_parallelism_threads = 0;
  // Runs ops whose device does not exist, or has no kernel for them, on one that does.
  bool allow_soft_placement = false;
  // Logs where each node goes.
  bool log_device_placement = false;
  // Deadline of runs that bring none; 0: none.
  std::chrono::milliseconds operation_timeout{0};
  // Not for local sessions, from here on. The cluster to run on, in place of that which the target was started in: any
  // servers, the target among them, each under the job and index given here. The session's state is then its own.
  ClusterSpec cluster = {};
  // The other tasks' devices that the session sees, in full or in part ("/job:ps"); none: all.
  std::vector<std::string> device_filters = {};
  // Variables and queues of this session are its own, and go with it; otherwise all sessions share them.
  bool isolate_session_state = false;
};

struct RunOptions {
  // 0: the session's.
  std::chrono::milliseconds timeout{0};
};

// Runs parts of one graph. Keeps what the graph's variables hold on the devices of its target. The graph may grow
// between runs; the session follows. Thread-safe: runs may overlap.
class Session {
 public:
  // InvalidArgument with the graph's first mistake, if it has one; Unavailable when nobody answers at the target for
  // 10 s. `graph` must outlive the session.
  static StatusOr<std::unique_ptr<Session>> Create(Graph& graph, SessionOptions options = {});
  ~Session();  // Closes.
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs what the fetches need and returns one tensor for each, invalid ones for operations. Blocks until all of it is
  // done. Errors name the op, node and task: InvalidArgument and NotFound for bad feeds and fetches, Unavailable when a
  // task cannot be reached, Aborted when one has been restarted (make a new session), DeadlineExceeded, Cancelled after
  // Close, and whatever kernels return.
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {},
                                    const RunOptions& options = {});

  // A run whose preparation is already done. Values are given in the order of `feeds`.
  class Prepared {
   public:
    StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& feeds = {}, const RunOptions& options = {}) const;

   private:
    friend class Session;
    struct State;
    std::shared_ptr<State> state_;  // may outlive the session, which then answers Cancelled
  };
  // Prunes, places and partitions once; Prepared::Run then pays only for the step.
  StatusOr<Prepared> Prepare(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds = {});

  // Cancels what runs and gives back what the session holds on the tasks. Variables stay. Later runs are Cancelled.
  Status Close();

  // Full names of the devices that ops can be placed on.
  std::vector<std::string> ListDevices() const;
  Graph& graph() const;

 private:
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl> impl_;  // shared with prepared runs
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_H_
