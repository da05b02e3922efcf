#include "runtime/tables/table_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

// Number i of a key's row is key + i, rounded to float32.
class KeyRows final : public FirstRows {
 public:
  void Fill(int64_t key, std::span<float> row) const override {
    for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(key) + static_cast<float>(i);
  }
};
const KeyRows kKeyRows;

std::vector<int64_t> Range(int64_t begin, int64_t end, int64_t step = 1) {
  std::vector<int64_t> keys;
  for (int64_t key = begin; key < end; key += step) keys.push_back(key);
  return keys;
}

// Adds `delta` to the numbers of column 0 of all keys.
Status Add(TableRows& rows, ThreadPool& pool, std::span<const int64_t> keys, float delta,
           std::span<const float> initial = std::array<float, 1>{}) {
  const int columns[] = {0};
  return rows.VisitKeys(pool,
                        {.keys = keys,
                         .columns = columns,
                         .absent = TableRows::Absent::kAdd,
                         .rows = &kKeyRows,
                         .initial = initial,
                         .cost_ns = 1000,
                         .write = true},
                        [&](std::span<const VisitedRow> visited) {
                          for (const VisitedRow& row : visited) {
                            for (int64_t i = 0; i < rows.dim(); ++i) row.numbers[0][i] += delta;
                          }
                        });
}

// The first number of each key in a column, or -1e9 for keys without a row.
std::vector<float> Read(TableRows& rows, ThreadPool& pool, std::span<const int64_t> keys, int column = 0) {
  std::vector<float> values(keys.size());
  const int columns[] = {column};
  EXPECT_TRUE(rows.VisitKeys(pool, {.keys = keys, .columns = columns},
                             [&](std::span<const VisitedRow> visited) {
                               for (const VisitedRow& row : visited) {
                                 values[row.number] = row.info == nullptr ? -1e9f : row.numbers[0][0];
                               }
                             })
                  .ok());
  return values;
}

