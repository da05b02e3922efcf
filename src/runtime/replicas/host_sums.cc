#include "runtime/replicas/host_sums.h"

#include <algorithm>
#include <cstdlib>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {

HostSums::HostSums(std::string name, Options options)
    : name_(std::move(name)), options_(options), own_epoch_(static_cast<int64_t>(RandomSeed() >> 2) + 1) {
  values_.epoch = own_epoch_;
}

Status HostSums::Ended(uint64_t generation) const {
  if (generation != generation_) return Unavailable(name_, ": another session of this task has begun");
  return closed_;
}

void HostSums::Finish(Entry* entry, Outcomes outcomes) {
  entry->finished = true;
  entry->outcomes = std::move(outcomes);
  entry->gradients.clear();
}

void HostSums::Reset() {
  {
    MutexLock lock(mu_);
    // Calls that came before the first session of this task go on waiting for it.
    if (latest_ >= 0 || !closed_.ok()) ++generation_;
    closed_ = OkStatus();
    // Stamps begin again, so asynchronous workers must tell them from those that they have seen.
    values_ = {.epoch = ++own_epoch_};
    latest_ = -1;
    joined_.clear();
    contributed_.clear();
    waiting_.clear();
    taken_.clear();
    leaves_at_.reset();
  }
  Changed();
}

void HostSums::Close(const Status& why) {
  {
    MutexLock lock(mu_);
    closed_ = why;
    joined_.clear();
  }
  Changed();
}

void HostSums::Advance(int64_t stamp) {
  if (options_.async) {
    latest_ = stamp;
    return;
  }
  if (stamp <= latest_) return;
  latest_ = stamp;
  contributed_.clear();
  for (const auto& entry : waiting_) Drop(entry.get());
  waiting_.clear();
}

StatusOr<int64_t> HostSums::Store(int64_t epoch, int64_t stamp, std::vector<Tensor> values, bool reopens) {
  int64_t latest;
  {
    MutexLock lock(mu_);
    if (reopens) closed_ = OkStatus();
    if (!closed_.ok()) return OutOfRange(closed_.message());
    if (epoch == 0) epoch = own_epoch_;
    if (stamp < 0) stamp = values_.stamp + 1;
    if (stamp > values_.stamp || (options_.async && epoch != values_.epoch)) {
      values_ = {.epoch = epoch, .stamp = stamp, .tensors = std::move(values)};
      Advance(stamp);
    }
    latest = values_.stamp;
  }
  Changed();
  return latest;
}

HostSums::Values HostSums::Latest() const {
  MutexLock lock(mu_);
  return {.epoch = values_.epoch, .stamp = values_.stamp};
}

void HostSums::Read(int64_t epoch, int64_t after, CancellationManager* cancellation, ValuesDone done) {
  uint64_t generation;
  {
    MutexLock lock(mu_);
    generation = generation_;
  }
  Await(
      [this, epoch, after, generation, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        const bool later = values_.stamp > after || (values_.stamp >= 0 && epoch != 0 && epoch != values_.epoch);
        if (generation == generation_ && later) return [done, values = values_] { done(values); };
        if (const Status ended = Ended(generation); !ended.ok()) return [done, ended] { done(ended); };
        return nullptr;
      },
      cancellation, [done](const Status& why) { done(why); });
}

void HostSums::Join(int64_t replica, int64_t after, CancellationManager* cancellation, Done done) {
  uint64_t generation, join;
  {
    MutexLock lock(mu_);
    generation = generation_;
    join = joins_++;
    if (closed_.ok()) joined_[join] = {replica, after};
  }
  Await(
      [this, generation, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        const Status ended = Ended(generation);
        return ended.ok() ? std::function<void()>() : [done, ended] { done(ended); };
      },
      cancellation,
      [this, join, done](const Status& why) {
        {
          MutexLock lock(mu_);
          joined_.erase(join);
        }
        Changed();
        done(why);
      });
}

void HostSums::Add(int64_t stamp, std::vector<int64_t> replicas, std::vector<Tensor> gradients, Outcomes if_dropped,
                   CancellationManager* cancellation, OutcomesDone done) {
  auto entry = std::make_shared<Entry>();
  entry->stamp = stamp;
  entry->replicas = std::move(replicas);
  entry->gradients = std::move(gradients);
  entry->outcomes = std::move(if_dropped);
  uint64_t generation;
  {
    MutexLock lock(mu_);
    generation = generation_;
    if (closed_.ok()) {
      if (!options_.async) Advance(stamp);
      if (!options_.async && stamp < latest_) {
        Drop(entry.get());
      } else {
        // A worker that was started again replaces the gradients of its former life.
        std::erase_if(waiting_, [&](const std::shared_ptr<Entry>& other) {
          if (other->replicas != entry->replicas) return false;
          Drop(other.get());
          return true;
        });
        contributed_.insert(entry->replicas.begin(), entry->replicas.end());
        waiting_.push_back(entry);
      }
    }
  }
  Changed();
  Await(
      [this, generation, entry, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        if (entry->finished) return [done, outcomes = entry->outcomes] { done(outcomes); };
        const Status ended = Ended(generation);
        return ended.ok() ? std::function<void()>() : [done, ended] { done(ended); };
      },
      cancellation,
      [this, entry, done](const Status& why) {
        {
          MutexLock lock(mu_);
          entry->abandoned = true;
          if (std::erase(waiting_, entry) > 0) {
            for (const int64_t replica : entry->replicas) contributed_.erase(replica);
          }
        }
        done(why);
      });
}

