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

TEST(KeyCountsTest, ASaveTakesWhatHasChangedSinceTheOneBefore) {
  KeyCounts counts;
  const auto taken = [&](uint64_t predecessor, uint64_t save) {
    std::map<int64_t, int64_t> of_save;
    counts.TakeSince(1, predecessor, save, [&](const KeyCount& key) { of_save[key.key] = key.count; });
    return of_save;
  };
  using Counts = std::map<int64_t, int64_t>;
  counts.Add(1, 1, 0);
  counts.Add(1001, 2, 0);
  counts.TakeAll(1, 7);
  EXPECT_EQ(taken(7, 8), Counts());
  counts.Add(1, 1, 1);
  EXPECT_EQ(taken(8, 9), (Counts{{1, 2}}));
  counts.Add(2001, 1, 1);
  EXPECT_EQ(taken(8, 10), (Counts{{1, 2}, {2001, 1}})) << "save 9 was not completed";
  counts.RaiseTo(1001, 5, 2);
  EXPECT_EQ(taken(10, 11), (Counts{{1001, 5}}));
  EXPECT_EQ(taken(5, 12), (Counts{{1, 2}, {1001, 5}, {2001, 1}})) << "nobody knows save 5";
  EXPECT_EQ(taken(12, 13), Counts());
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
