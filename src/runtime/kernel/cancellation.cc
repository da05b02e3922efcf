#include "runtime/kernel/cancellation.h"

namespace tensorbraid {

void CancellationManager::Cancel(const Status& why) {
  std::map<Token, Callback> callbacks;
  {
    MutexLock lock(mu_);
    if (cancelled_) return;
    cancelled_ = true;
    why_ = why;
    running_ = true;
    callbacks.swap(callbacks_);
  }
  for (auto& [token, callback] : callbacks) callback(why);
  MutexLock lock(mu_);
  running_ = false;
  cv_.NotifyAll();
}

bool CancellationManager::IsCancelled() const {
  MutexLock lock(mu_);
  return cancelled_;
}

Status CancellationManager::status() const {
  MutexLock lock(mu_);
  return why_;
}

bool CancellationManager::Register(Callback callback, Token* token) {
  MutexLock lock(mu_);
  if (cancelled_) return false;
  *token = next_++;
  callbacks_.emplace(*token, std::move(callback));
  return true;
}

bool CancellationManager::Deregister(Token token) {
  Callback dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  const auto it = callbacks_.find(token);
  if (it == callbacks_.end()) {
    cv_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !running_; });
    return false;
  }
  dropped = std::move(it->second);
  callbacks_.erase(it);
  return true;
}

bool CancellationManager::TryDeregister(Token token) {
  Callback dropped;  // destroyed after the lock is released
  MutexLock lock(mu_);
  const auto it = callbacks_.find(token);
  if (it == callbacks_.end()) return false;
  dropped = std::move(it->second);
  callbacks_.erase(it);
  return true;
}

}  // namespace tensorbraid
