#include "kernels/cpu/wire/codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/half.h"

namespace tensorbraid::cpu {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint8_t kMagic = 'W';
constexpr uint8_t kVersion = 1;
constexpr int64_t kFixedHeader = 8;
constexpr int kMaxRank = 254;
constexpr int64_t kMaxTopK = std::numeric_limits<uint32_t>::max();
constexpr int32_t kMagnitude = 0x7fffffff;
constexpr int32_t kInfinity = 0x7f800000;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Eight values, which the compiler maps to the vector registers that the CPU has.
constexpr int kLanes = 8;
using Floats = float __attribute__((vector_size(4 * kLanes)));
using Ints = int32_t __attribute__((vector_size(4 * kLanes)));

template <typename V>
[[gnu::always_inline]] inline void Load(const void* from, V* to) {
  std::memcpy(to, from, sizeof(V));
}

// The type in which a tensor of n elements is sent when `wire` is requested.
Wire WireFor(Wire wire, int64_t n) {
  if (wire == Wire::kDefault || n < kMinWireElements) return Wire::kFloat32;
  return wire == Wire::kTopK && n > kMaxTopK ? Wire::kFloat32 : wire;
}

// Rounds to nearest, ties to even. The result is the same on all CPUs; the instruction that some CPUs have is not used,
// because it treats subnormal values as 0.
void ToBfloat16(const float* x, uint16_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
    const uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
    const uint32_t nan = bits | 0x400000;  // stays a NaN without its lower bits
    out[i] = static_cast<uint16_t>((static_cast<int32_t>(bits & kMagnitude) > kInfinity ? nan : rounded) >> 16);
  }
}

// Like ToBfloat16, for IEEE's float16. Values that round to 65536 or more become infinities.
void ToFloat16(const float* x, uint16_t* out, int64_t n) {
  constexpr int32_t kSmallestNormal = 0x38800000;  // 2^-14
  constexpr int32_t kBias = (127 - 15) << 23;
  constexpr int32_t kTooLarge = 0x47800000;  // 65536
  for (int64_t i = 0; i < n; ++i) {
    const int32_t bits = std::bit_cast<int32_t>(x[i]), magnitude = bits & kMagnitude;
    const int32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    // The last bit of 0.5F has the value of the last bit of a subnormal float16, so the addition rounds correctly.
    const int32_t subnormal = std::bit_cast<int32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000;
    int32_t half = magnitude < kSmallestNormal ? subnormal : (rounded - kBias) >> 13;
    half = rounded >= kTooLarge ? 0x7c00 : half;
    half = magnitude > kInfinity ? 0x7e00 : half;
    out[i] = static_cast<uint16_t>(half | ((bits >> 16) & 0x8000));
  }
}

void FromBfloat16(const uint16_t* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = std::bit_cast<float>(static_cast<uint32_t>(x[i]) << 16);
}

int64_t Blocks(int64_t n) { return n / kWireBlock + (n % kWireBlock != 0); }

// The size of the payload, or -1 if it does not fit int64.
int64_t PayloadBytes(Wire wire, int64_t n) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 16;
  if (n > kMost) return -1;
  switch (wire) {
    case Wire::kDefault:
    case Wire::kFloat32:
      return 4 * n;
    case Wire::kFloat16:
    case Wire::kBFloat16:
      return 2 * n;
    case Wire::kInt8:
      return 4 * Blocks(n) + n;
    case Wire::kOneBit:
      return (8 + kWireBlock / 8) * Blocks(n);
    case Wire::kTopK:
      return 8 * WireTopKCount(n);
  }
  return -1;
}

// The largest magnitude in a block, as bits. The bits have the order of the magnitudes, with NaNs after infinity.
int32_t LargestMagnitude(const float* x) {
  Ints most = {};
  for (int64_t i = 0; i < kWireBlock; i += kLanes) {
    Ints bits;
    Load(x + i, &bits);
    bits &= kMagnitude;
    most = bits > most ? bits : most;
  }
  int32_t result = 0;
  for (int i = 0; i < kLanes; ++i) result = std::max(result, most[i]);
  return result;
}

