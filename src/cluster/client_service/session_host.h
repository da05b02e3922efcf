// The interface through which MasterService reaches the task that runs a client's session.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SERVICE_SESSION_HOST_H_
#define TENSORBRAID_CLUSTER_CLIENT_SERVICE_SESSION_HOST_H_

#include "cluster/master/master.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// This process as a task of one cluster, whose master holds the session. Thread-safe.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  virtual Master& master() = 0;
  // Leaves the cluster, with the reason for the other tasks. Idempotent.
  virtual void Stop(const Status& why) = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SERVICE_SESSION_HOST_H_
