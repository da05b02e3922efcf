// Sessions: they run graphs in this process or on a cluster.
#ifndef TENSORBRAID_SESSION_SESSION_H_
#define TENSORBRAID_SESSION_SESSION_H_

#include <chrono>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "tensorbraid/cluster/cluster_spec.h"
#include "tensorbraid/core/gpu_options.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/transport/tls_options.h"

namespace tensorbraid {

// One thing to fetch in a run: a tensor, a variable's value, or an operation, which runs but returns no value. It is
// given as an object or by name ("loss:0" for a tensor, "train" for an operation).
//
// A variable, or its handle, gives the value that the step leaves: after all updates that have the variable as a direct
// input, not those in loops, branches and functions; in a step that feeds the variable, it gives the fed value.
// Variable::value() itself is a tensor like others, which is read at some time in the step.
class Fetch {
 public:
  Fetch(Output output) : output_(output), is_tensor_(true) {}  // NOLINT (all): converts
  Fetch(Operation operation);                                  // NOLINT
  Fetch(const Variable& variable)                              // NOLINT
      : output_(variable.handle()), is_tensor_(true) {}
  Fetch(std::string name) : name_(std::move(name)) {}  // NOLINT
  Fetch(const char* name) : name_(name) {}             // NOLINT

  bool is_tensor() const { return is_tensor_; }  // false for every fetch by name, too
  const Output& output() const { return output_; }
  const std::string& name() const { return name_; }

 private:
  Output output_;
  bool is_tensor_ = false;
  std::string name_;
};

// A value that replaces a tensor of the graph during a run. The tensor is given as an object or by name.
//
// A variable can be fed, too: as an object, as the tensor Variable::value() outside of all scopes, or as its handle. In
// this step, every read of the variable gives the fed value: also reads in branches, loops and functions, behind
// control dependencies, of some rows, and on other tasks. The variable itself keeps its value. The step fails with
// InvalidArgument if it also updates the variable or asks whether it is initialized.
struct Feed {
  Feed(const Variable& variable, Tensor fed) : output(variable.handle()), value(std::move(fed)) {}
  Feed(Output tensor, Tensor fed) : output(tensor), value(std::move(fed)) {}
  Feed(std::string tensor, Tensor fed) : name(std::move(tensor)), value(std::move(fed)) {}
  Output output;
  std::string name = "";
  Tensor value;
};

struct SessionOptions {
  // "" runs in this process (a local session). Server::target(), "grpc://host:port", runs on the cluster of that
  // server, which may be in this process or elsewhere.
  std::string target = "";
  // The files for TLS, if the server is in another process and uses TLS. Sessions in the server's process need none.
  TlsOptions tls = {};
  // For a server in another process that needs a token: a file whose first line is the token. It is read again when it
  // changes. Without `tls`, a token is sent over loopback only.
  std::string token_file = "";
  // A server on loopback without `tls` must belong to the user of this process or to root. With `insecure` the session
  // also uses a server of another user of this machine; that user then learns the graph, its feeds and the token.
  bool insecure = false;
  // Number of virtual devices of each type in a local session.
  std::map<std::string, int> device_count = {};
  // How this process uses its GPUs, for a local session. All sessions of a process share the GPUs: options that differ
  // from those of an earlier session have no effect, and a warning in the log says so. Default options ask for nothing.
  GpuOptions gpu_options = {};
  // Number of threads for the kernels of a local session; 0: one per core.
  int inter_op_parallelism_threads = 0;
  // If an op's device does not exist or has no kernel for the op, runs the op on another device that has one.
  bool allow_soft_placement = false;
  // Logs the device of each node.
  bool log_device_placement = false;
  // Timeout of runs whose RunOptions have none; 0: none.
  std::chrono::milliseconds operation_timeout{0};

  // The options from here on are not for local sessions.

  // The cluster to run on, instead of the cluster in which the target was started. It may consist of any servers,
  // including the target, under the jobs and indices given here. The session then has its own variables and queues, as
  // with isolate_session_state.
  ClusterSpec cluster = {};
  // The devices of other tasks that the session can use, as full or partial names ("/job:ps"); empty: all.
  std::vector<std::string> device_filters = {};
  // If true, the session has variables and queues of its own, which are deleted when it ends. If false, all sessions
  // share them.
  bool isolate_session_state = false;
};

// A device that ops can be placed on.
struct DeviceDescription {
  std::string name;          // "/job:worker/replica:0/task:0/device:GPU:0"
  std::string type;          // "GPU"
  int64_t memory_limit = 0;  // bytes; 0: not known
  uint64_t incarnation = 0;  // a number that the device has until its task ends; 0: its task was not reached
  std::string physical;      // "device: 0, name: NVIDIA H100 80GB HBM3, compute capability: 9.0"; "" if not known
};

enum class TraceLevel { kNone, kFull };

struct RunOptions {
  // The timeout of the run; 0: SessionOptions::operation_timeout.
  std::chrono::milliseconds timeout{0};
  // kFull records when and where each node ran, on all tasks. The record is returned in a RunMetadata.
  TraceLevel trace_level = TraceLevel::kNone;
  // Whether the RunMetadata also has the graph that each task ran.
  bool output_partition_graphs = false;
};

struct ChromeTraceOptions {
  // Draws an arrow from each tensor's node to the nodes that use it.
  bool show_dataflow = true;
  // Adds a counter to each device: the bytes of the tensors that exist. A tensor exists from the start of its node
  // until the last node of the trace that uses it ends.
  bool show_memory = false;
};

// A record of a run. summary::FileWriter::AddRunMetadata shows it in TensorBoard.
class RunMetadata {
 public:
  RunMetadata() = default;
  // `serialized` is a RunMetadata message of TensorFlow.
  explicit RunMetadata(std::string serialized) : serialized_(std::move(serialized)) {}
  const std::string& serialized() const { return serialized_; }
  // The trace as JSON for chrome://tracing and ui.perfetto.dev: each device is a process, each node an event with its
  // op and inputs. InvalidArgument if `serialized` is not a RunMetadata message.
  // Source: TensorFlow's Timeline.generate_chrome_trace_format.
  StatusOr<std::string> ToChromeTrace(const ChromeTraceOptions& options = {}) const;

