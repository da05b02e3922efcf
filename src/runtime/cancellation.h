// Telling those who wait that they need not any more.
#ifndef TENSORBRAID_RUNTIME_CANCELLATION_H_
#define TENSORBRAID_RUNTIME_CANCELLATION_H_

#include <cstdint>
#include <functional>
#include <map>

#include "core/mutex.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// One per step. Thread-safe.
class CancellationManager {
 public:
  using Callback = std::function<void(const Status& why)>;
  using Token = uint64_t;

  // Calls every registered callback, once, with `why` (the first cancellation's). Callbacks run on this thread.
  void Cancel(const Status& why);
  bool IsCancelled() const;
  // OK, or why it was cancelled.
  Status status() const;

  // False when already cancelled: the callback is then not kept and will not run.
  bool Register(Callback callback, Token* token);
  // Removes a callback; when it is running on another thread, waits until it has returned. True when it will not and
  // did not run. Not while holding a lock that the callback takes.
  bool Deregister(Token token);
  // As Deregister, but never waits: false when the callback has run or may be running now.
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

#endif  // TENSORBRAID_RUNTIME_CANCELLATION_H_
