#include "core/memory/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "core/memory/buffer_group.h"
#include "core/memory/size_class.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid {
namespace {

// The C library's headers of Debian 12 do not define this unless the kernel's headers are included.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

constexpr int kSizeSeals = F_SEAL_GROW | F_SEAL_SHRINK;

std::string ErrorText() { return std::strerror(errno); }

// Asks for huge pages. Systems whose shmem_enabled is "advise" give them; others ignore the request.
void AdviseHugePages(void* data, size_t size) {
  constexpr size_t kHugePage = size_t{2} << 20;
  if (size >= kHugePage) (void)madvise(data, size, MADV_HUGEPAGE);
}

uint64_t NewSegmentId() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

SharedSegment::SharedSegment(std::byte* data, size_t size, Fd fd, uint64_t id)
    : data_(data), size_(size), fd_(std::move(fd)), id_(id) {}

SharedSegment::~SharedSegment() {
  MutexLock lock(mu_);
  for (const auto& end : ends_) end();
  munmap(data_, size_);
}

void SharedSegment::AtEnd(std::function<void()> end) {
  MutexLock lock(mu_);
  ends_.push_back(std::move(end));
}

StatusOr<std::shared_ptr<SharedSegment>> SharedSegment::Create(size_t size, Others others) {
  Fd fd(memfd_create("tensorbraid", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return Unavailable("this system does not offer memory files (memfd_create: ", ErrorText(), ")");
  if (ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
    return ResourceExhausted("cannot make a shared segment of ", size, " bytes: ", ErrorText());
  }
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (data == MAP_FAILED) return ResourceExhausted("cannot map a shared segment of ", size, " bytes: ", ErrorText());
  AdviseHugePages(data, size);
  auto segment = std::shared_ptr<SharedSegment>(
      new SharedSegment(static_cast<std::byte*>(data), size, std::move(fd), NewSegmentId()));
  const int seals = kSizeSeals | F_SEAL_SEAL | (others == Others::kMayRead ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(segment->fd(), F_ADD_SEALS, seals) != 0) {
    return Unavailable("this system cannot seal memory files: ", ErrorText());
  }
  return segment;
}

StatusOr<std::shared_ptr<SharedSegment>> SharedSegment::Map(Fd fd, size_t size, Others others) {
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals) {
    return InvalidArgument("a neighbour has passed a descriptor whose size it may change");
  }
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) != size || size == 0) {
    return InvalidArgument("a neighbour has announced a segment of ", size, " bytes and passed one of ", info.st_size);
  }
  const int access = others == Others::kMayWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, size, access, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (data == MAP_FAILED) return ResourceExhausted("cannot map a neighbour's segment: ", ErrorText());
  AdviseHugePages(data, size);
  return std::shared_ptr<SharedSegment>(new SharedSegment(static_cast<std::byte*>(data), size, Fd(), 0));
}

namespace {

// A part of a segment, which holds one buffer at a time.
struct Block {
  std::shared_ptr<SharedSegment> segment;
  size_t offset = 0;
};

class CachingSharedAllocator final : public Allocator {
 public:
  std::string_view name() const override { return "shared"; }
  MemorySpace space() const override { return MemorySpace::kHost; }
  RefPtr<Buffer> Allocate(size_t size) override;
  AllocatorStats stats() const override {
    MutexLock lock(mu_);
    return {in_use_, cached_};
  }
  void Free(Block block, int size_class);

 private:
  // Blocks of up to this size share segments, which are never given back to the system; larger ones have their own.
  static constexpr size_t kLargestInSlab = size_t{1} << 20;
  static constexpr size_t kSlab = size_t{16} << 20;

  // Moves a cached block of this class to `*block`. Returns false if there is none.
  bool TakeCached(int size_class, Block* block) TB_REQUIRES(mu_);
  StatusOr<Block> NewBlock(size_t size);
  void ReleaseCached();

  mutable Mutex mu_;
  std::array<std::vector<Block>, kNumSizeClasses> lists_ TB_GUARDED_BY(mu_);
  std::shared_ptr<SharedSegment> slab_ TB_GUARDED_BY(mu_);
  size_t slab_used_ TB_GUARDED_BY(mu_) = 0;
  int64_t in_use_ TB_GUARDED_BY(mu_) = 0;
  int64_t most_in_use_ TB_GUARDED_BY(mu_) = 0;
  int64_t cached_ TB_GUARDED_BY(mu_) = 0;
};

// Never destroyed, because tensors may live until the program's very end.
CachingSharedAllocator& TheSharedAllocator() {
  static auto* allocator = new CachingSharedAllocator;
  return *allocator;
}

class SharedBuffer final : public Buffer {
 public:
  SharedBuffer(Block block, size_t size, int size_class)
      : Buffer(block.segment->data() + block.offset, size, {.allocator = &TheSharedAllocator()}),
        block_(std::move(block)),
        size_class_(size_class) {}
  ~SharedBuffer() override { TheSharedAllocator().Free(std::move(block_), size_class_); }
  const Block& block() const { return block_; }