TEST(RowIndexTest, AnInsertionMovesFewEntriesAndAllAreFound) {
  for (const uint32_t base : {1, 5, 16}) {
    RowArena arena;
    RowIndex index(base);
    RowIndex::Progress progress;
    std::vector<int64_t> keys;
    const auto hash_of = [&](uint32_t row) { return KeyHash(keys[row]); };
    const auto find = [&](int64_t key) {
      return index.Find(KeyHash(key), [&](uint32_t row) { return keys[row] == key; });
    };
    for (uint32_t row = 0; row < 100'000; ++row) {
      const int64_t key = int64_t{row} * 1000 - 7;
      EXPECT_EQ(find(key), RowIndex::kNone);
      keys.push_back(key);
      ASSERT_TRUE(index.Insert(KeyHash(key), row, arena, hash_of, progress));
      const uint32_t earlier = row / 3;  // also while entries are being moved
      ASSERT_EQ(find(keys[earlier]), earlier);
    }
    for (uint32_t row = 0; row < keys.size(); ++row) ASSERT_EQ(find(keys[row]), row);
    EXPECT_EQ(progress.rows, 100'000u);
    EXPECT_GT(progress.most_moved, 0u);
    EXPECT_LE(progress.most_moved, RowIndex::kMostMoves);
  }
}

TEST(RowIndexTest, RowsOfEqualHashesAreToldApart) {
  for (const uint64_t hash : {uint64_t{5}, uint64_t{1} << 60 | 5}) {
    RowArena arena;
    RowIndex index(4);
    RowIndex::Progress progress;
    const auto hash_of = [hash](uint32_t) { return hash; };
    for (uint32_t row = 0; row < 100; ++row) ASSERT_TRUE(index.Insert(hash, row, arena, hash_of, progress));
    for (uint32_t row = 0; row < 100; ++row) {
      EXPECT_EQ(index.Find(hash, [&](uint32_t r) { return r == row; }), row);
    }
    for (uint32_t row = 1; row < 100; row += 2) index.Erase(hash, row, progress);
    for (uint32_t row = 0; row < 100; ++row) {
      EXPECT_EQ(index.Find(hash, [&](uint32_t r) { return r == row; }), row % 2 == 0 ? row : RowIndex::kNone);
    }
  }
}

// Keys come and go, and the numbers of their rows are used again.
TEST(RowIndexTest, ErasedRowsAreNotFound) {
  RowArena arena;
  RowIndex index(6);
  RowIndex::Progress progress;
  std::map<int64_t, uint32_t> rows;
  std::vector<int64_t> keys;  // by row
  std::vector<uint32_t> free;
  const auto hash_of = [&](uint32_t row) { return KeyHash(keys[row]); };
  const auto find = [&](int64_t key) {
    return index.Find(KeyHash(key), [&](uint32_t row) { return keys[row] == key; });
  };
  std::mt19937 random(1);
  for (int turn = 0; turn < 300'000; ++turn) {
    const int64_t key = random() % 20'000;
    const auto it = rows.find(key);
    ASSERT_EQ(find(key), it == rows.end() ? RowIndex::kNone : it->second);
    if (it == rows.end()) {
      uint32_t row = static_cast<uint32_t>(keys.size());
      if (free.empty()) {
        keys.push_back(key);
      } else {
        row = free.back();
        free.pop_back();
        keys[row] = key;
      }
      ASSERT_TRUE(index.Insert(KeyHash(key), row, arena, hash_of, progress));
      rows[key] = row;
    } else if (random() % 2 == 0) {
      index.Erase(KeyHash(key), it->second, progress);
      keys[it->second] = -1;
      free.push_back(it->second);
      rows.erase(it);
    }
    ASSERT_EQ(progress.rows, rows.size());
  }
  for (const auto& [key, row] : rows) ASSERT_EQ(find(key), row);
}

TEST(RowPlaceTest, ChunksFollowEachOther) {
  uint32_t row = 0;
  for (uint32_t chunk = 0; chunk < 12; ++chunk) {
    for (uint32_t offset = 0; offset < RowPlace::RowsIn(chunk); ++offset, ++row) {
      EXPECT_EQ(RowPlace(row).chunk, chunk) << row;
      EXPECT_EQ(RowPlace(row).offset, offset) << row;
    }
  }
}

TEST(TableRowsTest, EveryNumberIsAKey) {
  ThreadPool pool("pool", 2);
  TableRows rows(2, 0, 1);
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> keys = {kMin, kMin + 1, -1001, -1000, -999, -2, -1, 0, 1, 999, 1000, kMax - 1, kMax};
  EXPECT_EQ(Read(rows, pool, keys), std::vector<float>(keys.size(), -1e9f));
  EXPECT_EQ(rows.NumRows(), 0);  // a visit that adds nothing leaves no trace
  ASSERT_TRUE(Add(rows, pool, keys, 0).ok());
  EXPECT_EQ(rows.NumRows(), static_cast<int64_t>(keys.size()));
  std::vector<float> expected;
  for (const int64_t key : keys) expected.push_back(static_cast<float>(key));
  EXPECT_EQ(Read(rows, pool, keys), expected);
  EXPECT_EQ(TableRows::ResidueOf(-1), 999);
  EXPECT_EQ(TableRows::ResidueOf(-1000), 0);
  EXPECT_EQ(TableRows::ResidueOf(kMin), 192);  // -9223372036854775808 = -9223372036854776 * 1000 + 192
}

TEST(TableRowsTest, NoUpdateIsLostWhileThreadsAddRows) {
  ThreadPool pool("pool", 2);
  TableRows rows(3, 0, 1);
  constexpr int kThreads = 4, kTurns = 20;
  const std::vector<int64_t> keys = Range(-3000, 3000, 1);
  {
    std::vector<Thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back("updates", [&, t] {
        for (int turn = 0; turn < kTurns; ++turn) {
          // Each thread has the keys in another order, and grows the table a little in each turn.
          std::vector<int64_t> some(keys.begin(),
                                    keys.begin() + static_cast<int64_t>(keys.size()) * (turn + 1) / kTurns);
          std::rotate(some.begin(), some.begin() + t * static_cast<int64_t>(some.size()) / kThreads, some.end());
          EXPECT_TRUE(Add(rows, pool, some, 1).ok());
          Read(rows, pool, some);
        }
      });
    }
    for (Thread& thread : threads) thread.Join();
  }
  EXPECT_EQ(rows.NumRows(), static_cast<int64_t>(keys.size()));
  const std::vector<float> values = Read(rows, pool, keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto first_turn = static_cast<int64_t>(i * kTurns / keys.size());  // in which the key occurs
    EXPECT_EQ(values[i], static_cast<float>(keys[i] + kThreads * (kTurns - first_turn))) << keys[i];
  }
}

