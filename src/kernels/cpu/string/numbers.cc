// Converts numbers to text and text to numbers.
#include "kernels/cpu/numbers.h"

#include <algorithm>
#include <charconv>
#include <complex>
#include <cstdio>
#include <limits>

#include "absl/strings/charconv.h"
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// The limit of width and precision: far more than any number needs, but small enough that an attribute cannot exhaust
// memory.
constexpr int64_t kMaxWidth = 1 << 20;
// The limit of the characters that all strings of a tensor may have together if each has as many as the larger of width
// and precision.
constexpr int64_t kMaxPadding = int64_t{1} << 34;

template <typename... Args>
std::string Printed(const std::string& format, Args... args) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), args...);
  if (size < 0) return "";
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), args...);
  text.pop_back();
  return text;
}

template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <typename T>
inline constexpr bool kIsReal = std::is_floating_point_v<T> || kIsHalf<T>;

// A printf format: the text between '%' and the conversion letter, and the conversion letter for real numbers.
struct Format {
  std::string flags;
  char real = 'f';
};

StatusOr<Format> FormatFor(const Node& node, int64_t elements, bool is_number_without_fraction) {
  const int64_t precision = node.attr<int64_t>("precision");
  const int64_t width = node.attr<int64_t>("width");
  const bool scientific = node.attr<bool>("scientific");
  const bool shortest = node.attr<bool>("shortest");
  const auto& fill = node.attr<std::string>("fill");
  if (scientific && shortest) return InvalidArgument("Cannot select both scientific and shortest notation");
  if (is_number_without_fraction && (precision > -1 || scientific || shortest)) {
    return InvalidArgument(precision > -1 ? "precision is" : "scientific and shortest are", " not supported for dtype ",
                           node.input_type(0));
  }
  if (width > kMaxWidth || precision > kMaxWidth) {
    return InvalidArgument("width and precision must be at most ", kMaxWidth, ", got ", width, " and ", precision);
  }
  if (const int64_t most = std::max<int64_t>({width, precision, 1}); elements > kMaxPadding / most) {
    return ResourceExhausted(elements, " strings of ", most, " or more characters exceed the limit of ", kMaxPadding,
                             " characters");
  }
  if (!fill.empty() && (fill.size() > 1 || std::string_view(" +-0#").find(fill[0]) == std::string_view::npos)) {
    return InvalidArgument("Fill string must be empty or one of the flags ' ', '+', '-', '0' and '#', got '", fill,
                           "'");
  }
  Format format{.flags = fill};
  if (width > -1) format.flags += std::to_string(width);
  if (precision > -1) format.flags += StrCat(".", precision);
  format.real = scientific ? 'e' : shortest ? 'g' : 'f';
  return format;
}

template <typename T>
Status AsString(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Format f,
                      FormatFor(ctx.node(), ctx.input(0).num_elements(), !kIsReal<T> && !kIsComplex<T>));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  const auto in = ctx.input(0).data<T>();
  auto to = out->inplace_data<std::string>();
  const std::string real = "%" + f.flags + f.real;
  for (size_t i = 0; i < in.size(); ++i) {
    if constexpr (std::is_same_v<T, bool>) {
      to[i] = in[i] ? "true" : "false";
    } else if constexpr (kIsComplex<T>) {
      to[i] = Printed("(" + real + "," + real + ")", double{in[i].real()}, double{in[i].imag()});
    } else if constexpr (kIsReal<T>) {
      to[i] = Printed(real, static_cast<double>(static_cast<ComputeType<T>>(in[i])));
    } else if constexpr (std::is_signed_v<T>) {
      to[i] = Printed("%" + f.flags + "lld", static_cast<long long>(in[i]));  // NOLINT: a type that printf supports
    } else {
      to[i] = Printed("%" + f.flags + "llu",
                      static_cast<unsigned long long>(in[i]));  // NOLINT: a type that printf supports
    }
  }
  return OkStatus();
}

// AsString of strings only pads them.
Status StringAsString(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Format f,
                      FormatFor(ctx.node(), ctx.input(0).num_elements(), /*is_number_without_fraction=*/false));
  const auto width = static_cast<size_t>(std::max<int64_t>(0, ctx.node().attr<int64_t>("width")));
  const bool left = ctx.node().attr<std::string>("fill") == "-";
  return MapStrings<std::string>(ctx, [&](const std::string& s) {
    const std::string pad(s.size() < width ? width - s.size() : 0, ' ');
    return left ? s + pad : pad + s;
  });
}

std::string_view Stripped(std::string_view s) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

template <typename T>
bool ParseReal(std::string_view s, T* value) {
  s = Stripped(s);
  const bool negative = s.starts_with('-');
  if (negative || s.starts_with('+')) s.remove_prefix(1);
  if (s.starts_with('-') || s.starts_with('+')) return false;
  auto format = absl::chars_format::general;
  if (s.starts_with("0x") || s.starts_with("0X")) {
    s.remove_prefix(2);
    format = absl::chars_format::hex;
  }
  T magnitude;
  const auto [end, error] = absl::from_chars(s.data(), s.data() + s.size(), magnitude, format);
  if (error == std::errc::invalid_argument || end != s.data() + s.size()) return false;
  // If the number is too large, from_chars returns the largest number, but strtod returns infinity.
  if (error == std::errc::result_out_of_range && magnitude > 1) magnitude = std::numeric_limits<T>::infinity();
  *value = negative ? -magnitude : magnitude;
  return true;
}

template <typename T>
bool ParseInteger(std::string_view s, T* value) {
  s = Stripped(s);
  if (s.starts_with('+')) {
    s.remove_prefix(1);
    if (s.starts_with('-')) return false;
  }
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), *value);
  return error == std::errc() && end == s.data() + s.size() && !s.empty();
}

}  // namespace

bool ParseNumber(std::string_view s, float* value) { return ParseReal(s, value); }
bool ParseNumber(std::string_view s, double* value) { return ParseReal(s, value); }
bool ParseNumber(std::string_view s, int32_t* value) { return ParseInteger(s, value); }
bool ParseNumber(std::string_view s, int64_t* value) { return ParseInteger(s, value); }
bool ParseNumber(std::string_view s, uint32_t* value) { return ParseInteger(s, value); }
bool ParseNumber(std::string_view s, uint64_t* value) { return ParseInteger(s, value); }

namespace {

template <typename T>
Status StringToNumber(KernelContext& ctx) {
  return MapStrings<T>(ctx, [](const std::string& s) -> StatusOr<T> {
    T value;
    if (ParseNumber(s, &value)) return value;
    return InvalidArgument("StringToNumberOp could not correctly convert string: ", s.substr(0, 100));
  });
}

}  // namespace

void RegisterStringNumbersKernels(KernelRegistry& r) {
  ForEachNumberType([&]<typename T>() { r.Add("AsString", {{"T", {DTypeOf<T>::value}}}, AsString<T>); });
  r.Add("AsString", {{"T", {kBool}}}, AsString<bool>);
  r.Add("AsString", {{"T", {kString}}}, StringAsString);
  ForEachType<float, double, int32_t, int64_t, uint32_t, uint64_t>([&]<typename T>() {
    r.Add("StringToNumber", {{"out_type", {DTypeOf<T>::value}}}, StringToNumber<T>);
  });
}

}  // namespace tensorbraid::cpu