// Writes a block of int8 and returns its scale. If `residual` is true, sets `lost` to the part of x that is lost.
template <bool residual>
float EncodeInt8Block(const float* x, float* lost, int8_t* out) {
  const int32_t largest = LargestMagnitude(x);
  constexpr float kSmallest = 0x1p-120F;  // below, the inverse of the scale would overflow
  const float most = std::bit_cast<float>(largest);
  if (largest >= kInfinity || most < kSmallest) {
    std::fill_n(out, kWireBlock, int8_t{0});
    if (residual) {
      for (int64_t i = 0; i < kWireBlock; ++i) lost[i] = largest >= kInfinity ? 0.0F : x[i];
    }
    return largest >= kInfinity ? kNaN : 0.0F;
  }
  const float scale = most / 127.0F, inverse = 127.0F / most;
  // The sum with this number has the rounded value in its low bits.
  constexpr float kRounder = 0x1.8p23F;
  for (int64_t i = 0; i < kWireBlock; ++i) {
    const float sum = x[i] * inverse + kRounder;
    out[i] = static_cast<int8_t>(std::bit_cast<int32_t>(sum) - std::bit_cast<int32_t>(kRounder));
  }
  if (residual) {
    for (int64_t i = 0; i < kWireBlock; ++i) lost[i] = x[i] - static_cast<float>(out[i]) * scale;
  }
  return scale;
}

// Writes the words of a block and its means. `count` values of the block exist; the others are 0. If `residual` is
// true, sets `lost` to the part of x that is lost.
template <bool residual>
void EncodeOneBitBlock(const float* x, int64_t count, float* lost, float means[2], uint32_t* words) {
  Floats positive = {}, negative = {};
  Ints bits = {}, negatives = {}, most = {};
  for (int i = 0; i < kWireBlock / kLanes; ++i) {
    Floats v;
    Ints raw;
    Load(x + kLanes * i, &v);
    Load(x + kLanes * i, &raw);
    raw &= kMagnitude;
    most = raw > most ? raw : most;
    const Ints below = v < 0.0F;
    negative += below ? v : Floats{};
    positive += below ? Floats{} : v;
    negatives -= below;
    bits |= (below & 1) << i;
  }
  float sum = 0, negative_sum = 0;
  int32_t largest = 0;
  int64_t below = 0;
  for (int i = 0; i < kLanes; ++i) {
    sum += positive[i];
    negative_sum += negative[i];
    below += negatives[i];
    largest = std::max(largest, most[i]);
  }
  means[0] = below == count ? 0.0F : sum / static_cast<float>(count - below);
  means[1] = below == 0 ? 0.0F : negative_sum / static_cast<float>(below);
  if (largest >= kInfinity || !std::isfinite(means[0]) || !std::isfinite(means[1])) means[0] = means[1] = kNaN;
  std::memcpy(words, &bits, sizeof(bits));
  if (!residual) return;
  if (std::isnan(means[0])) {
    std::fill_n(lost, kWireBlock, 0.0F);
    return;
  }
  const Floats zero = {}, mean = zero + means[0], negative_mean = zero + means[1];
  for (int64_t i = 0; i < kWireBlock; i += kLanes) {
    Floats v;
    Load(x + i, &v);
    const Floats rest = v - (v < 0.0F ? negative_mean : mean);
    std::memcpy(lost + i, &rest, sizeof(rest));
  }
}

void DecodeOneBitBlock(const float means[2], const uint32_t* words, float* out) {
  Ints bits;
  Load(words, &bits);
  const Floats zero = {}, mean = zero + means[0], negative = zero + means[1];
  for (int i = 0; i < kWireBlock / kLanes; ++i) {
    const Ints is_set = ((bits >> i) & 1) != 0;
    const Floats v = is_set ? negative : mean;
    std::memcpy(out + kLanes * i, &v, sizeof(v));
  }
}

