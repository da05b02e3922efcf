// Fourier transforms: schemas, shape rules, gradients.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "tensorbraid/ops/array.h"
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
  // The result of RFFT has only the first n / 2 + 1 of n elements along the last axis.
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

// The last `count` elements of the shape of x.
Output LastSizes(Output x, int count) { return StridedSlice(ShapeOf(x), {-count}, {0}, {1}, {.end_mask = 1}); }

// Appends zeros to the last `count` dimensions of x, so that they get these sizes.
Output PaddedTo(Output x, Output sizes, int count) {
  Graph& g = *x.graph();
  const Output after = sizes - LastSizes(x, count);
  const Output inner = Stack({Node1("ZerosLike", after), after}, 1);
  const Output outer = Fill(g, Stack({Rank(x) - count, 2}), 0);
  return Pad(x, Concat({outer, inner}, 0));
}

// FFT and IFFT (with suffix "", "2D" or "3D") are adjoint to each other, except for the factor 1 / N of IFFT. N is the
// number of elements that are transformed together.
template <int axes>
Status FourierGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const bool inverse = op.type().starts_with("IFFT");
  const Output count = Cast(ReduceProd(LastSizes(grads[0], axes), {0}), grads[0].dtype());
  const std::string adjoint = inverse ? op.type().substr(1) : "I" + op.type();
  const Output transformed = Node1(adjoint.c_str(), grads[0]);
  (*input_grads)[0] = inverse ? transformed / count : transformed * count;
  return OkStatus();
}

// The result of RFFT is the first half, along the last axis, of FFT's result. So the gradient is computed as FFT's
// gradient, with zeros for the second half. The input is real, so its gradient is the real part of this gradient.
template <int axes>
Status RealFourierGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0], lengths = NodeOf(op)->inputs()[1];
  const Output whole = PaddedTo(grads[0], lengths, axes);
  const Output inverse = Node1(StrCat("I", op.type().substr(1)).c_str(), whole);
  const Output real = NodeBuilder(*op.graph(), "Real").Input(inverse).Attr("Tout", x.dtype()).Output();
  // RFFT ignores elements of x beyond the lengths, so they get 0.
  (*input_grads)[0] = PaddedTo(real * Cast(ReduceProd(lengths, {0}), x.dtype()), LastSizes(x, axes), axes);
  return OkStatus();
}

// IRFFT completes its input along the last axis: the second half has the conjugates of the first half. So each element
// is used twice, except those without a counterpart: the first and, for an even length, the last.
template <int axes>
Status InverseRealFourierGradient(const Operation& op, const std::vector<Output>& grads,
                                  std::vector<Output>* input_grads) {
  Graph& g = *op.graph();
  const Output x = NodeOf(op)->inputs()[0], lengths = NodeOf(op)->inputs()[1];
  const DType real = grads[0].dtype();
  const Output half =
      NodeBuilder(g, op.type().substr(1)).Input(grads[0]).Input(lengths).Attr("Tcomplex", x.dtype()).Output();
  const Output length = StridedSlice(lengths, {-1}, {0}, {1}, {.end_mask = 1, .shrink_axis_mask = 1});
  const Output k = Range(g, 0, FloorDiv(length, 2) + 1);
  const Output times = 2.0 - Cast(Equal(k, 0), real) - Cast(Equal(2 * k, length), real);
  const Output weights = times / Cast(ReduceProd(lengths, {0}), real);
  (*input_grads)[0] = PaddedTo(half * Cast(weights, x.dtype()), LastSizes(x, axes), axes);
  return OkStatus();
}

template <int axes>
void AddFourier(OpRegistry& r, const std::string& suffix) {
  for (const char* name : {"FFT", "IFFT"}) {
    r.Add(Op(name + suffix)
              .Input("input: Tcomplex")
              .Output("output: Tcomplex")
              .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
              .Shape(FourierShape<axes>)
              .Gradient(FourierGradient<axes>));
  }
  r.Add(Op("RFFT" + suffix)
            .Input("input: Treal")
            .Input("fft_length: int32")
            .Output("output: Tcomplex")
            .Attr("Treal: {float, double} = DT_FLOAT")
            .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
            .Shape(FourierShape<axes>)
            .Gradient(RealFourierGradient<axes>));
  r.Add(Op("IRFFT" + suffix)
            .Input("input: Tcomplex")
            .Input("fft_length: int32")
            .Output("output: Treal")
            .Attr("Treal: {float, double} = DT_FLOAT")
            .Attr("Tcomplex: {complex64, complex128} = DT_COMPLEX64")
            .Shape(FourierShape<axes>)
            .Gradient(InverseRealFourierGradient<axes>));
}

}  // namespace

void RegisterLinalgFourierOps(OpRegistry& r) {
  AddFourier<1>(r, "");
  AddFourier<2>(r, "2D");
  AddFourier<3>(r, "3D");
}

}  // namespace tensorbraid
