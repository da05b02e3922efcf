#include "core/values/joined_tensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/memory/allocator.h"
#include "core/memory/buffer_group.h"
#include "core/text/strings.h"
#include "core/values/bools.h"

namespace tensorbraid {
namespace {

constexpr int64_t kMagic = 0x32306e696f6a6274;  // "tbjoin02"
constexpr size_t kWord = sizeof(int64_t);
constexpr std::array<std::byte, kTensorAlignment> kPadding{};

size_t Aligned(size_t bytes) { return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment; }
size_t WordsOfDescription(int rank) { return 3 + static_cast<size_t>(rank); }

Status Damaged(const char* what) { return InvalidArgument("the bytes of joined tensors are damaged: ", what); }

using Pieces = std::vector<std::span<const std::byte>>;

size_t SizeOf(const Pieces& pieces) {
  size_t size = 0;
  for (const auto& piece : pieces) size += piece.size();
  return size;
}

// Finds bytes by their number.
class Places {
 public:
  explicit Places(const Pieces& pieces) : pieces_(pieces) {
    for (const auto& piece : pieces) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + piece.size());
  }
  size_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  // Bytes [begin, begin + size). REQUIRES: they are there.
  Pieces Part(size_t begin, size_t size) const {
    Pieces part;
    auto i = static_cast<size_t>(std::ranges::upper_bound(ends_, begin) - ends_.begin());
    for (; size > 0; ++i) {
      const size_t skipped = begin - (ends_[i] - pieces_[i].size());
      const size_t n = std::min(size, pieces_[i].size() - skipped);
      part.push_back(pieces_[i].subspan(skipped, n));
      begin += n;
      size -= n;
    }
    return part;
  }

