// What has happened to the rows of a growing table, for reports.
#ifndef TENSORBRAID_RUNTIME_TABLES_TABLE_NUMBERS_H_
#define TENSORBRAID_RUNTIME_TABLES_TABLE_NUMBERS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/system/clock.h"
#include "core/threads/mutex.h"

namespace tensorbraid {

// How many rows visits have found and made. Each thread of a visit adds its numbers once, at its end.
struct VisitCounts {
  std::atomic<int64_t> found{0};  // keys that had a row
  std::atomic<int64_t> made{0};   // rows that did not exist
};

// By how much a number has changed in the last minute, to five seconds. Thread-safe.
class LastMinute {
 public:
  using Time = MonotonicClock::time_point;
  // REQUIRES: the times of calls do not decrease by more than a minute.
  void Add(int64_t change, Time now);
  int64_t Sum(Time now) const;

 private:
  static constexpr std::chrono::seconds kPart{5};
  static constexpr int64_t kParts = 12;
  struct Part {
    int64_t number = -1;  // of the five seconds since the clock's beginning
    int64_t change = 0;
  };
  static int64_t NumberOf(Time now) { return now.time_since_epoch() / kPart; }

  mutable Mutex mu_;
  std::array<Part, kParts> parts_ TB_GUARDED_BY(mu_);  // the part with number n is at n % kParts
};

// The numbers of a table, or of a part of one, at some moment. Counts begin with the process.
struct TableNumbers {
  int64_t rows = 0;
  int64_t bytes = 0;              // of rows, indices and lists
  int64_t growth_per_minute = 0;  // rows that updates have made in the last minute
  int64_t admissions = 0;         // rows that updates have made
  int64_t evictions = 0;          // rows that were evicted
  int64_t lookups = 0;            // keys that were looked up
  int64_t hits = 0;               // of these, the keys that had a row
  int64_t waiting = 0;            // keys that updates have counted and that have no row yet
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_TABLE_NUMBERS_H_
