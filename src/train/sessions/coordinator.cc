#include "tensorbraid/train/coordinator.h"

#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid {

struct Coordinator::State {
  mutable Mutex mu;
  mutable CondVar changed;
  bool stopping TB_GUARDED_BY(mu) = false;
  Status status TB_GUARDED_BY(mu);
  std::vector<std::function<void()>> wakes TB_GUARDED_BY(mu);
  std::vector<Thread> threads TB_GUARDED_BY(mu);
};

Coordinator::Coordinator() : state_(std::make_unique<State>()) {}

Coordinator::~Coordinator() {
  RequestStop();
  Join().IgnoreError();
}

void Coordinator::RequestStop(const Status& why) {
  std::vector<std::function<void()>> wakes;
  {
    MutexLock lock(state_->mu);
    // OutOfRange means the end of the input. Cancelled, after a request to stop, is a consequence of the stop.
    const bool is_error = !why.ok() && !absl::IsOutOfRange(why) && !(absl::IsCancelled(why) && state_->stopping);
    if (is_error && state_->status.ok()) state_->status = why;
    if (!state_->stopping) {
      state_->stopping = true;
      wakes.swap(state_->wakes);
      state_->changed.NotifyAll();
    }
  }
  for (const auto& wake : wakes) wake();
}

bool Coordinator::ShouldStop() const {
  MutexLock lock(state_->mu);
  return state_->stopping;
}

void Coordinator::WaitForStop() const {
  MutexLock lock(state_->mu);
  state_->changed.Wait(state_->mu, [&]() TB_REQUIRES(state_->mu) { return state_->stopping; });
}

bool Coordinator::WaitForStop(std::chrono::steady_clock::duration timeout) const {
  MutexLock lock(state_->mu);
  return state_->changed.WaitFor(state_->mu, timeout, [&]() TB_REQUIRES(state_->mu) { return state_->stopping; });
}

Status Coordinator::status() const {
  MutexLock lock(state_->mu);
  return state_->status;
}

void Coordinator::StartThread(std::function<Status()> body) {
  MutexLock lock(state_->mu);
  state_->threads.emplace_back("tb-coordinator", [this, body = std::move(body)] {
    const Status status = body();
    if (!status.ok()) RequestStop(status);
  });
}

void Coordinator::OnStop(std::function<void()> wake) {
  {
    MutexLock lock(state_->mu);
    if (!state_->stopping) {
      state_->wakes.push_back(std::move(wake));
      return;
    }
  }
  wake();
}

Status Coordinator::Join() {
  std::vector<Thread> threads;
  {
    MutexLock lock(state_->mu);
    threads.swap(state_->threads);
  }
  for (Thread& t : threads) t.Join();
  return status();
}

}  // namespace tensorbraid