 private:
  Block block_;
  const int size_class_;
};

bool CachingSharedAllocator::TakeCached(int size_class, Block* block) {
  auto& list = lists_[size_class];
  if (list.empty()) return false;
  *block = std::move(list.back());
  list.pop_back();
  cached_ -= static_cast<int64_t>(SizeOfClass(size_class));
  return true;
}

StatusOr<Block> CachingSharedAllocator::NewBlock(size_t size) {
  if (size > kLargestInSlab) {
    constexpr size_t kPage = 4096;
    TF_ASSIGN_OR_RETURN(auto segment,
                        SharedSegment::Create((size + kPage - 1) / kPage * kPage, SharedSegment::Others::kMayRead));
    // Allocates all pages at once. If there is not enough memory, this call fails; without it, a later access would
    // kill the process. EINVAL: the kernel is too old for this call.
    if (madvise(segment->data(), segment->size(), MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
      return ResourceExhausted("not enough shared memory for ", size, " bytes: ", ErrorText());
    }
    return Block{std::move(segment), 0};
  }
  size = (size + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  MutexLock lock(mu_);
  if (slab_ == nullptr || slab_->size() - slab_used_ < size) {
    TF_ASSIGN_OR_RETURN(slab_, SharedSegment::Create(kSlab, SharedSegment::Others::kMayRead));
    slab_used_ = 0;
  }
  Block block{slab_, slab_used_};
  if (fallocate(slab_->fd(), 0, static_cast<off_t>(block.offset), static_cast<off_t>(size)) != 0) {
    return ResourceExhausted("not enough shared memory for ", size, " bytes: ", ErrorText());
  }
  slab_used_ += size;
  return block;
}

RefPtr<Buffer> CachingSharedAllocator::Allocate(size_t size) {
  if (size > (size_t{1} << 46)) return nullptr;  // more than any machine has, but within the size classes
  const int c = SizeClass(size);
  const auto bytes = static_cast<int64_t>(SizeOfClass(c));
  Block block;
  bool found;
  {
    MutexLock lock(mu_);
    found = TakeCached(c, &block);
    in_use_ += bytes;
    most_in_use_ = std::max(most_in_use_, in_use_);
  }
  if (!found) {
    bool counted = CountMemory(bytes);
    if (!counted) {
      ReleaseCached();
      counted = CountMemory(bytes);
    }
    StatusOr<Block> fresh = counted ? NewBlock(SizeOfClass(c)) : StatusOr<Block>(ResourceExhausted("limit"));
    if (!fresh.ok()) {
      if (counted) UncountMemory(bytes);
      {
        MutexLock lock(mu_);
        in_use_ -= bytes;
      }
      return counted ? HostAllocator().Allocate(size) : nullptr;
    }
    block = *std::move(fresh);
  }
  return MakeRef<SharedBuffer>(std::move(block), size, c);
}

void CachingSharedAllocator::Free(Block block, int size_class) {
  const auto bytes = static_cast<int64_t>(SizeOfClass(size_class));
  {
    MutexLock lock(mu_);
    in_use_ -= bytes;
    if (SizeOfClass(size_class) <= kLargestInSlab || in_use_ + cached_ + bytes <= 2 * most_in_use_) {
      cached_ += bytes;
      lists_[size_class].push_back(std::move(block));
      return;
    }
  }
  UncountMemory(bytes);
}

void CachingSharedAllocator::ReleaseCached() {
  std::vector<Block> blocks;
  int64_t bytes = 0;
  {
    MutexLock lock(mu_);
    for (int c = SizeClass(kLargestInSlab) + 1; c < kNumSizeClasses; ++c) {
      bytes += static_cast<int64_t>(lists_[c].size() * SizeOfClass(c));
      for (Block& block : lists_[c]) blocks.push_back(std::move(block));
      lists_[c].clear();
    }
    cached_ -= bytes;
  }
  UncountMemory(bytes);
}

std::atomic<bool> has_neighbours{false};

}  // namespace

SharedPlace SharedPlaceOf(const Buffer& buffer, const void* data) {
  if (const auto* group = dynamic_cast<const BufferGroup*>(&buffer)) {
    const Buffer* const member = group->Find(data);
    return member == nullptr ? SharedPlace() : SharedPlaceOf(*member, data);
  }
  if (buffer.allocator() != &TheSharedAllocator()) return {};
  const Block& block = static_cast<const SharedBuffer&>(buffer).block();
  return {block.segment, static_cast<size_t>(static_cast<const std::byte*>(data) - block.segment->data())};
}

Allocator& SharedAllocator() { return TheSharedAllocator(); }

bool HasNeighbours() { return has_neighbours.load(std::memory_order_relaxed); }
void SetHasNeighbours() { has_neighbours.store(true, std::memory_order_relaxed); }

}  // namespace tensorbraid
