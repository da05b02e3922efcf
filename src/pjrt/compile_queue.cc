#include "pjrt/compile_queue.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "absl/strings/numbers.h"
#include "core/system/clock.h"
#include "core/system/fork_count.h"
#include "core/system/program_end.h"
#include "core/text/logging.h"
#include "core/threads/thread.h"
#include "pjrt/available_memory.h"

namespace tensorbraid {
namespace {

// What the environment says, if it says something that can be used.
std::optional<int> ParallelCompiles() {
  const char* const text = std::getenv(kParallelCompilesVariable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  constexpr int kMost = 256;
  if (int number = 0; absl::SimpleAtoi(text, &number) && number >= 1 && number <= kMost) return number;
  TB_LOG(Warning, "accelerators") << kParallelCompilesVariable << "=" << text << " has no effect: it must be 1 to "
                                  << kMost;
  return std::nullopt;
}

}  // namespace

int CompilesInMemory(int threads, int64_t available) {
  return static_cast<int>(std::clamp<int64_t>(available / kMemoryOfCompile, 1, threads));
}

CompileQueue& CompileQueue::Global() {
  static auto* const queue = [] {
    const std::optional<int> wanted = ParallelCompiles();
    // A compiler uses threads of its own beside these.
    const int threads = wanted.value_or(std::max(1, NumCores() / 2));
    static const auto forks_when_made = ForkCount();
    auto* const made = new CompileQueue(*new ThreadPool("compile", threads), [threads, is_fixed = wanted.has_value()] {
      return is_fixed ? threads : CompilesInMemory(threads, AvailableMemory());
    });
    AtProgramEnd([] {
      // After a fork, the child has none of the threads.
      if (ForkCount() == forks_when_made) Global().End();
    });
    return made;
  }();
  return *queue;
}

void CompileQueue::End() {
  MutexLock lock(mu_);
  has_ended_ = true;
  const auto ended = [this]() TB_REQUIRES(mu_) { return running_ == 0; };
  if (changed_.WaitUntil(mu_, MonotonicClock::now() + std::chrono::seconds(1), ended)) return;
  TB_LOG(Info, "accelerators") << "the program ends when its compilers have ended: " << running_ << " still run";
  changed_.Wait(mu_, ended);
}

bool CompileQueue::has_ended() const {
  MutexLock lock(mu_);
  return has_ended_;
}

uint64_t CompileQueue::Add(Order order, std::function<void()> work) {
  MutexLock lock(mu_);
  const uint64_t number = next_++;
  (order == Order::kNow ? now_ : later_).push_back({number, std::move(work)});
  Begin();
  return number;
}

void CompileQueue::Hurry(uint64_t number) {
  MutexLock lock(mu_);
  const auto at = std::ranges::find(later_, number, &Piece::number);
  if (at == later_.end()) return;
  now_.push_back(std::move(*at));
  later_.erase(at);
}

int CompileQueue::running() const {
  MutexLock lock(mu_);
  return running_;
}

void CompileQueue::Begin() {
  while (!has_ended_ && (!now_.empty() || !later_.empty())) {
    if (running_ == 0) most_ = std::max(1, limit_());
    if (running_ >= most_) return;
    ++running_;
    auto& pieces = now_.empty() ? later_ : now_;
    threads_.Schedule([this, work = std::move(pieces.front().work)]() mutable { Run(std::move(work)); });
    pieces.pop_front();
  }
}

void CompileQueue::Run(std::function<void()> work) {
  work();
  work = nullptr;
  MutexLock lock(mu_);
  --running_;
  Begin();
  changed_.NotifyAll();
}

}  // namespace tensorbraid
