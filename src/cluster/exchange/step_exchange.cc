#include "cluster/exchange/step_exchange.h"

#include <algorithm>

#include "cluster/exchange/exchange.h"
#include "cluster/exchange/tensor_codec.h"
#include "core/text/device_name.h"
#include "core/text/strings.h"

namespace tensorbraid {

StepExchange::StepExchange(StepId id, Exchange* exchange) : id_(id), exchange_(exchange) {
  CancellationManager::Token token;
  cancellation_.Register([this](const Status& why) { Fail(why); }, &token);
}

bool StepExchange::IsLarge(const StepEdge& edge) const {
  return edge.bytes_hint > static_cast<int64_t>(exchange_->options().eager_limit);
}

void StepExchange::AddPeer(uint32_t peer) {
  if (std::find(peers_.begin(), peers_.end(), peer) == peers_.end()) peers_.push_back(peer);
}

void StepExchange::Send(const StepEdge& edge, LoopPosition at, Tensor value) {
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    AddPeer(edge.peer);
  }
  exchange_->links().GetConnection(edge.peer, [self = shared_from_this(), edge, at, value = std::move(value)](
                                                  const StatusOr<std::shared_ptr<PeerConnection>>& to) mutable {
    if (!to.ok()) return self->Fail(to.status());
    self->SendTo(**to, edge, at, std::move(value));
  });
}

void StepExchange::SendDead(Link& link, const StepEdge& edge, const TensorKey& key) {
  // A dead tensor has no bytes, so it is always eager. If the edge says that the tensor is large, the receiver grants
  // it nevertheless. The entry is kept so that this grant finds and removes it.
  if (IsLarge(edge)) {
    MutexLock lock(mu_);
    Outgoing& out = outgoing_[key];
    if (out.granted) {
      outgoing_.erase(key);
    } else {
      out.was_dead = true;
    }
  }
  TensorMeta meta;
  meta.dead = true;
  link.Send(EagerTensor{.key = key, .meta = std::move(meta), .payload = {}});
}

void StepExchange::SendTo(PeerConnection& to, const StepEdge& edge, LoopPosition at, Tensor value) {
  Link* const link = to.link().get();
  const TensorKey key = KeyOf(edge, at);
  if (!value.is_valid()) return SendDead(*link, edge, key);
  TensorMeta meta;
  Payload payload;
  if (const Status s = EncodeTensor(value, &meta, &payload); !s.ok()) return Fail(s);
  if (meta.bytes <= exchange_->options().eager_limit &&
      to.flow().Reserve(meta.bytes, exchange_->options().eager_budget)) {
    return link->Send(EagerTensor{.key = key, .meta = std::move(meta), .payload = std::move(payload)});
  }
  if (link->Share(&payload)) {
    return link->Send(BulkTensor{.key = key, .meta = std::move(meta), .offset = 0, .payload = std::move(payload)});
  }
  bool granted;
  {
    MutexLock lock(mu_);
    Outgoing& out = outgoing_[key];
    granted = out.granted;
    if (granted) {
      outgoing_.erase(key);
    } else {
      out.meta = meta;
      std::swap(out.payload, payload);
      out.has_payload = true;
    }
  }
  if (granted) {
    link->Send(BulkTensor{.key = key, .meta = std::move(meta), .offset = 0, .payload = std::move(payload)});
  } else {
    link->Send(AnnounceTensor{.key = key, .meta = std::move(meta)});
  }
}

void StepExchange::On(PeerConnection& from, const GrantTensor& m) {
  Outgoing out;
  bool too_many = false;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    const auto it = outgoing_.find(m.key);
    if (it == outgoing_.end()) {
      too_many = outgoing_.size() >= kMaxEarlyTensors;
      if (!too_many) outgoing_[m.key].granted = true;
    } else if (it->second.has_payload || it->second.was_dead) {
      out = std::move(it->second);
      outgoing_.erase(it);
    }
  }
  if (too_many) return FailForTooManyTensors(from);
  if (!out.has_payload) return;  // it is not computed yet, or dead
  from.link()->Send(
      BulkTensor{.key = m.key, .meta = std::move(out.meta), .offset = 0, .payload = std::move(out.payload)});
}

