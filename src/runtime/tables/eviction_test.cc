// Tests erased rows and evictions.
#include "runtime/tables/eviction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "core/threads/thread.h"
#include "runtime/tables/embedding_table.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kDim = 2;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

class EvictionTest : public testing::Test {
 protected:
  // Makes the rows of these keys, or sets them anew: all numbers to `value`, at the step `version`.
  Status Set(const std::vector<int64_t>& keys, float value, int64_t version) {
    constexpr std::array columns = {0};
    constexpr std::array initial = {0.0f};
    rows_.ReachStep(version);
    return rows_.VisitKeys(
        pool_, {.keys = keys, .columns = columns, .absent = TableRows::Absent::kAdd, .initial = initial, .write = true},
        [&](std::span<const VisitedRow> visited) {
          for (const VisitedRow& row : visited) {
            std::fill_n(row.numbers[0], kDim, value);
            row.info->version = version;
          }
        });
  }
  std::map<int64_t, float> Rows() {
    std::map<int64_t, float> all;
    const auto add = [&](int, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
      small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
        EXPECT_TRUE(all.try_emplace(small.info(row).key, small.numbers(0, row)[1]).second) << small.info(row).key;
      });
    };
    EXPECT_TRUE(rows_.ForEachInOrder({}, add, OkStatus).ok());
    EXPECT_EQ(rows_.NumRows(), static_cast<int64_t>(all.size()));
    return all;
  }
  std::vector<int64_t> Keys() {
    std::vector<int64_t> keys;
    for (const auto& [key, value] : Rows()) keys.push_back(key);
    return keys;
  }

  ThreadPool pool_{"pool", 2};
  TableRows rows_{kDim, 0, 1};
};

TEST_F(EvictionTest, ErasedRowsAreUsedAgain) {
  std::mt19937_64 random(1);
  std::map<int64_t, float> model;
  int64_t bytes = 0;
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<int64_t> keys;
    for (int i = 0; i < 200; ++i) keys.push_back(static_cast<int64_t>(random() % 40) * 1000 + (i % 3 == 0 ? 7 : 8));
    ASSERT_TRUE(Set(keys, static_cast<float>(turn), turn).ok());
    for (const int64_t key : keys) model[key] = static_cast<float>(turn);
    // Erases about half of the rows.
    const auto erase = [&](int, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
      int64_t erased = 0;
      small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
        if (random() % 2 == 0) return;
        model.erase(small.info(row).key);
        small.Erase(row);
        ++erased;
      });
      rows_.CountErased(erased);
    };
    ASSERT_TRUE(rows_.ForEachInOrder({}, erase, OkStatus).ok());
    ASSERT_EQ(Rows(), model) << turn;
    if (turn == 20) bytes = rows_.Memory().total();
  }
  EXPECT_EQ(rows_.Memory().total(), bytes);
}

TEST_F(EvictionTest, AnErasedRowIsADeletedKeyOfTheNextIncrement) {
  ASSERT_TRUE(Set({5, 1005, 2005}, 1, 1).ok());
  rows_.RecordChanges(1);
  ASSERT_TRUE(Set({1005}, 2, 500).ok());
  EXPECT_EQ(EvictRows(rows_, {.steps_to_live = 10}, kNoLimit, nullptr), 2);
  ASSERT_TRUE(Set({2005, 3005}, 3, 501).ok());
  const auto take = [&](int residue, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
    if (residue != 5) return;
    ASSERT_TRUE(small.changes->TakeSince(1, 2));
    std::set<int64_t> changed;
    small.changes->ForEachTaken([&](uint32_t row)
                                    TB_NO_THREAD_SAFETY_ANALYSIS { changed.insert(small.info(row).key); });
    EXPECT_THAT(changed, ElementsAre(1005, 2005, 3005));
    EXPECT_THAT(small.changes->taken_deleted(), ElementsAre(5, 2005));
  };
  ASSERT_TRUE(rows_.ForEachInOrder({}, take, OkStatus).ok());
}

