#include "runtime/tables/embedding_table.h"

#include <gmock/gmock.h>

#include "core/system/env_testutil.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ConstantRows final : public FirstRows {
 public:
  explicit ConstantRows(float value) : value_(value) {}
  void Fill(int64_t, std::span<float> row) const override { std::fill(row.begin(), row.end(), value_); }

 private:
  const float value_;
};

RowsDescription Constants(float value, int part = 0, int parts = 1) {
  return {.whole = "t",
          .part = part,
          .parts = parts,
          .rows = std::make_shared<ConstantRows>(value),
          .first = {.distribution = StrCat("constant(", value, ")")}};
}

ColumnDescription Said(RowsDescription rows) {
  return {.rows = std::make_shared<const RowsDescription>(std::move(rows))};
}

class EmbeddingTableTest : public testing::Test {
 protected:
  // Describes and initializes the table.
  Status Begin(const ColumnDescription& as) {
    TF_RETURN_IF_ERROR(table_->Describe(as.rows));
    return table_->Initialize(0, as);
  }
  StatusOr<std::vector<float>> Lookup(std::vector<int64_t> keys, int column = 0) {
    std::vector<float> out(keys.size() * 2);
    TF_RETURN_IF_ERROR(table_->Lookup(pool_, column, keys, {}, {}, out.data()));
    return out;
  }
  // Adds `delta` to some rows of a column.
  Status Add(std::vector<int64_t> keys, float delta, int column = 0, int64_t version = 0) {
    const int columns[] = {column};
    return table_->Update(pool_, columns, keys, {}, version, 10, [&](std::span<const VisitedRow> rows) {
      for (const VisitedRow& row : rows) {
        for (int i = 0; i < 2; ++i) row.numbers[0][i] += delta;
      }
    });
  }

  ManualClockEnv clock_;  // outlives the threads that wait for it
  const ScopedEnv installed_{&clock_};
  ThreadPool pool_{"pool", 2};
  RefPtr<EmbeddingTable> table_ = MakeRef<EmbeddingTable>("emb", 2);
};

