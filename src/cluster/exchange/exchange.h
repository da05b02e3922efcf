// Transfers tensors between the partitions of a step, with flow control.
//
// Small tensors are eager: the producer pushes them as soon as they exist, within a budget per link, and the receiver
// keeps those that arrive before their Recv. Every other tensor waits at its producer, by reference, until the receiver
// grants it:
//
//   producer                         receiver
//      | --- EagerTensor ----------------> |     up to eager_limit bytes, within eager_budget per link
//      | <-- GrantTensor ----------------- |     when the Recv is posted and the tensor is known to be large, or ...
//      | --- AnnounceTensor -------------> |     ... after the producer, having computed it first, has announced it
//      | --- BulkTensor, in parts -------> |     into the tensor's own memory
//      | <-- EagerCredit ----------------- |     total of eager bytes consumed
//
// A grant waits for no other message, so no order of arrival can deadlock. Memory is bounded: each granted tensor has a
// Recv waiting for it, and the tensors that arrive early are within the eager budget.
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_EXCHANGE_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/mutex.h"
#include "runtime/cancellation.h"
#include "runtime/rendezvous.h"
#include "transport/transport.h"

namespace tensorbraid {

struct ExchangeOptions {
  uint64_t eager_limit = 64 << 10;   // largest eager tensor, in bytes
  uint64_t eager_budget = 16 << 20;  // eager bytes per link that may be sent but not yet consumed
};

class Exchange;

// The rendezvous of one step on this task. Thread-safe. The Exchange holds it until the step ends.
class StepExchange final : public Rendezvous, public std::enable_shared_from_this<StepExchange> {
 public:
  StepExchange(StepId id, Exchange* exchange);

  void Send(const StepEdge& edge, LoopPosition at, Tensor value) override;
  void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) override;

  // Fails all pending and later Recv calls and cancels the step's kernels here. The first call decides the status.
  // Cancelling the kernels also fails the rendezvous: other tasks may wait for a tensor that will not be computed here,
  // and would then never send what this task waits for.
  void Fail(const Status& why);
  StepId id() const { return id_; }
  // OK, or the reason why the step failed.
  Status status() {
    MutexLock lock(mu_);
    return failed_;
  }
  CancellationManager& cancellation() { return cancellation_; }
  // Sets the callback for a step that fails after its partition here has succeeded (a tensor that it sent may be lost).
  // If the step has already failed, calls it at once.
  void set_on_late_failure(std::function<void(const Status&)> f);

 private:
  friend class Exchange;
  // A tensor to be received.
  struct Incoming {
    RecvDone waiter;  // of a posted Recv that has not been served yet
    bool announced = false;
    bool granted = false;
    StatusOr<Tensor> value = Tensor();  // a tensor (or its decoding error) that arrived before its Recv
    bool arrived = false;
    std::weak_ptr<Link> eager_from;  // gets the credit for `eager_bytes` once `value` is consumed
    uint64_t eager_bytes = 0;
    TensorMeta meta;  // of a tensor that arrives in parts
    Tensor assembling;
    RefPtr<Buffer> raw;  // replaces `assembling` for dtypes that are decoded when complete
    uint64_t received = 0;
  };
  // A tensor that waits for its grant, or a grant that waits for its tensor.
  struct Outgoing {
    Tensor value;
    bool has_value = false;
    bool granted = false;
    bool was_dead = false;  // a dead tensor that has been sent; the entry only waits for the grant
  };
  TensorKey KeyOf(const StepEdge& edge, LoopPosition at) const {
    return {.step = id_, .edge = edge.number, .frame = at.frame, .iteration = at.iteration};
  }
  bool IsLarge(const StepEdge& edge) const;
  void SendTo(const std::shared_ptr<Link>& link, const StepEdge& edge, LoopPosition at, Tensor value);
  void SendDead(Link& link, const StepEdge& edge, const TensorKey& key);
  void OnEager(const std::shared_ptr<Link>& link, const EagerTensor& m);
  void OnAnnounce(const std::shared_ptr<Link>& link, const AnnounceTensor& m);
  void OnGrant(const std::shared_ptr<Link>& link, const GrantTensor& m);
  void OnBulk(const std::shared_ptr<Link>& link, const BulkTensor& m);
  void OnLinkDown(const Link& link, const Status& why);
  void Arrive(const TensorKey& key, StatusOr<Tensor> value);
  // Drops all tensors, returns eager credit to peers, and fails pending Recv calls with Cancelled.
  void Clear();

  const StepId id_;
  Exchange* const exchange_;
  CancellationManager cancellation_;
  Mutex mu_;
  Status failed_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<TensorKey, Incoming> incoming_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<TensorKey, Outgoing> outgoing_ TB_GUARDED_BY(mu_);
  std::set<std::string> peers_ TB_GUARDED_BY(mu_);           // tasks that the step has exchanged tensors with
  std::map<std::string, Status> broken_ TB_GUARDED_BY(mu_);  // tasks whose link broke before the step used it
  std::function<void(const Status&)> on_late_failure_ TB_GUARDED_BY(mu_);
};

// All steps of one task. Thread-safe.
class Exchange {
 public:
  // Finds the link to a task, connecting if necessary; calls back on any thread.
  using FindLink = std::function<void(const std::string& task, std::function<void(StatusOr<std::shared_ptr<Link>>)>)>;
  Exchange(ExchangeOptions options, FindLink find_link) : options_(options), find_link_(std::move(find_link)) {}

  // Returns the step's rendezvous, with the tensors that have already arrived for it.
  std::shared_ptr<StepExchange> Begin(StepId id);
  // Null if the step is unknown here or has ended.
  std::shared_ptr<StepExchange> Find(StepId id);
  // Forgets the step. Messages that still arrive for it are dropped.
  void End(StepId id);
  // Fails and forgets all steps of a master that is gone.
  void EndAllOf(uint64_t master, const Status& why);

  // Handles messages about tensors. Returns false for all others.
  bool OnMessage(const std::shared_ptr<Link>& link, const Message& message);
  void OnLinkDown(const Link& link, const Status& why);

  const ExchangeOptions& options() const { return options_; }

 private:
  friend class StepExchange;
  // Flow control of one link: running totals of eager bytes, in both directions.
  struct Flow {
    uint64_t sent = 0;
    uint64_t credited = 0;  // of `sent`: the peer has reported these as consumed
    uint64_t consumed = 0;  // received and consumed here
    uint64_t reported = 0;  // of `consumed`: the peer has been told
  };
  // Reserves `bytes` of the link's eager budget. Returns false if they exceed it.
  bool ReserveEagerBudget(const Link& link, uint64_t bytes);
  // Counts received eager bytes as consumed, and tells the peer from time to time.
  void Consumed(const std::shared_ptr<Link>& link, uint64_t bytes);
  // The step that a message belongs to: created if the message is early, null if the step has ended.
  std::shared_ptr<StepExchange> StepOf(StepId id);

  const ExchangeOptions options_;
  const FindLink find_link_;
  Mutex mu_;
  absl::flat_hash_map<StepId, std::shared_ptr<StepExchange>> steps_ TB_GUARDED_BY(mu_);
  absl::flat_hash_set<StepId> ended_ TB_GUARDED_BY(mu_);  // the last kKeptEnded
  std::deque<StepId> ended_order_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<const Link*, Flow> flows_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_EXCHANGE_H_
