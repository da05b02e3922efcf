// Kernels for the case, the length, parts and the Base64 encoding of strings.
#include "kernels/cpu/string/string.h"

#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/text/strings.h"
#include "core/text/utf8.h"
#include "kernels/cpu/elements.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

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

// A range of `len` bytes from `pos` on. CharactersOf counts characters instead. A negative `pos` counts from the end.
// Returns InvalidArgument if `pos` is out of range.
StatusOr<std::string> BytesOf(const std::string& s, int64_t pos, int64_t len) {
  const auto size = static_cast<int64_t>(s.size());
  if (pos < -size || pos > size)
    return InvalidArgument("pos ", pos, " is out of range for a string of ", size, " bytes");
  if (pos < 0) pos += size;
  // With a negative length, the range extends to the end.
  return s.substr(static_cast<size_t>(pos), len < 0 ? std::string::npos : static_cast<size_t>(len));
}

StatusOr<std::string> CharactersOf(const std::string& s, int64_t pos, int64_t len) {
  size_t begin = pos < 0 ? s.size() : 0;
  // A string has at most as many characters as bytes, so any larger distance is out of range, too.
  const int64_t distance = std::min(pos < 0 ? -std::max(pos, -kMaxStringBytes) : pos, kMaxStringBytes);
  if (!(pos < 0 ? Utf8Back(s, distance, &begin) : Utf8Forward(s, distance, &begin))) {
    return InvalidArgument("pos ", pos, " is out of range for a string of ", Utf8Length(s), " characters");
  }
  size_t end = begin;
  Utf8Forward(s, len, &end);
  return s.substr(begin, end - begin);
}

// The distance in `in`, which broadcasts to `out`, of one step along each dimension of `out`.
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
    return InvalidArgument("pos and len must have the same shape, got ", at_shape, " and ", ctx.input(2).shape());
  }
  TF_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(in_shape, at_shape));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const std::vector<int64_t> in_strides = BroadcastStrides(in_shape, shape);
  const std::vector<int64_t> at_strides = BroadcastStrides(at_shape, shape);
  const auto in = ctx.input(0).data<std::string>();
  const auto pos = ctx.input(1).data<T>();
  const auto len = ctx.input(2).data<T>();
  const bool characters = ctx.node().attr<std::string>("unit") == "UTF8_CHAR";
  auto to = out->inplace_data<std::string>();
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
  if (digits.size() % 4 == 0) {  // padding is optional, but must be complete
    for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  }
  if (digits.size() % 4 == 1)
    return InvalidArgument("invalid base64: ", digits.size(), " characters without padding, which is 1 modulo 4");
  std::string out;
  out.reserve(digits.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int held = 0;
  for (unsigned char c : digits) {
    if (values[c] < 0) return InvalidArgument("invalid base64: a character with code ", int{c});
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

// Converts to upper or lower case: ASCII letters only if `encoding` is empty, otherwise all letters that have case.
template <bool kUpper>
Status ChangeCase(KernelContext& ctx) {
  const auto& encoding = ctx.node().attr<std::string>("encoding");
  if (encoding.empty()) {
    return MapStrings<std::string>(ctx, [](std::string s) {
      for (char& c : s) {
        if (kUpper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c = static_cast<char>(c ^ 0x20);
      }
      return s;
    });
  }
  if (encoding != "utf-8") return InvalidArgument("the encoding must be '' or 'utf-8', got '", encoding, "'");
  return MapStrings<std::string>(ctx, [](const std::string& s) -> StatusOr<std::string> {
    if (s.size() > size_t{1} << 30) return ResourceExhausted("a string of ", s.size(), " bytes is too long for ICU");
    icu::UnicodeString text = icu::UnicodeString::fromUTF8(icu::StringPiece(s.data(), static_cast<int32_t>(s.size())));
    std::string changed;
    (kUpper ? text.toUpper() : text.toLower()).toUTF8String(changed);
    return changed;
  });
}

}  // namespace

void RegisterStringKernels(KernelRegistry& r) {
  r.Add("StringStrip", {}, StringStrip);
  r.Add("StringLength", {}, StringLength);
  r.Add("Substr", {{"T", {kInt32}}}, Substr<int32_t>);
  r.Add("Substr", {{"T", {kInt64}}}, Substr<int64_t>);
  r.Add("EncodeBase64", {}, EncodeBase64Kernel);
  r.Add("DecodeBase64", {}, DecodeBase64Kernel);
  r.Add("StringLower", {}, ChangeCase<false>);
  r.Add("StringUpper", {}, ChangeCase<true>);
}

}  // namespace tensorbraid::cpu
