// Discrete Fourier transforms of the last one, two or three dimensions.
#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::Builder;
using stablehlo::Value;

Shape WithLastDims(const Shape& shape, const IntVector& last) {
  Shape result(shape.dims().first(shape.rank() - last.size()));
  for (const int64_t d : last) result.AddDim(d);
  return result;
}

// `type` is FFT, IFFT, RFFT or IRFFT; `lengths` has the lengths of the transform.
Value TransformOf(Builder& b, std::string_view type, const Value& x, const IntVector& lengths, DType dtype,
                  const Shape& shape) {
  if (shape.num_elements() == 0) return b.Splat(dtype, 0, shape);
  return b.Op("fft", {x}, dtype, shape,
              StrCat("fft_length = ", stablehlo::ArrayText(lengths), ", fft_type = #stablehlo<fft_type ", type, ">"));
}

Status CheckRank(const Shape& shape, int axes) {
  if (shape.rank() >= axes) return OkStatus();
  return InvalidArgument("input must have rank ", axes, " or more, got shape ", shape);
}

// Transforms complex numbers.
Status EmitComplexFourier(EmitContext& ctx, std::string_view type, int axes) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_RETURN_IF_ERROR(CheckRank(x.shape, axes));
  const auto last = x.shape.dims().last(axes);
  ctx.set_output(0, TransformOf(ctx.builder(), type, x, IntVector(last.begin(), last.end()), x.dtype, x.shape));
  return OkStatus();
}

// Transforms real numbers to the first half of their spectrum, or, if `inverse`, the half to the numbers. The last
// dimensions of the input are cut to what the lengths require.
Status EmitRealFourier(EmitContext& ctx, std::string_view type, int axes, bool inverse) {
  TF_ASSIGN_OR_RETURN(const Value x, ctx.input(0));
  TF_RETURN_IF_ERROR(CheckRank(x.shape, axes));
  TF_ASSIGN_OR_RETURN(const Tensor given, ctx.static_input(1));
  if (given.shape() != Shape({axes})) {
    return InvalidArgument("fft_length must have ", axes, " elements, got shape ", given.shape());
  }
  TF_ASSIGN_OR_RETURN(const IntVector lengths, IntegersOf(given, "fft_length"));
  for (const int64_t n : lengths) {
    if (n < 0) return InvalidArgument("fft_length must not be negative, got ", n);
  }
  IntVector half = lengths;
  half.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  const IntVector& taken = inverse ? half : lengths;
  for (int i = 0; i < axes; ++i) {
    const int64_t size = x.shape.dim(x.rank() - axes + i);
    if (size < taken[i]) {
      return InvalidArgument("a dimension of the input has ", size, " elements, but fft_length requires ", taken[i],
                             "; the input has shape ", x.shape);
    }
  }
  Builder& b = ctx.builder();
  const Shape part = WithLastDims(x.shape, taken), shape = WithLastDims(x.shape, inverse ? lengths : half);
  const std::vector<int64_t> zeros(x.rank(), 0), ones(x.rank(), 1);
  const Value cut = part == x.shape ? x : b.Slice(x, zeros, {part.dims().begin(), part.dims().end()}, ones);
  ctx.set_output(0, TransformOf(b, type, cut, lengths, ctx.node().output_type(0), shape));
  return OkStatus();
}

}  // namespace

void RegisterLinalgFourierEmitters(EmitterRegistry& r) {
  for (const int axes : {1, 2, 3}) {
    const std::string suffix = axes == 1 ? "" : StrCat(axes, "D");
    for (const char* type : {"FFT", "IFFT"}) {
      r.Add(type + suffix, {{"Tcomplex", kComplex}},
            [type, axes](EmitContext& ctx) { return EmitComplexFourier(ctx, type, axes); });
    }
    for (const char* type : {"RFFT", "IRFFT"}) {
      const bool inverse = *type == 'I';
      r.Add(type + suffix, {{"Treal", {kFloat32, kFloat64}}, {"Tcomplex", kComplex}},
            [type, axes, inverse](EmitContext& ctx) { return EmitRealFourier(ctx, type, axes, inverse); })
          .static_inputs = {"fft_length"};
    }
  }
}

}  // namespace tensorbraid::pjrt