TEST(TableRowsTest, ARepeatedKeyIsVisitedRepeatedlyAndInOrder) {
  ThreadPool pool("pool", 2);
  TableRows rows(1, 0, 1);
  std::vector<int64_t> keys;
  for (int i = 0; i < 500; ++i) keys.push_back(i % 3 * 1000);  // of one small table
  std::map<int64_t, std::vector<size_t>> numbers;
  const int columns[] = {0};
  ASSERT_TRUE(rows.VisitKeys(pool,
                             {.keys = keys,
                              .columns = columns,
                              .absent = TableRows::Absent::kAdd,
                              .rows = &kKeyRows,
                              .initial = std::array<float, 1>{}},
                             [&](std::span<const VisitedRow> visited) {
                               for (const VisitedRow& row : visited) numbers[row.info->key].push_back(row.number);
                             })
                  .ok());
  EXPECT_EQ(rows.NumRows(), 3);
  for (const auto& [key, of_key] : numbers) {
    EXPECT_TRUE(std::is_sorted(of_key.begin(), of_key.end()));
    EXPECT_GE(of_key.size(), 166u);
  }
}

TEST(TableRowsTest, AColumnThatIsAddedLaterHasItsNumberInAllRows) {
  ThreadPool pool("pool", 2);
  TableRows rows(2, 0, 1);
  const std::vector<int64_t> before = Range(0, 5000), after = Range(5000, 9000);
  ASSERT_TRUE(Add(rows, pool, before, 1).ok());
  const std::array<float, 2> initial = {0, 0.5f};
  ASSERT_TRUE(rows.FillColumn(1, initial).ok());
  ASSERT_TRUE(Add(rows, pool, after, 1, initial).ok());
  EXPECT_EQ(Read(rows, pool, before, 1), std::vector<float>(before.size(), 0.5f));
  EXPECT_EQ(Read(rows, pool, after, 1), std::vector<float>(after.size(), 0.5f));
  EXPECT_EQ(Read(rows, pool, before)[7], 8.0f);  // the other column keeps its values
}

TEST(TableRowsTest, APartRefusesKeysOfOtherParts) {
  ThreadPool pool("pool", 2);
  TableRows rows(1, 1, 3);
  ASSERT_TRUE(Add(rows, pool, std::vector<int64_t>{1, 4, 1000 * 7 + 1, -1000 * 5 + 4, -1 - 998}, 1).ok());
  EXPECT_EQ(rows.NumRows(), 5);
  const Status refused = Add(rows, pool, std::vector<int64_t>{4, -1, 1}, 1);  // -1 is in small table 999, of part 0
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message().substr(0, 71), "key -1 belongs to part 0 of 3 of the table, but was sent to part 1: a k");
  EXPECT_EQ(Read(rows, pool, std::vector<int64_t>{1})[0], 2.0f);  // the refused keys changed nothing
}

