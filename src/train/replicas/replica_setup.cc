#include "train/replicas/replica_setup.h"

#include "graph/model/handles.h"

namespace tensorbraid {
namespace {

// Name of a collection with the operations of all ReplicaSetups, in the order of the struct's members. A collection has
// outputs, so an operation is stored as its output 0, even if it has no outputs.
constexpr char kReplicaSetups[] = "replica_setup";
constexpr size_t kOpsPerReplicaSetup = 4;

}  // namespace

Status ReplicaSetup::Run(Session& session, bool is_chief) const {
  if (!is_chief) return session.Run({local_step_init}).status();
  TF_ASSIGN_OR_RETURN(const auto closed, session.Run({tokens_closed}));
  if (closed[0].scalar<bool>()) TF_RETURN_IF_ERROR(session.Run({forget_tokens}).status());
  return session.Run({chief_init}).status();
}

void ReplicaSetup::AddTo(Graph& graph) const {
  for (const Output& op : {OutputOf(NodeOf(local_step_init), 0), OutputOf(NodeOf(chief_init), 0), tokens_closed,
                           OutputOf(NodeOf(forget_tokens), 0)}) {
    graph.AddToCollection(kReplicaSetups, op);
  }
}

Status SetUpReplicas(const Graph& graph, Session& session, bool is_chief) {
  const std::vector<Output> ops = graph.GetCollection(kReplicaSetups);
  for (size_t i = 0; i + kOpsPerReplicaSetup <= ops.size(); i += kOpsPerReplicaSetup) {
    const ReplicaSetup setup{.local_step_init = ops[i].op(),
                             .chief_init = ops[i + 1].op(),
                             .tokens_closed = ops[i + 2],
                             .forget_tokens = ops[i + 3].op()};
    TF_RETURN_IF_ERROR(setup.Run(session, is_chief));
  }
  return OkStatus();
}

}  // namespace tensorbraid
