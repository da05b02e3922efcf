#include "transport/local/ring.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"

namespace tensorbraid {

// The beginning of the ring's memory, which both processes map. Each side writes to cache lines of its own, as far as
// possible.
//
// Each side publishes its counter and then looks whether the other side waits for it; the other side says that it waits
// and then looks at the counter. All four accesses are sequentially consistent, so one of the two sees what the other
// has stored, and no side waits for ever.
struct Ring::Header {
  alignas(64) std::atomic<uint64_t> written;  // the number of bytes; stored by the writer
  alignas(64) std::atomic<uint64_t> read;     // the number of bytes; stored by the reader
  alignas(64) std::atomic<uint32_t> bell;     // how often it was rung; the reader waits for a change
  std::atomic<uint32_t> reader_sleeps;
  alignas(64) std::atomic<uint32_t> writer_waits;
};

namespace {

void WaitWhileEqual(std::atomic<uint32_t>* word, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

size_t Ring::MemoryFor(size_t capacity) { return sizeof(Header) + capacity; }

Ring::Ring(std::byte* memory, size_t capacity)
    : header_(reinterpret_cast<Header*>(memory)), data_(memory + sizeof(Header)), capacity_(capacity) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) && std::atomic<uint64_t>::is_always_lock_free);
  TB_CHECK(std::has_single_bit(capacity));
}

StatusOr<size_t> Ring::Write(std::span<const std::byte> bytes) {
  const uint64_t unread = position_ - header_->read.load(std::memory_order_seq_cst);
  if (unread > capacity_) return InvalidArgument("the reader of a ring claims to have read more than was written");
  const size_t n = std::min<size_t>(bytes.size(), capacity_ - unread);
  if (n == 0) return n;
  const size_t at = position_ & (capacity_ - 1);
  const size_t first = std::min(n, capacity_ - at);
  std::memcpy(data_ + at, bytes.data(), first);
  std::memcpy(data_, bytes.data() + first, n - first);
  position_ += n;
  header_->written.store(position_, std::memory_order_seq_cst);
  return n;
}

void Ring::WaitForRoom() { header_->writer_waits.store(1, std::memory_order_seq_cst); }

void Ring::WakeReader() {
  if (header_->reader_sleeps.load(std::memory_order_seq_cst) != 0) RingBell();
}

bool Ring::has_room() const { return position_ - header_->read.load(std::memory_order_acquire) < capacity_; }

bool Ring::is_half_full() const { return position_ - header_->read.load(std::memory_order_relaxed) > capacity_ / 2; }

StatusOr<size_t> Ring::Read(std::string* to) {
  const uint64_t n = header_->written.load(std::memory_order_acquire) - position_;
  if (n == 0) return size_t{0};
  if (n > capacity_)
    return InvalidArgument("the writer of a ring claims to have written ", n, " bytes into ", capacity_);
  const size_t at = position_ & (capacity_ - 1);
  const size_t first = std::min<size_t>(n, capacity_ - at);
  to->append(reinterpret_cast<const char*>(data_ + at), first);
  to->append(reinterpret_cast<const char*>(data_), n - first);
  position_ += n;
  header_->read.store(position_, std::memory_order_seq_cst);
  return static_cast<size_t>(n);
}

bool Ring::TakeWriterWaits() {
  if (header_->writer_waits.load(std::memory_order_seq_cst) == 0) return false;
  header_->writer_waits.store(0, std::memory_order_relaxed);
  return true;
}

bool Ring::HasBytes() const { return header_->written.load(std::memory_order_seq_cst) != position_; }

uint32_t Ring::PrepareSleep() {
  const uint32_t before = header_->bell.load(std::memory_order_acquire);
  header_->reader_sleeps.store(1, std::memory_order_seq_cst);
  return before;
}

void Ring::SleepUntilRung(uint32_t before) {
  Env::Default().WaitInSystem([&] { return header_->bell.load(std::memory_order_acquire) != before; },
                              [&] { WaitWhileEqual(&header_->bell, before); }, MonotonicClock::time_point::max());
}

void Ring::EndSleep() { header_->reader_sleeps.store(0, std::memory_order_relaxed); }

void Ring::RingBell() {
  header_->bell.fetch_add(1, std::memory_order_release);
  WakeAll(&header_->bell);
}

}  // namespace tensorbraid
