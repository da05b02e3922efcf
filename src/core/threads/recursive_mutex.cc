#include "core/threads/recursive_mutex.h"

namespace tensorbraid {
namespace {

std::atomic<const OuterLock*> outer_lock{nullptr};

}  // namespace

uint64_t ThreadNumber() {
  static std::atomic<uint64_t> threads{0};
  constinit static thread_local uint64_t number = 0;
  if (number == 0) [[unlikely]]
    number = ++threads;
  return number;
}

void SetOuterLock(const OuterLock* lock) { outer_lock = lock; }

void RecursiveMutex::Wait(std::source_location where) {
  const OuterLock* const outer = outer_lock;
  void* given_up = outer == nullptr ? nullptr : outer->give_up();
  if (given_up == nullptr) return mu_.Lock(where);
  // Waits until the mutex is free, then takes the outer lock without it.
  while (true) {
    mu_.Lock(where);
    mu_.Unlock();
    outer->take(given_up);
    if (mu_.TryLock()) return;
    given_up = outer->give_up();
  }
}

int RecursiveMutex::UnlockAll() {
  if (owner_.load(std::memory_order_relaxed) != ThreadNumber()) return 0;
  const int times = depth_;
  depth_ = 1;
  Unlock();
  return times;
}

void RecursiveMutex::LockAgain(int times) {
  if (times == 0) return;
  Lock();
  depth_ = times;
}

}  // namespace tensorbraid
