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
// A link that shares memory lends a large tensor instead. The tensor comes as one BulkTensor as soon as it exists,
// without a grant. It stays in the producer's memory until the last user at the receiver drops it.
//
// A grant waits for no other message, so no order of arrival can deadlock. Memory is bounded: each granted tensor has a
// Recv waiting for it, and the tensors that arrive early are within the eager budget.
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_EXCHANGE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "cluster/exchange/step_exchange.h"
#include "cluster/peer/peer_links.h"
#include "core/threads/mutex.h"
#include "transport/transport.h"

namespace tensorbraid {

struct ExchangeOptions {
  uint64_t eager_limit = 64 << 10;   // largest eager tensor, in bytes
  uint64_t eager_budget = 16 << 20;  // eager bytes per link that may be sent but not yet consumed
};

// Transfers the tensors of all steps of one task. Thread-safe.
class Exchange {
 public:
  // The largest eager budget. A receiver holds at most this many bytes for one link; a peer that sends more loses its
  // link.
  static constexpr uint64_t kMaxEagerBudget = 256 << 20;
  // How many steps may have tensors here before they begin here. A peer that sends tensors of more such steps loses its
  // link.
  static constexpr size_t kMaxEarlySteps = 1 << 16;

  // `links` must outlive the exchange. `self` is this task's incarnation, which identifies its master.
  Exchange(ExchangeOptions options, uint64_t self, PeerLinks* links);

  // Returns the step's rendezvous, with the tensors that have already arrived for it.
  std::shared_ptr<StepExchange> Begin(StepId id);
  // Null if the step is unknown here or has ended.
  std::shared_ptr<StepExchange> Find(StepId id);
  // The steps that have begun here. The pointer identifies the step in its executor (Executor::Waits). It may be
  // dangling when this returns.
  std::vector<std::pair<StepId, const CancellationManager*>> Steps();
  // Forgets the step. Messages that still arrive for it are dropped.
  void End(StepId id);
  // Fails and forgets all steps of a master that is gone.
  void EndAllOf(uint64_t master, const Status& why);

  // The events of connections: first OnLinkUp, then messages about tensors, last OnLinkDown. A tensor is dropped unless
  // its step is known or may still begin: the step's master must be on this task, or on a task with a link to this one.
  void OnLinkUp(const Hello& peer);
  void On(const std::shared_ptr<PeerConnection>& from, const EagerTensor& m);
  void On(const std::shared_ptr<PeerConnection>& from, const AnnounceTensor& m);
  void On(const std::shared_ptr<PeerConnection>& from, const GrantTensor& m);
  void On(const std::shared_ptr<PeerConnection>& from, const BulkTensor& m);
  void On(const std::shared_ptr<PeerConnection>& from, const EagerCredit& m);
  void OnLinkDown(const Hello& peer, const Status& why);

  const ExchangeOptions& options() const { return options_; }
  PeerLinks& links() { return *links_; }
  // The steps that are known here, whether or not their masters have begun them.
  size_t num_steps() const;

 private:
  friend class StepExchange;
  struct Step {
    std::shared_ptr<StepExchange> exchange;
    bool begun = false;  // if false, only tensors of the step have arrived
  };
  // Counts received eager bytes as consumed, and tells the peer from time to time.
  void Consumed(PeerConnection& from, uint64_t bytes);
  // Counts received eager bytes. False, after closing the link, if the peer has sent more than any budget allows.
  bool CountReceived(PeerConnection& from, uint64_t bytes);
  // The step that a message belongs to: created if the message is early, null if the step has ended or its master is
  // unknown or gone.
  std::shared_ptr<StepExchange> StepOf(PeerConnection& from, StepId id);

  const ExchangeOptions options_;
  PeerLinks* const links_;
  mutable Mutex mu_;
  absl::flat_hash_map<StepId, Step> steps_ TB_GUARDED_BY(mu_);
  size_t early_steps_ TB_GUARDED_BY(mu_) = 0;  // how many of `steps_` have not begun
  // The number of links to each task that may be a master, by incarnation; 1 for this task itself.
  absl::flat_hash_map<uint64_t, int> masters_ TB_GUARDED_BY(mu_);
  absl::flat_hash_set<StepId> ended_ TB_GUARDED_BY(mu_);  // the steps that ended last, at most kKeptEnded
  std::deque<StepId> ended_order_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_EXCHANGE_H_
