// Kernels that decode and encode Unicode text, and that find the scripts of characters.
#include <unicode/uchar.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/utf.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <bit>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

StatusOr<std::vector<int64_t>> RowSplits(const Tensor& splits, int64_t count) {
  if (splits.shape().rank() != 1) return InvalidArgument("row splits must be a vector, got shape ", splits.shape());
  TF_ASSIGN_OR_RETURN(const IntVector v, IntegersOf(splits, "row splits"));
  if (v.empty()) return InvalidArgument("row splits must not be empty");
  if (v.front() != 0) return InvalidArgument("row splits must begin with 0, got ", v.front());
  if (v.back() != count) return InvalidArgument("row splits must end with ", count, ", got ", v.back());
  if (!std::is_sorted(v.begin(), v.end()))
    return InvalidArgument("row splits must be non-decreasing, got ", splits.ToString());
  return std::vector<int64_t>(v.begin(), v.end());
}

namespace {

constexpr UChar32 kReplacement = 0xfffd;
constexpr UChar32 kMaxCodePoint = 0x10ffff;

struct ConverterClose {
  void operator()(UConverter* c) const { ucnv_close(c); }
};

// The policy for invalid characters.
struct Errors {
  explicit Errors(const Node& node, bool has_controls = true)
      : strict(node.attr<std::string>("errors") == "strict"),
        ignore(node.attr<std::string>("errors") == "ignore"),
        controls(has_controls && node.attr<bool>("replace_control_characters")),
        replacement(node.attr<int64_t>("replacement_char")) {}
  // Calls add(c), or add(replacement) if `c` is invalid (`bad`) or a control character to be replaced. If such
  // characters are ignored, does nothing for them; if the policy is strict, returns InvalidArgument for them.
  template <typename Add>
  Status Take(UChar32 c, bool bad, const Add& add) const {
    if (bad || (controls && c >= 0 && c <= 0x1f)) {
      if (strict)
        return InvalidArgument(
            "the text has invalid characters, or control characters that errors = 'strict' does not allow");
      if (ignore) return OkStatus();
      c = static_cast<UChar32>(replacement);
    }
    add(c);
    return OkStatus();
  }

  const bool strict;
  const bool ignore;
  const bool controls;
  const int64_t replacement;
};

Status CheckReplacement(const Errors& errors) {
  if (errors.replacement < 0 || errors.replacement > kMaxCodePoint) {
    return InvalidArgument("the replacement character ", errors.replacement, " is not a Unicode code point");
  }
  return OkStatus();
}

// Decodes texts in one encoding. Not thread-safe.
class Decoder {
 public:
  static StatusOr<Decoder> Open(const std::string& encoding) {
    UErrorCode error = U_ZERO_ERROR;
    std::unique_ptr<UConverter, ConverterClose> converter(ucnv_open(encoding.c_str(), &error));
    if (U_FAILURE(error)) return InvalidArgument("the encoding '", encoding, "' is not known");
    return Decoder(std::move(converter));
  }

  // Calls take(code point, whether it replaces an invalid sequence, offset of its first byte) for each character.
  template <typename Take>
  Status Decode(const std::string& text, const Take& take) {
    UErrorCode error = U_ZERO_ERROR;
    bool bad = false;
    ucnv_reset(converter_.get());
    ucnv_setToUCallBack(converter_.get(), OnError, &bad, nullptr, nullptr, &error);
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end && U_SUCCESS(error)) {
      const char* const begin = at;
      bad = false;
      const UChar32 c = ucnv_getNextUChar(converter_.get(), &at, end, &error);
      if (error == U_INDEX_OUTOFBOUNDS_ERROR) break;
      if (error == U_TRUNCATED_CHAR_FOUND || error == U_ILLEGAL_CHAR_FOUND || error == U_INVALID_CHAR_FOUND) {
        bad = true;
        error = U_ZERO_ERROR;
      }
      if (U_FAILURE(error)) return InvalidArgument("the text cannot be decoded: ", u_errorName(error));
      TF_RETURN_IF_ERROR(take(bad ? kReplacement : c, bad, begin - text.data()));
      if (at == begin) break;
    }
    return OkStatus();
  }

 private:
  explicit Decoder(std::unique_ptr<UConverter, ConverterClose> converter) : converter_(std::move(converter)) {}

  static void OnError(const void* context, UConverterToUnicodeArgs* args, const char*, int32_t,
                      UConverterCallbackReason reason, UErrorCode* error) {
    if (reason > UCNV_IRREGULAR) return;  // ICU also reports resets and copies; ignore them
    *static_cast<bool*>(const_cast<void*>(context)) = true;
    *error = U_ZERO_ERROR;
    const UChar replacement = kReplacement;
    ucnv_cbToUWriteUChars(args, &replacement, 1, 0, error);
  }

  std::unique_ptr<UConverter, ConverterClose> converter_;
};

using EncodeFn = void (*)(UChar32, std::string*);

