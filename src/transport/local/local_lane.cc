#include "transport/local/local_lane.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "core/memory/allocator.h"
#include "core/memory/buffer_group.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/thread.h"
#include "transport/codec.h"
#include "transport/local/lane_socket.h"

namespace tensorbraid {
namespace {

// What a ring carries: frames, each with this prefix.
struct FramePrefix {
  uint32_t kind = 0;
  uint32_t header_bytes = 0;  // of a message
  uint64_t value = 0;         // see FrameKind
};
enum FrameKind : uint32_t {
  kInline = 1,    // a message and its payload; `value` is the payload's size
  kLent = 2,      // a message, a LoanPrefix and its LentPieces; `value` is the payload's size
  kGiveBack = 3,  // `value` is the loan that ends
  kSegment = 4,   // a new segment, whose descriptor is in the socket; `value` is the segment's id
  kForget = 5,    // `value` is the id of a segment that will not be used again
};
struct LoanPrefix {
  uint64_t loan = 0;
  uint64_t pieces = 0;  // how many LentPieces come after this prefix
};
struct LentPiece {
  uint64_t segment = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

constexpr size_t kBulkPart = size_t{1} << 20;        // of a tensor that cannot be lent
constexpr size_t kMaxInlineBytes = size_t{1} << 30;  // bounds what a neighbour can make this process hold
constexpr size_t kMaxSegments = 1 << 16;
constexpr size_t kMaxLentPieces = 1 << 16;

template <typename T>
std::span<const std::byte> BytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Whether neighbours can map the piece.
bool IsShared(const Payload& payload, std::span<const std::byte> piece) {
  return payload.owner && SharedPlaceOf(*payload.owner, piece.data()).segment != nullptr;
}

// Copies the pieces that neighbours cannot map to memory that they can map. Nothing if there is no such memory left.
std::optional<Payload> ToSharedMemory(const Payload& payload) {
  // Pieces that follow each other and are copied become one piece. Its address has the remainder by kTensorAlignment
  // that its place in the payload has, so that tensors in it stay aligned. With too many pieces, all are copied.
  struct Run {
    size_t begin;        // in the copy
    size_t first, last;  // pieces
    size_t bytes;
  };
  std::vector<Run> runs;
  size_t place = 0, copied = 0;
  const bool all = payload.pieces.size() > kMaxLentPieces;
  for (size_t i = 0; i < payload.pieces.size(); place += payload.pieces[i++].size()) {
    if (!all && IsShared(payload, payload.pieces[i])) continue;
    if (runs.empty() || runs.back().last + 1 < i) {
      copied = (copied + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment + place % kTensorAlignment;
      runs.push_back({.begin = copied, .first = i, .last = i, .bytes = 0});
    }
    runs.back().last = i;
    runs.back().bytes += payload.pieces[i].size();
    copied += payload.pieces[i].size();
  }
  if (runs.empty()) return payload;
  RefPtr<Buffer> copy = SharedAllocator().Allocate(copied);
  if (!copy) return std::nullopt;
  auto* const to = static_cast<std::byte*>(copy->data());
  Payload shared;
  size_t next = 0;
  for (const Run& run : runs) {
    for (; next < run.first; ++next) shared.pieces.push_back(payload.pieces[next]);
    std::byte* out = to + run.begin;
    shared.pieces.emplace_back(out, run.bytes);
    for (; next <= run.last; ++next) {
      const auto& piece = payload.pieces[next];
      if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
      out += piece.size();
    }
  }
  for (; next < payload.pieces.size(); ++next) shared.pieces.push_back(payload.pieces[next]);
  if (shared.pieces.size() == 1) {
    shared.owner = std::move(copy);
  } else {
    shared.owner = MakeRef<BufferGroup>(std::vector<RefPtr<Buffer>>{payload.owner, std::move(copy)});
  }
  return shared;
}

}  // namespace

// A payload in memory of the neighbour. It is read-only, so no kernel may write its output there. `data` is null if the
// payload has several pieces.
class LocalLane::LentBuffer final : public Buffer {
 public:
  LentBuffer(std::shared_ptr<LocalLane> lane, std::vector<std::shared_ptr<SharedSegment>> segments, void* data,
             size_t size, uint64_t loan)
      : Buffer(data, size, {.writable = false}), lane_(std::move(lane)), segments_(std::move(segments)), loan_(loan) {}
  ~LentBuffer() override { lane_->GiveBack(loan_); }

