#include "runtime/waiting_resource.h"

#include "core/strings.h"

namespace tensorbraid {

struct WaitingResource::Waiter {
  Attempt attempt;
  Done fail;
  CancellationManager* cancellation = nullptr;  // of the registration `token`; null: none
  CancellationManager::Token token = 0;
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
    it = waiters_.begin();  // the change may be what an earlier waiter waits for
    actions->emplace_back([waiter, finish = std::move(finish)] {
      if (waiter->cancellation != nullptr) waiter->cancellation->TryDeregister(waiter->token);
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
    if (!waiter->finished && cancellation != nullptr) {
      // Registered under the lock, so that the waiter is not served before its token is set. The callback keeps the
      // resource and the waiter alive.
      CancellationManager::Token token;
      const bool registered = cancellation->Register(
          [self = RefPtr<WaitingResource>::Share(this), waiter](const Status&) {
            {
              MutexLock inner(self->mu_);
              if (waiter->finished) return;
              waiter->finished = true;
              self->waiters_.remove(waiter);
            }
            waiter->fail(Cancelled(self->DebugString(), ": the step was cancelled while it waited"));
          },
          &token);
      if (registered) {
        waiter->cancellation = cancellation;
        waiter->token = token;
      } else {
        waiter->finished = true;
        waiters_.remove(waiter);
        actions.emplace_back([waiter, this] {
          waiter->fail(Cancelled(DebugString(), ": the step was cancelled before it could wait"));
        });
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
