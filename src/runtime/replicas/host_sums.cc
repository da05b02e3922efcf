#include "runtime/replicas/host_sums.h"

#include <algorithm>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {

HostSums::HostSums(std::string name, int64_t spares) : name_(std::move(name)), spares_(spares) {
  values_.epoch = static_cast<int64_t>(RandomSeed() >> 1);
}

Status HostSums::Ended(uint64_t generation) const {
  if (generation != generation_) return Unavailable(name_, ": another session of this task has begun");
  return closed_;
}

void HostSums::Finish(Entry* entry, std::vector<GradientOutcome> outcomes) {
  entry->finished = true;
  entry->outcomes = std::move(outcomes);
  entry->gradients.clear();
}

void HostSums::Drop(Entry* entry) {
  Finish(entry, std::vector<GradientOutcome>(entry->gradients.size(), GradientOutcome::kDropped));
}

void HostSums::Reset() {
  {
    MutexLock lock(mu_);
    // Calls that came before the first session of this task go on waiting for it.
    if (latest_ >= 0 || !closed_.ok()) ++generation_;
    closed_ = OkStatus();
    values_.stamp = latest_ = -1;
    values_.tensors.clear();
    joined_.clear();
    contributed_.clear();
    waiting_.clear();
    taken_.clear();
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
  if (stamp <= latest_) return;
  latest_ = stamp;
  contributed_.clear();
  for (const auto& entry : waiting_) Drop(entry.get());
  waiting_.clear();
}

Status HostSums::Store(int64_t epoch, int64_t stamp, std::vector<Tensor> values, bool reopens) {
  {
    MutexLock lock(mu_);
    if (reopens) closed_ = OkStatus();
    if (!closed_.ok()) return OutOfRange(closed_.message());
    if (stamp > values_.stamp) {
      values_ = {.epoch = epoch != 0 ? epoch : values_.epoch, .stamp = stamp, .tensors = std::move(values)};
      Advance(stamp);
    }
  }
  Changed();
  return OkStatus();
}

int64_t HostSums::stamp() const {
  MutexLock lock(mu_);
  return values_.stamp;
}

void HostSums::Read(int64_t after, CancellationManager* cancellation, ValuesDone done) {
  uint64_t generation;
  {
    MutexLock lock(mu_);
    generation = generation_;
  }
  Await(
      [this, after, generation, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        if (generation == generation_ && values_.stamp > after) return [done, values = values_] { done(values); };
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

void HostSums::Add(int64_t stamp, std::vector<int64_t> replicas, std::vector<Tensor> gradients,
                   CancellationManager* cancellation, OutcomesDone done) {
  auto entry = std::make_shared<Entry>();
  entry->stamp = stamp;
  entry->replicas = std::move(replicas);
  entry->gradients = std::move(gradients);
  uint64_t generation;
  {
    MutexLock lock(mu_);
    generation = generation_;
    if (closed_.ok()) {
      Advance(stamp);
      if (stamp < latest_) {
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
    if (after < latest_ && !contributed_.contains(replica)) missing.insert(replica);
  }
  return static_cast<int64_t>(missing.size());
}

bool HostSums::IsReady() const { return !waiting_.empty() && (waiting_.front()->alone || Missing() <= spares_); }

void HostSums::PutBack(bool alone) {
  Entries entries;
  for (const auto& entry : taken_) {
    if (entry->abandoned) continue;
    if (entry->stamp < latest_) {
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
  if (waiting_.front()->alone) {
    taken_ = {waiting_.front()};
    waiting_.erase(waiting_.begin());
  } else {
    taken_ = std::exchange(waiting_, {});
  }
  // Always the same order, so that rounding does not depend on who was first.
  std::ranges::sort(taken_, {}, [](const auto& entry) { return entry->replicas; });
  Taken result{.stamp = latest_};
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

Status HostSums::Report(const std::vector<GradientOutcome>& outcomes) {
  {
    MutexLock lock(mu_);
    const bool refused = std::ranges::count(outcomes, GradientOutcome::kRefused) > 0;
    for (const auto& entry : taken_) {
      if (entry->gradients.size() == outcomes.size()) continue;
      return InvalidArgument(name_, ": ", outcomes.size(), " outcomes for gradients of ", entry->gradients.size(),
                             " variables");
    }
    if (refused && taken_.size() > 1) {
      PutBack(/*alone=*/true);
    } else {
      std::vector<GradientOutcome> final = outcomes;
      std::ranges::replace(final, GradientOutcome::kRefused, GradientOutcome::kDropped);
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