 private:
  const std::shared_ptr<LocalLane> lane_;
  const std::vector<std::shared_ptr<SharedSegment>> segments_;
  const uint64_t loan_;
};

// Holds the lanes whose links are down, until their neighbours no longer use buffers of this process.
class LoanWatcher {
 public:
  static LoanWatcher& Get() {
    static auto* watcher = new LoanWatcher;
    return *watcher;
  }
  void Watch(std::shared_ptr<LocalLane> lane) {
    MutexLock lock(mu_);
    lanes_.push_back(std::move(lane));
    if (!std::exchange(running_, true)) {
      Thread("tb-loans", [this] { Loop(); }).Detach();
    }
    // Makes the loop look at the new lane too.
    const char byte = 0;
    if (write(wake_[1], &byte, 1) < 0) {
      TB_LOG(Debug, "transport") << "cannot wake the watcher of loans";
    }
  }

 private:
  LoanWatcher() { TB_CHECK(pipe(wake_) == 0); }
  void Loop() {
    for (;;) {
      std::vector<std::shared_ptr<LocalLane>> lanes;
      {
        MutexLock lock(mu_);
        if (lanes_.empty()) {
          running_ = false;
          return;
        }
        lanes = lanes_;
      }
      std::vector<pollfd> wanted{{.fd = wake_[0], .events = POLLIN, .revents = 0}};
      for (const auto& lane : lanes) wanted.push_back({.fd = lane->socket_.get(), .events = POLLIN, .revents = 0});
      WaitReadable(wanted, MonotonicClock::time_point::max());
      if (wanted[0].revents != 0) {
        char bytes[64];
        if (read(wake_[0], bytes, sizeof bytes) < 0) continue;
      }
      for (size_t i = 0; i < lanes.size(); ++i) {
        if (wanted[i + 1].revents == 0) continue;
        FdMessage message;
        const Status s = ReceiveFd(lanes[i]->socket_, std::chrono::milliseconds(0), &message).status();
        if (s.ok() || absl::IsDeadlineExceeded(s)) continue;  // a segment that the neighbour announced before it ended
        lanes[i]->DropLoans();
        MutexLock lock(mu_);
        std::erase(lanes_, lanes[i]);
      }
    }
  }

