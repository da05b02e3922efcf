// The rendezvous between a step and a client that feeds and fetches it in several calls (a partial run).
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_CLIENT_EDGES_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_CLIENT_EDGES_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/threads/mutex.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/rendezvous.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// Copies the master's own part of a graph, replacing each _Arg by a _Recv and each _Retval by a _Send. Their peer is
// the client, and their edge number is the index of the feed or fetch.
StatusOr<std::unique_ptr<Graph>> WithClientEdges(const Graph& part);

// Wraps the step's rendezvous with other tasks: handles the edges to and from the client, and forwards all others.
// Thread-safe. When the step ends or is cancelled, every pending callback is called.
class ClientEdges final : public Rendezvous, public std::enable_shared_from_this<ClientEdges> {
 public:
  ClientEdges(size_t num_feeds, size_t num_fetches) : feeds_(num_feeds), fetches_(num_fetches) {}

  // Call once, before the step runs. `others` (null in a step of one task) and `cancellation` must outlive the step.
  void Begin(Rendezvous* others, CancellationManager* cancellation);
  void Send(const StepEdge& edge, LoopPosition at, Tensor value) override;
  void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) override;

  // Feeds tensor `i`. Kernels that consume it may run on this thread. REQUIRES: it has not been fed before.
  void Feed(size_t i, Tensor value);
  // Calls `done` with the fetches `which`, in this order, once all of them have arrived. If one of them is dead (on a
  // branch that was not taken), `done` gets InvalidArgument; if the step fails, `done` gets the step's error. REQUIRES:
  // none has been fetched before.
  using FetchDone = std::function<void(StatusOr<std::vector<Tensor>>)>;
  void Fetch(std::vector<size_t> which, FetchDone done);
  // Fails pending and later fetches: the step has ended with this error. (A step that succeeds has sent every fetch.)
  void Fail(const Status& why);

 private:
  struct FeedEdge {
    Tensor value;
    bool given = false;
    RecvDone waiter;
  };
  struct FetchEdge {
    StatusOr<Tensor> value = Tensor();
    bool arrived = false;
  };
  struct Waiter {
    std::vector<size_t> which;
    FetchDone done;
  };
  void Cancel(const Status& why);
  // Removes and returns the waiters whose tensors have all arrived.
  std::vector<Waiter> TakeReadyWaiters() TB_REQUIRES(mu_);
  StatusOr<std::vector<Tensor>> ValuesOf(const std::vector<size_t>& which);

  Rendezvous* others_ = nullptr;  // constant once the step runs
  Mutex mu_;
  std::vector<FeedEdge> feeds_ TB_GUARDED_BY(mu_);
  std::vector<FetchEdge> fetches_ TB_GUARDED_BY(mu_);
  std::vector<Waiter> waiters_ TB_GUARDED_BY(mu_);
  Status cancelled_ TB_GUARDED_BY(mu_);  // result of the step's Recv calls
  Status failed_ TB_GUARDED_BY(mu_);     // result of the client's Fetch calls
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_CLIENT_EDGES_H_
