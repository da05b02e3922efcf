// Strings, one by one: cleaning, measuring, cutting, coding and hashing them.
#include "kernels/cpu/strings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/fingerprint.h"
#include "core/strings.h"
#include "core/utf8.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace cpu {

StatusOr<std::vector<int64_t>> RowSplits(const Tensor& splits, int64_t count) {
  if (splits.shape().rank() != 1) return InvalidArgument("row splits must be a vector, got shape ", splits.shape());
  TF_ASSIGN_OR_RETURN(const IntVector v, IntegersOf(splits, "row splits"));
  if (v.empty()) return InvalidArgument("row splits must not be empty");
  if (v.front() != 0) return InvalidArgument("row splits must begin with 0, got ", v.front());
  if (v.back() != count) return InvalidArgument("row splits must end with ", count, ", got ", v.back());
  if (!std::is_sorted(v.begin(), v.end())) return InvalidArgument("row splits must not fall, got ", splits.ToString());
  return std::vector<int64_t>(v.begin(), v.end());
}

namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Status StringStrip(KernelContext& ctx) {
  return MapStrings<std::string>(ctx, [](const std::string& s) {
    size_t begin = 0;
    size_t end = s.size();
    while (begin < end && IsSpace(s[begin])) ++begin;
    while (begin < end && IsSpace(s[end - 1])) --end;
    return s.substr(begin, end - begin);
  });
}

Status StringLength(KernelContext& ctx) {
  const bool characters = ctx.node().attr<std::string>("unit") == "UTF8_CHAR";
  return MapStrings<int32_t>(ctx, [characters](const std::string& s) {
    return static_cast<int32_t>(characters ? Utf8Length(s) : static_cast<int64_t>(s.size()));
  });
}

// One range of bytes or characters. InvalidArgument when pos lies outside.
StatusOr<std::string> BytesOf(const std::string& s, int64_t pos, int64_t len) {
  const auto size = static_cast<int64_t>(s.size());
  if (pos < -size || pos > size)
    return InvalidArgument("pos ", pos, " is out of range for a string of ", size, " bytes");
  if (pos < 0) pos += size;
  // A negative length reaches to the end.
  return s.substr(static_cast<size_t>(pos), len < 0 ? std::string::npos : static_cast<size_t>(len));
}

StatusOr<std::string> CharactersOf(const std::string& s, int64_t pos, int64_t len) {
  size_t begin = pos < 0 ? s.size() : 0;
  // Characters are no more than bytes, so a larger distance is as far.
  const int64_t distance = std::min(pos < 0 ? -std::max(pos, -kMaxStringBytes) : pos, kMaxStringBytes);
  if (!(pos < 0 ? Utf8Back(s, distance, &begin) : Utf8Forward(s, distance, &begin))) {
    return InvalidArgument("pos ", pos, " is out of range for a string of ", Utf8Length(s), " characters");
  }
  size_t end = begin;
  Utf8Forward(s, len, &end);
  return s.substr(begin, end - begin);
}

// How far one step along each dimension of `out` goes in a tensor that broadcasts to it.
std::vector<int64_t> BroadcastStrides(const Shape& in, const Shape& out) {
  std::vector<int64_t> strides(out.rank(), 0);
  int64_t stride = 1;
  for (int i = in.rank() - 1, o = out.rank() - 1; i >= 0; --i, --o) {
    strides[o] = in.dim(i) == 1 ? 0 : stride;
    stride *= in.dim(i);
  }
  return strides;
}

