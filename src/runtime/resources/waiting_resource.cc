#include "runtime/resources/waiting_resource.h"

#include "core/errors/interruption.h"
#include "runtime/kernel/cancellable_wait.h"

namespace tensorbraid {

struct WaitingResource::Waiter {
  Attempt attempt;
  Done fail;
  CancellableWait wait;
  bool finished = false;  // guarded by the resource's lock
};

void WaitingResource::Serve(Actions* actions) {
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const std::shared_ptr<Waiter> waiter = *it;
    std::function<void()> finish = waiter->attempt();
    if (finish == nullptr) {
      ++it;
      continue;
    }
    waiter->finished = true;
    waiters_.erase(it);
    it = waiters_.begin();  // an earlier waiter may have waited for this change
    actions->emplace_back([waiter, finish = std::move(finish)] {
      waiter->wait.End();
      finish();
    });
  }
}

void WaitingResource::Await(Attempt attempt, CancellationManager* cancellation, Done fail) {
  auto waiter = std::make_shared<Waiter>();
  waiter->attempt = std::move(attempt);
  waiter->fail = std::move(fail);
  Actions actions;
  {
    MutexLock lock(mu_);
    waiters_.push_back(waiter);
    Serve(&actions);
    if (!waiter->finished) {
      const bool registered =
          waiter->wait.Begin(cancellation, [self = RefPtr<WaitingResource>::Share(this), waiter](const Status&) {
            {
              MutexLock inner(self->mu_);
              if (waiter->finished) return;
              waiter->finished = true;
              self->waiters_.remove(waiter);
            }
            waiter->fail(Interrupted(self->DebugString(), kCancelledInWait));
          });
      if (!registered) {
        waiter->finished = true;
        waiters_.remove(waiter);
        actions.emplace_back([waiter, this] { waiter->fail(Interrupted(DebugString(), kCancelledBeforeWait)); });
      }
    }
  }
  for (const auto& action : actions) action();
}

void WaitingResource::Changed() {
  Actions actions;
  {
    MutexLock lock(mu_);
    Serve(&actions);
  }
  for (const auto& action : actions) action();
}

}  // namespace tensorbraid
