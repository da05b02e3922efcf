// Where a session's graph runs: on a master in this process, or on one that is reached through its service.
#ifndef TENSORBRAID_SESSION_BACKEND_H_
#define TENSORBRAID_SESSION_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "cluster/master.h"
#include "tensorbraid/session.h"

namespace tensorbraid {

// One session, seen by the client. Thread-safe, but for the graph, which is read by Prepare and Run.
class SessionBackend {
 public:
  using Deadline = MasterSession::Deadline;
  virtual ~SessionBackend() = default;

  // A signature that has been made ready: each backend knows its own.
  struct Prepared {
    virtual ~Prepared() = default;
  };
  virtual StatusOr<std::shared_ptr<const Prepared>> Prepare(const RunSignature& signature, Deadline deadline) = 0;
  // Runs a step of what Prepare gave. Blocks until it has ended, or the deadline has passed.
  virtual StatusOr<std::vector<Tensor>> RunPrepared(const Prepared& prepared, std::vector<Tensor> feeds,
                                                    Deadline deadline) = 0;
  // Both in one go. Signatures that come again are not prepared again.
  virtual StatusOr<std::vector<Tensor>> Run(const RunSignature& signature, std::vector<Tensor> feeds,
                                            Deadline deadline) = 0;
  virtual Status Close() = 0;
  virtual std::vector<std::string> ListDevices() = 0;
};

// `graph` must outlive the backend.
StatusOr<std::unique_ptr<SessionBackend>> NewLocalBackend(const Graph& graph, const SessionOptions& options);
// Speaks TensorFlow's MasterService with the server at `address` ("host:port"). Unavailable when none answers there.
StatusOr<std::unique_ptr<SessionBackend>> NewRemoteBackend(const Graph& graph, const std::string& address,
                                                           const SessionOptions& options);

}  // namespace tensorbraid

#endif  // TENSORBRAID_SESSION_BACKEND_H_