TEST_F(EvictionTest, RowsAreEvictedByTheirLastStep) {
  for (int64_t step = 0; step <= 10; ++step) ASSERT_TRUE(Set({step, -step}, 1, step).ok());
  EXPECT_EQ(EvictRows(rows_, {.steps_to_live = 3}, kNoLimit, nullptr), 13);
  EXPECT_THAT(Keys(), ElementsAre(-10, -9, -8, -7, 7, 8, 9, 10));
  EXPECT_EQ(EvictRows(rows_, {.steps_to_live = 3}, kNoLimit, nullptr), 0);
}

TEST_F(EvictionTest, ShortRowsAreEvictedUnlessTheyAreNew) {
  ASSERT_TRUE(Set({1}, 0.9f, 0).ok());  // half of the squares: 0.81
  ASSERT_TRUE(Set({2}, 1.1f, 0).ok());  // 1.21
  ASSERT_TRUE(Set({3}, 0.1f, 20).ok());
  ASSERT_TRUE(Set({4}, 9, 120).ok());
  EXPECT_EQ(EvictRows(rows_, {.l2_threshold = 1}, kNoLimit, nullptr), 1);
  EXPECT_THAT(Keys(), ElementsAre(2, 3, 4));
  ASSERT_TRUE(Set({4}, 9, 121).ok());
  EXPECT_EQ(EvictRows(rows_, {.l2_threshold = 1}, kNoLimit, nullptr), 1);
  EXPECT_THAT(Keys(), ElementsAre(2, 4));
}

TEST_F(EvictionTest, TheLongestNotUpdatedGoWhereThereAreTooMany) {
  for (int64_t step = 0; step < 10; ++step) ASSERT_TRUE(Set({step, step + 100}, 1, 7 * step).ok());
  ASSERT_TRUE(Set({0}, 1, 1'000'000'000'000).ok());
  EXPECT_EQ(EvictRows(rows_, {}, 20, nullptr), 0);
  EXPECT_EQ(EvictRows(rows_, {}, 1, nullptr), 19);
  EXPECT_THAT(Keys(), ElementsAre(0));
  for (int64_t step = 1; step < 10; ++step) ASSERT_TRUE(Set({step, step + 100}, 1, 7 * step).ok());
  EXPECT_EQ(EvictRows(rows_, {.steps_to_live = 1}, 4, nullptr), 18);  // all by their steps
  EXPECT_THAT(Keys(), ElementsAre(0));
}

TEST_F(EvictionTest, VersionsFarApartAreNoMistake) {
  ASSERT_TRUE(Set({1}, 1, RowInfo::kFree + 1).ok());
  ASSERT_TRUE(Set({2}, 1, 0).ok());
  ASSERT_TRUE(Set({3}, 1, std::numeric_limits<int64_t>::max()).ok());
  EXPECT_EQ(EvictRows(rows_, {}, 2, nullptr), 1);
  EXPECT_THAT(Keys(), ElementsAre(2, 3));
  EXPECT_EQ(EvictRows(rows_, {.steps_to_live = kNoLimit}, kNoLimit, nullptr), 0);
}

TEST_F(EvictionTest, CountsGoWithTheirRows) {
  KeyCounts counts;
  ASSERT_TRUE(Set({1, 2}, 1, 0).ok());
  ASSERT_TRUE(Set({2}, 1, 50).ok());
  counts.Add(1, 5, 0);
  counts.Add(2, 5, 50);
  counts.Add(3, 1, 0);  // without a row
  counts.Add(4, 1, 45);
  EXPECT_EQ(EvictRows(rows_, {.steps_to_live = 10}, kNoLimit, &counts), 1);
  EXPECT_EQ(counts.CountOf(1), 0);
  EXPECT_EQ(counts.CountOf(2), 5);
  EXPECT_EQ(counts.CountOf(3), 0);
  EXPECT_EQ(counts.CountOf(4), 1);
}

TEST(EvictionRuleTest, BytesAreRows) {
  EXPECT_EQ((EvictionRule{.most_rows = 7}.MostRows(32)), 7);
  EXPECT_EQ((EvictionRule{.most_bytes = 1520}.MostRows(32)), 10);  // 128 and 24 each
  EXPECT_EQ((EvictionRule{.most_rows = 7, .most_bytes = 760}.MostRows(32)), 5);
  EXPECT_EQ((EvictionRule{.steps_to_live = 7}.MostRows(32)), kNoLimit);
}

