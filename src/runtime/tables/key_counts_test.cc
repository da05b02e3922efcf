#include "runtime/tables/key_counts.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "core/threads/thread.h"
#include "runtime/tables/table_rows.h"

namespace tensorbraid {
namespace {

TEST(KeyCountsTest, CountsAreThoseThatWereAdded) {
  KeyCounts counts;
  std::map<int64_t, int64_t> expected;
  for (int64_t i = 0; i < 20000; ++i) {
    const int64_t key = (i * i % 7001 - 3000) * 1'000'003;
    counts.Add(key, i % 4, i);
    if (i % 4 > 0) expected[key] += i % 4;
  }
  EXPECT_EQ(counts.keys(), static_cast<int64_t>(expected.size()));
  for (const auto& [key, count] : expected) ASSERT_EQ(counts.CountOf(key), count) << key;
  EXPECT_EQ(counts.CountOf(12345), 0);
  std::map<int64_t, int64_t> visited;
  for (int residue = 0; residue < kSmallTables; ++residue) {
    counts.ForEach(residue, [&](const KeyCount& key) {
      EXPECT_EQ(TableRows::ResidueOf(key.key), residue);
      visited[key.key] += key.count;
    });
  }
  EXPECT_EQ(visited, expected);
}

TEST(KeyCountsTest, ACountStaysAtTheLargestNumber) {
  KeyCounts counts;
  constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
  counts.Add(1, std::numeric_limits<int64_t>::max(), 0);
  counts.Add(1, 1, 5);
  EXPECT_EQ(counts.CountOf(1), kMost);
  counts.RaiseTo(2, 7, 3);
  counts.RaiseTo(2, 4, 4);
  counts.Add(2, -1, 9);  // no occurrence
  EXPECT_EQ(counts.CountOf(2), 7);
  counts.ForEach(2, [](const KeyCount& key) { EXPECT_EQ(key.version, 4); });
}

TEST(KeyCountsTest, ThreadsCountTogether) {
  KeyCounts counts;
  std::vector<Thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back("counts", [&] {
      for (int64_t i = 0; i < 6000; ++i) counts.Add(i % 600, 1, i);
    });
  }
  for (Thread& thread : threads) thread.Join();
  for (int64_t key = 0; key < 600; ++key) ASSERT_EQ(counts.CountOf(key), 30);
}

}  // namespace
}  // namespace tensorbraid
