// Base of resources whose calls wait for a change of state. Waiters are not served strictly in order of arrival.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_WAITING_RESOURCE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_WAITING_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "runtime/kernel/cancellation.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// Waiting blocks no thread. A call that cannot be served yet registers an attempt, which is repeated after every change
// of state. Thread-safe.
class WaitingResource : public Resource {
 public:
  using Done = std::function<void(Status)>;
  using TakeDone = std::function<void(StatusOr<std::vector<Tensor>>)>;

 protected:
  // Called with the lock held. Returns null if the call must wait. Otherwise does the call's work or finds an error,
  // and returns the callback that completes the call. The callback is called without the lock.
  using Attempt = std::function<std::function<void()>()>;

  // Calls the attempt now and after every change, until it returns a callback, and then calls the callback. If
  // `cancellation` (may be null) is cancelled first, calls `fail` with Cancelled instead. Exactly one of the two is
  // called, once.
  void Await(Attempt attempt, CancellationManager* cancellation, Done fail);
  // Call this, without the lock, after a change of state outside of an attempt.
  void Changed();

  mutable Mutex mu_;

 private:
  struct Waiter;
  using Actions = std::vector<std::function<void()>>;
  void Serve(Actions* actions) TB_REQUIRES(mu_);
  std::list<std::shared_ptr<Waiter>> waiters_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_WAITING_RESOURCE_H_