void AppendUtf8(UChar32 c, std::string* out) {
  char bytes[U8_MAX_LENGTH];
  int32_t size = 0;
  U8_APPEND_UNSAFE(bytes, size, c);
  out->append(bytes, static_cast<size_t>(size));
}

void AppendBigEndian(uint32_t v, int bytes, std::string* out) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) *out += static_cast<char>(v >> shift & 0xff);
}

void AppendUtf16(UChar32 c, std::string* out) {
  if (U_IS_BMP(c)) return AppendBigEndian(static_cast<uint32_t>(c), 2, out);
  AppendBigEndian(U16_LEAD(c), 2, out);
  AppendBigEndian(U16_TRAIL(c), 2, out);
}

void AppendUtf32(UChar32 c, std::string* out) { AppendBigEndian(static_cast<uint32_t>(c), 4, out); }

EncodeFn EncoderFor(const std::string& encoding) {
  if (encoding == "UTF-16-BE") return AppendUtf16;
  if (encoding == "UTF-32-BE") return AppendUtf32;
  return AppendUtf8;
}

Status UnicodeScript(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  const auto in = ctx.input(0).data<int32_t>();
  for (size_t i = 0; i < in.size(); ++i) {
    UErrorCode error = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(in[i], &error);
    out->inplace_data<int32_t>()[i] = U_SUCCESS(error) ? script : USCRIPT_INVALID_CODE;
  }
  return OkStatus();
}

template <typename T>
Status UnicodeDecode(KernelContext& ctx) {
  const Errors errors(ctx.node());
  TF_RETURN_IF_ERROR(CheckReplacement(errors));
  TF_ASSIGN_OR_RETURN(Decoder decoder, Decoder::Open(ctx.node().attr<std::string>("input_encoding")));
  std::vector<int32_t> values;
  std::vector<int64_t> offsets;
  std::vector<T> splits = {0};
  for (const std::string& s : ctx.input(0).data<std::string>()) {
    TF_RETURN_IF_ERROR(decoder.Decode(s, [&](UChar32 c, bool bad, int64_t offset) {
      return errors.Take(c, bad, [&](UChar32 taken) {
        values.push_back(taken);
        offsets.push_back(offset);
      });
    }));
    splits.push_back(static_cast<T>(values.size()));
  }
  ctx.set_output(0, Tensor::Vector(splits));
  ctx.set_output(1, Tensor::Vector(values));
  if (ctx.num_outputs() > 2) ctx.set_output(2, Tensor::Vector(offsets));
  return OkStatus();
}

Status UnicodeTranscode(KernelContext& ctx) {
  const Errors errors(ctx.node());
  TF_RETURN_IF_ERROR(CheckReplacement(errors));
  TF_ASSIGN_OR_RETURN(Decoder decoder, Decoder::Open(ctx.node().attr<std::string>("input_encoding")));
  const EncodeFn encode = EncoderFor(ctx.node().attr<std::string>("output_encoding"));
  return MapStrings<std::string>(ctx, [&](const std::string& s) -> StatusOr<std::string> {
    std::string text;
    TF_RETURN_IF_ERROR(decoder.Decode(s, [&](UChar32 c, bool bad, int64_t) {
      return errors.Take(c, bad, [&](UChar32 taken) { encode(taken, &text); });
    }));
    return text;
  });
}

Status UnicodeEncode(KernelContext& ctx) {
  const Errors errors(ctx.node(), /*has_controls=*/false);
  TF_RETURN_IF_ERROR(CheckReplacement(errors));
  if (ctx.input(0).shape().rank() != 1) {
    return InvalidArgument("input_values must be a vector, got shape ", ctx.input(0).shape());
  }
  const auto in = ctx.input(0).data<int32_t>();
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> splits, RowSplits(ctx.input(1), static_cast<int64_t>(in.size())));
  const EncodeFn encode = EncoderFor(ctx.node().attr<std::string>("output_encoding"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({static_cast<int64_t>(splits.size()) - 1})));
  auto to = out->inplace_data<std::string>();
  for (size_t row = 0; row < to.size(); ++row) {
    for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
      const UChar32 c = in[static_cast<size_t>(i)];
      const bool bad = c < 0 || c > kMaxCodePoint || U_IS_SURROGATE(c);
      TF_RETURN_IF_ERROR(errors.Take(c, bad, [&](UChar32 taken) { encode(taken, &to[row]); }));
    }
  }
  return OkStatus();
}

}  // namespace

void RegisterStringUnicodeKernels(KernelRegistry& r) {
  r.Add("UnicodeScript", {}, UnicodeScript);
  for (const char* op : {"UnicodeDecode", "UnicodeDecodeWithOffsets"}) {
    r.Add(op, {{"Tsplits", {kInt32}}}, UnicodeDecode<int32_t>);
    r.Add(op, {{"Tsplits", {kInt64}}}, UnicodeDecode<int64_t>);
  }
  r.Add("UnicodeTranscode", {}, UnicodeTranscode);
  r.Add("UnicodeEncode", {}, UnicodeEncode);
}

}  // namespace tensorbraid::cpu
