// Tensors between the partitions of a step: who may send what when.
//
// Small tensors are eager: pushed as soon as they exist, while the peer has room for them, and kept here when they come
// before their Recv. Everything else waits at its producer, by reference, until the receiver grants it:
//
//   producer                         receiver
//      | --- EagerTensor ----------------> |     up to eager_limit bytes, within eager_budget per link
//      | <-- GrantTensor ----------------- |     when the Recv is posted and the size is known to be large, or ...
//      | --- AnnounceTensor -------------> |     ... when the producer has it first and tells of it
//      | --- BulkTensor, in parts -------> |     into the tensor's own memory
//      | <-- EagerCredit ----------------- |     how many eager bytes have been consumed
//
// Granting depends on nothing else that travels, so no order of arrival can deadlock, and memory is bounded: what is
// granted has a Recv waiting for it, what is early is within the budget.
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_H_

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
#include "runtime/step_context.h"
#include "transport/transport.h"

namespace tensorbraid {

struct ExchangeOptions {
  uint64_t eager_limit = 64 << 10;   // bytes of a tensor
  uint64_t eager_budget = 16 << 20;  // bytes per link that are sent and not yet consumed
};

class Exchange;

// The rendezvous of one step on this task. Thread-safe. Held by the Exchange until the step ends.
class StepExchange final : public StepContext, public std::enable_shared_from_this<StepExchange> {
 public:
  StepExchange(StepId id, Exchange* exchange);

  void Send(const StepEdge& edge, LoopPosition at, Tensor value) override;
  void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) override;

  // Fails what waits and what will be asked for, and cancels the kernels. The first call decides the status. The same
  // happens when the kernels are cancelled: what failed here may be what the other tasks wait for, and then they will
  // never send what this one waits for.
  void Fail(const Status& why);
  StepId id() const { return id_; }
  // OK, or why the step failed.
  Status status() {
    MutexLock lock(mu_);
    return failed_;
  }
  CancellationManager& cancellation() { return cancellation_; }
  // Called when the step fails after its partition had already ended well here (a tensor it sent may be lost).
  void set_on_late_failure(std::function<void(const Status&)> f);

 private:
  friend class Exchange;
  // A tensor that comes here.
  struct Incoming {
    RecvDone waiter;  // posted, not yet served
    bool announced = false;
    bool granted = false;
    StatusOr<Tensor> value = Tensor();  // arrived (or broken) before its Recv
    bool arrived = false;
    std::weak_ptr<Link> eager_from;  // owes credit until consumed
    uint64_t eager_bytes = 0;
    TensorMeta meta;  // of the parts that come in
    Tensor assembling;
    RefPtr<Buffer> raw;  // for dtypes that are decoded when complete
    uint64_t received = 0;
  };
  // A tensor that waits for its grant.
  struct Outgoing {
    Tensor value;
    bool has_value = false;
    bool granted = false;
    bool was_dead = false;  // and has been sent: only its grant is to come
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
  // Gives back what the step holds.
  void Clear();

  const StepId id_;
  Exchange* const exchange_;
  CancellationManager cancellation_;
  Mutex mu_;
  Status failed_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<TensorKey, Incoming> incoming_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<TensorKey, Outgoing> outgoing_ TB_GUARDED_BY(mu_);
  std::set<std::string> peers_ TB_GUARDED_BY(mu_);  // sent to or received from
  std::map<std::string, Status> broken_ TB_GUARDED_BY(mu_);
  std::function<void(const Status&)> on_late_failure_ TB_GUARDED_BY(mu_);
};

// All steps of one task. Thread-safe.
class Exchange {
 public:
  // Finds the link to a task, making it if need be; calls back on any thread.
  using FindLink = std::function<void(const std::string& task, std::function<void(StatusOr<std::shared_ptr<Link>>)>)>;
  Exchange(ExchangeOptions options, FindLink find_link) : options_(options), find_link_(std::move(find_link)) {}

  // The step's rendezvous, with what came early for it.
  std::shared_ptr<StepExchange> Begin(StepId id);
  // Null when the step is not known here (any more).
  std::shared_ptr<StepExchange> Find(StepId id);
  // Forgets the step; what still comes for it is dropped.
  void End(StepId id);
  // Forgets every step of a master that is gone, failing those that run.
  void EndAllOf(uint64_t master, const Status& why);

  // Takes the messages that concern tensors; false for others.
  bool OnMessage(const std::shared_ptr<Link>& link, const Message& message);
  void OnLinkDown(const Link& link, const Status& why);

  const ExchangeOptions& options() const { return options_; }

 private:
  friend class StepExchange;
  // What was sent eagerly over one link, and consumed from it.
  struct Flow {
    uint64_t sent = 0;
    uint64_t credited = 0;  // by the peer
    uint64_t consumed = 0;  // by us
    uint64_t told = 0;      // to the peer
  };
  // Room for that many eager bytes, taken if there is.
  bool TakeEagerRoom(const Link& link, uint64_t bytes);
  void Consumed(const std::shared_ptr<Link>& link, uint64_t bytes);
  // The step a message is for; made when it is early, null when the step has ended.
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

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_H_