// Calls `use` with the number of each value whose magnitude's bits are in [low, end), in order. Usually there are few
// such values.
template <typename Use>
void ForEachBetween(const float* x, int64_t n, uint32_t low, uint32_t end, const Use& use) {
  constexpr int64_t kSpan = 16;
  const uint32_t width = end - low;
  const auto visit = [&](int64_t i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]) & kMagnitude;
    if (bits - low < width) use(i, bits);
  };
  int64_t i = 0;
  for (; i + kSpan <= n; i += kSpan) {
    Ints any = {};
    for (int64_t j = 0; j < kSpan; j += kLanes) {
      Ints bits;
      Load(x + i + j, &bits);
      bits &= kMagnitude;
      any |= bits >= static_cast<int32_t>(low);
    }
    int32_t found = 0;
    for (int j = 0; j < kLanes; ++j) found |= any[j];
    if (found == 0) continue;
    for (int64_t j = i; j < i + kSpan; ++j) visit(j);
  }
  for (; i < n; ++i) visit(i);
}

Status Malformed(std::string_view why) { return InvalidArgument("malformed wire bytes: ", why); }

}  // namespace

int64_t WireBytes(Wire wire, const Shape& shape) {
  const int64_t n = shape.num_elements();
  if (n < 0 || shape.rank() > kMaxRank) return -1;
  const int64_t payload = PayloadBytes(WireFor(wire, n), n);
  return payload < 0 ? -1 : kFixedHeader + 8 * shape.rank() + payload;
}

WireEncoder::WireEncoder(Wire wire, const Shape& shape, const float* values, float* residual, uint8_t* out)
    : wire_(WireFor(wire, shape.num_elements())),
      n_(shape.num_elements()),
      values_(values),
      residual_(HasErrorFeedback(wire_) ? residual : nullptr),
      payload_(out + kFixedHeader + 8 * shape.rank()) {
  const std::array<uint8_t, kFixedHeader> fixed = {kMagic, kVersion, static_cast<uint8_t>(wire_),
                                                   static_cast<uint8_t>(shape.rank())};
  std::memcpy(out, fixed.data(), fixed.size());
  // memcpy is not used, because it must not get null, and a scalar has no dimensions.
  std::copy_n(reinterpret_cast<const uint8_t*>(shape.dims().data()), 8 * shape.rank(), out + kFixedHeader);
}

void WireEncoder::Encode(int64_t first_block, int64_t end_block) const {
  if (first_block >= end_block) return;
  const int64_t begin = first_block * kWireBlock, count = std::min(n_, end_block * kWireBlock) - begin;
  switch (wire_) {
    case Wire::kDefault:
    case Wire::kFloat32:
      std::memcpy(payload_ + 4 * begin, values_ + begin, 4 * count);
      return;
    case Wire::kFloat16:
      ToFloat16(values_ + begin, reinterpret_cast<uint16_t*>(payload_) + begin, count);
      return;
    case Wire::kBFloat16:
      ToBfloat16(values_ + begin, reinterpret_cast<uint16_t*>(payload_) + begin, count);
      return;
    case Wire::kTopK:
      EncodeTopK();
      return;
    case Wire::kInt8:
    case Wire::kOneBit:
      break;
  }
  float* const scales = reinterpret_cast<float*>(payload_);
  const int64_t all = blocks();
  int8_t* const numbers = reinterpret_cast<int8_t*>(scales + all);
  uint32_t* const words = reinterpret_cast<uint32_t*>(scales + 2 * all);
  alignas(64) float sum[kWireBlock];
  alignas(64) float lost[kWireBlock];
  alignas(64) int8_t last[kWireBlock];
  for (int64_t b = first_block; b < end_block; ++b) {
    const int64_t at = b * kWireBlock, m = std::min(kWireBlock, n_ - at);
    const float* x = values_ + at;
    float* const r = residual_ == nullptr ? nullptr : residual_ + at;
    float* kept = m == kWireBlock ? r : lost;
    if (r != nullptr) {
      for (int64_t i = 0; i < m; ++i) sum[i] = x[i] + r[i];
    } else if (m < kWireBlock) {
      std::copy_n(x, m, sum);
    }
    if (m < kWireBlock) std::fill(sum + m, sum + kWireBlock, 0.0F);
    if (r != nullptr || m < kWireBlock) x = sum;
    if (wire_ == Wire::kInt8) {
      int8_t* const out = m == kWireBlock ? numbers + at : last;
      scales[b] = r == nullptr ? EncodeInt8Block<false>(x, nullptr, out) : EncodeInt8Block<true>(x, kept, out);
      if (m < kWireBlock) std::copy_n(last, m, numbers + at);
    } else if (r == nullptr) {
      EncodeOneBitBlock<false>(x, m, nullptr, scales + 2 * b, words + kLanes * b);
    } else {
      EncodeOneBitBlock<true>(x, m, kept, scales + 2 * b, words + kLanes * b);
    }
    if (r != nullptr && m < kWireBlock) std::copy_n(lost, m, r);
  }
}

