#include "runtime/tables/bloom_counts.h"

#include <gtest/gtest.h>

#include "runtime/tables/table_rows.h"

namespace tensorbraid {
namespace {

TEST(BloomShapeTest, FollowsFromKeysErrorAndHighestCount) {
  EXPECT_EQ(BloomShape::For(1000, 0.01, 3).bits, 2);
  EXPECT_EQ(BloomShape::For(1000, 0.01, 4).bits, 3);
  EXPECT_EQ(BloomShape::For(1000, 0.01, int64_t{1} << 40).bits, 32);
  EXPECT_EQ(BloomShape::For(1000, 0.01, 3).hashes, 7);
  // 9.585 counters for a key, 256 in a block, are 40,203 blocks. Some more make up for what blocks cost.
  const int64_t blocks = BloomShape::For(int64_t{1} << 30, 0.01, 3).blocks;
  EXPECT_GE(blocks, 40'203);
  EXPECT_LE(blocks, 40'203 * 5 / 4);
  EXPECT_EQ(BloomShape::For(1, 0.9, 1).blocks, 1);
}

TEST(BloomCountsTest, CountsAreAtMostRarelyTooHigh) {
  constexpr int64_t kKeys = 200'000;
  for (const int64_t most : {1, 3, 5, 200}) {
    const auto counts = BloomCounts::Make(BloomShape::For(kKeys, 0.01, most), most);
    ASSERT_NE(counts, nullptr);
    EXPECT_EQ(counts->CountOf(5), 0);
    const auto occurrences = [](int64_t key) { return 1 + key % 4; };
    for (int64_t key = 0; key < kKeys; ++key) counts->Add(key * 7'919 - 13, occurrences(key));
    int64_t too_high = 0;
    for (int64_t key = 0; key < kKeys; ++key) {
      const int64_t count = counts->CountOf(key * 7'919 - 13), expected = std::min(most, occurrences(key));
      ASSERT_GE(count, expected);
      ASSERT_LE(count, most);
      too_high += count > expected;
    }
    EXPECT_LE(too_high, kKeys / 100) << most;
    int64_t strangers = 0;
    for (int64_t key = 0; key < kKeys; ++key) strangers += counts->CountOf(key * 7'919 + 1'000'000'007'000) > 0;
    EXPECT_LE(strangers, kKeys / 100) << most;
  }
}

TEST(BloomCountsTest, UntouchedPagesTakeNoMemory) {
  // 3 GB of addresses.
  const auto counts = BloomCounts::Make(BloomShape::For(int64_t{1} << 30, 0.01, 3), 3);
  ASSERT_NE(counts, nullptr);
  const int64_t before = counts->bytes();
  for (int64_t key = 0; key < 100; ++key) counts->Add(key * 1'000'003, 2);
  EXPECT_LE(counts->bytes() - before, 100 * 4096);
  EXPECT_EQ(counts->CountOf(1'000'003), 2);
}

TEST(BloomCountsTest, BlocksMakeAnEqualFilter) {
  const BloomShape shape = BloomShape::For(5'000, 0.01, 5);
  const auto counts = BloomCounts::Make(shape, 5), other = BloomCounts::Make(shape, 5);
  for (int64_t key = -2'000; key < 2'000; ++key) counts->Add(key * 31, 1 + (key & 3));
  counts->RaiseTo(77'777, 4);
  other->Add(31, 5);
  for (int residue = 0; residue < kSmallTables; ++residue) {
    counts->ForEachBlock(residue, [&](int64_t block, const BloomCounts::Block& counters) {
      ASSERT_LT(block, shape.blocks);
      other->RaiseBlock(residue, block, counters);
    });
  }
  for (int64_t key = -2'000; key < 2'000; ++key) {
    ASSERT_GE(other->CountOf(key * 31), counts->CountOf(key * 31));
  }
  EXPECT_EQ(other->CountOf(31), 5);
  EXPECT_GE(other->CountOf(77'777), 4);
}

}  // namespace
}  // namespace tensorbraid