// Column 1 is made with the rows, and columns 2 and 3 when there are rows.
TEST(TableRowsTest, ColumnsHaveWidthsOfTheirOwn) {
  ThreadPool pool("pool", 0);
  TableRows rows(3, 0, 1);
  rows.SetWidth(1, 1);
  EXPECT_EQ(rows.width(1), 1);
  EXPECT_EQ(rows.width(2), 3);
  const std::vector<int64_t> keys = Range(0, 20'000, 1000);  // one small table
  ASSERT_TRUE(Add(rows, pool, keys, 0, std::array{0.0f, 5.0f}).ok());
  EXPECT_EQ(rows.Memory().numbers, 20 * 4 * 4);
  rows.SetWidth(2, 1);
  ASSERT_TRUE(Add(rows, pool, Range(0, 40'000, 1000), 0, std::array{0.0f, 5.0f, 6.0f, 7.0f}).ok());
  EXPECT_EQ(rows.Memory().numbers, 40 * 8 * 4);
  const int columns[] = {0, 1, 2, 3};
  const std::vector<int64_t> all = Range(0, 40'000, 1000);
  const auto visit = [&](const TableRows::Apply& apply) {
    EXPECT_TRUE(rows.VisitKeys(pool, {.keys = all, .columns = columns}, apply).ok());
  };
  visit([&](std::span<const VisitedRow> visited) {
    for (const VisitedRow& row : visited) {
      EXPECT_EQ(row.numbers[1][0], 5.0f);
      EXPECT_EQ(row.numbers[2][0], 6.0f);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(row.numbers[3][i], 7.0f);
      // No two columns of any rows share a number.
      const auto key = static_cast<float>(all[row.number]);
      row.numbers[1][0] = key + 1;
      row.numbers[2][0] = key + 2;
      for (int i = 0; i < 3; ++i) row.numbers[3][i] = key + 3;
    }
  });
  visit([&](std::span<const VisitedRow> visited) {
    for (const VisitedRow& row : visited) {
      const auto key = static_cast<float>(all[row.number]);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(row.numbers[0][i], key + static_cast<float>(i));
      EXPECT_EQ(row.numbers[1][0], key + 1);
      EXPECT_EQ(row.numbers[2][0], key + 2);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(row.numbers[3][i], key + 3);
    }
  });
}

TEST(TableRowsTest, RowsKeepTheirPlaceWhenTheTableGrows) {
  ThreadPool pool("pool", 2);
  TableRows rows(4, 0, 1);
  const std::vector<int64_t> keys = Range(0, 100);
  const int columns[] = {0};
  const auto places = [&] {
    std::vector<const float*> result(keys.size());
    EXPECT_TRUE(rows.VisitKeys(pool, {.keys = keys, .columns = columns},
                               [&](std::span<const VisitedRow> visited) {
                                 for (const VisitedRow& row : visited) result[row.number] = row.numbers[0];
                               })
                    .ok());
    return result;
  };
  ASSERT_TRUE(Add(rows, pool, keys, 1).ok());
  const auto before = places();
  ASSERT_TRUE(Add(rows, pool, Range(0, 100'000, 1), 1).ok());
  EXPECT_EQ(places(), before);
}

// All keys of the second table are in one small table, which is the worst case for its index.
TEST(TableRowsTest, MemoryAndMovesAreBounded) {
  ThreadPool pool("pool", 2);
  for (const int64_t step : {1, 1000}) {
    TableRows rows(2, 0, 1);
    const int64_t kRows = step == 1 ? 2'500'000 : 500'000;
    const int64_t kBatch = kRows / 50;
    int64_t most_beside = 0;
    for (int64_t begin = 0; begin < kRows; begin += kBatch) {
      ASSERT_TRUE(Add(rows, pool, Range(begin * step, (begin + kBatch) * step, step), 0).ok());
      const TableMemory memory = rows.Memory();
      EXPECT_EQ(memory.rows, begin + kBatch);
      EXPECT_EQ(memory.numbers, memory.rows * 8);
      if (memory.rows >= kRows * 4 / 5) most_beside = std::max(most_beside, memory.beside * 100 / memory.rows);
    }
    const TableMemory memory = rows.Memory();
    // While an index grows, it has two arrays.
    EXPECT_LE(most_beside, step == 1 ? 2400 : 3200) << "hundredths of a byte per row";
    EXPECT_LE(memory.unused * 4, memory.numbers);
    EXPECT_LE(memory.most_moved, RowIndex::kMostMoves);
    EXPECT_LE(memory.most_moved, kRows / 500);
  }
}

TEST(TableRowsTest, EachSmallTableIsCopiedAtOneMoment) {
  ThreadPool pool("pool", 2);
  TableRows rows(2, 1, 2);  // odd keys
  const std::vector<int64_t> keys = Range(1, 20'001, 2);
  ASSERT_TRUE(Add(rows, pool, keys, 0).ok());
  std::atomic<bool> stop{false};
  Thread updates("updates", [&] {
    // The second number of a row stays greater than the first by 1, unless a copy is made between the two changes.
    for (int64_t more = 20'001; !stop; more += 2) {
      EXPECT_TRUE(Add(rows, pool, keys, 1).ok());
      EXPECT_TRUE(Add(rows, pool, std::vector<int64_t>{more}, 1).ok());
    }
  });
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<float> numbers;
    std::vector<int64_t> copied;
    std::set<int> residues;
    Mutex mu;
    const Status status = rows.ForEachSmallTable(
        pool, std::array<float, 1>{}, [&](int residue, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
          MutexLock lock(mu);
          small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
            copied.push_back(small.info(row).key);
            EXPECT_EQ(TableRows::ResidueOf(copied.back()), residue);
            numbers.insert(numbers.end(), small.numbers(0, row), small.numbers(0, row) + 2);
          });
          residues.insert(residue);
        });
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(residues.size(), 500u);
    EXPECT_GE(copied.size(), keys.size());
    EXPECT_EQ(std::set<int64_t>(copied.begin(), copied.end()).size(), copied.size());
    for (size_t i = 0; i < copied.size(); ++i) EXPECT_EQ(numbers[2 * i] + 1, numbers[2 * i + 1]);
  }
  stop = true;
  updates.Join();
}

// Updates use what lookups of the same keys have found. Rows are made and erased in between, so that places get other
// rows.
TEST(TableRowsTest, AnUpdateIsRightWhateverHasHappenedSinceItsLookup) {
  ThreadPool pool("pool", 2);
  TableRows rows(2, 0, 1);
  std::map<int64_t, float> expected;  // the first number of each row
  std::mt19937_64 random(7);
  const auto some_keys = [&] {
    std::vector<int64_t> keys(300);
    for (int64_t& key : keys) key = static_cast<int64_t>(random() % 50) * 1000 + static_cast<int64_t>(random() % 40);
    return keys;
  };
  const auto update = [&](const std::vector<int64_t>& keys) {
    ASSERT_TRUE(Add(rows, pool, keys, 1).ok());
    for (const int64_t key : keys) expected.try_emplace(key, static_cast<float>(key)).first->second += 1;
  };
  const auto look_up = [&](const std::vector<int64_t>& keys) {
    std::vector<float> values(keys.size(), -1e9f), wanted;
    const int columns[] = {0};
    ASSERT_TRUE(rows.VisitKeys(pool, {.keys = keys, .columns = columns, .cost_ns = 1000, .before_update = true},
                               [&](std::span<const VisitedRow> visited) {
                                 for (const VisitedRow& row : visited) {
                                   if (row.info != nullptr) values[row.number] = row.numbers[0][0];
                                 }
                               })
                    .ok());
    for (const int64_t key : keys) wanted.push_back(expected.contains(key) ? expected.at(key) : -1e9f);
    ASSERT_EQ(values, wanted);
  };
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::vector<int64_t>> batches;
    for (uint64_t n = random() % 4; n < 4; ++n) {
      batches.push_back(some_keys());
      look_up(batches.back());
    }
    if (random() % 2 == 0) update(some_keys());
    if (random() % 2 == 0) {
      const Status erased = rows.ForEachInOrder(
          std::array<float, 1>{},
          [&](int, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
            small.ForEachRow([&](uint32_t row) TB_NO_THREAD_SAFETY_ANALYSIS {
              if (random() % 2 == 0) return;
              expected.erase(small.info(row).key);
              small.Erase(row);
              rows.CountErased(1);
            });
          },
          [] { return OkStatus(); });
      ASSERT_TRUE(erased.ok());
    }
    std::ranges::shuffle(batches, random);
    for (const auto& keys : batches) update(keys);
    ASSERT_EQ(rows.NumRows(), static_cast<int64_t>(expected.size()));
  }
}

// An update does not read the small tables of rows that a lookup has found, unless their changes are recorded, or a
// column has pieces of its own there.
TEST(TableRowsTest, AnUpdateRecordsChangesAndFindsLaterColumnsOfRowsThatALookupHasFound) {
  ThreadPool pool("pool", 0);
  TableRows rows(2, 0, 1);
  const std::vector<int64_t> keys = Range(0, 200);
  ASSERT_TRUE(Add(rows, pool, keys, 0).ok());
  const auto look_up = [&] {
    const int columns[] = {0};
    ASSERT_TRUE(
        rows.VisitKeys(pool, {.keys = keys, .columns = columns, .before_update = true}, [](const auto&) {}).ok());
  };
  const int columns[] = {0, 1};
  const float initial[] = {0, 0.5f};
  const auto update = [&] {
    const Status status = rows.VisitKeys(pool,
                                         {.keys = keys,
                                          .columns = columns,
                                          .absent = TableRows::Absent::kAdd,
                                          .rows = &kKeyRows,
                                          .initial = initial,
                                          .write = true},
                                         [](std::span<const VisitedRow> visited) {
                                           for (const VisitedRow& row : visited) row.numbers[1][0] += 1;
                                         });
    ASSERT_TRUE(status.ok()) << status;
  };
  look_up();
  update();
  EXPECT_EQ(Read(rows, pool, keys), std::vector<float>(keys.begin(), keys.end()));
  EXPECT_EQ(Read(rows, pool, keys, 1), std::vector<float>(keys.size(), 1.5f));
  look_up();
  rows.RecordChanges(1);
  update();
  EXPECT_EQ(Read(rows, pool, keys, 1), std::vector<float>(keys.size(), 2.5f));
  size_t changed = 0;
  const auto count = [&](int, SmallTable& small) TB_NO_THREAD_SAFETY_ANALYSIS {
    ASSERT_TRUE(small.changes->TakeSince(1, 2));
    small.changes->ForEachTaken([&](uint32_t) { ++changed; });
  };
  ASSERT_TRUE(rows.ForEachInOrder(initial, count, [] { return OkStatus(); }).ok());
  EXPECT_EQ(changed, keys.size());
}

TEST(RecentLookupsTest, ReportsAreTakenOnceAndEvaluationsSeldomReport) {
  RecentLookups lookups;
  EXPECT_FALSE(lookups.Wants(10));
  EXPECT_FALSE(lookups.Wants(1 << 20));
  const auto report = [&](int64_t first) {
    auto found = std::make_unique<FoundRows>();
    found->keys = {first, 2, 3};
    lookups.Report(std::move(found));
  };
  const auto take = [&](int64_t first) { return lookups.Take(std::vector<int64_t>{first, 2, 3}); };
  for (int64_t first = 1; first <= 5; ++first) report(first);
  EXPECT_EQ(take(1), nullptr);  // four are kept
  ASSERT_NE(take(2), nullptr);
  EXPECT_EQ(take(2), nullptr);
  EXPECT_EQ(lookups.Take(std::vector<int64_t>{3, 2}), nullptr);
  int wanted = 0;
  for (int i = 0; i < 1600; ++i) wanted += lookups.Wants(1000) ? 1 : 0;
  EXPECT_GE(wanted, 100);
  EXPECT_LE(wanted, 200);
  EXPECT_NE(take(5), nullptr);
  EXPECT_TRUE(lookups.Wants(1000));
}

}  // namespace
}  // namespace tensorbraid