// Finds the smallest magnitude that is sent. First counts the values by the upper bits of their magnitudes, which gives
// the upper bits of this magnitude. Then examines only the values with these upper bits. Of several values with this
// magnitude, the first ones are sent.
void WireEncoder::EncodeTopK() const {
  const float* x = values_;
  if (residual_ != nullptr) {
    for (int64_t i = 0; i < n_; ++i) residual_[i] += values_[i];
    x = residual_;
  }
  constexpr int kLowBits = 20;
  constexpr uint32_t kBuckets = 1U << (31 - kLowBits);
  constexpr int kCounts = 2;  // per bucket, so that two values of a bucket can be counted at once
  std::vector<std::array<uint32_t, kCounts>> counts(kBuckets);
  int64_t i = 0;
  const auto bucket = [x](int64_t at) { return (std::bit_cast<uint32_t>(x[at]) & kMagnitude) >> kLowBits; };
  for (; i + kCounts <= n_; i += kCounts) {
    for (int j = 0; j < kCounts; ++j) ++counts[bucket(i + j)][j];
  }
  for (; i < n_; ++i) ++counts[bucket(i)][0];

  const auto size = [&](uint32_t b) {
    int64_t sum = 0;
    for (uint32_t c : counts[b]) sum += c;
    return sum;
  };
  const int64_t wanted = WireTopKCount(n_);
  int64_t above = 0;  // values in higher buckets
  uint32_t at = kBuckets - 1;
  while (above + size(at) < wanted) above += size(at--);
  const uint32_t low = at << kLowBits, end = low + (1U << kLowBits);
  std::vector<uint32_t> there;
  there.reserve(size(at));
  ForEachBetween(x, n_, low, end, [&](int64_t, uint32_t bits) { there.push_back(bits); });
  const auto last = there.begin() + (wanted - above - 1);
  std::nth_element(there.begin(), last, there.end(), std::greater<>());
  const uint32_t threshold = *last;
  // The number of values with exactly this magnitude that are sent.
  int64_t equal = wanted - above - std::count_if(there.begin(), there.end(), [&](uint32_t b) { return b > threshold; });

  auto* const indices = reinterpret_cast<uint32_t*>(payload_);
  auto* const values = reinterpret_cast<float*>(indices + wanted);
  int64_t count = 0;
  ForEachBetween(x, n_, threshold, 1U << 31, [&](int64_t index, uint32_t bits) {
    if (bits == threshold && equal-- <= 0) return;
    indices[count] = static_cast<uint32_t>(index);
    values[count] = x[index];
    ++count;
  });
  if (residual_ == nullptr) return;
  for (int64_t k = 0; k < wanted; ++k) residual_[indices[k]] = 0;
  // Values that are not sent may be infinite or NaN, too. The residual must stay finite.
  ForEachBetween(x, n_, kInfinity, 1U << 31, [&](int64_t index, uint32_t) { residual_[index] = 0; });
}

