// Base of resources at which calls wait for a change of state, in no line.
#ifndef TENSORBRAID_RUNTIME_WAITING_RESOURCE_H_
#define TENSORBRAID_RUNTIME_WAITING_RESOURCE_H_

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "runtime/cancellation.h"
#include "runtime/resource.h"

namespace tensorbraid {

// Waiting blocks no thread: a call that cannot be served leaves an attempt, which is made again after every change.
// Thread-safe.
class WaitingResource : public Resource {
 public:
  using Done = std::function<void(Status)>;
  using TakeDone = std::function<void(StatusOr<std::vector<Tensor>>)>;

 protected:
  // Called with the lock held. Null: not yet. Otherwise the state has been changed, or there is nothing to wait for,
  // and what is returned is to be called, without the lock.
  using Attempt = std::function<std::function<void()>()>;

  // Makes the attempt now or as soon as it succeeds. `fail` is called instead, with Cancelled, when `cancellation` (may
  // be null) says so before; one of the two is called, once.
  void Await(Attempt attempt, CancellationManager* cancellation, Done fail);
  // To be called after a change that no attempt made. Not with the lock held.
  void Changed();

  mutable Mutex mu_;

 private:
  struct Waiter;
  using Actions = std::vector<std::function<void()>>;
  void Serve(Actions* actions) TB_REQUIRES(mu_);
  std::list<std::shared_ptr<Waiter>> waiters_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_WAITING_RESOURCE_H_
