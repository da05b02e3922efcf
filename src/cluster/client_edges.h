// The rendezvous between a step and the client that feeds and fetches it bit by bit: a partial run.
#ifndef TENSORBRAID_CLUSTER_CLIENT_EDGES_H_
#define TENSORBRAID_CLUSTER_CLIENT_EDGES_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/mutex.h"
#include "runtime/cancellation.h"
#include "runtime/step_context.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

// A copy of the master's own part of a graph in which every _Arg is a _Recv and every _Retval a _Send whose peer is the
// client and whose edge is their index.
StatusOr<std::unique_ptr<Graph>> WithClientEdges(const Graph& part);

// Stands before the step's rendezvous with other tasks, and takes what is for the client or from it. Thread-safe.
// A step that ends, or is cancelled, leaves nobody waiting.
class ClientEdges final : public StepContext, public std::enable_shared_from_this<ClientEdges> {
 public:
  ClientEdges(size_t num_feeds, size_t num_fetches) : feeds_(num_feeds), fetches_(num_fetches) {}

  // Once, before the step runs. `others` (null in a step of one task) and `cancellation` must live as long as it does.
  void Begin(StepContext* others, CancellationManager* cancellation);
  void Send(const StepEdge& edge, LoopPosition at, Tensor value) override;
  void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) override;

  // What the client does. A feed's consumers may run on this thread. A tensor is fed once, and fetched once.
  void Feed(size_t i, Tensor value);
  // Calls `done` when all of these have come, in this order, or when one of them is dead (InvalidArgument), or with
  // what the step has failed with.
  using FetchDone = std::function<void(StatusOr<std::vector<Tensor>>)>;
  void Fetch(std::vector<size_t> which, FetchDone done);
  // The step has ended with this error: nothing will come any more. (One that ends well has sent every fetch.)
  void Fail(const Status& why);

 private:
  struct FeedEdge {
    Tensor value;
    bool given = false;
    RecvDone waiter;
  };
  struct FetchEdge {
    StatusOr<Tensor> value = Tensor();
    bool come = false;
  };
  struct Waiter {
    std::vector<size_t> which;
    FetchDone done;
  };
  void Cancel(const Status& why);
  // Takes the waiters whose tensors are there.
  std::vector<Waiter> TakeServed() TB_REQUIRES(mu_);
  StatusOr<std::vector<Tensor>> ValuesOf(const std::vector<size_t>& which);

  StepContext* others_ = nullptr;  // constant once the step runs
  Mutex mu_;
  std::vector<FeedEdge> feeds_ TB_GUARDED_BY(mu_);
  std::vector<FetchEdge> fetches_ TB_GUARDED_BY(mu_);
  std::vector<Waiter> waiters_ TB_GUARDED_BY(mu_);
  Status cancelled_ TB_GUARDED_BY(mu_);  // for what the step waits for
  Status failed_ TB_GUARDED_BY(mu_);     // for what the client waits for
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_CLIENT_EDGES_H_
