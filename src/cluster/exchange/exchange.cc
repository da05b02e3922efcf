#include "cluster/exchange/exchange.h"

#include <utility>

#include "cluster/exchange/tensor_codec.h"
#include "core/allocator.h"
#include "core/bools.h"
#include "core/device_name.h"
#include "core/logging.h"
#include "core/strings.h"
#include "executor/executor.h"

namespace tensorbraid {

StepExchange::StepExchange(StepId id, Exchange* exchange) : id_(id), exchange_(exchange) {
  CancellationManager::Token token;
  cancellation_.Register([this](const Status& why) { Fail(why); }, &token);
}

bool StepExchange::IsLarge(const StepEdge& edge) const {
  return edge.bytes_hint > static_cast<int64_t>(exchange_->options_.eager_limit);
}

void StepExchange::Send(const StepEdge& edge, LoopPosition at, Tensor value) {
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    peers_.insert(edge.peer);
  }
  exchange_->find_link_(edge.peer, [self = shared_from_this(), edge, at,
                                    value = std::move(value)](const StatusOr<std::shared_ptr<Link>>& link) mutable {
    if (!link.ok()) return self->Fail(link.status());
    self->SendTo(*link, edge, at, std::move(value));
  });
}

void StepExchange::SendDead(Link& link, const StepEdge& edge, const TensorKey& key) {
  // A dead tensor has no bytes, so it is always eager. But the receiver grants a tensor that the edge says is large;
  // that grant must find its entry and remove it.
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

void StepExchange::SendTo(const std::shared_ptr<Link>& link, const StepEdge& edge, LoopPosition at, Tensor value) {
  const TensorKey key = KeyOf(edge, at);
  if (!value.is_valid()) return SendDead(*link, edge, key);
  TensorMeta meta;
  Payload payload;
  if (const Status s = EncodeTensor(value, &meta, &payload); !s.ok()) return Fail(s);
  if (meta.bytes <= exchange_->options_.eager_limit && exchange_->ReserveEagerBudget(*link, meta.bytes)) {
    return link->Send(EagerTensor{.key = key, .meta = std::move(meta), .payload = std::move(payload)});
  }
  bool granted;
  {
    MutexLock lock(mu_);
    Outgoing& out = outgoing_[key];
    granted = out.granted;
    if (granted) {
      outgoing_.erase(key);
    } else {
      out.value = std::move(value);
      out.has_value = true;
    }
  }
  if (granted) {
    link->Send(BulkTensor{.key = key, .meta = std::move(meta), .offset = 0, .payload = std::move(payload)});
  } else {
    link->Send(AnnounceTensor{.key = key, .meta = std::move(meta)});
  }
}

void StepExchange::OnGrant(const std::shared_ptr<Link>& link, const GrantTensor& m) {
  Tensor value;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    Outgoing& out = outgoing_[m.key];
    if (out.was_dead) {
      outgoing_.erase(m.key);
      return;
    }
    if (!out.has_value) {
      out.granted = true;
      return;
    }
    value = std::move(out.value);
    outgoing_.erase(m.key);
  }
  BulkTensor bulk{.key = m.key, .meta = {}, .offset = 0, .payload = {}};
  if (const Status s = EncodeTensor(value, &bulk.meta, &bulk.payload); !s.ok()) return Fail(s);
  link->Send(std::move(bulk));
}

void StepExchange::Recv(const StepEdge& edge, LoopPosition at, RecvDone done) {
  const TensorKey key = KeyOf(edge, at);
  StatusOr<Tensor> value(absl::in_place);
  std::shared_ptr<Link> credit_to;
  uint64_t credit = 0;
  bool grant = false;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) {
      value = failed_;
    } else {
      Incoming& in = incoming_[key];
      if (in.arrived) {
        value = std::move(in.value);
        credit_to = in.eager_from.lock();
        credit = in.eager_bytes;
        incoming_.erase(key);
      } else if (const auto broken = broken_.find(edge.peer); broken != broken_.end()) {
        value = broken->second;
      } else if (in.waiter) {
        // A tensor can serve only one waiter, so the other would wait forever. Masters never create such partitions.
        value = InvalidArgument("two nodes receive edge ", edge.number, " from ", edge.peer);
      } else {
        peers_.insert(edge.peer);
        in.waiter = std::exchange(done, nullptr);
        grant = !in.granted && (in.announced || IsLarge(edge));
        if (grant) in.granted = true;
      }
    }
  }
  if (credit_to != nullptr) exchange_->Consumed(credit_to, credit);
  if (done) return done(std::move(value));
  if (grant) {
    exchange_->find_link_(edge.peer, [self = shared_from_this(), key](const StatusOr<std::shared_ptr<Link>>& link) {
      if (!link.ok()) return self->Fail(link.status());
      (*link)->Send(GrantTensor{.key = key});
    });
  }
}