void StepExchange::Recv(const StepEdge& edge, LoopPosition at, RecvDone done) {
  const TensorKey key = KeyOf(edge, at);
  StatusOr<Tensor> value(absl::in_place);
  std::shared_ptr<PeerConnection> credit_to;
  uint64_t credit = 0;
  bool grant = false;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) {
      value = failed_;
    } else {
      const auto broken =
          std::find_if(broken_.begin(), broken_.end(), [&](const auto& b) { return b.first == edge.peer; });
      Incoming& in = incoming_[key];
      if (in.arrived) {
        value = std::move(in.value);
        credit_to = in.eager_from.lock();
        credit = in.eager_bytes;
        incoming_.erase(key);
      } else if (broken != broken_.end()) {
        value = broken->second;
      } else if (in.waiter) {
        // A tensor can serve only one waiter, so the other would wait forever. Masters never create such partitions.
        value = InvalidArgument("two nodes receive edge ", edge.number);
      } else {
        AddPeer(edge.peer);
        in.waiter = std::exchange(done, nullptr);
        grant = !in.granted && (in.announced || IsLarge(edge));
        if (grant) in.granted = true;
      }
    }
  }
  if (credit_to != nullptr) exchange_->Consumed(*credit_to, credit);
  if (done) return done(std::move(value));
  if (grant) {
    exchange_->links().GetConnection(
        edge.peer, [self = shared_from_this(), key](const StatusOr<std::shared_ptr<PeerConnection>>& from) {
          if (!from.ok()) return self->Fail(from.status());
          self->Grant(*(*from)->link(), key);
        });
  }
}

void StepExchange::Grant(Link& link, const TensorKey& key) {
  if (link.shares_memory()) {
    // A large tensor comes without a grant, unless its producer has no shared memory left and has announced it.
    MutexLock lock(mu_);
    const auto it = incoming_.find(key);
    if (it == incoming_.end()) return;
    it->second.granted = it->second.announced;
    if (!it->second.announced) return;
  }
  link.Send(GrantTensor{.key = key});
}

void StepExchange::On(PeerConnection& from, const AnnounceTensor& m) {
  bool too_many = false;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    too_many = incoming_.size() >= kMaxEarlyTensors && !incoming_.contains(m.key);
    if (!too_many) {
      Incoming& in = incoming_[m.key];
      in.announced = true;
      if (!in.waiter || in.granted) return;
      in.granted = true;
    }
  }
  if (too_many) return FailForTooManyTensors(from);
  from.link()->Send(GrantTensor{.key = m.key});
}

void StepExchange::On(const std::shared_ptr<PeerConnection>& from, const EagerTensor& m) {
  ArriveUnasked(from, m.key, DecodeTensor(m.meta, m.payload), m.meta.bytes);
}

void StepExchange::ArriveUnasked(const std::shared_ptr<PeerConnection>& from, const TensorKey& key,
                                 StatusOr<Tensor> value, uint64_t eager_bytes) {
  bool too_many = false;
  {
    MutexLock lock(mu_);
    if (failed_.ok()) {
      too_many = incoming_.size() >= kMaxEarlyTensors && !incoming_.contains(key);
      if (!too_many) {
        Incoming& in = incoming_[key];
        if (!in.waiter && !in.arrived) {
          in.value = std::move(value);
          in.arrived = true;
          in.eager_from = from;
          in.eager_bytes = eager_bytes;
          return;
        }
      }
    }
  }
  exchange_->Consumed(*from, eager_bytes);
  if (too_many) return FailForTooManyTensors(*from);
  Arrive(key, std::move(value));
}

void StepExchange::FailForTooManyTensors(const PeerConnection& from) {
  Fail(ResourceExhausted(ShortTaskName(from.peer().task), " has sent, announced or granted more than ",
                         kMaxEarlyTensors, " tensors of one step before they were needed"));
}

void StepExchange::OnLent(const std::shared_ptr<PeerConnection>& from, const BulkTensor& m) {
  ArriveUnasked(from, m.key, DecodeTensor(m.meta, m.payload), 0);
}

