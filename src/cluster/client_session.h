// What the master's service keeps for its clients: their sessions, and the steps that have not been answered yet.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SESSION_H_
#define TENSORBRAID_CLUSTER_CLIENT_SESSION_H_

#include <malloc.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/master_service.h"
#include "cluster/partial_run.h"

namespace tensorbraid {

// What a client wants of a step: of RunOptions, what we know.
struct RunWishes {
  int64_t timeout_ms = 0;
  bool trace = false;
  bool partition_graphs = false;
};

struct MasterService::ClientSession {
  struct Callable {
    RunSignature signature;
    RunWishes wishes;
  };

  // Frees what is left of the session. A large graph leaves its memory in pieces, which the system gets back.
  ~ClientSession() {
    constexpr size_t kLarge = 1 << 16;
    const bool was_large = graph.impl().nodes().size() > kLarge;
    session.reset();
    graph = Graph();
    if (was_large) malloc_trim(0);
  }
  // Adds to the graph; on errors it is what it was. REQUIRES: session->graph_mutex() is held.
  Status Extend(const std::string& graph_def) {
    const size_t before = graph.impl().nodes().size();
    const auto functions = graph.impl().functions();
    TF_RETURN_IF_ERROR(graph.ImportGraphDef(graph_def));
    const Status status = session->CheckDevices(graph, before);
    if (!status.ok()) {
      graph.impl().RemoveFrom(before);
      graph.impl().set_functions(functions);
    }
    return status;
  }
  // Ends the session's steps, and the cluster if it has brought one. Blocks until that has ended.
  void Close() {
    session->Close();
    if (has_own_cluster) member->Stop(OkStatus());
  }

  std::string handle;
  uint64_t last_used = 0;          // a count of uses; guarded by the service's mutex
  Graph graph;                     // guarded by session->graph_mutex()
  std::shared_ptr<Member> member;  // whose master it is that holds the session
  bool has_own_cluster = false;
  std::shared_ptr<MasterSession> session;
  Mutex mu;
  int64_t version TB_GUARDED_BY(mu) = 0;
  int64_t next_callable TB_GUARDED_BY(mu) = 0;
  std::map<int64_t, Callable> callables TB_GUARDED_BY(mu);
  int64_t next_partial_run TB_GUARDED_BY(mu) = 0;
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs TB_GUARDED_BY(mu);
  // Feeds and fetches of these. Clients may leave partial runs behind, and each has memory.
  static constexpr size_t kMaxOpenEnds = size_t{1} << 20;
  size_t open_ends TB_GUARDED_BY(mu) = 0;
};

// One step of a client, from its request to its answer.
struct MasterService::Running {
  std::shared_ptr<Call> call;
  std::shared_ptr<ClientSession> session;
  RunSignature signature;
  std::vector<Tensor> feeds;
  MasterSession::Deadline deadline = MasterSession::Deadline::max();
  bool trace = false;
  bool partition_graphs = false;
  bool cost_graph = false;
  std::string metadata;  // a RunMetadata; written before Finish
  std::function<MessageParts(const std::vector<Tensor>&)> write;
  bool errors_in_body = false;
  std::atomic<bool> answered{false};
  Timer::Id timer = 0;

  // REQUIRES: `session` is set.
  void Follow(const RunWishes& wishes);
  // The answer, or the error. Does nothing when that has been given.
  void Finish(const StatusOr<std::vector<Tensor>>& result);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SESSION_H_
