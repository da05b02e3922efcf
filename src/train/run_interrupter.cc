#include "train/run_interrupter.h"

#include "core/logging.h"

namespace tensorbraid {

RunInterrupter::RunInterrupter(std::function<void()> interrupt, std::chrono::milliseconds grace)
    : interrupt_(std::move(interrupt)), grace_(grace), thread_("tb-interrupt", [this] { WaitAndInterrupt(); }) {
  on_stop_.emplace([this] {
    MutexLock lock(mu_);
    stop_requested_ = true;
    changed_.NotifyAll();
  });
}

RunInterrupter::~RunInterrupter() {
  on_stop_.reset();
  {
    MutexLock lock(mu_);
    ended_ = true;
    changed_.NotifyAll();
  }
  thread_.Join();
}

void RunInterrupter::BeginRun() {
  MutexLock lock(mu_);
  running_ = true;
}

void RunInterrupter::EndRun() {
  MutexLock lock(mu_);
  running_ = false;
  if (stop_requested_) changed_.NotifyAll();
}

bool RunInterrupter::interrupted() const {
  MutexLock lock(mu_);
  return interrupted_;
}

void RunInterrupter::WaitAndInterrupt() {
  {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return stop_requested_ || ended_; });
  }
  if (RunEndsWithin(grace_)) return;
  TB_LOG(Warning, "train") << "a step has not ended " << grace_.count() / 1000.0
                           << " s after this process was asked to stop, and is cancelled";
  do {
    {
      MutexLock lock(mu_);
      interrupted_ = true;
    }
    interrupt_();
  } while (!RunEndsWithin(std::chrono::seconds(1)));
}

bool RunInterrupter::RunEndsWithin(std::chrono::milliseconds time) {
  MutexLock lock(mu_);
  return changed_.WaitFor(mu_, time, [this]() TB_REQUIRES(mu_) { return !running_ || ended_; });
}

}  // namespace tensorbraid
