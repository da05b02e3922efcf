#include "train/sessions/run_interrupter.h"

#include "core/text/logging.h"

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

void RunInterrupter::InterruptFromNowOn() {
  MutexLock lock(mu_);
  from_now_on_ = true;
  changed_.NotifyAll();
}

void RunInterrupter::BeginRun() {
  MutexLock lock(mu_);
  ++runs_;
  running_ = true;
  interrupted_ = false;
  if (stop_requested_ || from_now_on_) changed_.NotifyAll();
}

bool RunInterrupter::EndRun() {
  MutexLock lock(mu_);
  running_ = false;
  if (stop_requested_ || from_now_on_) changed_.NotifyAll();
  changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return !in_interrupt_; });
  return interrupted_;
}

bool RunInterrupter::interrupted() const {
  MutexLock lock(mu_);
  return running_ && interrupted_;
}

bool RunInterrupter::MustStopWithin(std::chrono::nanoseconds time) {
  MutexLock lock(mu_);
  return changed_.WaitFor(mu_, time, [this]() TB_REQUIRES(mu_) { return stop_requested_ || from_now_on_; });
}

void RunInterrupter::WaitAndInterrupt() {
  std::chrono::milliseconds patience;
  while (const uint64_t run = AwaitRunToEnd(&patience)) {
    while (!RunEndsWithin(run, patience)) {
      interrupt_();
      MutexLock lock(mu_);
      in_interrupt_ = false;
      changed_.NotifyAll();
      patience = std::chrono::seconds(1);
    }
  }
}

uint64_t RunInterrupter::AwaitRunToEnd(std::chrono::milliseconds* patience) {
  MutexLock lock(mu_);
  changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return ended_ || ((stop_requested_ || from_now_on_) && running_); });
  *patience = from_now_on_ ? std::chrono::milliseconds(0) : grace_;
  return ended_ ? 0 : runs_;
}

// Before it returns false, it sets `in_interrupt_`. The caller then calls `interrupt_` and clears `in_interrupt_`.
bool RunInterrupter::RunEndsWithin(uint64_t run, std::chrono::milliseconds time) {
  MutexLock lock(mu_);
  if (changed_.WaitFor(mu_, time, [this, run]() TB_REQUIRES(mu_) { return ended_ || !running_ || runs_ != run; })) {
    return true;
  }
  if (!interrupted_ && !from_now_on_) {
    TB_LOG(Warning, "train") << "a step has not ended " << grace_.count() / 1000.0
                             << " s after this process was asked to stop, and is cancelled";
  }
  interrupted_ = in_interrupt_ = true;
  return false;
}

}  // namespace tensorbraid
