#include "cli/slow_work.h"

#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {

SlowWork::SlowWork(std::function<void(const std::string& line)> write, const Times& times)
    : write_(std::move(write)), times_(times), thread_("tb-slow-work", [this] { Run(); }) {}

SlowWork::~SlowWork() {
  {
    MutexLock lock(mu_);
    ended_ = true;
  }
  cv_.NotifyAll();
  thread_.Join();
}

void SlowWork::Begin(const std::string& what) {
  {
    MutexLock lock(mu_);
    what_ = what;
    began_ = MonotonicClock::now();
    write_at_ = began_ + times_.first;
  }
  cv_.NotifyAll();
}

void SlowWork::Run() {
  while (true) {
    std::string line;
    {
      MutexLock lock(mu_);
      if (ended_) return;
      const auto now = MonotonicClock::now();
      if (what_.empty() || now < write_at_) {
        const auto until = what_.empty() ? MonotonicClock::time_point::max() : write_at_;
        const auto changed = [this, until]()
                                 TB_REQUIRES(mu_) { return ended_ || (!what_.empty() && write_at_ != until); };
        cv_.WaitUntil(mu_, until, changed);
        continue;
      }
      line = StrCat(what_, ": ", std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(), " s so far");
      write_at_ = now + times_.others;
    }
    write_(line);
  }
}

}  // namespace tensorbraid
