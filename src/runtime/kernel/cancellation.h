// Cancels a step: ends the waits of its kernels.
#ifndef TENSORBRAID_RUNTIME_KERNEL_CANCELLATION_H_
#define TENSORBRAID_RUNTIME_KERNEL_CANCELLATION_H_

#include <cstdint>
#include <functional>
#include <map>

#include "core/threads/mutex.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Usually one per step. Runs of functions and the background work of iterators have their own. Thread-safe.
class CancellationManager {
 public:
  using Callback = std::function<void(const Status& why)>;
  using Token = uint64_t;

  // Calls every registered callback once with `why`, on this thread. Only the first cancellation has an effect.
  void Cancel(const Status& why);
  bool IsCancelled() const;
  // OK, or the reason of the cancellation.
  Status status() const;

  // Returns false if already cancelled; the callback is then dropped and will not run.
  bool Register(Callback callback, Token* token);
  // Removes a callback. Returns true if it has not run and will not run. Otherwise waits for a cancellation that is
  // running callbacks to finish, then returns false. Do not call from a callback, nor while holding a lock that a
  // callback takes.
  bool Deregister(Token token);
  // Like Deregister, but never waits: returns false if the callback has run or may be running now.
  bool TryDeregister(Token token);

 private:
  mutable Mutex mu_;
  CondVar cv_;
  bool cancelled_ TB_GUARDED_BY(mu_) = false;
  bool running_ TB_GUARDED_BY(mu_) = false;
  Status why_ TB_GUARDED_BY(mu_);
  Token next_ TB_GUARDED_BY(mu_) = 1;
  std::map<Token, Callback> callbacks_ TB_GUARDED_BY(mu_);
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_KERNEL_CANCELLATION_H_