 private:
  std::string serialized_;
};

// In a run, the consumers of `to` get the value of `from`, as if the program had fetched it and fed it.
// Source: TensorFlow's CallableOptions.tensor_connection.
struct TensorConnection {
  Output from;
  Output to;
};

// Runs parts of one graph. Variables are stored on the devices of the target. Nodes may be added to the graph between
// runs, but not while a run or Prepare is in progress. Thread-safe: runs may overlap.
class Session {
 public:
  // Returns the graph's first mistake (Graph::status), if it has one; Unavailable when no server answers at the target
  // within 10 s; Unauthenticated when `tls` is used and the server has no certificate or one that is not accepted.
  // `graph` may be moved, but it must outlive the session: once the graph has been destroyed, runs fail with
  // FailedPrecondition.
  static StatusOr<std::unique_ptr<Session>> Create(Graph& graph, SessionOptions options = {});
  // Creates another session with the graph and the options of this one. Sessions of one server share their variables; a
  // session without a target has variables of its own. If a task has been restarted, the new session uses it again.
  // Fails as Create does. Thread-safe.
  StatusOr<std::unique_ptr<Session>> CreateAnother() const;
  // Clears these containers, or all if none is named, on the tasks of the cluster of `options.target` that the device
  // filters select: variables, queues and other state are gone. Closes the sessions of other processes at this target.
  // Fails with PermissionDenied with a client's token, and otherwise as Create. Of the options, only the target, how to
  // connect, and the device filters are used. Source: tf.Session.reset.
  static Status Reset(const SessionOptions& options, const std::vector<std::string>& containers = {});
  ~Session();  // Closes.
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Runs everything that the fetches need and returns one tensor per fetch; operations give an invalid tensor. Blocks
  // until the step has ended. Errors name the op, node and task: InvalidArgument and NotFound for bad feeds and
  // fetches, Unavailable when a task cannot be reached, Aborted when a task has been restarted (create a new session),
  // DeadlineExceeded after the timeout, Cancelled after Close, and the errors of kernels. If `metadata` is not null and
  // the step succeeds, the record that `options` selects is stored in *metadata.
  StatusOr<std::vector<Tensor>> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {},
                                    const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  // A run that has been prepared. `feeds` are in the order of the feeds given to Prepare. It cannot be traced.
  // Thread-safe.
  class Prepared {
   public:
    StatusOr<std::vector<Tensor>> Run(const std::vector<Tensor>& feeds = {}, const RunOptions& options = {}) const;

   private:
    friend class Session;
    struct State;
    std::shared_ptr<State> state_;  // may outlive the session; runs then fail with Cancelled
  };
  // Prunes, places and partitions the graph once, so that Prepared::Run costs only the step itself. Blocks until done.
  // InvalidArgument if a connection closes a cycle, has two dtypes, or ends at a tensor that is also fed or fetched.
  StatusOr<Prepared> Prepare(const std::vector<Fetch>& fetches, const std::vector<Output>& feeds = {},
                             const std::vector<TensorConnection>& connections = {});

  // Ends the calls of Run and Prepare that are in progress on other threads, with Cancelled. The session can still be
  // used.
  void CancelRuns();

  // Cancels steps in progress and releases the session's resources on the tasks. Shared variables keep their values.
  // Later runs fail with Cancelled.
  Status Close();

  // Full names of the devices that ops can be placed on.
  std::vector<std::string> ListDevices() const;
  // The same devices, with their models and memory. Starts the accelerators of a local session, which may take seconds.
  // `physical` of one that cannot be started is empty, and the log says why. Blocks.
  std::vector<DeviceDescription> DescribeDevices() const;
  // REQUIRES: the graph has not been destroyed (checked).
  Graph& graph(std::source_location loc = std::source_location::current()) const;

 private:
  struct Impl;
  explicit Session(std::shared_ptr<Impl> impl);
  const std::shared_ptr<Impl> impl_;  // shared with prepared runs
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_SESSION_H_
