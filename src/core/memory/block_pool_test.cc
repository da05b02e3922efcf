#include "core/memory/block_pool.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "core/memory/allocator.h"
#include "core/testing/memory_limit.h"

namespace tensorbraid {
namespace {

constexpr size_t kUnit = BlockPool::kUnit;

TEST(BlockPoolTest, BlocksDoNotOverlapAndRegionsAreReturned) {
  BlockPool pool;
  std::mt19937 random(1);
  std::vector<std::pair<char*, size_t>> blocks;
  for (int turn = 0; turn < 3000; ++turn) {
    if (blocks.empty() || random() % 3 != 0) {
      const size_t size = kUnit * (1 + random() % (turn % 100 == 0 ? 600 : 8));
      auto* const block = static_cast<char*>(pool.Allocate(size));
      ASSERT_NE(block, nullptr);
      for (const auto& [other, other_size] : blocks) {
        ASSERT_TRUE(block + size <= other || other + other_size <= block) << turn;
      }
      block[0] = block[size - 1] = static_cast<char>(blocks.size());
      blocks.emplace_back(block, size);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      pool.Free(blocks.back().first, blocks.back().second);
      blocks.pop_back();
    }
  }
  EXPECT_GT(pool.bytes(), 0u);
  for (const auto& [block, size] : blocks) pool.Free(block, size);
  EXPECT_EQ(pool.bytes(), 0u);
}

TEST(BlockPoolTest, BlocksCountForTheLimitOfTheAllocator) {
  BlockPool pool;
  const int64_t before = GetAllocatorStats().bytes_in_use;
  void* const block = pool.Allocate(3 * kUnit);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before + 3 * static_cast<int64_t>(kUnit));
  pool.Free(block, 3 * kUnit);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
  const MemoryLimit limit(2 * kUnit);
  EXPECT_EQ(pool.Allocate(3 * kUnit), nullptr);
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before);
}

}  // namespace
}  // namespace tensorbraid
