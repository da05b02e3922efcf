// A stream of bytes from one process to another, through memory that both map.
#ifndef TENSORBRAID_TRANSPORT_LOCAL_RING_H_
#define TENSORBRAID_TRANSPORT_LOCAL_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// One end of the stream. Each process has a Ring object over the same memory: one of them writes, the other reads. The
// other process is not trusted: whatever it does to the memory, no access leaves the ring.
//
// A reader that has nothing to read sleeps on a bell (a futex). The writer rings the bell when it has written and the
// reader sleeps. The reader's own process may also ring it, to wake the reader. When a writer waits for room and the
// reader has made some, the reader's side rings the bell of the ring in the other direction, on which the writer's side
// sleeps.
class Ring {
 public:
  // The memory that a ring of `capacity` bytes needs. REQUIRES: capacity is a power of two.
  static size_t MemoryFor(size_t capacity);
  // `memory` is aligned to 64 bytes; filled with zeros it is an empty ring. It must outlive this object.
  Ring(std::byte* memory, size_t capacity);

  // --- The writer. One thread at a time.
  // Copies as many bytes as there is room for, and returns their number. Does not ring the bell. InvalidArgument if the
  // reader claims to have read more than was written.
  StatusOr<size_t> Write(std::span<const std::byte> bytes);
  // Must be called when Write had no room for all bytes, before the next attempt. The reader then sees in
  // TakeWriterWaits that this side waits.
  void WaitForRoom();
  // Rings the bell if the reader sleeps.
  void WakeReader();
  bool has_room() const;
  bool is_half_full() const;

  // --- The reader. One thread at a time.
  // Appends all bytes that have arrived, and returns their number. InvalidArgument if the writer claims to have written
  // more than the ring can hold.
  StatusOr<size_t> Read(std::string* to);
  // Whether the writer waits for room; the next call returns false, unless the writer waits again.
  bool TakeWriterWaits();
  // Blocks until bytes have arrived or the bell is rung. Returns at once if `wanted()` is true. A ring of the bell
  // after `wanted()` was evaluated is not missed.
  template <typename Wanted>
  void Sleep(Wanted wanted) {
    const uint32_t before = PrepareSleep();
    if (!HasBytes() && !wanted()) SleepUntilRung(before);
    EndSleep();
  }

  // --- Any thread of both processes.
  void RingBell();

 private:
  struct Header;
  bool HasBytes() const;
  uint32_t PrepareSleep();
  void SleepUntilRung(uint32_t before);
  void EndSleep();

  Header* const header_;
  std::byte* const data_;
  const size_t capacity_;
  uint64_t position_ = 0;  // bytes written or read by this end since the beginning
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_LOCAL_RING_H_
