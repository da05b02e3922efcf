#include "transport/grpc/packets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/strings.h"
#include "transport/codec.h"

namespace tensorbraid {
namespace {

constexpr size_t kMaxBatchBytes = 1 << 20;
// Copying fewer bytes costs less than a slice with its own reference count.
constexpr size_t kInlinePayloadBytes = 4096;

// A slice that points to `piece` and holds a reference to its owner until gRPC has sent it.
grpc::Slice Lend(const RefPtr<Buffer>& owner, std::span<const std::byte> piece) {
  RefPtr<Buffer> reference = owner;
  return grpc::Slice(
      const_cast<std::byte*>(piece.data()), piece.size(),
      [](void* buffer) { RefPtr<Buffer>::Adopt(static_cast<Buffer*>(buffer)); }, reference.release());
}

}  // namespace

grpc::ByteBuffer ToByteBuffer(const MessageParts& message) {
  std::vector<grpc::Slice> slices;
  std::string text;
  const auto flush = [&] {
    if (!text.empty()) slices.emplace_back(text.data(), text.size());
    text.clear();
  };
  for (const Payload& part : message) {
    for (const auto piece : part.pieces) {
      if (piece.size() >= kInlinePayloadBytes && part.owner) {
        flush();
        slices.push_back(Lend(part.owner, piece));
      } else {
        text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      }
    }
  }
  flush();
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void Outbox::AddPackets(const std::string& packets, const Payload* payload) {
  const size_t payload_bytes = payload == nullptr ? 0 : payload->size();
  const size_t bytes = packets.size() + payload_bytes;
  if (batches_.empty() || batches_.back().bytes + bytes > kMaxBatchBytes) {
    batches_.emplace_back();
    batches_.back().text.swap(spare_);
    batches_.back().text.clear();
  }
  Batch& batch = batches_.back();
  batch.bytes += bytes;
  batch.text += packets;
  if (payload_bytes > 0) Append(*payload, &batch);
}

void Outbox::AddBulk(BulkTensor tensor) {
  auto at = bulk_.end();
  while (at != bulk_.begin() && std::prev(at)->key.step == tensor.key.step && std::prev(at)->key.edge > tensor.key.edge)
    --at;
  bulk_.insert(at, std::move(tensor));
}

void Outbox::Acknowledged(uint64_t bytes) {
  bulk_acknowledged_ = std::max(bulk_acknowledged_, std::min(bytes, bulk_sent_));
}

void Outbox::Append(const Payload& payload, Batch* batch) {
  for (const auto piece : payload.pieces) {
    if (piece.size() >= kInlinePayloadBytes && payload.owner) {
      batch->inserts.push_back({batch->text.size(), Lend(payload.owner, piece)});
    } else {
      batch->text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
  }
}

bool Outbox::Next(grpc::ByteBuffer* out) {
  Batch batch;
  if (!batches_.empty()) {
    batch = std::move(batches_.front());
    batches_.pop_front();
  } else if (!NextBulk(&batch)) {
    return false;
  }
  *out = Flatten(std::move(batch));
  return true;
}

bool Outbox::NextBulk(Batch* batch) {
  if (bulk_.empty() || bulk_sent_ - bulk_acknowledged_ >= bulk_window_) return false;
  batch->text.swap(spare_);
  batch->text.clear();
  // Small tensors share a message of up to the size of a part.
  while (!bulk_.empty() && batch->bytes < bulk_part_bytes_) {
    BulkTensor& tensor = bulk_.front();
    const size_t left = tensor.payload.size();
    const size_t count = std::min(left, bulk_part_bytes_ - batch->bytes);
    BulkTensor part{tensor.key, tensor.meta, tensor.offset, tensor.payload.Part(0, count)};
    AppendPacket(Message(part), &batch->text).IgnoreError();  // the header of a BulkTensor is never too large
    batch->bytes += count;
    bulk_sent_ += count;
    Append(part.payload, batch);
    if (count == left) {
      bulk_.pop_front();
    } else {
      tensor.offset += count;
      tensor.payload = tensor.payload.Part(count, left - count);
    }
  }
  return true;
}

grpc::ByteBuffer Outbox::Flatten(Batch batch) {
  if (batch.inserts.empty()) {
    const grpc::Slice text(batch.text.data(), batch.text.size());
    spare_ = std::move(batch.text);
    return grpc::ByteBuffer(&text, 1);
  }
  std::vector<grpc::Slice> slices;
  slices.reserve(2 * batch.inserts.size() + 1);
  size_t begin = 0;
  const auto add_text = [&](size_t end) {
    if (end > begin) slices.emplace_back(batch.text.data() + begin, end - begin);
    begin = end;
  };
  for (auto& insert : batch.inserts) {
    add_text(insert.position);
    slices.push_back(std::move(insert.slice));
  }
  add_text(batch.text.size());
  spare_ = std::move(batch.text);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

void Outbox::Clear() {
  batches_.clear();
  bulk_.clear();
}

PacketReader::PacketReader(const grpc::ByteBuffer& message) : remaining_(message.Length()) {
  if (remaining_ == 0) return;
  slices_.resize(1);
  if (!message.TrySingleSlice(&slices_[0]).ok()) {
    slices_.clear();
    if (!message.Dump(&slices_).ok()) remaining_ = 0;
  }
}

std::span<const std::byte> PacketReader::Take(size_t count, std::string* scratch) {
  remaining_ -= count;
  while (count > 0 && slices_[index_].size() == offset_) {
    ++index_;
    offset_ = 0;
  }
  if (count == 0) return {};
  const grpc::Slice& first = slices_[index_];
  if (first.size() - offset_ >= count) {
    const auto* begin = reinterpret_cast<const std::byte*>(first.begin()) + offset_;
    offset_ += count;
    return {begin, count};
  }
  scratch->clear();
  while (count > 0) {
    const grpc::Slice& slice = slices_[index_];
    const size_t n = std::min(count, slice.size() - offset_);
    scratch->append(reinterpret_cast<const char*>(slice.begin()) + offset_, n);
    count -= n;
    offset_ += n;
    if (offset_ == slice.size()) {
      ++index_;
      offset_ = 0;
    }
  }
  return std::as_bytes(std::span(*scratch));
}

StatusOr<bool> PacketReader::Next(std::span<const std::byte>* header, Payload* payload) {
  if (remaining_ == 0) return false;
  if (remaining_ < kPacketPrefixBytes) return InvalidArgument("a gRPC message ends within a packet");
  TF_ASSIGN_OR_RETURN(const PacketPrefix prefix, ReadPacketPrefix(Take(kPacketPrefixBytes, &prefix_scratch_).data()));
  if (remaining_ < prefix.header_bytes || remaining_ - prefix.header_bytes < prefix.payload_bytes) {
    return InvalidArgument("a gRPC message ends within a packet");
  }
  *header = Take(prefix.header_bytes, &header_scratch_);
  payload->owner.reset();
  payload->pieces.clear();
  size_t count = prefix.payload_bytes;
  remaining_ -= count;
  while (count > 0) {
    const grpc::Slice& slice = slices_[index_];
    const size_t n = std::min(count, slice.size() - offset_);
    if (n > 0) payload->pieces.push_back({reinterpret_cast<const std::byte*>(slice.begin()) + offset_, n});
    count -= n;
    offset_ += n;
    if (offset_ == slice.size()) {
      ++index_;
      offset_ = 0;
    }
  }
  return true;
}

StatusOr<std::span<const std::byte>> OnlyHeader(PacketReader* reader) {
  std::span<const std::byte> header;
  Payload payload;
  TF_ASSIGN_OR_RETURN(const bool some, reader->Next(&header, &payload));
  if (!some || payload.size() > 0 || !reader->at_end()) return InvalidArgument("the first message is not a handshake");
  return header;
}

}  // namespace tensorbraid