template <typename T>
Status Substr(KernelContext& ctx) {
  const Shape& in_shape = ctx.input(0).shape();
  const Shape& at_shape = ctx.input(1).shape();
  if (!(at_shape == ctx.input(2).shape())) {
    return InvalidArgument("pos and len must have one shape, got ", at_shape, " and ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(in_shape, at_shape));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const std::vector<int64_t> in_strides = BroadcastStrides(in_shape, shape);
  const std::vector<int64_t> at_strides = BroadcastStrides(at_shape, shape);
  const auto in = ctx.input(0).data<std::string>();
  const auto pos = ctx.input(1).data<T>();
  const auto len = ctx.input(2).data<T>();
  const bool characters = ctx.node().attr<std::string>("unit") == "UTF8_CHAR";
  auto to = out->mutable_data<std::string>();
  for (size_t n = 0; n < to.size(); ++n) {
    int64_t rest = static_cast<int64_t>(n), i = 0, at = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      i += rest % shape.dim(d) * in_strides[d];
      at += rest % shape.dim(d) * at_strides[d];
      rest /= shape.dim(d);
    }
    TF_ASSIGN_OR_RETURN(to[n], characters ? CharactersOf(in[i], pos[at], len[at]) : BytesOf(in[i], pos[at], len[at]));
  }
  return OkStatus();
}

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string EncodeBase64(const std::string& s, bool pad) {
  std::string out;
  out.reserve((s.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  int held = 0;
  for (unsigned char c : s) {
    bits = bits << 8 | c;
    for (held += 8; held >= 6; held -= 6) out += kBase64[bits >> (held - 6) & 63];
  }
  if (held > 0) out += kBase64[bits << (6 - held) & 63];
  while (pad && out.size() % 4 != 0) out += '=';
  return out;
}

StatusOr<std::string> DecodeBase64(const std::string& s) {
  static const std::array<int8_t, 256> values = [] {
    std::array<int8_t, 256> v;
    v.fill(-1);
    for (size_t i = 0; i < kBase64.size(); ++i) v[static_cast<unsigned char>(kBase64[i])] = static_cast<int8_t>(i);
    return v;
  }();
  std::string_view digits = s;
  if (digits.size() % 4 == 0) {  // padding, where there is any, is whole
    for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  }
  if (digits.size() % 4 == 1)
    return InvalidArgument("no base64: ", digits.size(), " characters without padding, which is 1 modulo 4");
  std::string out;
  out.reserve(digits.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int held = 0;
  for (unsigned char c : digits) {
    if (values[c] < 0) return InvalidArgument("no base64: a character with code ", int{c});
    bits = bits << 6 | static_cast<uint32_t>(values[c]);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 0xff);
    }
  }
  return out;
}

Status EncodeBase64Kernel(KernelContext& ctx) {
  const bool pad = ctx.node().attr<bool>("pad");
  return MapStrings<std::string>(ctx, [pad](const std::string& s) { return EncodeBase64(s, pad); });
}

Status DecodeBase64Kernel(KernelContext& ctx) { return MapStrings<std::string>(ctx, DecodeBase64); }

template <uint64_t (*kHash)(std::string_view)>
Status ToHashBucket(KernelContext& ctx) {
  const auto buckets = static_cast<uint64_t>(ctx.node().attr<int64_t>("num_buckets"));
  return MapStrings<int64_t>(ctx, [buckets](const std::string& s) { return static_cast<int64_t>(kHash(s) % buckets); });
}

Status ToHashBucketStrong(KernelContext& ctx) {
  const auto buckets = static_cast<uint64_t>(ctx.node().attr<int64_t>("num_buckets"));
  const auto& key = ctx.node().attr<std::vector<int64_t>>("key");
  if (key.size() != 2) return InvalidArgument("Key must have 2 elements, got ", key.size());
  return MapStrings<int64_t>(ctx, [&](const std::string& s) {
    return static_cast<int64_t>(SipHash(static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1]), s) % buckets);
  });
}

static_assert(std::endian::native == std::endian::little, "fingerprints are written as they lie in memory");

Status Fingerprint(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* method, TextOf(ctx, 1, "the method"));
  if (*method != "farmhash64") return InvalidArgument("unknown method '", *method, "'; 'farmhash64' is known");
  const Tensor& data = ctx.input(0);
  if (data.shape().rank() < 1) return InvalidArgument("data must have rank 1 or more, got shape ", data.shape());
  const bool plain = IsPlain(data.dtype());
  if (!plain && data.dtype() != kString) return InvalidArgument(data.dtype(), " has no fingerprint");
  const int64_t rows = data.shape().dim(0);
  const int64_t per_row = rows == 0 ? 0 : data.num_elements() / rows;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({rows, int64_t{sizeof(uint64_t)}})));
  uint8_t* to = out->mutable_data<uint8_t>().data();
  for (int64_t row = 0; row < rows; ++row, to += sizeof(uint64_t)) {
    uint64_t value = 0;
    if (plain) {
      const size_t bytes = static_cast<size_t>(per_row) * DTypeSize(data.dtype());
      value = Fingerprint64({static_cast<const char*>(data.raw_data()) + static_cast<size_t>(row) * bytes, bytes});
    } else {
      const auto strings = data.data<std::string>().subspan(static_cast<size_t>(row * per_row), per_row);
      std::vector<uint64_t> each;
      for (const std::string& s : strings) each.push_back(Fingerprint64(s));
      // Of one string its own, of several that of theirs.
      value = each.size() == 1
                  ? each[0]
                  : Fingerprint64({reinterpret_cast<const char*>(each.data()), each.size() * sizeof(uint64_t)});
    }
    std::memcpy(to, &value, sizeof value);
  }
  return OkStatus();
}

}  // namespace
}  // namespace cpu

void RegisterStringKernels(KernelRegistry& r) {
  using namespace cpu;
  r.Add("StringStrip", {}, StringStrip);
  r.Add("StringLength", {}, StringLength);
  r.Add("Substr", {{"T", {kInt32}}}, Substr<int32_t>);
  r.Add("Substr", {{"T", {kInt64}}}, Substr<int64_t>);
  r.Add("EncodeBase64", {}, EncodeBase64Kernel);
  r.Add("DecodeBase64", {}, DecodeBase64Kernel);
  r.Add("StringToHashBucket", {}, ToHashBucket<Hash64>);
  r.Add("StringToHashBucketFast", {}, ToHashBucket<Fingerprint64>);
  r.Add("StringToHashBucketStrong", {}, ToHashBucketStrong);
  r.Add("Fingerprint", {}, Fingerprint);
  RegisterStringFormatKernels(r);
  RegisterStringJoinKernels(r);
  RegisterStringNumberKernels(r);
  RegisterStringRegexKernels(r);
  RegisterStringSplitKernels(r);
  RegisterStringUnicodeKernels(r);
}

}  // namespace tensorbraid