StatusOr<WireHeader> ReadWireHeader(std::span<const uint8_t> bytes) {
  if (bytes.size() < kFixedHeader) return Malformed(StrCat(bytes.size(), " bytes are too few for a header"));
  if (bytes[0] != kMagic || bytes[1] != kVersion) return Malformed("they do not begin with the mark of version 1");
  if (bytes[2] < static_cast<uint8_t>(Wire::kFloat32) || bytes[2] > static_cast<uint8_t>(Wire::kTopK)) {
    return Malformed(StrCat("type ", int{bytes[2]}, " does not exist"));
  }
  const int rank = bytes[3];
  const size_t header = kFixedHeader + 8 * static_cast<size_t>(rank);
  if (rank > kMaxRank || bytes.size() < header) return Malformed(StrCat("they end within the ", rank, " dimensions"));
  if (std::any_of(bytes.begin() + 4, bytes.begin() + kFixedHeader, [](uint8_t b) { return b != 0; })) {
    return Malformed("reserved bytes are not 0");
  }
  std::vector<int64_t> dims(rank);
  std::copy_n(bytes.data() + kFixedHeader, 8 * dims.size(), reinterpret_cast<uint8_t*>(dims.data()));
  WireHeader result{.wire = static_cast<Wire>(bytes[2]), .shape = Shape(dims), .payload = header};
  const int64_t n = result.shape.num_elements();
  if (n < 0 || std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) {
    return Malformed(StrCat("shape ", result.shape.ToString(), " is not valid"));
  }
  const int64_t payload = PayloadBytes(result.wire, n);
  if (payload < 0 || (result.wire == Wire::kTopK && n > kMaxTopK) ||
      bytes.size() - header != static_cast<size_t>(payload)) {
    return Malformed(StrCat(bytes.size() - header, " bytes for ", WireName(result.wire), result.shape.ToString(),
                            ", which takes ", payload));
  }
  return result;
}

Status DecodeWire(const WireHeader& header, std::span<const uint8_t> bytes, int64_t first_block, int64_t end_block,
                  float* out) {
  if (first_block >= end_block) return OkStatus();
  const int64_t n = header.shape.num_elements();
  const int64_t begin = first_block * kWireBlock, count = std::min(n, end_block * kWireBlock) - begin;
  const uint8_t* const payload = bytes.data() + header.payload;
  const float* const scales = reinterpret_cast<const float*>(payload);
  const int64_t all = Blocks(n);
  switch (header.wire) {
    case Wire::kDefault:
    case Wire::kFloat32:
      std::memcpy(out + begin, payload + 4 * begin, 4 * count);
      return OkStatus();
    case Wire::kFloat16:
      ToFloat(reinterpret_cast<const Float16*>(payload) + begin, out + begin, count);
      return OkStatus();
    case Wire::kBFloat16:
      FromBfloat16(reinterpret_cast<const uint16_t*>(payload) + begin, out + begin, count);
      return OkStatus();
    case Wire::kInt8: {
      const auto* const numbers = reinterpret_cast<const int8_t*>(scales + all);
      for (int64_t b = first_block; b < end_block; ++b) {
        const float scale = scales[b];
        const int64_t end = std::min(n, (b + 1) * kWireBlock);
        for (int64_t i = b * kWireBlock; i < end; ++i) out[i] = static_cast<float>(numbers[i]) * scale;
      }
      return OkStatus();
    }
    case Wire::kOneBit: {
      const auto* const words = reinterpret_cast<const uint32_t*>(scales + 2 * all);
      for (int64_t b = first_block; b < end_block; ++b) {
        const int64_t at = b * kWireBlock, m = std::min(kWireBlock, n - at);
        float last[kWireBlock];
        DecodeOneBitBlock(scales + 2 * b, words + kLanes * b, m == kWireBlock ? out + at : last);
        if (m < kWireBlock) std::copy_n(last, m, out + at);
      }
      return OkStatus();
    }
    case Wire::kTopK: {
      std::fill_n(out, n, 0.0F);
      const int64_t sent = WireTopKCount(n);
      const auto* const indices = reinterpret_cast<const uint32_t*>(payload);
      const auto* const values = reinterpret_cast<const float*>(indices + sent);
      for (int64_t k = 0; k < sent; ++k) {
        if (indices[k] >= n || (k > 0 && indices[k] <= indices[k - 1])) {
          return Malformed(StrCat("index ", indices[k], " of value ", k, " does not rise or is not below ", n));
        }
        out[indices[k]] = values[k];
      }
      return OkStatus();
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid::cpu
