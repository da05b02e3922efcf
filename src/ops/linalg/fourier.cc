// Fourier transforms: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg/registration.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

// The last `axes` dimensions are transformed. A second input, if there is one, gives their new lengths.
template <int axes>
Status FourierShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRankAtLeast(0, axes));
  if (c.num_inputs() == 1) return UnchangedShape(c);
  TF_ASSIGN_OR_RETURN(const Shape vector, c.WithRank(1, 1));
  if (vector.dim(0) >= 0 && vector.dim(0) != axes) {
    return InvalidArgument("fft_length must have ", axes, " elements, got shape ", vector);
  }
  if (!in.has_rank()) return OkStatus();
  Shape out = in;
  const Tensor lengths = c.input_value(1);
  const bool to_half = c.node().type().starts_with("RFFT");
  for (int i = 0; i < axes; ++i) {
    const int64_t n = lengths.is_valid() ? lengths.data<int32_t>()[i] : Shape::kUnknownDim;
    if (lengths.is_valid() && n < 0) return InvalidArgument("fft_length must not be negative, got ", n);
    const bool halved = to_half && i == axes - 1 && n > 0;
    out.set_dim(in.rank() - axes + i, halved ? n / 2 + 1 : n);
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

template <int axes>
void AddFourier(OpRegistry& r, const std::string& suffix) {
  for (const char* name : {"FFT", "IFFT"}) {
    r.Add(Op(name + suffix)
              .Input("input: Tcomplex")
              .Output("output: Tcomplex")
              .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
              .Shape(FourierShape<axes>));
  }
  r.Add(Op("RFFT" + suffix)
            .Input("input: Treal")
            .Input("fft_length: int32")
            .Output("output: Tcomplex")
            .Attr("Treal: {float, double} = DT_FLOAT")
            .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
            .Shape(FourierShape<axes>));
  r.Add(Op("IRFFT" + suffix)
            .Input("input: Tcomplex")
            .Input("fft_length: int32")
            .Output("output: Treal")
            .Attr("Treal: {float, double} = DT_FLOAT")
            .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
            .Shape(FourierShape<axes>));
}

}  // namespace

void RegisterLinalgFourierOps(OpRegistry& r) {
  AddFourier<1>(r, "");
  AddFourier<2>(r, "2D");
  AddFourier<3>(r, "3D");
}

}  // namespace tensorbraid
