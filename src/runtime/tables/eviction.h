// Which rows a growing table evicts.
#ifndef TENSORBRAID_RUNTIME_TABLES_EVICTION_H_
#define TENSORBRAID_RUNTIME_TABLES_EVICTION_H_

#include <cstdint>
#include <limits>

#include "runtime/tables/key_counts.h"
#include "runtime/tables/table_rows.h"

namespace tensorbraid {

// A row is evicted if one of these holds. Steps are compared with the newest one in which a row was updated.
struct EvictionRule {
  // It was not updated in the last so many steps. 0: no such limit.
  int64_t steps_to_live = 0;
  // Half of the sum of the squares of its numbers in column 0 is lower, and it was not updated in the last kSparedSteps
  // steps. Negative: no such limit.
  float l2_threshold = -1;
  // The table, or part of one, has more rows, and this one is among those that were not updated for longest. 0: no such
  // limits. A row counts with its numbers in all columns and kBytesBeside bytes.
  int64_t most_rows = 0, most_bytes = 0;

  static constexpr int64_t kSparedSteps = 100;
  static constexpr int64_t kBytesBeside = 24;

  bool any() const { return by_age() || most_rows > 0 || most_bytes > 0; }
  bool by_age() const { return steps_to_live > 0 || l2_threshold >= 0; }
  // The most rows of a table whose rows have so many numbers in all columns; the largest number if there is no limit.
  int64_t MostRows(int64_t numbers) const;
};

// Evicts rows until at most `most_rows` are left, and those that the rule wants to go. The counts of evicted keys go,
// too, as do those of keys without a row that were not counted in the last steps_to_live steps. Each small table is
// locked for a moment. Returns the number of evicted rows. Thread-safe. `counts` may be null.
int64_t EvictRows(TableRows& rows, const EvictionRule& rule, int64_t most_rows, KeyCounts* counts);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_TABLES_EVICTION_H_
