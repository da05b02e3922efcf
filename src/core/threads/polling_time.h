// Measures how much processor time threads spend on polling.
#ifndef TENSORBRAID_CORE_THREADS_POLLING_TIME_H_
#define TENSORBRAID_CORE_THREADS_POLLING_TIME_H_

#include <chrono>
#include <cstdint>

#include "core/system/cpu_time.h"

namespace tensorbraid {

// A thread that has nothing to do polls for some time before it sleeps, so that the next message finds it awake. The
// polling uses a processor that would be idle. If other threads need the processor, the polling thread yields, so this
// time is not part of what the work costs. Each thread that receives messages has an object of this class.
//
// To read the clock of a thread costs as much as a short poll. So one in kSampled periods of polling is measured,
// chosen at random, and counts kSampled times.
class PollingTime {
 public:
  static constexpr int kSampled = 8;

  // The thread has looked for work and found nothing. The first call begins a period of polling.
  void FoundNothing() {
    if (!polling_) measured_ = NextRandom() % kSampled == 0;
    if (measured_) (polling_ ? ended_ : began_) = ThreadCpuTime();
    polling_ = true;
  }
  // The thread has found something, or is about to sleep. The period has ended with the last call of FoundNothing,
  // since a look that finds a message may do work, such as to read it.
  void End() {
    if (polling_ && measured_ && ended_ > began_) AddToProcess(kSampled * (ended_ - began_));
    polling_ = false;
    ended_ = {};
  }

  // What the threads of this process have spent so far, estimated. Thread-safe.
  static std::chrono::nanoseconds OfProcess();

 private:
  static void AddToProcess(std::chrono::nanoseconds time);
  static uint64_t NewSeed();  // another one for each object
  // A linear congruential generator (Knuth); the high bits are the random ones.
  uint32_t NextRandom() {
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<uint32_t>(random_ >> 33);
  }

  bool polling_ = false;
  bool measured_ = false;  // this period
  std::chrono::nanoseconds began_{0}, ended_{0};
  uint64_t random_ = NewSeed();
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_POLLING_TIME_H_
