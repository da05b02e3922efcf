#include "core/memory/shared_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

Fd CopyOfFd(const SharedSegment& segment) { return Fd(fcntl(segment.fd(), F_DUPFD_CLOEXEC, 0)); }

TEST(SharedSegmentTest, WhatTheCreatorWritesOthersRead) {
  const auto ours = SharedSegment::Create(1 << 16, SharedSegment::Others::kMayRead).value();
  const auto theirs = SharedSegment::Map(CopyOfFd(*ours), ours->size(), SharedSegment::Others::kMayRead).value();
  EXPECT_NE(ours->data(), theirs->data());
  ours->data()[5] = std::byte{42};
  EXPECT_EQ(theirs->data()[5], std::byte{42});
  EXPECT_NE(ours->id(), 0u);
  EXPECT_EQ(theirs->id(), 0u);
}

TEST(SharedSegmentTest, OthersCanMapItForWritingOnlyIfItsCreatorAllowsThat) {
  const auto ours = SharedSegment::Create(4096, SharedSegment::Others::kMayRead).value();
  EXPECT_FALSE(SharedSegment::Map(CopyOfFd(*ours), 4096, SharedSegment::Others::kMayWrite).ok());
  const auto common = SharedSegment::Create(4096, SharedSegment::Others::kMayWrite).value();
  const auto theirs = SharedSegment::Map(CopyOfFd(*common), 4096, SharedSegment::Others::kMayWrite).value();
  theirs->data()[0] = std::byte{7};
  EXPECT_EQ(common->data()[0], std::byte{7});
}

// If the owner could make its segment shorter later, a process that then reads beyond the new end would be killed.
TEST(SharedSegmentTest, ADescriptorWhoseSizeMayChangeIsRefused) {
  Fd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(fd.get(), 4096), 0);
  const Status s = SharedSegment::Map(std::move(fd), 4096, SharedSegment::Others::kMayRead).status();
  EXPECT_THAT(std::string(s.message()), HasSubstr("whose size it may change"));
}

TEST(SharedSegmentTest, ADescriptorOfAnotherSizeOrKindIsRefused) {
  const auto ours = SharedSegment::Create(4096, SharedSegment::Others::kMayRead).value();
  EXPECT_FALSE(SharedSegment::Map(CopyOfFd(*ours), 8192, SharedSegment::Others::kMayRead).ok());
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const Fd writing(pipe_ends[1]);
  EXPECT_FALSE(SharedSegment::Map(Fd(pipe_ends[0]), 4096, SharedSegment::Others::kMayRead).ok());
}

TEST(SharedAllocatorTest, BuffersAreAlignedAndKnowTheirPlace) {
  for (const size_t size :
       {size_t{1}, size_t{100}, size_t{5000}, size_t{1} << 20, (size_t{1} << 20) + 1, size_t{5} << 20}) {
    const RefPtr<Buffer> buffer = SharedAllocator().Allocate(size);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer->allocator(), &SharedAllocator());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % kTensorAlignment, 0u);
    std::memset(buffer->data(), 1, size);
    const SharedPlace place = SharedPlaceOf(*buffer, buffer->data());
    ASSERT_NE(place.segment, nullptr);
    EXPECT_EQ(place.segment->data() + place.offset, buffer->data());
    EXPECT_LE(place.offset + size, place.segment->size());
  }
  EXPECT_EQ(SharedPlaceOf(*AllocateBuffer(10), nullptr).segment, nullptr);
}

TEST(SharedAllocatorTest, FreedBlocksAreUsedAgain) {
  for (const size_t size : {size_t{5000}, size_t{3} << 20}) {
    void* data;
    {
      const RefPtr<Buffer> buffer = SharedAllocator().Allocate(size);
      data = buffer->data();
    }
    EXPECT_EQ(SharedAllocator().Allocate(size)->data(), data);
  }
}

TEST(SharedAllocatorTest, ItsMemoryCountsTowardsTheLimit) {
  const int64_t before = GetAllocatorStats().bytes_in_use;
  const RefPtr<Buffer> buffer = SharedAllocator().Allocate(size_t{7} << 20);
  EXPECT_GE(GetAllocatorStats().bytes_in_use, before + (int64_t{7} << 20));
  SetAllocatorLimit(GetAllocatorStats().bytes_in_use + (int64_t{1} << 20));
  EXPECT_FALSE(SharedAllocator().Allocate(size_t{64} << 20));
  SetAllocatorLimit(int64_t{1} << 40);
  EXPECT_TRUE(SharedAllocator().Allocate(size_t{64} << 20));
}

}  // namespace
}  // namespace tensorbraid
