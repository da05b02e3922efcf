// Linear algebra: schemas and shape rules of decompositions, equations and transforms.
#include <algorithm>

#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "ops/linalg_families.h"
#include "ops/register.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

constexpr const char* kTypes = "T: {double, float, half, complex64, complex128}";
constexpr int64_t kUnknown = Shape::kUnknownDim;

// A batch of matrices; without a batch when nothing is known of the shape.
struct Matrices {
  bool known = false;
  Shape batch;
  int64_t rows = kUnknown;
  int64_t columns = kUnknown;

  // The batch with other last dimensions.
  Shape With(std::initializer_list<int64_t> last) const {
    if (!known) return Shape::Unknown();
    Shape shape = batch;
    for (int64_t d : last) shape.AddDim(d);
    return shape;
  }
};

StatusOr<Matrices> MatricesOf(ShapeContext& c, int input) {
  TF_ASSIGN_OR_RETURN(const Shape s, c.WithRankAtLeast(input, 2));
  Matrices m;
  if (!s.has_rank()) return m;
  m.known = true;
  m.batch = Shape(s.dims().first(s.rank() - 2));
  m.rows = s.dim(s.rank() - 2);
  m.columns = s.dim(s.rank() - 1);
  return m;
}

StatusOr<Matrices> SquareMatricesOf(ShapeContext& c, int input) {
  TF_ASSIGN_OR_RETURN(Matrices m, MatricesOf(c, input));
  if (m.rows >= 0 && m.columns >= 0 && m.rows != m.columns) {
    return InvalidArgument("input ", input, " must be square matrices, got shape ", c.input(input));
  }
  m.rows = m.columns = std::max(m.rows, m.columns);
  return m;
}

int64_t Least(int64_t a, int64_t b) { return a < 0 || b < 0 ? (a == 0 || b == 0 ? 0 : kUnknown) : std::min(a, b); }

Status SquareShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows, m.rows}));
  return OkStatus();
}

Status CholeskyGradShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(SquareShape(c));
  TF_ASSIGN_OR_RETURN(Shape merged, c.input(0).MergeWith(c.input(1)));
  c.set_output(0, std::move(merged));
  return OkStatus();
}

Status DeterminantShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, m.With({}));
  return OkStatus();
}

Status LuShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows, m.rows}));
  c.set_output(1, m.With({m.rows}));
  return OkStatus();
}

Status QrShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, MatricesOf(c, 0));
  const int64_t inner = c.attr<bool>("full_matrices") ? m.rows : Least(m.rows, m.columns);
  c.set_output(0, m.With({m.rows, inner}));
  c.set_output(1, m.With({inner, m.columns}));
  return OkStatus();
}

Status SvdShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, MatricesOf(c, 0));
  const int64_t least = Least(m.rows, m.columns);
  const bool full = c.attr<bool>("full_matrices");
  c.set_output(0, m.With({least}));
  c.set_output(1, {0});
  c.set_output(2, {0});
  if (!c.attr<bool>("compute_uv")) return OkStatus();
  c.set_output(1, m.With({m.rows, full ? m.rows : least}));
  c.set_output(2, m.With({m.columns, full ? m.columns : least}));
  return OkStatus();
}

Status EigShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(c, 0));
  c.set_output(0, m.With({m.rows}));
  c.set_output(1, c.attr<bool>("compute_v") ? m.With({m.rows, m.rows}) : Shape({0}));
  return OkStatus();
}

// A X = B.
Status SolveShapeOf(ShapeContext& c, bool square, bool broadcast) {
  TF_ASSIGN_OR_RETURN(const Matrices a, square ? SquareMatricesOf(c, 0) : MatricesOf(c, 0));
  TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(c, 1));
  if (a.rows >= 0 && b.rows >= 0 && a.rows != b.rows) {
    return InvalidArgument("matrix and rhs must have the same number of rows, got ", c.input(0), " and ", c.input(1));
  }
  if (!a.known || !b.known) return OkStatus();
  Shape batch;
  if (broadcast) {
    TF_ASSIGN_OR_RETURN(batch, BroadcastShapes(a.batch, b.batch));
  } else {
    TF_ASSIGN_OR_RETURN(batch, a.batch.MergeWith(b.batch));
  }
  batch.AddDim(square ? std::max(a.columns, b.rows) : a.columns);
  batch.AddDim(b.columns);
  c.set_output(0, std::move(batch));
  return OkStatus();
}
Status SolveShape(ShapeContext& c) { return SolveShapeOf(c, true, false); }
Status TriangularSolveShape(ShapeContext& c) { return SolveShapeOf(c, true, true); }
Status SolveLsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(2, 0).status());
  return SolveShapeOf(c, false, false);
}

Status TridiagonalMatMulShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(3, 2).status());
  c.set_output(0, c.input(3));
  return OkStatus();
}

Status TridiagonalSolveShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Matrices d, MatricesOf(c, 0));
  TF_ASSIGN_OR_RETURN(const Matrices b, MatricesOf(c, 1));
  if ((d.rows >= 0 && d.rows != 3) || (d.columns >= 0 && b.rows >= 0 && d.columns != b.rows)) {
    return InvalidArgument("diagonals and rhs do not fit: ", c.input(0), " and ", c.input(1));
  }
  c.set_output(0, c.input(1));
  return OkStatus();
}

