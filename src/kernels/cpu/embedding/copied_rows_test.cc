#include "kernels/cpu/embedding/copied_rows.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <set>
#include <vector>

#include "core/threads/thread.h"
#include "core/threads/thread_pool.h"

namespace tensorbraid::cpu {
namespace {

constexpr std::array kColumns = {0};

class ZeroRows final : public FirstRows {
 public:
  void Fill(int64_t, std::span<float> row) const override { std::ranges::fill(row, 0.0f); }
};

// A table whose keys are all in one small table.
class RowCopierTest : public testing::Test {
 protected:
  static int64_t KeyOf(int i) { return int64_t{i} * kSmallTables; }

  void SetUp() override {
    const auto rows = std::make_shared<const RowsDescription>(
        RowsDescription{.whole = "emb", .part = 0, .parts = 1, .rows = std::make_shared<ZeroRows>()});
    ASSERT_TRUE(table_->Describe(rows).ok());
    ASSERT_TRUE(table_->Initialize(0, {.rows = rows}).ok());
  }
  void Make(int keys) {
    std::vector<int64_t> all;
    for (int i = 0; i < keys; ++i) all.push_back(KeyOf(i));
    const auto set = [](std::span<const VisitedRow> rows) {
      for (const VisitedRow& row : rows) row.numbers[0][0] = row.numbers[0][1] = static_cast<float>(row.info->key);
    };
    ASSERT_TRUE(table_->Update(pool_, kColumns, all, {}, 1, 10, set).ok());
  }
  // Calls visit(small) with the small table, whose lock is held.
  template <typename Visit>
  void VisitSmall(const Visit& visit) {
    const auto copy = [&](int residue, SmallTable& small, const KeyCounts*) {
      if (residue == 0) visit(small);
    };
    ASSERT_TRUE(table_->ExportInOrder(kColumns, copy, OkStatus).ok());
  }

  ThreadPool pool_{"pool", 2};
  RefPtr<EmbeddingTable> table_ = MakeRef<EmbeddingTable>("emb", 2);
};

TEST_F(RowCopierTest, ARowIsCopiedOnceWhileOthersComeAndGo) {
  constexpr int kStay = 2000, kChange = 300;
  Make(kStay);
  const RowCopier copier(*table_, kColumns);
  std::atomic<bool> ends{false};
  std::atomic<int64_t> changes{0};
  SmallTable* table = nullptr;
  VisitSmall([&](SmallTable& small) { table = &small; });
  // Erases rows and makes them again. A key may get the place of another one, also one that is copied next.
  Thread steps("steps", [&] {
    std::mt19937 random(1);
    while (!ends) {
      const int64_t key = KeyOf(kStay + static_cast<int>(random() % kChange));
      BriefLockHolder lock(table->mu);
      const uint32_t row = table->Find(key, KeyHash(key));
      if (row != RowIndex::kNone) {
        table->Erase(row);
      } else {
        const uint32_t made = table->Add(key, KeyHash(key), nullptr, {});
        table->numbers(0, made)[0] = table->numbers(0, made)[1] = static_cast<float>(key);
        table->info(made).version = 2;
      }
      ++changes;
    }
  });
  CopiedRows copied;
  for (int turn = 0; turn < 80 || changes < 1000; ++turn) {
    VisitSmall([&](SmallTable& small) { copier.CopyAll(0, small, nullptr, {.save = 1}, &copied); });
    const std::set<int64_t> keys(copied.keys.begin(), copied.keys.end());
    ASSERT_EQ(keys.size(), copied.keys.size());
    for (int i = 0; i < kStay; ++i) ASSERT_TRUE(keys.contains(KeyOf(i))) << i;
    for (size_t i = 0; i < copied.keys.size(); ++i) {
      ASSERT_EQ(copied.numbers[0][2 * i + 1], static_cast<float>(copied.keys[i]));
      ASSERT_EQ(copied.versions[i], copied.keys[i] < KeyOf(kStay) ? 1 : 2);
    }
  }
  ends = true;
  steps.Join();
}

TEST_F(RowCopierTest, RowsThatAreMadeMeanwhileAreThoseOfTheNextIncrement) {
  constexpr int kFirst = 1000;
  Make(kFirst);
  const RowCopier copier(*table_, kColumns);
  std::atomic<bool> ends{false};
  std::atomic<int> made{kFirst};
  SmallTable* table = nullptr;
  VisitSmall([&](SmallTable& small) { table = &small; });
  Thread steps("steps", [&] {
    while (!ends && made < 100'000) {
      BriefLockHolder lock(table->mu);
      const int64_t key = KeyOf(made);
      const uint32_t row = table->Add(key, KeyHash(key), nullptr, {});
      if (table->changes != nullptr) table->changes->Changed(row);
      ++made;
    }
  });
  CopiedRows full, increment;
  uint64_t save = 0;
  for (int turn = 0; turn < 25; ++turn) {
    VisitSmall(
        [&](SmallTable& small) { copier.CopyAll(0, small, nullptr, {.save = save + 1, .predecessor = save}, &full); });
    VisitSmall([&](SmallTable& small) {
      EXPECT_TRUE(copier.CopyChanges(0, small, nullptr, {.save = save + 2, .predecessor = save + 1}, &increment));
    });
    save += 2;
    std::set<int64_t> keys(full.keys.begin(), full.keys.end());
    keys.insert(increment.keys.begin(), increment.keys.end());
    // All keys up to the last one.
    ASSERT_EQ(*keys.rbegin(), KeyOf(static_cast<int>(keys.size()) - 1));
  }
  ends = true;
  steps.Join();
}

}  // namespace
}  // namespace tensorbraid::cpu