void StepExchange::OnAnnounce(const std::shared_ptr<Link>& link, const AnnounceTensor& m) {
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    Incoming& in = incoming_[m.key];
    in.announced = true;
    if (!in.waiter || in.granted) return;
    in.granted = true;
  }
  link->Send(GrantTensor{.key = m.key});
}

void StepExchange::OnEager(const std::shared_ptr<Link>& link, const EagerTensor& m) {
  StatusOr<Tensor> value = DecodeTensor(m.meta, m.payload);
  const uint64_t bytes = m.meta.bytes;
  {
    MutexLock lock(mu_);
    if (failed_.ok()) {
      Incoming& in = incoming_[m.key];
      if (!in.waiter && !in.arrived) {
        in.value = std::move(value);
        in.arrived = true;
        in.eager_from = link;
        in.eager_bytes = bytes;
        return;
      }
    }
  }
  exchange_->Consumed(link, bytes);
  Arrive(m.key, std::move(value));
}

void StepExchange::OnBulk(const std::shared_ptr<Link>& link, const BulkTensor& m) {
  // Only the thread of the bulk lane handles the parts of a tensor, so the copy below needs no lock.
  char* out = nullptr;
  Status bad;
  {
    MutexLock lock(mu_);
    if (!failed_.ok()) return;
    const auto it = incoming_.find(m.key);
    if (it == incoming_.end() || !it->second.granted) return;  // was not requested
    Incoming& in = it->second;
    if (m.offset == 0) {
      in.meta = m.meta;
      in.received = 0;
      bad = in.meta.dead ? InvalidArgument("received a dead tensor in parts") : CheckMeta(in.meta);
      if (bad.ok() && IsPlain(in.meta.dtype)) {
        auto tensor = Tensor::Create(in.meta.dtype, in.meta.shape);
        bad = tensor.status();
        if (tensor.ok()) in.assembling = *std::move(tensor);
      } else if (bad.ok()) {
        in.raw = AllocateBuffer(in.meta.bytes);
        if (!in.raw) bad = ResourceExhausted("out of memory receiving ", in.meta.bytes, " bytes");
      }
    }
    if (bad.ok() && (m.offset != in.received || m.payload.size() > in.meta.bytes - in.received)) {
      bad = InvalidArgument("received ", m.payload.size(), " bytes of a tensor at offset ", m.offset,
                            ", expected offset ", in.received, " and at most ", in.meta.bytes - in.received, " bytes");
    }
    if (bad.ok()) {
      out = static_cast<char*>(in.raw ? in.raw->data() : in.assembling.mutable_raw_data()) + in.received;
    }
  }
  if (!bad.ok()) return Arrive(m.key, bad);
  m.payload.CopyTo(out);
  StatusOr<Tensor> value(absl::in_place);
  {
    MutexLock lock(mu_);
    const auto it = incoming_.find(m.key);
    if (it == incoming_.end()) return;
    Incoming& in = it->second;
    in.received += m.payload.size();
    if (in.received < in.meta.bytes) return;
    if (in.raw) {
      Payload whole;
      whole.pieces = {{static_cast<const std::byte*>(in.raw->data()), in.raw->size()}};
      value = DecodeTensor(in.meta, whole);
      in.raw.reset();
    } else {
      value = std::move(in.assembling);
      NormalizeBools(&*value);
    }
  }
  Arrive(m.key, std::move(value));
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

void StepExchange::OnLinkDown(const Link& link, const Status& why) {
  {
    MutexLock lock(mu_);
    if (!peers_.contains(link.peer().task)) {
      broken_.emplace(link.peer().task, why);
      return;
    }
  }
  Fail(why);
}

void StepExchange::Clear() {
  std::vector<std::pair<std::shared_ptr<Link>, uint64_t>> credits;
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
      if (auto link = in.eager_from.lock()) exchange_->Consumed(link, in.eager_bytes);
    }
    if (in.waiter) in.waiter(Cancelled("the step has ended"));
  }
}

