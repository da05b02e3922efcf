// State of MasterService: the sessions of its clients, and the steps that have not been answered yet.
#ifndef TENSORBRAID_CLUSTER_CLIENT_SERVICE_CLIENT_SESSION_H_
#define TENSORBRAID_CLUSTER_CLIENT_SERVICE_CLIENT_SESSION_H_

#include <malloc.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/client_service/master_service.h"
#include "cluster/master/partial_run.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

// The fields of a client's RunOptions that we support.
struct ClientRunOptions {
  int64_t timeout_ms = 0;
  bool trace = false;
  bool partition_graphs = false;
};

struct MasterService::ClientSession {
  struct Callable {
    RunSignature signature;
    ClientRunOptions options;
  };

  // A large graph consists of many small allocations, and so does the message that brought it. Frees them and returns
  // the memory to the system.
  ~ClientSession() {
    constexpr size_t kManyNodes = 1 << 16, kManyBytes = size_t{64} << 20;
    bool was_large = ImplOf(graph).nodes().size() > kManyNodes;
    {
      MutexLock lock(mu);
      was_large = was_large || graph_bytes > kManyBytes;
    }
    session.reset();
    graph = Graph();
    if (was_large) malloc_trim(0);
  }
  // Adds to the graph. On an error the graph is unchanged. REQUIRES: session->graph_mutex() is held.
  Status Extend(const std::string& graph_def) {
    const size_t before = ImplOf(graph).nodes().size();
    const auto functions = ImplOf(graph).functions();
    TF_RETURN_IF_ERROR(graph.ImportGraphDef(graph_def));
    const Status status = session->CheckDevices(graph, before);
    if (!status.ok()) {
      ImplOf(graph).RemoveFrom(before);
      ImplOf(graph).set_functions(functions);
    }
    return status;
  }
  // Aborts the session's steps. If the session brought its own cluster, also leaves that cluster and blocks until this
  // is done.
  void Close() {
    session->Close();
    if (has_own_cluster) host->Stop(OkStatus());
  }

  std::string handle;
  uint64_t last_used = 0;             // MasterService::uses_ at the last use; guarded by MasterService::mu_
  Graph graph;                        // guarded by session->graph_mutex()
  std::shared_ptr<SessionHost> host;  // its master holds `session`
  bool has_own_cluster = false;
  std::shared_ptr<MasterSession> session;
  Mutex mu;
  int64_t version TB_GUARDED_BY(mu) = 0;
  size_t graph_bytes TB_GUARDED_BY(mu) = 0;  // of all GraphDefs so far
  int64_t next_callable TB_GUARDED_BY(mu) = 0;
  std::map<int64_t, Callable> callables TB_GUARDED_BY(mu);
  int64_t next_partial_run TB_GUARDED_BY(mu) = 0;
  std::map<std::string, std::shared_ptr<PartialRun>> partial_runs TB_GUARDED_BY(mu);
  // The limit for open_edges. Clients may abandon partial runs, and each partial run uses memory.
  static constexpr size_t kMaxOpenEdges = size_t{1} << 20;
  size_t open_edges TB_GUARDED_BY(mu) = 0;  // the sum of num_edges() over `partial_runs`
};

// One step, or one call of a partial run, from a client's request to the answer.
struct MasterService::Running {
  std::shared_ptr<Call> call;
  std::shared_ptr<ClientSession> session;
  RunSignature signature;
  std::vector<Tensor> feeds;
  MasterSession::Deadline deadline = MasterSession::Deadline::max();
  bool trace = false;
  bool partition_graphs = false;
  bool cost_graph = false;
  std::string metadata;  // a serialized RunMetadata; set before Finish is called
  std::function<MessageParts(const std::vector<Tensor>&)> write;
  bool errors_in_body = false;
  std::atomic<bool> answered{false};
  Timer::Id timer = 0;

  // Sets deadline and tracing. REQUIRES: `session` is set.
  void Apply(const ClientRunOptions& options);
  // Answers the call with the result or the error. Later calls do nothing.
  void Finish(const StatusOr<std::vector<Tensor>>& result);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_SERVICE_CLIENT_SESSION_H_
