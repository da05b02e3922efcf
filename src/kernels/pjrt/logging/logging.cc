// Checks of values.
#include <algorithm>
#include <cstring>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/summary/summarize.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

// Whether an element is true: a scalar.
Expr Any(const Expr& x) {
  std::vector<int64_t> dims;
  for (int i = 0; i < x.shape().rank(); ++i) dims.push_back(i);
  return Reduce(x, dims, x.Number(0), [](const Expr& u, const Expr& v) { return u || v; }).Reshape({});
}

// If `signs`, the message tells infinities apart.
Status EmitCheckNumerics(EmitContext& ctx, bool signs) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(0));
  const Expr x(ctx.builder(), value);
  const Expr negative = Any(x == -std::numeric_limits<double>::infinity()),
             positive = Any(x == std::numeric_limits<double>::infinity()), nan = Any(x != x);
  std::vector<stablehlo::Value> found;
  for (const Expr& each : {negative, positive, nan}) found.push_back(each.Convert(kInt64).value());
  ctx.fail_if((negative || positive || nan).value(), std::move(found),
              [message = ctx.attr<std::string>("message"), signs](std::span<const int64_t> numbers) {
                return cpu::NotFinite(message, signs, numbers[0] != 0, numbers[1] != 0, numbers[2] != 0);
              });
  ctx.set_output(0, value);
  return OkStatus();
}

// A tensor whose first elements the message of an Assert shows.
struct Shown {
  std::string text;  // if the tensor is known
  DType dtype = DType::kInvalid;
  Shape shape;
  int64_t count = 0;  // of the elements that the message shows
};

// The bits of an element as an int64, and back. 16-bit floats are exact in float32.
Expr BitsOf(const Expr& element) {
  const DType dtype = ComputeDType(element.dtype());
  if (!IsFloating(dtype)) return element.Convert(kInt64);
  stablehlo::Builder& b = element.builder();
  const DType bits = dtype == kFloat64 ? kInt64 : kInt32;
  return Expr(b, b.Op("bitcast_convert", {element.Convert(dtype).value()}, bits, element.shape())).Convert(kInt64);
}
void SetElement(Tensor& t, int64_t at, int64_t bits) {
  char* const to = static_cast<char*>(t.inplace_raw_data()) + at * DTypeSize(t.dtype());
  if (t.dtype() != kFloat16 && t.dtype() != kBfloat16) {
    std::memcpy(to, &bits, DTypeSize(t.dtype()));  // in the order of little-endian bytes
    return;
  }
  float number;
  std::memcpy(&number, &bits, sizeof(number));
  if (t.dtype() == kFloat16) {
    t.inplace_data<Float16>()[at] = Float16(number);
  } else {
    t.inplace_data<Bfloat16>()[at] = Bfloat16(number);
  }
}

// The program returns the elements that the message shows.
Status EmitAssert(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const stablehlo::Value condition, ctx.input(0));
  if (condition.shape.num_elements() != 1) {
    return InvalidArgument("the condition must be a scalar, got shape ", condition.shape);
  }
  stablehlo::Builder& b = ctx.builder();
  const auto summarize = ctx.attr<int64_t>("summarize");
  std::vector<Shown> shown;
  std::vector<stablehlo::Value> numbers;
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    Shown& tensor = shown.emplace_back();
    if (ctx.is_static(i)) {
      TF_ASSIGN_OR_RETURN(const Tensor known, ctx.static_input(i));
      tensor.text = cpu::SummarizeElements(known, summarize);
      continue;
    }
    TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ctx.input(i));
    const int64_t elements = value.shape.num_elements();
    tensor = {.text = "", .dtype = value.dtype, .shape = value.shape, .count = std::min(elements, summarize)};
    const stablehlo::Value flat = b.Reshape(value, {elements});
    for (int64_t k = 0; k < tensor.count; ++k) {
      numbers.push_back(BitsOf(Expr(b, b.Slice(flat, {k}, {k + 1}, {1}))).Reshape({}).value());
    }
  }
  ctx.fail_if((!Expr(b, b.Reshape(condition, {}))).value(), std::move(numbers),
              [shown, summarize](std::span<const int64_t> bits) {
                std::vector<std::string> texts;
                for (const Shown& tensor : shown) {
                  std::string text = tensor.text;
                  if (tensor.dtype != DType::kInvalid) {
                    Tensor t(tensor.dtype, tensor.shape);
                    for (int64_t k = 0; k < tensor.count; ++k) SetElement(t, k, bits[k]);
                    bits = bits.subspan(tensor.count);
                    text = cpu::SummarizeElements(t, summarize);
                  }
                  texts.push_back(StrCat("[", text, "]"));
                }
                return InvalidArgument("assertion failed: ", StrJoin(texts, " "));
              });
  return OkStatus();
}

// Asserts that show few elements, of dtypes that have bits.
std::string RefuseAssert(const Node& node) {
  constexpr int64_t kMostElements = 16;
  const auto summarize = node.attr<int64_t>("summarize");
  if (summarize < 0 || summarize > kMostElements) return StrCat("has no emitter for summarize = ", summarize);
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    const DType dtype = BaseType(node.input_type(static_cast<int>(i)));
    if (dtype != kString && dtype != kBool && !kReals.Contains(dtype)) return StrCat("has no emitter for ", dtype);
  }
  return "";
}

}  // namespace

void RegisterLoggingEmitters(EmitterRegistry& r) {
  r.Add("Assert", {}, EmitAssert).refuse = RefuseAssert;
  r.Add("CheckNumerics", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitCheckNumerics(ctx, false); });
  r.Add("CheckNumericsV2", {{"T", kFloats}}, [](EmitContext& ctx) { return EmitCheckNumerics(ctx, true); });
}

}  // namespace tensorbraid::pjrt
