// The locks of a variable's rows.
#ifndef TENSORBRAID_RUNTIME_VARIABLES_ROW_LOCKS_H_
#define TENSORBRAID_RUNTIME_VARIABLES_ROW_LOCKS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "core/threads/mutex.h"
#include "runtime/tables/changes.h"

namespace tensorbraid {

// Each lock protects a stripe, which is a range of neighbouring rows, so that threads work on different rows of a table
// at the same time. A thread holds one stripe of a table at a time, or all of them. Stripes of several tables are
// locked in the order of the addresses of the variables.
class RowLocks {
 public:
  static constexpr int kStripes = 32;

  // `rows` is the size of the table's first dimension.
  explicit RowLocks(int64_t rows) : rows_(rows) {
    while ((rows - 1) >> shift_ >= kStripes) ++shift_;
  }

  int StripeOf(int64_t row) const { return static_cast<int>(row >> shift_); }
  Mutex& stripe(int i) { return stripes_[static_cast<size_t>(i)]; }

  // Calls visit(first row, number of rows) for each stripe that has rows, while holding its lock.
  template <typename F>
  void ForEachStripe(const F& visit) {
    for (int i = 0; i < kStripes; ++i) {
      const int64_t begin = FirstOf(i);
      if (begin >= rows_) return;
      MutexLock lock(stripe(i));
      visit(begin, std::min(rows_ - begin, int64_t{1} << shift_));
    }
  }

  // Which rows have changed since a save (docs/design/0036): an element for each stripe, which the lock of the stripe
  // protects. The rows of a stripe have the numbers from 0 on. Null if nothing is recorded. Only the variable sets it,
  // while no other thread uses the rows.
  using Recorded = std::array<Changes, kStripes>;
  Recorded* recorded() const { return recorded_.get(); }
  void SetRecorded(std::unique_ptr<Recorded> recorded) { recorded_ = std::move(recorded); }
  // A row was updated. REQUIRES: the lock of its stripe is held.
  void Changed(int64_t row) {
    const int stripe = StripeOf(row);
    if (recorded_ != nullptr) {
      (*recorded_)[static_cast<size_t>(stripe)].Changed(static_cast<uint32_t>(row - FirstOf(stripe)));
    }
  }
  int64_t FirstOf(int stripe) const { return int64_t{stripe} << shift_; }

  // Holds the locks of all stripes while this object exists.
  class All {
   public:
    explicit All(RowLocks& locks) TB_NO_THREAD_SAFETY_ANALYSIS : locks_(locks) {
      for (Mutex& mu : locks_.stripes_) mu.Lock();
    }
    ~All() TB_NO_THREAD_SAFETY_ANALYSIS {
      for (Mutex& mu : locks_.stripes_) mu.Unlock();
    }
    All(const All&) = delete;
    All& operator=(const All&) = delete;

   private:
    RowLocks& locks_;
  };

 private:
  const int64_t rows_;
  int shift_ = 0;  // a stripe has 1 << shift_ rows
  std::array<Mutex, kStripes> stripes_;
  std::unique_ptr<Recorded> recorded_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_VARIABLES_ROW_LOCKS_H_