void RegisterDecompositions(OpRegistry& r) {
  for (const char* name : {"Cholesky", "MatrixSquareRoot"}) {
    r.Add(Op(name).Input("input: T").Output("output: T").Attr(kTypes).Shape(SquareShape));
  }
  r.Add(Op("MatrixLogarithm")
            .Input("input: T")
            .Output("output: T")
            .Attr("T: {complex64, complex128}")
            .Shape(SquareShape));
  r.Add(Op("CholeskyGrad")
            .Input("l: T")
            .Input("grad: T")
            .Output("output: T")
            .Attr("T: {half, float, double}")
            .Shape(CholeskyGradShape));
  r.Add(Op("MatrixInverse")
            .Input("input: T")
            .Output("output: T")
            .Attr("adjoint: bool = false")
            .Attr(kTypes)
            .Shape(SquareShape));
  r.Add(Op("MatrixDeterminant").Input("input: T").Output("output: T").Attr(kTypes).Shape(DeterminantShape));
  r.Add(Op("LogMatrixDeterminant")
            .Input("input: T")
            .Output("sign: T")
            .Output("log_abs_determinant: T")
            .Attr(kTypes)
            .Shape(DeterminantShape));
  r.Add(Op("Lu")
            .Input("input: T")
            .Output("lu: T")
            .Output("p: output_idx_type")
            .Attr(kTypes)
            .Attr("output_idx_type: {int32, int64} = DT_INT32")
            .Shape(LuShape));
  r.Add(Op("Qr")
            .Input("input: T")
            .Output("q: T")
            .Output("r: T")
            .Attr("full_matrices: bool = false")
            .Attr(kTypes)
            .Shape(QrShape));
  r.Add(Op("Svd")
            .Input("input: T")
            .Output("s: T")
            .Output("u: T")
            .Output("v: T")
            .Attr("compute_uv: bool = true")
            .Attr("full_matrices: bool = false")
            .Attr(kTypes)
            .Shape(SvdShape));
  r.Add(Op("SelfAdjointEigV2")
            .Input("input: T")
            .Output("e: T")
            .Output("v: T")
            .Attr("compute_v: bool = true")
            .Attr(kTypes)
            .Shape(EigShape));
  r.Add(Op("Eig")
            .Input("input: T")
            .Output("e: Tout")
            .Output("v: Tout")
            .Attr("compute_v: bool = true")
            .Attr("T: {float, double, complex64, complex128}")
            .Attr("Tout: {complex64, complex128}")
            .Shape(EigShape));
}

void RegisterEquations(OpRegistry& r) {
  r.Add(Op("MatrixSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("adjoint: bool = false")
            .Attr(kTypes)
            .Shape(SolveShape));
  r.Add(Op("MatrixTriangularSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("lower: bool = true")
            .Attr("adjoint: bool = false")
            .Attr("T: {bfloat16, double, float, half, complex64, complex128}")
            .Shape(TriangularSolveShape));
  r.Add(Op("MatrixSolveLs")
            .Input("matrix: T")
            .Input("rhs: T")
            .Input("l2_regularizer: double")
            .Output("output: T")
            .Attr(kTypes)
            .Attr("fast: bool = true")
            .Shape(SolveLsShape));
  r.Add(Op("BandedTriangularSolve")
            .Input("matrix: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("lower: bool = true")
            .Attr("adjoint: bool = false")
            .Attr(kTypes)
            .Shape(UnknownShape));
  r.Add(Op("TridiagonalSolve")
            .Input("diagonals: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("partial_pivoting: bool = true")
            .Attr("perturb_singular: bool = false")
            .Attr("T: {double, float, complex64, complex128}")
            .Shape(TridiagonalSolveShape));
  r.Add(Op("TridiagonalMatMul")
            .Input("superdiag: T")
            .Input("maindiag: T")
            .Input("subdiag: T")
            .Input("rhs: T")
            .Output("output: T")
            .Attr("T: {double, float, complex64, complex128}")
            .Shape(TridiagonalMatMulShape));
}

// `axes` last dimensions are transformed; with a second input it says how long they become.
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
    const int64_t n = lengths.is_valid() ? lengths.data<int32_t>()[i] : kUnknown;
    if (lengths.is_valid() && n < 0) return InvalidArgument("fft_length must not be negative, got ", n);
    const bool halved = to_half && i == axes - 1 && n > 0;
    out.set_dim(in.rank() - axes + i, halved ? n / 2 + 1 : n);
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

template <int axes>
void RegisterFourier(OpRegistry& r, const std::string& suffix) {
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

void RegisterLinalgOps(OpRegistry& r) {
  RegisterDecompositions(r);
  RegisterEquations(r);
  RegisterFourier<1>(r, "");
  RegisterFourier<2>(r, "2D");
  RegisterFourier<3>(r, "3D");
  RegisterDiagonalOps(r);
  RegisterEinsumOps(r);
}

}  // namespace tensorbraid