void StepExchange::On(const BulkTensor& m) {
  if (m.payload.owner && m.offset == 0 && m.payload.size() == m.meta.bytes) {
    // The whole tensor has arrived at once, and the payload owns its memory. So the tensor may use this memory.
    {
      MutexLock lock(mu_);
      const auto it = incoming_.find(m.key);
      if (!failed_.ok() || it == incoming_.end() || !it->second.granted) return;  // was not requested
    }
    return Arrive(m.key, DecodeTensor(m.meta, m.payload));
  }
  std::shared_ptr<ArrivingTensor> tensor;
  const StatusOr<bool> complete = AddPart(m, &tensor);
  if (!complete.ok()) return Arrive(m.key, complete.status());
  if (*complete) Arrive(m.key, tensor->Take());
}

StatusOr<bool> StepExchange::AddPart(const BulkTensor& m, std::shared_ptr<ArrivingTensor>* tensor) {
  if (m.offset == 0) {
    {
      MutexLock lock(mu_);
      const auto it = incoming_.find(m.key);
      if (!failed_.ok() || it == incoming_.end() || !it->second.granted) return false;  // was not requested
    }
    auto created = ArrivingTensor::Create(m.meta);
    if (!created.ok()) return created.status();
    *tensor = std::make_shared<ArrivingTensor>(*std::move(created));
  }
  {
    MutexLock lock(mu_);
    const auto it = incoming_.find(m.key);
    // The step may have ended meanwhile. A part with another offset may never have been requested.
    if (!failed_.ok() || it == incoming_.end() || !it->second.granted) return false;
    if (m.offset == 0) {
      it->second.parts = *tensor;
    } else {
      *tensor = it->second.parts;
    }
  }
  if (*tensor == nullptr) return InvalidArgument("the first part of a tensor must have offset 0, got ", m.offset);
  TF_RETURN_IF_ERROR((*tensor)->Add(m.offset, m.payload));
  return (*tensor)->complete();
}

void StepExchange::Arrive(const TensorKey& key, StatusOr<Tensor> value) {
  RecvDone waiter;
  {
    MutexLock lock(mu_);
    const auto it = incoming_.find(key);
    if (it == incoming_.end()) return;
    waiter = std::move(it->second.waiter);
    if (!waiter) return;  // a second tensor for the same edge, from a faulty peer
    incoming_.erase(it);
  }
  waiter(std::move(value));
}

void StepExchange::Fail(const Status& why) {
  std::vector<RecvDone> waiters;
  std::function<void(const Status&)> late;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    failed_ = why;
    for (auto& [key, in] : incoming_) {
      if (in.waiter) waiters.push_back(std::exchange(in.waiter, nullptr));
    }
    late = on_late_failure_;
  }
  for (const RecvDone& w : waiters) w(why);
  cancellation_.Cancel(why);
  if (late) late(why);
}

void StepExchange::set_on_late_failure(std::function<void(const Status&)> f) {
  Status failed;
  {
    MutexLock lock(mu_);
    failed = failed_;
    if (failed.ok()) on_late_failure_ = std::exchange(f, nullptr);
  }
  if (f) f(failed);
}

void StepExchange::OnLinkDown(uint32_t peer, const Status& why) {
  {
    MutexLock lock(mu_);
    if (std::find(peers_.begin(), peers_.end(), peer) == peers_.end()) {
      broken_.emplace_back(peer, why);
      return;
    }
  }
  Fail(why);
}

void StepExchange::Clear() {
  absl::flat_hash_map<TensorKey, Incoming> incoming;  // destroyed after the lock is released
  absl::flat_hash_map<TensorKey, Outgoing> outgoing;
  {
    MutexLock lock(mu_);
    if (failed_.ok()) failed_ = Cancelled("the step has ended");
    on_late_failure_ = nullptr;
    incoming.swap(incoming_);
    outgoing.swap(outgoing_);
  }
  for (auto& [key, in] : incoming) {
    if (in.eager_bytes > 0) {
      if (const auto from = in.eager_from.lock()) exchange_->Consumed(*from, in.eager_bytes);
    }
    if (in.waiter) in.waiter(Cancelled("the step has ended"));
  }
}

}  // namespace tensorbraid
