#include "runtime/replicas/replica_clocks.h"

#include <algorithm>

#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

std::map<int64_t, ReplicaClocks::Replica>::const_iterator ReplicaClocks::Slowest() const {
  return std::min_element(replicas_.begin(), replicas_.end(),
                          [](const auto& a, const auto& b) { return a.second.clock < b.second.clock; });
}

void ReplicaClocks::Add(int64_t replica) {
  if (!replicas_.contains(replica)) {
    const int64_t clock = replicas_.empty() ? 0 : Slowest()->second.clock;
    replicas_[replica].clock = clock;
  }
  replicas_[replica].seen = MonotonicClock::now();
}

bool ReplicaClocks::InWarmUp(int64_t replica) const {
  return replica != 0 && !warm_up_over_ && global_step_ < warm_up_steps_;
}

bool ReplicaClocks::MustWait(int64_t replica) const {
  const auto self = replicas_.find(replica);
  if (max_lead_ < 0 || self == replicas_.end()) return false;  // a replica that has left does not wait
  return self->second.clock - Slowest()->second.clock > max_lead_;
}

void ReplicaClocks::Join(int64_t replica, int64_t global_step, CancellationManager* cancellation, Done done) {
  {
    MutexLock lock(mu_);
    global_step_ = std::max(global_step_, global_step);
  }
  Changed();
  Await(
      [this, replica, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        if (InWarmUp(replica)) return nullptr;
        Add(replica);
        return [done] { done(OkStatus()); };
      },
      cancellation, done);
}

void ReplicaClocks::FinishStep(int64_t replica, int64_t global_step, CancellationManager* cancellation, Done done) {
  {
    MutexLock lock(mu_);
    global_step_ = std::max(global_step_, global_step);
    Add(replica);
    Replica& self = replicas_[replica];
    ++self.clock;
    self.waits = MustWait(replica);
  }
  Changed();
  const auto end = [this, replica]() TB_REQUIRES(mu_) {
    if (const auto self = replicas_.find(replica); self != replicas_.end()) self->second.waits = false;
  };
  Await(
      [this, replica, end, done]() TB_REQUIRES(mu_) -> std::function<void()> {
        if (MustWait(replica)) return nullptr;
        end();
        return [done] { done(OkStatus()); };
      },
      cancellation,
      [this, end, done](const Status& why) {
        {
          MutexLock lock(mu_);
          end();
        }
        done(why);
      });
}

void ReplicaClocks::Leave(int64_t replica) {
  {
    MutexLock lock(mu_);
    replicas_.erase(replica);
    if (replica == 0) warm_up_over_ = true;
  }
  Changed();
}

ReplicaClocks::WaitState ReplicaClocks::Heartbeat(int64_t replica, MonotonicClock::duration lost_after) {
  WaitState state;
  bool removed = false;
  {
    MutexLock lock(mu_);
    const auto now = MonotonicClock::now();
    const auto self = replicas_.find(replica);
    if (self != replicas_.end()) self->second.seen = now;
    for (auto it = replicas_.begin(); it != replicas_.end();) {
      if (now - it->second.seen < lost_after) {
        ++it;
        continue;
      }
      TB_LOG(Warning, "train") << "replica " << it->first << " has sent no heartbeat for "
                               << std::chrono::duration<double>(now - it->second.seen).count() << " s after "
                               << it->second.clock << " steps, so the other replicas no longer wait for it";
      it = replicas_.erase(it);
      removed = true;
    }
    if (self == replicas_.end() && InWarmUp(replica)) {
      state = {Wait::kEndOfWarmUp, StrCat("the end of the warm-up: replica 0 trains alone until global step ",
                                          warm_up_steps_, ", and is at ", global_step_)};
    } else if (self != replicas_.end() && self->second.waits && MustWait(replica)) {
      const auto slowest = Slowest();
      state = {Wait::kSlowerReplica,
               StrCat("replica ", slowest->first, ", which has finished ", slowest->second.clock,
                      " steps; this one has finished ", self->second.clock, " and may be ", max_lead_, " ahead")};
    }
  }
  if (removed) Changed();
  return state;
}

std::string ReplicaClocks::DebugString() const {
  MutexLock lock(mu_);
  return StrCat("clocks '", name_, "' of ", replicas_.size(), " replicas");
}

}  // namespace tensorbraid
