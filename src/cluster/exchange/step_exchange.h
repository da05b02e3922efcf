// The tensors that one step exchanges with other tasks. exchange.h describes the protocol: eager, announced, granted,
// bulk and lent tensors, and eager credit. A dead tensor is the output of a branch that was not taken.
#ifndef TENSORBRAID_CLUSTER_EXCHANGE_STEP_EXCHANGE_H_
#define TENSORBRAID_CLUSTER_EXCHANGE_STEP_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/exchange/arriving_tensor.h"
#include "cluster/peer/peer_connection.h"
#include "core/threads/mutex.h"
#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/rendezvous.h"
#include "transport/transport.h"

namespace tensorbraid {

class Exchange;

// The rendezvous of one step on this task. Thread-safe. The Exchange holds it until the step ends. No lock is held
// while it connects, decodes or calls back.
class StepExchange final : public Rendezvous, public std::enable_shared_from_this<StepExchange> {
 public:
  // How many tensors peers may send, announce or grant for nodes that have not run yet. A step that exceeds it fails.
  static constexpr size_t kMaxEarlyTensors = 1 << 20;

  StepExchange(StepId id, Exchange* exchange);

  void Send(const StepEdge& edge, LoopPosition at, Tensor value) override;
  void Recv(const StepEdge& edge, LoopPosition at, RecvDone done) override;

  // Fails all pending and later Recv calls and cancels the step's kernels here. The first call decides the status.
  // Cancelling the step's kernels also calls this function: a kernel that is cancelled sends nothing, so another task
  // may wait for it forever and never send what a Recv here waits for.
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
    std::weak_ptr<PeerConnection> eager_from;  // gets the credit for `eager_bytes` once `value` is consumed
    uint64_t eager_bytes = 0;
    // The tensor while its parts arrive. The thread of the bulk channel shares it, because the step may end while that
    // thread copies a part.
    std::shared_ptr<ArrivingTensor> parts;
  };
  // A tensor that waits for its grant, or a grant that waits for its tensor.
  struct Outgoing {
    TensorMeta meta;
    Payload payload;
    bool has_payload = false;
    bool granted = false;
    bool was_dead = false;  // a dead tensor that has been sent; the entry only waits for the grant
  };
  TensorKey KeyOf(const StepEdge& edge, LoopPosition at) const {
    return {.step = id_, .edge = edge.number, .frame = at.frame, .iteration = at.iteration};
  }
  bool IsLarge(const StepEdge& edge) const;
  void AddPeer(uint32_t peer) TB_REQUIRES(mu_);
  void SendTo(PeerConnection& to, const StepEdge& edge, LoopPosition at, Tensor value);
  void SendDead(Link& link, const StepEdge& edge, const TensorKey& key);
  void On(const std::shared_ptr<PeerConnection>& from, const EagerTensor& m);
  void On(PeerConnection& from, const AnnounceTensor& m);
  void On(PeerConnection& from, const GrantTensor& m);
  void On(const BulkTensor& m);
  // A tensor that its sender lends: it comes whole, in the memory of the sender, and without a grant.
  void OnLent(const std::shared_ptr<PeerConnection>& from, const BulkTensor& m);
  // A tensor that comes without a grant, so perhaps before its Recv. `eager_bytes` of it are counted in the eager
  // budget.
  void ArriveUnasked(const std::shared_ptr<PeerConnection>& from, const TensorKey& key, StatusOr<Tensor> value,
                     uint64_t eager_bytes);
  void Grant(Link& link, const TensorKey& key);
  // Adds a part. True if the tensor is now complete, so that ArrivingTensor::Take may be called.
  StatusOr<bool> AddPart(const BulkTensor& m, std::shared_ptr<ArrivingTensor>* tensor);
  void OnLinkDown(uint32_t peer, const Status& why);
  void Arrive(const TensorKey& key, StatusOr<Tensor> value);
  void FailForTooManyTensors(const PeerConnection& from);
  // Drops all tensors, returns eager credit to peers, and fails pending Recv calls with Cancelled.
  void Clear();

  const StepId id_;
  Exchange* const exchange_;
  CancellationManager cancellation_;
  Mutex mu_;
  Status failed_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<TensorKey, Incoming> incoming_ TB_GUARDED_BY(mu_);
  absl::flat_hash_map<TensorKey, Outgoing> outgoing_ TB_GUARDED_BY(mu_);
  std::vector<uint32_t> peers_ TB_GUARDED_BY(mu_);                      // the step has exchanged tensors with these
  std::vector<std::pair<uint32_t, Status>> broken_ TB_GUARDED_BY(mu_);  // peers whose link broke before their first use
  std::function<void(const Status&)> on_late_failure_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLUSTER_EXCHANGE_STEP_EXCHANGE_H_