 private:
  const Pieces& pieces_;
  std::vector<size_t> ends_;
};

void Copy(const Pieces& pieces, void* to) {
  auto* out = static_cast<std::byte*>(to);
  for (const auto& piece : pieces) {
    std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
}

// Reads words. The memory may belong to another process, so each word is read once.
class Words {
 public:
  explicit Words(const Pieces& pieces) : pieces_(pieces), left_(SizeOf(pieces) / kWord) {}
  size_t left() const { return left_; }
  // REQUIRES: left() > 0.
  int64_t Next() {
    int64_t word = 0;
    auto* out = reinterpret_cast<std::byte*>(&word);
    for (size_t wanted = kWord; wanted > 0;) {
      const auto& piece = pieces_[piece_];
      const size_t n = std::min(wanted, piece.size() - at_);
      std::memcpy(out, piece.data() + at_, n);
      out += n;
      at_ += n;
      wanted -= n;
      if (at_ < piece.size()) continue;
      ++piece_;
      at_ = 0;
    }
    --left_;
    return word;
  }

 private:
  const Pieces& pieces_;
  size_t piece_ = 0, at_ = 0;  // of the next byte
  size_t left_;
};

}  // namespace

int64_t BytesOfJoined(std::span<const JoinedPart> parts) {
  size_t words = 2, bytes = 0;
  for (const JoinedPart& part : parts) {
    words += WordsOfDescription(part.rank);
    bytes += Aligned(static_cast<size_t>(part.bytes));
  }
  return static_cast<int64_t>(Aligned(words * kWord) + bytes);
}

JoinedTensors::JoinedTensors(std::vector<Tensor> tensors)
    : JoinedTensors([&] {
        std::vector<Part> parts;
        for (const Tensor& tensor : tensors) {
          Part& part = parts.emplace_back(
              Part{.dtype = tensor.dtype(), .shape = tensor.shape(), .owner = tensor.buffer(), .pieces = {}});
          if (tensor.num_bytes() == 0) continue;
          part.pieces.emplace_back(static_cast<const std::byte*>(tensor.raw_data()), tensor.num_bytes());
        }
        return parts;
      }()) {}

StatusOr<JoinedBytes> JoinedTensors::Encode() const {
  size_t words = 2;
  for (const Part& part : parts_) words += WordsOfDescription(part.shape.rank());
  const size_t header_bytes = Aligned(words * kWord);
  RefPtr<Buffer> header = AllocateBuffer(header_bytes);
  if (!header) return ResourceExhausted("out of memory sending ", DebugString());
  auto* word = static_cast<int64_t*>(header->data());
  std::fill_n(word, header_bytes / kWord, 0);
  *word++ = kMagic;
  *word++ = std::ssize(parts_);
  size_t at = header_bytes;
  JoinedBytes bytes;
  bytes.pieces.emplace_back(static_cast<const std::byte*>(header->data()), header_bytes);
  std::vector<RefPtr<Buffer>> owners{std::move(header)};
  for (const Part& part : parts_) {
    *word++ = static_cast<int64_t>(part.dtype);
    *word++ = part.shape.rank();
    for (const int64_t dim : part.shape.dims()) *word++ = dim;
    *word++ = static_cast<int64_t>(at);
    const size_t size = SizeOf(part.pieces);
    if (size == 0) continue;
    owners.push_back(part.owner);
    bytes.pieces.insert(bytes.pieces.end(), part.pieces.begin(), part.pieces.end());
    if (const size_t padding = Aligned(size) - size; padding > 0) {
      bytes.pieces.push_back(std::span(kPadding).first(padding));
    }
    at += Aligned(size);
  }
  bytes.owner = MakeRef<BufferGroup>(std::move(owners));
  return bytes;
}

bool JoinedTensors::Begins(std::span<const std::byte> begin) {
  int64_t word;
  if (begin.size() < sizeof word) return false;
  std::memcpy(&word, begin.data(), sizeof word);
  return word == kMagic;
}

StatusOr<RefPtr<JoinedTensors>> JoinedTensors::Decode(JoinedBytes bytes) {
  std::erase_if(bytes.pieces, [](const auto& piece) { return piece.empty(); });
  const Places places(bytes.pieces);
  Words words(bytes.pieces);
  if (words.left() < 2 || words.Next() != kMagic) return Damaged("they do not begin as such");
  const int64_t count = words.Next();
  if (count < 0 || static_cast<uint64_t>(count) > words.left() / WordsOfDescription(0)) {
    return Damaged("there are too few descriptions");
  }
  std::vector<Part> parts;
  for (int64_t i = 0; i < count; ++i) {
    if (words.left() < WordsOfDescription(0)) return Damaged("a description is missing");
    const int64_t dtype_number = words.Next(), rank = words.Next();
    if (rank < 0 || static_cast<uint64_t>(rank) > words.left() - 1) return Damaged("a description is cut off");
    const auto dtype = static_cast<DType>(dtype_number);
    if (dtype_number != static_cast<int64_t>(dtype) || !IsPlain(dtype)) return Damaged("a dtype is wrong");
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < rank; ++d) dims.push_back(words.Next());
    if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; })) return Damaged("a shape is negative");
    const Shape shape{std::span<const int64_t>(dims)};
    const int64_t begin = words.Next(), n = shape.num_elements();
    uint64_t elements;
    if (n < 0 || __builtin_mul_overflow(static_cast<uint64_t>(n), DTypeSize(dtype), &elements) || begin < 0 ||
        static_cast<uint64_t>(begin) > places.size() || elements > places.size() - static_cast<uint64_t>(begin)) {
      return Damaged("a tensor is outside of them");
    }
    parts.push_back({.dtype = dtype,
                     .shape = shape,
                     .owner = bytes.owner,
                     .pieces = places.Part(static_cast<size_t>(begin), elements)});
  }
  return RefPtr<JoinedTensors>::Adopt(new JoinedTensors(std::move(parts)));
}

StatusOr<Tensor> JoinedTensors::Take(int64_t index) const {
  if (index < 0 || index >= std::ssize(parts_)) {
    return InvalidArgument("there is no tensor ", index, " in ", DebugString());
  }
  const Part& part = parts_[static_cast<size_t>(index)];
  // What another process may still change must be valid whatever its bits are (cluster/exchange/tensor_codec.cc).
  if (part.pieces.size() == 1 && (IsFloating(part.dtype) || (part.owner->writable() && part.dtype != kBool))) {
    const auto bytes = part.pieces[0];
    if (reinterpret_cast<uintptr_t>(bytes.data()) % kTensorAlignment == 0) {
      return Tensor::FromBuffer(MakeRef<BufferPart>(part.owner, const_cast<std::byte*>(bytes.data()), bytes.size()), 0,
                                part.dtype, part.shape);
    }
  }
  TF_ASSIGN_OR_RETURN(Tensor copy, Tensor::Create(part.dtype, part.shape));
  Copy(part.pieces, copy.inplace_raw_data());
  NormalizeBools(&copy);
  return copy;
}

std::string JoinedTensors::DebugString() const { return StrCat(parts_.size(), " joined tensors"); }

}  // namespace tensorbraid
