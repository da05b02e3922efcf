// A worker of another task, as a master sees it.
#ifndef TENSORBRAID_CLUSTER_PEER_REMOTE_WORKER_H_
#define TENSORBRAID_CLUSTER_PEER_REMOTE_WORKER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorbraid/core/status.h"
#include "transport/messages.h"

namespace tensorbraid {

// The connection to one incarnation of a worker. It is never resumed: when it breaks, pending calls fail, later ones
// fail at once, and a new connection to the task is another RemoteWorker. The calls are those of TensorFlow's
// WorkerService. The interface leaves open how they travel; LinkWorker sends them over a link. Thread-safe. No function
// blocks. Callbacks run on any thread, possibly before the call returns, and must not block.
class RemoteWorker {
 public:
  using Done = std::function<void(const Status&)>;

  // Hears how the worker's part of a step ends.
  class StepListener {
   public:
    virtual ~StepListener() = default;
    // The part has ended, or the connection is gone. Before EndStep this may be called again: an error after OK means
    // that a tensor which the part sent may be lost. `stats` is a serialized StepStats if the step is traced.
    virtual void OnPartDone(const RemoteWorker& worker, const Status& status, const std::string& stats) = 0;
  };

  virtual ~RemoteWorker() = default;

  virtual const std::string& task() const = 0;  // "/job:ps/replica:0/task:0"
  virtual uint64_t incarnation() const = 0;
  // OK while the connection is up, then the error with which calls fail.
  virtual Status state() const = 0;

  // Compiles a partition, a GraphDef, under a handle that the master has chosen. With `isolated_state` the session has
  // its own variables and queues on the worker. With `limited_files` the partition may use only the files that the
  // worker allows to clients on other machines. InvalidArgument if the partition is too large to be sent.
  virtual void RegisterGraph(SessionId session, uint64_t handle, const std::string& partition, bool isolated_state,
                             bool limited_files, Done done) = 0;
  virtual void DeregisterGraph(SessionId session, uint64_t handle) = 0;
  // Frees everything that the session has on the worker.
  virtual void CloseSession(SessionId session) = 0;
  // Frees the resources in these containers (empty: in the default container).
  virtual void ResetContainers(const std::vector<std::string>& containers, Done done) = 0;

  // Asks the task for its report. `answer` is a serialized TaskAnswer (cluster/protobuf/report.proto). The number of
  // `question` is set by this call.
  using ReportDone = std::function<void(const Status&, const std::string& answer)>;
  virtual void GetReport(tensorbraid::GetReport question, ReportDone done) = 0;

  // Runs a registered partition as a part of a step. The worker holds the listener until EndStep.
  virtual void RunGraph(StepId step, SessionId session, uint64_t handle, bool trace,
                        std::shared_ptr<StepListener> listener) = 0;
  // Stops the part, which still ends through the listener.
  virtual void AbortStep(StepId step, const Status& why) = 0;
  // All parts of the step have ended: the worker frees the step's state. Not urgent: the request may be sent along with
  // a later message.
  virtual void EndStep(StepId step) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_PEER_REMOTE_WORKER_H_
