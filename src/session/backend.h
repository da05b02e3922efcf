// The backend of a session: runs its graph through a master, in this process or behind a MasterService.
#ifndef TENSORBRAID_SESSION_BACKEND_H_
#define TENSORBRAID_SESSION_BACKEND_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/master/master_session.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {

// The client's side of one session. Thread-safe: Prepare and Run copy the part of the graph that they need, under its
// lock; a prepared step does not use the graph.
class SessionBackend {
 public:
  using Deadline = MasterSession::Deadline;
  // Says what to record of a step, and receives it.
  struct Recording {
    bool step_stats = false;
    bool partition_graphs = false;
    std::string metadata;  // the result: a serialized RunMetadata
  };
  virtual ~SessionBackend() = default;

  // A prepared combination of feeds, fetches and targets (RunSignature). Thread-safe. Must not outlive the backend.
  class Prepared {
   public:
    virtual ~Prepared() = default;
    // Runs a step. Blocks until the step ends or the deadline passes.
    virtual StatusOr<std::vector<Tensor>> Run(std::vector<Tensor> feeds, Deadline deadline) const = 0;
  };
  virtual StatusOr<std::shared_ptr<const Prepared>> Prepare(const RunSignature& signature, Deadline deadline) = 0;
  // Prepares the signature and runs a step. A signature that was used before is not prepared again. `recording` may be
  // null.
  virtual StatusOr<std::vector<Tensor>> Run(const RunSignature& signature, std::vector<Tensor> feeds, Deadline deadline,
                                            Recording* recording) = 0;
  // Ends the calls of Prepare, Prepared::Run and Run that are in progress. They return Cancelled.
  virtual void CancelRuns() = 0;
  virtual Status Close() = 0;
  virtual std::vector<std::string> ListDevices() = 0;
  virtual std::vector<DeviceDescription> DescribeDevices() = 0;
  // Processor time of a task since it started, in seconds.
  struct CpuTime {
    double all = 0;
    double polling = 0;  // the part of `all` in which threads polled for messages
  };
  // The processor time of each task of the cluster that answers within two seconds, by its name ("ps/0"). Empty without
  // a network, and if the master is another process. Blocks.
  virtual std::map<std::string, CpuTime> TaskCpuTimes() { return {}; }
};

// `graph` must outlive the backend.
StatusOr<std::unique_ptr<SessionBackend>> NewLocalBackend(const Graph& graph, const SessionOptions& options);
// Uses TensorFlow's MasterService of the server at `address` ("host:port"). Unavailable if no server answers there,
// Unauthenticated if the server cannot prove its identity. `graph` must outlive the backend.
StatusOr<std::unique_ptr<SessionBackend>> NewRemoteBackend(const Graph& graph, const std::string& address,
                                                           const SessionOptions& options);
// Asks the server at `address` to clear containers (Session::Reset).
Status ResetRemote(const std::string& address, const SessionOptions& options,
                   const std::vector<std::string>& containers);

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_BACKEND_H_