int64_t HostSums::Missing() const {
  std::set<int64_t> missing;
  for (const auto& [join, worker] : joined_) {
    const auto& [replica, after] = worker;
    if ((options_.async || after < latest_) && !contributed_.contains(replica)) missing.insert(replica);
  }
  return static_cast<int64_t>(missing.size());
}

bool HostSums::IsReady() {
  if (waiting_.empty()) return false;
  if (waiting_.front()->alone || Missing() <= options_.spares) return true;
  if (!options_.async) return false;
  if (latest_ - waiting_.front()->stamp > 1) return true;  // the missing workers have newer values
  const MonotonicClock::time_point now = MonotonicClock::now();
  if (!leaves_at_) {
    leaves_at_ = now + exchange_time_;
    if (now < *leaves_at_) {
      if (timer_ == nullptr) timer_ = std::make_unique<Timer>();
      timer_->RunAfter(exchange_time_, [this] { Changed(); });
    }
  }
  return now >= *leaves_at_;
}

void HostSums::PutBack(bool alone) {
  Entries entries;
  for (const auto& entry : taken_) {
    if (entry->abandoned) continue;
    if (options_.async || entry->stamp < latest_) {
      Drop(entry.get());
      continue;
    }
    entry->alone = entry->alone || alone;
    entries.push_back(entry);
  }
  waiting_.insert(waiting_.begin(), entries.begin(), entries.end());
  taken_.clear();
}

HostSums::Taken HostSums::TakeReady() {
  const std::shared_ptr<Entry> first = waiting_.front();
  const auto meets = [&](const std::shared_ptr<Entry>& other) {
    if (options_.async) return std::abs(other->stamp - first->stamp) <= 1;
    return !first->alone || other == first;
  };
  const auto others = std::stable_partition(waiting_.begin(), waiting_.end(), meets);
  taken_.assign(waiting_.begin(), others);
  waiting_.erase(waiting_.begin(), others);
  if (options_.async) {
    for (const auto& entry : taken_) {
      for (const int64_t replica : entry->replicas) contributed_.erase(replica);
    }
  }
  leaves_at_.reset();
  taken_at_ = MonotonicClock::now();
  // Always the same order, so that rounding does not depend on who was first.
  std::ranges::sort(taken_, {}, [](const auto& entry) { return entry->replicas; });
  Taken result{.stamp = first->stamp};
  for (const auto& entry : taken_) {
    result.replicas.insert(result.replicas.end(), entry->replicas.begin(), entry->replicas.end());
    result.gradients.push_back(entry->gradients);
  }
  std::ranges::sort(result.replicas);
  return result;
}

void HostSums::Take(CancellationManager* cancellation, TakenDone done) {
  uint64_t generation;
  {
    MutexLock lock(mu_);
    generation = generation_;
    PutBack(/*alone=*/false);
    leaves_at_.reset();
  }
  Changed();
  Await(
      [this, generation, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        if (generation == generation_ && !closed_.ok()) {
          return [done, ended = OutOfRange(closed_.message())] { done(ended); };
        }
        if (const Status ended = Ended(generation); !ended.ok()) return [done, ended] { done(ended); };
        if (!IsReady()) return nullptr;
        return [done, taken = TakeReady()]() mutable { done(std::move(taken)); };
      },
      cancellation, [done](const Status& why) { done(why); });
}

Status HostSums::Report(const Outcomes& outcomes) {
  {
    MutexLock lock(mu_);
    exchange_time_ = MonotonicClock::now() - taken_at_;
    constexpr auto kRefused = static_cast<int64_t>(GradientOutcome::kRefused);
    const bool refused = !options_.async && std::ranges::count(outcomes, kRefused) > 0;
    for (const auto& entry : taken_) {
      if (entry->outcomes.size() == outcomes.size()) continue;
      return InvalidArgument(name_, ": got ", outcomes.size(), " outcomes of gradients that have ",
                             entry->outcomes.size(), ": the workers have different graphs");
    }
    if (refused && taken_.size() > 1) {
      PutBack(/*alone=*/true);
    } else {
      Outcomes final = outcomes;
      if (refused) std::ranges::replace(final, kRefused, static_cast<int64_t>(GradientOutcome::kDropped));
      for (const auto& entry : taken_) Finish(entry.get(), final);
      taken_.clear();
    }
  }
  Changed();
  return OkStatus();
}

std::string HostSums::DebugString() const {
  MutexLock lock(mu_);
  return StrCat("sums of a host '", name_, "' at step ", latest_ & ((int64_t{1} << 40) - 1), ", with ", waiting_.size(),
                " gradients of ", joined_.size(), " workers");
}

}  // namespace tensorbraid
