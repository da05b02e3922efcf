#include "cluster/exchange/exchange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "executor/executor.h"

namespace tensorbraid {

Exchange::Exchange(ExchangeOptions options, uint64_t self, PeerLinks* links)
    : options_{.eager_limit = options.eager_limit, .eager_budget = std::min(options.eager_budget, kMaxEagerBudget)},
      links_(links) {
  masters_[self] = 1;
}

std::shared_ptr<StepExchange> Exchange::Begin(StepId id) {
  MutexLock lock(mu_);
  const auto [it, is_new] = steps_.try_emplace(id);
  Step& step = it->second;
  if (is_new) step.exchange = std::make_shared<StepExchange>(id, this);
  if (!std::exchange(step.begun, true) && !is_new) --early_steps_;
  return step.exchange;
}

std::shared_ptr<StepExchange> Exchange::Find(StepId id) {
  MutexLock lock(mu_);
  const auto it = steps_.find(id);
  return it == steps_.end() ? nullptr : it->second.exchange;
}

std::shared_ptr<StepExchange> Exchange::StepOf(PeerConnection& from, StepId id) {
  {
    MutexLock lock(mu_);
    const auto it = steps_.find(id);
    if (it != steps_.end()) return it->second.exchange;
    // A master registers its partitions here before it runs them, so a step of an unknown master cannot begin.
    if (ended_.contains(id) || !masters_.contains(id.master)) return nullptr;
    if (early_steps_ < kMaxEarlySteps) {
      ++early_steps_;
      return steps_.try_emplace(id, Step{std::make_shared<StepExchange>(id, this)}).first->second.exchange;
    }
  }
  from.link()->Close(ResourceExhausted("more than ", kMaxEarlySteps, " steps have tensors here and have not begun"));
  return nullptr;
}

std::vector<std::pair<StepId, const CancellationManager*>> Exchange::Steps() {
  std::vector<std::pair<StepId, const CancellationManager*>> steps;
  MutexLock lock(mu_);
  for (const auto& [id, step] : steps_) {
    if (step.begun) steps.emplace_back(id, &step.exchange->cancellation());
  }
  return steps;
}

size_t Exchange::num_steps() const {
  MutexLock lock(mu_);
  return steps_.size();
}

void Exchange::End(StepId id) {
  // After a step has ended, messages for it may still arrive on other links, within the time of a few steps. So it is
  // enough to remember a bounded number of ended steps.
  constexpr size_t kKeptEnded = 4096;
  std::shared_ptr<StepExchange> step;
  {
    MutexLock lock(mu_);
    const auto it = steps_.find(id);
    if (it != steps_.end()) {
      step = std::move(it->second.exchange);
      if (!it->second.begun) --early_steps_;
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
      if (id.master == master) steps.push_back(step.exchange);
    }
  }
  for (const auto& step : steps) {
    step->Fail(why);
    End(step->id());
  }
}

void Exchange::On(const std::shared_ptr<PeerConnection>& from, const EagerTensor& m) {
  const ScopedTransportThread transport_thread;
  if (!CountReceived(*from, m.meta.bytes)) return;
  if (const auto step = StepOf(*from, m.key.step)) {
    step->On(from, m);
  } else {
    Consumed(*from, m.meta.bytes);
  }
}

void Exchange::On(const std::shared_ptr<PeerConnection>& from, const AnnounceTensor& m) {
  const ScopedTransportThread transport_thread;
  if (const auto step = StepOf(*from, m.key.step)) step->On(*from, m);
}

void Exchange::On(const std::shared_ptr<PeerConnection>& from, const GrantTensor& m) {
  const ScopedTransportThread transport_thread;
  if (const auto step = StepOf(*from, m.key.step)) step->On(*from, m);
}

void Exchange::On(const std::shared_ptr<PeerConnection>& from, const BulkTensor& m) {
  const ScopedTransportThread transport_thread;
  if (from->link()->shares_memory() && m.payload.size() == m.meta.bytes) {
    if (const auto step = StepOf(*from, m.key.step)) step->OnLent(from, m);
    return;
  }
  if (const auto step = Find(m.key.step)) step->On(m);
}

void Exchange::On(const std::shared_ptr<PeerConnection>& from, const EagerCredit& m) {
  from->flow().OnCredit(m.consumed_bytes);
}

void Exchange::OnLinkUp(const Hello& peer) {
  MutexLock lock(mu_);
  ++masters_[peer.incarnation];
}

void Exchange::OnLinkDown(const Hello& peer, const Status& why) {
  std::vector<std::shared_ptr<StepExchange>> steps;
  {
    MutexLock lock(mu_);
    const auto master = masters_.find(peer.incarnation);
    if (master != masters_.end() && --master->second == 0) masters_.erase(master);
    for (const auto& [id, step] : steps_) steps.push_back(step.exchange);
  }
  const auto number = links_->NumberOf(peer.task);
  if (!number.ok()) return;  // no partition can have used a task without a number
  for (const auto& step : steps) step->OnLinkDown(*number, why);
}

bool Exchange::CountReceived(PeerConnection& from, uint64_t bytes) {
  const uint64_t held = from.flow().Receive(bytes);
  if (held <= kMaxEagerBudget) return true;
  from.link()->Close(ResourceExhausted(from.peer().task, " has sent ", held,
                                       " bytes of small tensors that no node has asked for yet; at most ",
                                       kMaxEagerBudget, " are allowed"));
  return false;
}

void Exchange::Consumed(PeerConnection& from, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t report = from.flow().Consume(bytes, std::max<uint64_t>(1, options_.eager_budget / 4));
  if (report > 0) from.link()->Send(EagerCredit{.consumed_bytes = report});
}

}  // namespace tensorbraid