  Mutex mu_;
  int wake_[2];  // a pipe
  bool running_ TB_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<LocalLane>> lanes_ TB_GUARDED_BY(mu_);
};

size_t LocalLane::RingsSize(const LocalLaneOptions& options) {
  constexpr size_t kPage = 4096;
  return (2 * Ring::MemoryFor(options.ring_bytes) + kPage - 1) / kPage * kPage;
}

StatusOr<std::shared_ptr<SharedSegment>> LocalLane::NewRings(const LocalLaneOptions& options) {
  return SharedSegment::Create(RingsSize(options), SharedSegment::Others::kMayWrite);
}

LocalLane::LocalLane(const LocalLaneOptions& options, std::shared_ptr<SharedSegment> rings, bool connected, Fd socket)
    : options_(options),
      rings_(std::move(rings)),
      socket_(std::move(socket)),
      in_(rings_->data() + (connected ? Ring::MemoryFor(options.ring_bytes) : 0), options.ring_bytes),
      out_(rings_->data() + (connected ? 0 : Ring::MemoryFor(options.ring_bytes)), options.ring_bytes) {}

// --- Sending.

void LocalLane::Append(std::span<const std::byte> bytes) {
  if (!broken_.ok()) return;
  if (queue_.empty()) {
    const StatusOr<size_t> written = out_.Write(bytes);
    if (!written.ok()) {
      broken_ = written.status();
      return;
    }
    bytes = bytes.subspan(*written);
  }
  queue_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void LocalLane::AppendFrame(uint32_t kind, uint32_t header_bytes, uint64_t value) {
  Append(BytesOf(FramePrefix{.kind = kind, .header_bytes = header_bytes, .value = value}));
}

void LocalLane::Flush() {
  // Tries twice: the reader may have made room before it could see that this side waits for it.
  for (int attempt = 0; attempt < 2 && !queue_.empty() && broken_.ok(); ++attempt) {
    const StatusOr<size_t> written = out_.Write(std::as_bytes(std::span(queue_)).subspan(queue_begin_));
    if (!written.ok()) {
      broken_ = written.status();
      return;
    }
    queue_begin_ += *written;
    if (queue_begin_ == queue_.size()) {
      queue_.clear();
      queue_begin_ = 0;
      if (queue_.capacity() > 1 << 20) queue_ = {};
    } else if (attempt == 0) {
      out_.WaitForRoom();
    }
  }
}

bool LocalLane::CanFlush() {
  MutexLock lock(mu_);
  return !queue_.empty() && out_.has_room();
}

bool LocalLane::Share(Payload* payload) {
  if (payload->size() <= options_.inline_bytes) return true;
  std::optional<Payload> shared = ToSharedMemory(*payload);
  if (!shared.has_value()) return false;
  *payload = *std::move(shared);
  MutexLock lock(mu_);
  for (const auto& piece : payload->pieces) {
    const SharedPlace place = SharedPlaceOf(*payload->owner, piece.data());
    if (place.segment == nullptr || !Announce(place.segment)) return false;
  }
  return true;
}

bool LocalLane::Announce(const std::shared_ptr<SharedSegment>& segment) {
  if (announced_.contains(segment->id())) return true;
  for (auto it = announced_.begin(); it != announced_.end();) {
    const auto entry = it++;
    if (!entry->second.expired()) continue;
    AppendFrame(kForget, /*header_bytes=*/0, entry->first);
    announced_.erase(entry);
  }
  const FdMessage message{.a = segment->id(), .b = segment->size(), .c = 0};
  if (announced_.size() >= kMaxSegments || !SendFd(socket_, message, segment->fd()).ok()) return false;
  AppendFrame(kSegment, /*header_bytes=*/0, segment->id());
  announced_.emplace(segment->id(), segment);
  return true;
}

void LocalLane::AppendMessage(std::string_view header, const Payload& payload, bool lend) {
  if (!lend) {
    AppendFrame(kInline, static_cast<uint32_t>(header.size()), payload.size());
    Append(std::as_bytes(std::span(header)));
    for (const auto& piece : payload.pieces) Append(piece);
    return;
  }
  const LoanPrefix loan{.loan = ++last_loan_, .pieces = payload.pieces.size()};
  lent_.emplace(loan.loan, payload.owner);
  AppendFrame(kLent, static_cast<uint32_t>(header.size()), payload.size());
  Append(std::as_bytes(std::span(header)));
  Append(BytesOf(loan));
  for (const auto& piece : payload.pieces) {
    const SharedPlace place = SharedPlaceOf(*payload.owner, piece.data());
    Append(BytesOf(LentPiece{.segment = place.segment->id(), .offset = place.offset, .bytes = piece.size()}));
  }
}

Status LocalLane::Send(const Message& message, bool urgent) {
  Payload payload;
  if (const Payload* const original = PayloadOf(message)) payload = *original;
  const bool lend = payload.size() > options_.inline_bytes && Share(&payload);
  const auto* const bulk = std::get_if<BulkTensor>(&message);
  if (bulk != nullptr && !lend && payload.size() > kBulkPart) {
    for (size_t begin = 0; begin < payload.size(); begin += kBulkPart) {
      const BulkTensor part{bulk->key, bulk->meta, bulk->offset + begin,
                            payload.Part(begin, std::min(kBulkPart, payload.size() - begin))};
      TF_RETURN_IF_ERROR(SendPacket(part, part.payload, /*lend=*/false, urgent));
    }
    return OkStatus();
  }
  return SendPacket(message, payload, lend, urgent);
}

Status LocalLane::SendPacket(const Message& message, const Payload& payload, bool lend, bool urgent) {
  static thread_local std::string packet;
  packet.clear();
  TF_RETURN_IF_ERROR(AppendPacket(message, &packet));
  {
    MutexLock lock(mu_);
    if (ended_) return OkStatus();
    AppendMessage(std::string_view(packet).substr(kPacketPrefixBytes), payload, lend);
    Flush();
    if (urgent || !queue_.empty() || out_.is_half_full()) out_.WakeReader();
    if (!broken_.ok()) Wake();  // for Receive to report it
  }
  if (packet.capacity() > 1 << 20) packet = {};
  return OkStatus();
}

void LocalLane::GiveBack(uint64_t loan) {
  MutexLock lock(mu_);
  --borrowed_;
  if (ended_) {
    if (borrowed_ == 0) shutdown(socket_.get(), SHUT_WR);
    return;
  }
  AppendFrame(kGiveBack, /*header_bytes=*/0, loan);
  Flush();
  if (!queue_.empty() || out_.is_half_full()) out_.WakeReader();
}

void LocalLane::End() {
  bool lent;
  {
    MutexLock lock(mu_);
    if (std::exchange(ended_, true)) return;
    queue_ = {};
    queue_begin_ = 0;
    lent = !lent_.empty();
    if (borrowed_ == 0) shutdown(socket_.get(), SHUT_WR);
  }
  if (lent) LoanWatcher::Get().Watch(shared_from_this());
}

void LocalLane::DropLoans() {
  absl::flat_hash_map<uint64_t, RefPtr<Buffer>> lent;  // freed after the lock is released
  MutexLock lock(mu_);
  lent.swap(lent_);
}

// --- Receiving.

StatusOr<bool> LocalLane::Receive(const std::function<void(Message)>& on_message) {
  TF_ASSIGN_OR_RETURN(const size_t arrived, in_.Read(&read_));
  {
    MutexLock lock(mu_);
    TF_RETURN_IF_ERROR(broken_);
    if (!queue_.empty()) {
      Flush();
      out_.WakeReader();
    }
    // The read above has made room. If the neighbour waits for it, the neighbour's thread sleeps on the bell of this
    // side's outgoing ring.
    if (arrived > 0 && in_.TakeWriterWaits()) out_.RingBell();
  }
  if (arrived == 0) return false;
  size_t done = 0;
  while (done < read_.size()) {
    TF_ASSIGN_OR_RETURN(const size_t n, HandleFrame(std::string_view(read_).substr(done), on_message));
    if (n == 0) break;
    done += n;
  }
  read_.erase(0, done);
  if (read_.empty() && read_.capacity() > 4 << 20) read_ = {};
  return true;
}

void LocalLane::Sleep(const std::function<bool()>& wanted) {
  in_.Sleep([&] { return wanted() || CanFlush(); });
}

StatusOr<size_t> LocalLane::HandleFrame(std::string_view bytes, const std::function<void(Message)>& on_message) {
  FramePrefix prefix;
  if (bytes.size() < sizeof prefix) return size_t{0};
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  bytes.remove_prefix(sizeof prefix);
  switch (prefix.kind) {
    case kGiveBack: {
      RefPtr<Buffer> buffer;  // freed after the lock is released
      MutexLock lock(mu_);
      const auto it = lent_.find(prefix.value);
      if (it == lent_.end()) return InvalidArgument("a neighbour gave back what was not lent to it");
      buffer = std::move(it->second);
      lent_.erase(it);
      return sizeof prefix;
    }
    case kForget:
      neighbours_segments_.erase(prefix.value);
      return sizeof prefix;
    case kSegment: {
      FdMessage message;
      // The neighbour has passed the descriptor before it wrote this frame.
      TF_ASSIGN_OR_RETURN(Fd fd, ReceiveFd(socket_, std::chrono::milliseconds(0), &message));
      if (message.a != prefix.value || neighbours_segments_.size() >= kMaxSegments) {
        return InvalidArgument("a neighbour has passed another segment than it announced");
      }
      TF_ASSIGN_OR_RETURN(auto segment, SharedSegment::Map(std::move(fd), message.b, SharedSegment::Others::kMayRead));
      neighbours_segments_[prefix.value] = std::move(segment);
      return sizeof prefix;
    }
    case kInline:
    case kLent:
      break;
    default:
      return InvalidArgument("a neighbour has sent a frame of the unknown kind ", prefix.kind);
  }
  const bool lent = prefix.kind == kLent;
  if (prefix.header_bytes > kMaxHeaderBytes || (!lent && prefix.value > kMaxInlineBytes)) {
    return InvalidArgument("a neighbour has sent a message with a header of ", prefix.header_bytes,
                           " bytes and a payload of ", prefix.value, " bytes");
  }
  size_t body = prefix.header_bytes;
  if (lent) {
    LoanPrefix loan;
    if (bytes.size() < body + sizeof loan) return size_t{0};
    std::memcpy(&loan, bytes.data() + body, sizeof loan);
    if (loan.pieces == 0 || loan.pieces > kMaxLentPieces) {
      return InvalidArgument("a neighbour lends a payload of ", loan.pieces, " pieces");
    }
    body += sizeof loan + loan.pieces * sizeof(LentPiece);
  } else {
    body += prefix.value;
  }
  if (bytes.size() < body) return size_t{0};
  const std::string_view header = bytes.substr(0, prefix.header_bytes);
  const std::string_view rest = bytes.substr(prefix.header_bytes, body - prefix.header_bytes);
  Payload payload;
  if (lent) {
    TF_ASSIGN_OR_RETURN(payload, Borrow(rest, prefix.value));
  } else if (!rest.empty()) {
    payload.pieces = {std::as_bytes(std::span(rest))};
  }
  TF_ASSIGN_OR_RETURN(Message message, DecodeMessage(std::as_bytes(std::span(header)), std::move(payload)));
  on_message(std::move(message));
  return sizeof prefix + body;
}

StatusOr<Payload> LocalLane::Borrow(std::string_view loan_bytes, uint64_t bytes) {
  LoanPrefix loan;
  std::memcpy(&loan, loan_bytes.data(), sizeof loan);
  loan_bytes.remove_prefix(sizeof loan);
  std::vector<std::shared_ptr<SharedSegment>> segments;
  Payload payload;
  for (; !loan_bytes.empty(); loan_bytes.remove_prefix(sizeof(LentPiece))) {
    LentPiece piece;
    std::memcpy(&piece, loan_bytes.data(), sizeof piece);
    const auto it = neighbours_segments_.find(piece.segment);
    if (it == neighbours_segments_.end()) return InvalidArgument("a neighbour lends memory of an unknown segment");
    const auto& segment = it->second;
    if (piece.offset > segment->size() || piece.bytes > segment->size() - piece.offset) {
      return InvalidArgument("a neighbour lends ", piece.bytes, " bytes at offset ", piece.offset, " of a segment of ",
                             segment->size());
    }
    if (std::ranges::find(segments, segment) == segments.end()) segments.push_back(segment);
    payload.pieces.emplace_back(segment->data() + piece.offset, piece.bytes);
  }
  if (payload.size() != bytes) {
    return InvalidArgument("a neighbour lends ", payload.size(), " bytes for a payload of ", bytes);
  }
  {
    MutexLock lock(mu_);
    ++borrowed_;
  }
  const bool whole = payload.pieces.size() == 1;
  payload.owner = MakeRef<LentBuffer>(shared_from_this(), std::move(segments),
                                      whole ? const_cast<std::byte*>(payload.pieces[0].data()) : nullptr,
                                      whole ? bytes : 0, loan.loan);
  return payload;
}

}  // namespace tensorbraid