class ZeroRows final : public FirstRows {
 public:
  void Fill(int64_t, std::span<float> row) const override { std::fill(row.begin(), row.end(), 0.0f); }
};

// Updates, lookups and evictions run at the same time.
TEST(EvictionInBackgroundTest, ATableStaysWithinItsLimit) {
  ThreadPool pool("pool", 2);
  const auto table = MakeRef<EmbeddingTable>("emb", kDim);
  const auto description = std::make_shared<const RowsDescription>(
      RowsDescription{.whole = "emb", .rows = std::make_shared<ZeroRows>(), .evict = {.most_rows = 800}});
  ASSERT_TRUE(table->Describe(description).ok());
  ASSERT_TRUE(table->Initialize(0, {.rows = description}).ok());
  const auto update = [&](int64_t first, int64_t step) {
    std::vector<int64_t> keys;
    for (int64_t key = first; key < first + 50; ++key) keys.push_back(key * 37);
    const int columns[] = {0};
    return table->Update(pool, columns, keys, {}, step, 10, [](std::span<const VisitedRow> rows) {
      for (const VisitedRow& row : rows) {
        // Each is 0 in the row of a new key, so nobody sees the numbers of a row that was evicted.
        EXPECT_EQ(row.numbers[0][0], row.numbers[0][1]);
        for (int64_t i = 0; i < kDim; ++i) row.numbers[0][i] += 1;
      }
    });
  };
  std::atomic<bool> stop{false};
  Thread lookups("lookups", [&] {
    std::vector<int64_t> keys;
    for (int64_t key = 0; key < 500; ++key) keys.push_back(key * 37);
    std::vector<float> found(keys.size() * kDim);
    while (!stop) {
      EXPECT_TRUE(table->Lookup(pool, 0, keys, {}, {}, found.data()).ok());
      for (size_t i = 0; i < found.size(); i += kDim) EXPECT_EQ(found[i], found[i + 1]);
    }
  });
  for (int64_t step = 0; step < 400; ++step) ASSERT_TRUE(update(step * 25, step).ok());
  while (table->Numbers().lookups == 0) {
  }
  stop = true;
  lookups.Join();
  table->Evict();
  const TableNumbers numbers = table->Numbers();
  EXPECT_LE(numbers.rows, 800);
  EXPECT_EQ(numbers.rows, *table->NumRows());
  EXPECT_EQ(numbers.admissions - numbers.evictions, numbers.rows);
  EXPECT_GE(numbers.admissions, 400 * 25);
  EXPECT_GT(numbers.lookups, 0);
  EXPECT_LE(numbers.hits, numbers.lookups);
}

TEST(EvictionInBackgroundTest, APoolWithoutThreadsEvictsAtOnce) {
  ThreadPool pool("pool", 0);
  const auto table = MakeRef<EmbeddingTable>("emb", kDim);
  const auto description = std::make_shared<const RowsDescription>(
      RowsDescription{.whole = "emb", .rows = std::make_shared<ZeroRows>(), .evict = {.steps_to_live = 5}});
  ASSERT_TRUE(table->Describe(description).ok());
  ASSERT_TRUE(table->Initialize(0, {.rows = description}).ok());
  const int columns[] = {0};
  const auto update = [&](std::vector<int64_t> keys, int64_t step) {
    return table->Update(pool, columns, keys, {}, step, 10, [](std::span<const VisitedRow>) {});
  };
  ASSERT_TRUE(update({1}, 1).ok());
  ASSERT_TRUE(update({2}, 999).ok());
  EXPECT_EQ(*table->NumRows(), 2) << "an eviction begins every 1,000 steps";
  ASSERT_TRUE(update({3}, 1000).ok());
  EXPECT_EQ(*table->NumRows(), 2);
  EXPECT_EQ(table->Numbers().evictions, 1);
  ASSERT_TRUE(update({4}, 1900).ok());
  EXPECT_EQ(*table->NumRows(), 3);
  table->Evict();
  EXPECT_EQ(*table->NumRows(), 1);
}

}  // namespace
}  // namespace tensorbraid
