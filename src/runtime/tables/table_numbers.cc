#include "runtime/tables/table_numbers.h"

namespace tensorbraid {

void LastMinute::Add(int64_t change, Time now) {
  if (change == 0) return;
  const int64_t number = NumberOf(now);
  MutexLock lock(mu_);
  Part& part = parts_[static_cast<size_t>(number % kParts)];
  if (part.number != number) part = {.number = number};
  part.change += change;
}

int64_t LastMinute::Sum(Time now) const {
  const int64_t last = NumberOf(now);
  int64_t sum = 0;
  MutexLock lock(mu_);
  for (const Part& part : parts_) {
    if (part.number > last - kParts) sum += part.change;
  }
  return sum;
}

}  // namespace tensorbraid