TEST_F(EmbeddingTableTest, LookupsMakeNoRowsAndUpdatesDo) {
  ASSERT_TRUE(Begin(Said(Constants(3))).ok());
  EXPECT_EQ(*Lookup({5, -5}), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(*table_->NumRows(), 0);
  ASSERT_TRUE(Add({-5}, 1).ok());
  EXPECT_EQ(*Lookup({5, -5}), (std::vector<float>{3, 3, 4, 4}));
  EXPECT_EQ(*table_->NumRows(), 1);
}

TEST_F(EmbeddingTableTest, NumbersTellWhatHasHappened) {
  RowsDescription described = Constants(3);
  described.filter_freq = 2;
  const ColumnDescription said = Said(described);
  ASSERT_TRUE(table_->Describe(said.rows).ok());
  EXPECT_EQ(table_->Numbers().rows, 0);
  ASSERT_TRUE(table_->Initialize(0, said).ok());
  ASSERT_TRUE(Add({1, 2, 3}, 1).ok());
  EXPECT_EQ(table_->Numbers().waiting, 3);
  EXPECT_EQ(table_->Numbers().admissions, 0);
  ASSERT_TRUE(Add({1, 2, 1}, 1).ok());  // a row that occurs twice is made once
  ASSERT_TRUE(Lookup({1, 7, 2, 1, 3}).ok());
  TableNumbers numbers = table_->Numbers();
  EXPECT_EQ(numbers.rows, 2);
  EXPECT_EQ(numbers.admissions, 2);
  EXPECT_EQ(numbers.growth_per_minute, 2);
  EXPECT_EQ(numbers.waiting, 1);
  EXPECT_EQ(numbers.lookups, 5);
  EXPECT_EQ(numbers.hits, 3);
  EXPECT_GE(numbers.bytes, 2 * 2 * 4);

  clock_.Advance(std::chrono::seconds(90));
  EXPECT_EQ(table_->Numbers().growth_per_minute, 0);
  ASSERT_TRUE(table_->Initialize(0, said).ok());
  EXPECT_EQ(table_->Numbers().rows, 0);
  EXPECT_EQ(table_->Numbers().admissions, 2);
}

TEST_F(EmbeddingTableTest, LookupsOfAbsentKeysGiveTheDefaultsOfTheCaller) {
  ASSERT_TRUE(Begin(Said(Constants(3))).ok());
  ASSERT_TRUE(Add({1}, 1).ok());
  const std::vector<int64_t> keys = {0, 1, 2};
  const std::vector<float> rows = {10, 11, 12, 13, 14, 15};
  std::vector<float> out(6);
  ASSERT_TRUE(table_->Lookup(pool_, 0, keys, {}, {.rows = rows.data()}, out.data()).ok());
  EXPECT_EQ(out, (std::vector<float>{10, 11, 4, 4, 14, 15}));
  ASSERT_TRUE(table_->Lookup(pool_, 0, keys, {}, {.rows = rows.data(), .one_for_all = true}, out.data()).ok());
  EXPECT_EQ(out, (std::vector<float>{10, 11, 4, 4, 10, 11}));
}

TEST_F(EmbeddingTableTest, AColumnIsUsedOnlyAfterItWasInitialized) {
  const StatusOr<int> slot = table_->AddColumn("emb/Adagrad", 0.1f);  // before the table is described
  ASSERT_TRUE(slot.ok());
  EXPECT_EQ(*slot, 1);
  EXPECT_EQ(table_->Initialize(0, {}).code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(table_->Initialize(*slot, {.initial = 0.1f}).ok());
  EXPECT_TRUE(table_->is_initialized(*slot));
  EXPECT_FALSE(table_->is_initialized(0));
  EXPECT_EQ(Lookup({1}, *slot).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(table_->NumRows().status().code(), absl::StatusCode::kFailedPrecondition);

  const ColumnDescription said = Said(Constants(3));
  ASSERT_TRUE(table_->Describe(said.rows).ok());
  const Status refused = Lookup({1}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(refused.message().find("uninitialized value emb. "), std::string::npos) << refused;
  ASSERT_TRUE(table_->Initialize(0, said).ok());
  ASSERT_TRUE(Add({1}, 1).ok());
  EXPECT_EQ(*Lookup({1, 2}, *slot), (std::vector<float>{0.1f, 0.1f, 0.1f, 0.1f}));

  const StatusOr<int> second = table_->AddColumn("emb/Momentum", 0);
  ASSERT_TRUE(second.ok());
  const Status named = Add({1}, 1, *second);
  EXPECT_NE(named.message().find("uninitialized value emb/Momentum. "), std::string::npos) << named;
  EXPECT_EQ(*table_->AddColumn("emb/Adagrad", 0.1f), *slot);
}

TEST_F(EmbeddingTableTest, ANewDescriptionCountsFromTheNextInitialization) {
  const ColumnDescription three = Said(Constants(3)), four = Said(Constants(4));
  ASSERT_TRUE(table_->Describe(three.rows).ok());
  const int slot = *table_->AddColumn("slot", 0.5f);
  ASSERT_TRUE(table_->Initialize(0, three).ok());
  ASSERT_TRUE(table_->Initialize(slot, {.initial = 0.5f}).ok());
  ASSERT_TRUE(Add({1}, 1, slot).ok());
  ASSERT_TRUE(table_->Describe(four.rows).ok());
  ASSERT_TRUE(table_->AddColumn("slot", 0.25f).ok());
  EXPECT_EQ(*Lookup({7}), (std::vector<float>{3, 3}));
  EXPECT_EQ(*Lookup({7}, slot), (std::vector<float>{0.5f, 0.5f}));
  ASSERT_TRUE(table_->Initialize(slot, {.initial = 0.25f}).ok());
  EXPECT_EQ(*Lookup({1}, slot), (std::vector<float>{0.25f, 0.25f}));
  EXPECT_EQ(*table_->NumRows(), 1);
  // What another program has described meanwhile does not count.
  ASSERT_TRUE(table_->Describe(three.rows).ok());
  ASSERT_TRUE(table_->Initialize(0, four).ok());
  EXPECT_EQ(*Lookup({1, 7}), (std::vector<float>{4, 4, 4, 4}));
  EXPECT_EQ(*table_->NumRows(), 0);

  const Status other_part = table_->Describe(Said(Constants(4, 0, 2)).rows);
  EXPECT_EQ(other_part.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(other_part.message().find("holds part 0 of 1, and cannot become part 0 of 2"), std::string::npos);
  EXPECT_NE(other_part.message().find("the same partitioner in all programs"), std::string::npos);
}

TEST_F(EmbeddingTableTest, AColumnIsUsedAsItWasInitialized) {
  RowsDescription described = Constants(3);
  described.filter_freq = 2;
  const ColumnDescription said = Said(described), without_filter = Said(Constants(3)), same = Said(described);
  const int columns[] = {0, *table_->AddColumn("slot", 0.5f)};
  const auto check = [&](const ColumnDescription& table, float initial) {
    const ColumnDescription both[] = {table, {.initial = initial}};
    return std::string(table_->CheckDescribed(columns, both, TableUse::kUpdate).message());
  };
  ASSERT_TRUE(table_->Describe(said.rows).ok());
  EXPECT_EQ(check(without_filter, 0.5f), "") << "the table is not initialized";
  ASSERT_TRUE(table_->Initialize(0, said).ok());
  EXPECT_EQ(check(without_filter, 0.5f), "") << "its slot is not initialized";
  ASSERT_TRUE(table_->Initialize(columns[1], {.initial = 0.5f}).ok());
  EXPECT_EQ(check(said, 0.5f), "");
  EXPECT_EQ(check(same, 0.5f), "");
  EXPECT_THAT(check(without_filter, 0.25f),
              StartsWith("growing table 'emb' was initialized or restored with CounterFilter(filter_freq=2), slot "
                         "'slot' that begins with 0.5, but this program describes it with no filter, slot 'slot' that "
                         "begins with 0.25. All programs have to describe a table alike."));
  ASSERT_TRUE(table_->Initialize(0, without_filter).ok());
  EXPECT_EQ(check(without_filter, 0.5f), "");
  EXPECT_THAT(check(said, 0.5f), HasSubstr("with no filter, but this program describes it with CounterFilter"));

  const ColumnDescription restored[] = {said, {.initial = 0.25f}};
  ASSERT_TRUE(
      table_->Replace(columns, restored, [](const auto&, const auto&, TableRows&, KeyCounts*) { return OkStatus(); })
          .ok());
  EXPECT_EQ(check(said, 0.25f), "");
  EXPECT_THAT(check(without_filter, 0.5f), HasSubstr("slot 'slot' that begins with 0.25, but this program"));
}

TEST_F(EmbeddingTableTest, ReplaceKeepsTheEarlierRowsUntilAllNewOnesAreMade) {
  const ColumnDescription said = Said(Constants(3));
  ASSERT_TRUE(table_->Describe(said.rows).ok());
  const int slot = *table_->AddColumn("slot", 0.5f);
  ASSERT_TRUE(table_->Initialize(0, said).ok());
  ASSERT_TRUE(Add({1}, 1).ok());
  const int columns[] = {0, slot};
  const ColumnDescription as[] = {said, {.initial = 0.5f}};
  const std::vector<int64_t> keys = {8, 9};
  const auto fill = [&](const RowsDescription& description, TableRows::Visit visit, TableRows& rows) {
    EXPECT_EQ(description.whole, "t");
    visit.keys = keys;
    const int both[] = {0, slot};
    visit.columns = both;
    return rows.VisitKeys(pool_, visit, [&](std::span<const VisitedRow> visited) {
      for (const VisitedRow& row : visited) {
        row.numbers[0][0] = 7;
        row.numbers[1][1] = 6;
      }
    });
  };
  EXPECT_EQ(table_
                ->Replace(columns, as,
                          [&](const auto& description, const auto& visit, TableRows& rows, KeyCounts*) {
                            EXPECT_TRUE(fill(description, visit, rows).ok());
                            EXPECT_EQ(*Lookup({1}), (std::vector<float>{4, 4}));  // the earlier rows are still there
                            return DataLoss("no");
                          })
                .code(),
            absl::StatusCode::kDataLoss);
  EXPECT_FALSE(table_->is_initialized(slot));
  EXPECT_EQ(*Lookup({1, 8}), (std::vector<float>{4, 4, 3, 3}));

  // A column that is added while rows are made exists in them as well.
  int later = 0;
  ASSERT_TRUE(table_
                  ->Replace(columns, as,
                            [&](const auto& description, const auto& visit, TableRows& rows, KeyCounts*) {
                              later = *table_->AddColumn("later", 2);
                              EXPECT_TRUE(table_->Initialize(later, {.initial = 2}).ok());
                              return fill(description, visit, rows);
                            })
                  .ok());
  EXPECT_EQ(*Lookup({1, 8}), (std::vector<float>{3, 3, 7, 3}));
  EXPECT_EQ(*Lookup({9}, slot), (std::vector<float>{0.5f, 6}));
  EXPECT_EQ(*Lookup({9}, later), (std::vector<float>{2, 2}));
}

TEST_F(EmbeddingTableTest, MoreSlotsThanAVisitCanUseAreRefused) {
  for (size_t i = 1; i < kMostColumns; ++i) ASSERT_TRUE(table_->AddColumn(StrCat("slot", i), 0).ok());
  EXPECT_EQ(table_->AddColumn("more", 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(table_->AddColumn("slot3", 0).ok());
}

}  // namespace
}  // namespace tensorbraid
