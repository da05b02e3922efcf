// Sets up a replica of synchronous training, once in each new session.
#ifndef TENSORBRAID_TRAIN_REPLICAS_REPLICA_SETUP_H_
#define TENSORBRAID_TRAIN_REPLICAS_REPLICA_SETUP_H_

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {

// The operations that set up a replica. SyncReplicasOptimizer makes them; sync_replicas.cc describes tokens and chief
// numbers.
struct ReplicaSetup {
  Operation local_step_init;  // workers: sets the worker's local step to the global step
  Operation chief_init;       // chief: the same, with a new chief number, and restarts the accumulators
  Output tokens_closed;       // whether earlier training has closed the token queue
  Operation forget_tokens;    // deletes the token queue, which is then created again

  // Runs what this replica needs. REQUIRES: the global variables have values.
  Status Run(Session& session, bool is_chief) const;
  // Records the operations in the graph, where SetUpReplicas finds them.
  void AddTo(Graph& graph) const;
};

// Runs all ReplicaSetups of the graph.
Status SetUpReplicas(const Graph& graph, Session& session, bool is_chief);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_REPLICA_SETUP_H_