std::shared_ptr<StepExchange> Exchange::Begin(StepId id) {
  MutexLock lock(mu_);
  auto& step = steps_[id];
  if (step == nullptr) step = std::make_shared<StepExchange>(id, this);
  return step;
}

std::shared_ptr<StepExchange> Exchange::Find(StepId id) {
  MutexLock lock(mu_);
  const auto it = steps_.find(id);
  return it == steps_.end() ? nullptr : it->second;
}

std::shared_ptr<StepExchange> Exchange::StepOf(StepId id) {
  MutexLock lock(mu_);
  const auto it = steps_.find(id);
  if (it != steps_.end()) return it->second;
  if (ended_.contains(id)) return nullptr;
  return steps_.emplace(id, std::make_shared<StepExchange>(id, this)).first->second;
}

void Exchange::End(StepId id) {
  // Messages for the step may still arrive on other links. They do so within the time of a few steps, so it is enough
  // to remember a bounded number of ended steps.
  constexpr size_t kKeptEnded = 4096;
  std::shared_ptr<StepExchange> step;
  {
    MutexLock lock(mu_);
    const auto it = steps_.find(id);
    if (it != steps_.end()) {
      step = std::move(it->second);
      steps_.erase(it);
    }
    if (ended_.insert(id).second) ended_order_.push_back(id);
    if (ended_order_.size() > kKeptEnded) {
      ended_.erase(ended_order_.front());
      ended_order_.pop_front();
    }
  }
  if (step != nullptr) step->Clear();
}

void Exchange::EndAllOf(uint64_t master, const Status& why) {
  std::vector<std::shared_ptr<StepExchange>> steps;
  {
    MutexLock lock(mu_);
    for (const auto& [id, step] : steps_) {
      if (id.master == master) steps.push_back(step);
    }
  }
  for (const auto& step : steps) {
    step->Fail(why);
    End(step->id());
  }
}

bool Exchange::OnMessage(const std::shared_ptr<Link>& link, const Message& message) {
  const ScopedTransportThread transport_thread;
  if (const auto* m = std::get_if<EagerTensor>(&message)) {
    if (auto step = StepOf(m->key.step)) {
      step->OnEager(link, *m);
    } else {
      Consumed(link, m->meta.bytes);
    }
  } else if (const auto* m = std::get_if<BulkTensor>(&message)) {
    if (auto step = Find(m->key.step)) step->OnBulk(link, *m);
  } else if (const auto* m = std::get_if<AnnounceTensor>(&message)) {
    if (auto step = StepOf(m->key.step)) step->OnAnnounce(link, *m);
  } else if (const auto* m = std::get_if<GrantTensor>(&message)) {
    if (auto step = StepOf(m->key.step)) step->OnGrant(link, *m);
  } else if (const auto* m = std::get_if<EagerCredit>(&message)) {
    MutexLock lock(mu_);
    Flow& flow = flows_[link.get()];
    if (m->consumed_bytes <= flow.sent) flow.credited = std::max(flow.credited, m->consumed_bytes);
  } else {
    return false;
  }
  return true;
}

void Exchange::OnLinkDown(const Link& link, const Status& why) {
  std::vector<std::shared_ptr<StepExchange>> steps;
  {
    MutexLock lock(mu_);
    flows_.erase(&link);
    for (const auto& [id, step] : steps_) steps.push_back(step);
  }
  for (const auto& step : steps) step->OnLinkDown(link, why);
}

bool Exchange::ReserveEagerBudget(const Link& link, uint64_t bytes) {
  MutexLock lock(mu_);
  Flow& flow = flows_[&link];
  if (flow.sent - flow.credited + bytes > options_.eager_budget) return false;
  flow.sent += bytes;
  return true;
}

void Exchange::Consumed(const std::shared_ptr<Link>& link, uint64_t bytes) {
  uint64_t report = 0;
  {
    MutexLock lock(mu_);
    Flow& flow = flows_[link.get()];
    flow.consumed += bytes;
    if (flow.consumed - flow.reported >= std::max<uint64_t>(1, options_.eager_budget / 4)) {
      report = flow.reported = flow.consumed;
    }
  }
  if (report > 0) link->Send(EagerCredit{.consumed_bytes = report});
}

}  // namespace tensorbraid
