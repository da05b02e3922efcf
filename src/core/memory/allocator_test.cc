#include "core/memory/allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/testing/memory_limit.h"
#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

TEST(AllocatorTest, CachedBlocksAreFreedWhenAnAllocationNeedsThem) {
  const MemoryLimit limit(int64_t{64} << 20);
  AllocateBuffer(40 << 20);  // and frees it at once
  EXPECT_GE(GetAllocatorStats().bytes_cached, 40 << 20);
  const RefPtr<Buffer> other = AllocateBuffer(50 << 20);
  EXPECT_TRUE(other);
  EXPECT_LE(GetAllocatorStats().bytes_cached, 512 << 10);  // small blocks of this thread
  EXPECT_FALSE(AllocateBuffer(40 << 20));
}

TEST(AllocatorTest, AThreadThatOnlyFreesGivesBlocksToOthers) {
  const AllocatorStats before = GetAllocatorStats();
  for (const size_t size : {1, 1000, 60'000}) {
    constexpr int kBlocks = 500;
    std::vector<RefPtr<Buffer>> blocks;
    for (int i = 0; i < kBlocks; ++i) blocks.push_back(AllocateBuffer(size));
    const int64_t with_blocks = GetAllocatorStats().bytes_in_use;
    EXPECT_GE(with_blocks - before.bytes_in_use, static_cast<int64_t>(kBlocks * size));
    const int64_t cached = GetAllocatorStats().bytes_cached;
    Thread("frees", [&] { blocks.clear(); }).Join();
    EXPECT_EQ(GetAllocatorStats().bytes_in_use, before.bytes_in_use);
    EXPECT_EQ(GetAllocatorStats().bytes_cached - cached, with_blocks - before.bytes_in_use);
    // The thread is gone, and all its blocks are used again.
    const int64_t all_cached = GetAllocatorStats().bytes_cached;
    for (int i = 0; i < kBlocks; ++i) blocks.push_back(AllocateBuffer(size));
    EXPECT_EQ(GetAllocatorStats().bytes_cached, all_cached - (with_blocks - before.bytes_in_use));
  }
}

TEST(AllocatorTest, ThreadsThatUseManySizesAtOnceKeepLittle) {
  const AllocatorStats before = GetAllocatorStats();
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("allocates", [t] {
      std::mt19937 random(t);
      std::vector<RefPtr<Buffer>> blocks;
      for (int i = 0; i < 200; ++i) blocks.push_back(AllocateBuffer(1));
      for (int i = 0; i < 20'000; ++i) {
        const size_t size = 1 + random() % 70'000;
        auto& block = blocks[random() % blocks.size()];
        block = AllocateBuffer(size);
        auto* bytes = static_cast<char*>(block->data());
        bytes[0] = bytes[size - 1] = static_cast<char>(t);
        const auto& other = blocks[random() % blocks.size()];
        ASSERT_TRUE(other->size() == 1 || static_cast<char*>(other->data())[other->size() - 1] == t);
      }
    });
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(GetAllocatorStats().bytes_in_use, before.bytes_in_use);
}

}  // namespace
}  // namespace tensorbraid
