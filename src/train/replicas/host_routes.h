// The background runs that connect the HostSums of a worker with those of the first worker of its host, or with the
// parameter servers (docs/design/0029).
#ifndef TENSORBRAID_TRAIN_REPLICAS_HOST_ROUTES_H_
#define TENSORBRAID_TRAIN_REPLICAS_HOST_ROUTES_H_

#include <memory>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid {

// Two operations that are repeated for the whole training.
struct HostRoute {
  Operation pull;  // waits for values of a later stamp and stores them in the own HostSums
  Operation push;  // takes the own sums, adds them at the next task, and reports what became of them
  Output pushed;   // the stamp of the sums that `push` takes
};

struct HostRouteOps {
  HostRoute servers;  // to and from the parameter servers
  // Asynchronous training: servers.pull does not wait and is run once, and servers.push stores later values, too.
  bool once = false;
  HostRoute host;  // to and from the first worker of the host; not valid on this worker itself
  // Lets the first worker wait for the gradients of this worker, of stamps after `joined_after` (a placeholder), until
  // the run is cancelled. The first worker joins itself.
  Operation join;
  Output joined_after;
  // Lasts as long as the session; only where `host` is valid.
  Operation stay;
  // The parameter servers' life from which the first worker has its values, and the present one.
  Output epoch_of_host, epoch_of_servers;
  Operation reset;  // of the own HostSums, in each new session
  Operation leave;  // tells the other workers of the host that this one sums no longer; not valid without others
  Operation end;    // ends the steps of this worker, because the chief has ended the training
};

// Resets the HostSums of this task and starts the threads. They end when the session is closed, or with an error of the
// parameter servers, which requests a stop. What concerns the first worker of the host runs in another session, which
// is replaced when that worker has been restarted. REQUIRES: `session` lives until the coordinator's threads are
// joined.
Status StartHostRoutes(const HostRouteOps& ops, Session& session, Coordinator& coordinator);

// Tells the other workers of the host that this one leaves. Call it before the session is closed. If it fails, they
// notice that this task ends.
void EndHostRoutes(const HostRouteOps& ops, Session& session);

// The routes of all optimizers of a graph, for training loops without hooks.
struct HostRoutesOfGraph {
  std::vector<HostRouteOps> routes;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_HOST_ROUTES_H_
