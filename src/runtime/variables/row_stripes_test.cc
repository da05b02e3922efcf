#include "runtime/variables/row_stripes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/threads/mutex.h"
#include "core/threads/thread.h"

namespace tensorbraid::cpu {
namespace {

// The numbers in the order in which they were visited.
std::vector<int64_t> Visited(ThreadPool& pool, const std::vector<int64_t>& rows, std::span<RowLocks* const> tables,
                             double cost_ns = 0) {
  Mutex mu;
  std::vector<int64_t> visited;
  VisitByStripe(pool, rows, tables, cost_ns, [&](std::span<const int64_t> numbers) {
    MutexLock lock(mu);
    visited.insert(visited.end(), numbers.begin(), numbers.end());
  });
  return visited;
}

TEST(RowStripesTest, RowsOfOneStripeAreVisitedTogetherAndInOrder) {
  ThreadPool pool("pool", 2);
  RowLocks table(3200);  // 128 rows in each stripe
  RowLocks* const tables[] = {&table};
  const std::vector<int64_t> rows = {3000, 5, 3199, 127, 128, 5, 3000};
  EXPECT_EQ(Visited(pool, rows, tables), (std::vector<int64_t>{1, 3, 5, 4, 0, 6, 2}));
  EXPECT_EQ(Visited(pool, rows, {}), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(Visited(pool, {}, tables).empty());
}

TEST(RowStripesTest, ThreadsShareTheStripes) {
  ThreadPool pool("pool", 4);
  RowLocks table(10'000), second(10'000);
  RowLocks* const tables[] = {&table, &second};
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < 50'000; ++i) rows.push_back(i * 7919 % 10'000);
  std::vector<std::vector<int64_t>> by_row(10'000);  // each is changed under the lock of its stripe
  VisitByStripe(pool, rows, tables, /*cost_ns=*/1e6, [&](std::span<const int64_t> numbers) {
    for (const int64_t i : numbers) by_row[static_cast<size_t>(rows[i])].push_back(i);
  });
  for (const auto& numbers : by_row) {
    EXPECT_EQ(numbers.size(), 5u);  // 50,000 numbers stand for 10,000 rows
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  }
}

TEST(RowStripesTest, TablesMayHaveAnyNumberOfRows) {
  for (const int64_t rows : {int64_t{0}, int64_t{1}, int64_t{33}, std::numeric_limits<int64_t>::max()}) {
    RowLocks table(rows);
    int64_t seen = 0;
    table.ForEachStripe([&](int64_t begin, int64_t n) {
      EXPECT_EQ(begin, seen);
      EXPECT_EQ(table.StripeOf(begin), table.StripeOf(begin + n - 1));
      seen += n;
    });
    EXPECT_EQ(seen, rows);
  }
}

TEST(RowStripesTest, AVisitHoldsTheLocksOfItsStripe) {
  ThreadPool pool("pool", 1);
  RowLocks first(64), second(64);
  RowLocks* const tables[] = {&first, &second};
  std::vector<int> changes(64);
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      const std::vector<int64_t> rows = {i % 64, 0, 63};
      VisitByStripe(pool, rows, tables, /*cost_ns=*/0, [&](std::span<const int64_t> numbers) {
        for (const int64_t n : numbers) ++changes[static_cast<size_t>(rows[n])];
      });
    }
  };
  Thread other("other", add);
  add();
  other.Join();
  int sum = 0;
  for (const int n : changes) sum += n;
  EXPECT_EQ(sum, 2 * 3 * 1000);
}

}  // namespace
}  // namespace tensorbraid::cpu
