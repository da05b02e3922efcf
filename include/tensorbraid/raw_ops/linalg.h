// A function for each op of src/ops/linalg; raw_ops.h says what they have in common.
// Written by scripts/update_op_files; do not edit.
// clang-format off
#ifndef TENSORBRAID_RAW_OPS_LINALG_H_
#define TENSORBRAID_RAW_OPS_LINALG_H_

#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops {

struct BandedTriangularSolveOptions {
  bool lower = true;
  bool adjoint = false;
  std::string name = {};
};
// Adds a node of the op BandedTriangularSolve. It has a gradient.
// Inputs: matrix (T), rhs (T).
// Attributes: lower (bool; default true), adjoint (bool; default false).
// Output: output (T).
// T: complex float32 float64.
inline Output BandedTriangularSolve(const Operand& matrix, const Operand& rhs,
    const BandedTriangularSolveOptions& options = {}) {
  return internal::Call("BandedTriangularSolve", options.name, {matrix, rhs}).Attr("lower", options.lower)
      .Attr("adjoint", options.adjoint).One();
}

// Adds a node of the op Cholesky. It has a gradient.
// Inputs: input (T).
// Output: output (T).
// T: complex float32 float64.
inline Output Cholesky(const Operand& input, const std::string& name = "") {
  return internal::Call("Cholesky", name, {input}).One();
}

// Adds a node of the op CholeskyGrad.
// Inputs: l (T), grad (T).
// Output: output (T).
// T: float32 float64.
inline Output CholeskyGrad(const Operand& l, const Operand& grad, const std::string& name = "") {
  return internal::Call("CholeskyGrad", name, {l, grad}).One();
}

// Adds a node of the op Diag. It has a gradient.
// Inputs: diagonal (T).
// Output: output (T).
// T: floats complex int32 int64.
inline Output Diag(const Operand& diagonal, const std::string& name = "") {
  return internal::Call("Diag", name, {diagonal}).One();
}

// Adds a node of the op DiagPart. It has a gradient.
// Inputs: input (T).
// Output: diagonal (T).
// T: floats complex int32 int64.
inline Output DiagPart(const Operand& input, const std::string& name = "") {
  return internal::Call("DiagPart", name, {input}).One();
}

struct EigOptions {
  bool compute_v = true;
  std::string name = {};
};
struct EigOutputs {
  Output e;
  Output v;
  Operation operation;
};
// Adds a node of the op Eig. It has a gradient.
// Inputs: input (T).
// Attributes: tout (attribute Tout, dtype: complex), compute_v (bool; default true).
// Outputs: e (Tout), v (Tout).
// T: complex float32 float64.
inline EigOutputs Eig(const Operand& input, DType tout, const EigOptions& options = {}) {
  auto results = internal::Call("Eig", options.name, {input}).Attr("Tout", tout).Attr("compute_v", options.compute_v)
      .All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op Einsum. The usual function is Einsum (ops/math.h). It has a gradient.
// Inputs: inputs (a list of N tensors of type T).
// Attributes: equation (string).
// Output: output (T).
// T: floats complex int32 int64.
inline Output Einsum(const std::vector<Output>& inputs, const std::string& equation, const std::string& name = "",
    std::source_location loc = std::source_location::current()) {
  return internal::Call("Einsum", name, {inputs}, loc).Attr("equation", equation).One();
}

// Adds a node of the op FFT. It has a gradient.
// Inputs: input (Tcomplex).
// Output: output (Tcomplex).
// Tcomplex: complex.
inline Output FFT(const Operand& input, const std::string& name = "") {
  return internal::Call("FFT", name, {input}).One();
}

// Adds a node of the op FFT2D. It has a gradient.
// Inputs: input (Tcomplex).
// Output: output (Tcomplex).
// Tcomplex: complex.
inline Output FFT2D(const Operand& input, const std::string& name = "") {
  return internal::Call("FFT2D", name, {input}).One();
}

// Adds a node of the op FFT3D. It has a gradient.
// Inputs: input (Tcomplex).
// Output: output (Tcomplex).
// Tcomplex: complex.
inline Output FFT3D(const Operand& input, const std::string& name = "") {
  return internal::Call("FFT3D", name, {input}).One();
}

// Adds a node of the op IFFT. It has a gradient.
// Inputs: input (Tcomplex).
// Output: output (Tcomplex).
// Tcomplex: complex.
inline Output IFFT(const Operand& input, const std::string& name = "") {
  return internal::Call("IFFT", name, {input}).One();
}

// Adds a node of the op IFFT2D. It has a gradient.
// Inputs: input (Tcomplex).
// Output: output (Tcomplex).
// Tcomplex: complex.
inline Output IFFT2D(const Operand& input, const std::string& name = "") {
  return internal::Call("IFFT2D", name, {input}).One();
}

// Adds a node of the op IFFT3D. It has a gradient.
// Inputs: input (Tcomplex).
// Output: output (Tcomplex).
// Tcomplex: complex.
inline Output IFFT3D(const Operand& input, const std::string& name = "") {
  return internal::Call("IFFT3D", name, {input}).One();
}

struct IRFFTOptions {
  DType treal = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op IRFFT. It has a gradient.
// Inputs: input (Tcomplex), fft_length (int32).
// Attributes: treal (attribute Treal, dtype: float32 float64; default float32).
// Output: output (Treal).
// Tcomplex: complex.
inline Output IRFFT(const Operand& input, const Operand& fft_length, const IRFFTOptions& options = {}) {
  return internal::Call("IRFFT", options.name, {input, fft_length}).Attr("Treal", options.treal).One();
}

struct IRFFT2DOptions {
  DType treal = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op IRFFT2D. It has a gradient.
// Inputs: input (Tcomplex), fft_length (int32).
// Attributes: treal (attribute Treal, dtype: float32 float64; default float32).
// Output: output (Treal).
// Tcomplex: complex.
inline Output IRFFT2D(const Operand& input, const Operand& fft_length, const IRFFT2DOptions& options = {}) {
  return internal::Call("IRFFT2D", options.name, {input, fft_length}).Attr("Treal", options.treal).One();
}

struct IRFFT3DOptions {
  DType treal = DType::kFloat32;
  std::string name = {};
};
// Adds a node of the op IRFFT3D. It has a gradient.
// Inputs: input (Tcomplex), fft_length (int32).
// Attributes: treal (attribute Treal, dtype: float32 float64; default float32).
// Output: output (Treal).
// Tcomplex: complex.
inline Output IRFFT3D(const Operand& input, const Operand& fft_length, const IRFFT3DOptions& options = {}) {
  return internal::Call("IRFFT3D", options.name, {input, fft_length}).Attr("Treal", options.treal).One();
}

struct LogMatrixDeterminantOutputs {
  Output sign;
  Output log_abs_determinant;
  Operation operation;
};
// Adds a node of the op LogMatrixDeterminant. It has a gradient.
// Inputs: input (T).
// Outputs: sign (T), log_abs_determinant (T).
// T: complex float32 float64.
inline LogMatrixDeterminantOutputs LogMatrixDeterminant(const Operand& input, const std::string& name = "") {
  auto results = internal::Call("LogMatrixDeterminant", name, {input}).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct LuOptions {
  DType output_idx_type = DType::kInt32;
  std::string name = {};
};
struct LuOutputs {
  Output lu;
  Output p;
  Operation operation;
};
// Adds a node of the op Lu.
// Inputs: input (T).
// Attributes: output_idx_type (dtype: int32 int64; default int32).
// Outputs: lu (T), p (output_idx_type).
// T: complex float32 float64.
inline LuOutputs Lu(const Operand& input, const LuOptions& options = {}) {
  auto results = internal::Call("Lu", options.name, {input}).Attr("output_idx_type", options.output_idx_type).All();
  return {results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op MatrixBandPart. It has a gradient.
// Inputs: input (T), num_lower (Tindex), num_upper (Tindex).
// Output: band (T).
// T: any; Tindex: int32 int64.
inline Output MatrixBandPart(const Operand& input, const Operand& num_lower, const Operand& num_upper,
    const std::string& name = "") {
  return internal::Call("MatrixBandPart", name, {input, num_lower, num_upper}).One();
}

// Adds a node of the op MatrixDeterminant. It has a gradient.
// Inputs: input (T).
// Output: output (T).
// T: complex float32 float64.
inline Output MatrixDeterminant(const Operand& input, const std::string& name = "") {
  return internal::Call("MatrixDeterminant", name, {input}).One();
}

// Adds a node of the op MatrixDiag. It has a gradient.
// Inputs: diagonal (T).
// Output: output (T).
// T: any.
inline Output MatrixDiag(const Operand& diagonal, const std::string& name = "") {
  return internal::Call("MatrixDiag", name, {diagonal}).One();
}

// Adds a node of the op MatrixDiagPart. It has a gradient.
// Inputs: input (T).
// Output: diagonal (T).
// T: any.
inline Output MatrixDiagPart(const Operand& input, const std::string& name = "") {
  return internal::Call("MatrixDiagPart", name, {input}).One();
}

// Adds a node of the op MatrixDiagPartV2. It has a gradient.
// Inputs: input (T), k (int32), padding_value (T).
// Output: diagonal (T).
// T: any.
inline Output MatrixDiagPartV2(const Operand& input, const Operand& k, const Operand& padding_value,
    const std::string& name = "") {
  return internal::Call("MatrixDiagPartV2", name, {input, k, padding_value}).One();
}

struct MatrixDiagPartV3Options {
  std::string align = "RIGHT_LEFT";
  std::string name = {};
};
// Adds a node of the op MatrixDiagPartV3. It has a gradient.
// Inputs: input (T), k (int32), padding_value (T).
// Attributes: align (string: 'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'; default "RIGHT_LEFT").
// Output: diagonal (T).
// T: any.
inline Output MatrixDiagPartV3(const Operand& input, const Operand& k, const Operand& padding_value,
    const MatrixDiagPartV3Options& options = {}) {
  return internal::Call("MatrixDiagPartV3", options.name, {input, k, padding_value}).Attr("align", options.align).One();
}

// Adds a node of the op MatrixDiagV2. It has a gradient.
// Inputs: diagonal (T), k (int32), num_rows (int32), num_cols (int32), padding_value (T).
// Output: output (T).
// T: any.
inline Output MatrixDiagV2(const Operand& diagonal, const Operand& k, const Operand& num_rows, const Operand& num_cols,
    const Operand& padding_value, const std::string& name = "") {
  return internal::Call("MatrixDiagV2", name, {diagonal, k, num_rows, num_cols, padding_value}).One();
}

struct MatrixDiagV3Options {
  std::string align = "RIGHT_LEFT";
  std::string name = {};
};
// Adds a node of the op MatrixDiagV3. It has a gradient.
// Inputs: diagonal (T), k (int32), num_rows (int32), num_cols (int32), padding_value (T).
// Attributes: align (string: 'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'; default "RIGHT_LEFT").
// Output: output (T).
// T: any.
inline Output MatrixDiagV3(const Operand& diagonal, const Operand& k, const Operand& num_rows, const Operand& num_cols,
    const Operand& padding_value, const MatrixDiagV3Options& options = {}) {
  return internal::Call("MatrixDiagV3", options.name, {diagonal, k, num_rows, num_cols, padding_value})
      .Attr("align", options.align).One();
}

struct MatrixInverseOptions {
  bool adjoint = false;
  std::string name = {};
};
// Adds a node of the op MatrixInverse. It has a gradient.
// Inputs: input (T).
// Attributes: adjoint (bool; default false).
// Output: output (T).
// T: complex float32 float64.
inline Output MatrixInverse(const Operand& input, const MatrixInverseOptions& options = {}) {
  return internal::Call("MatrixInverse", options.name, {input}).Attr("adjoint", options.adjoint).One();
}

// Adds a node of the op MatrixLogarithm.
// Inputs: input (T).
// Output: output (T).
// T: complex.
inline Output MatrixLogarithm(const Operand& input, const std::string& name = "") {
  return internal::Call("MatrixLogarithm", name, {input}).One();
}

// Adds a node of the op MatrixSetDiag. It has a gradient.
// Inputs: input (T), diagonal (T).
// Output: output (T).
// T: any.
inline Output MatrixSetDiag(const Operand& input, const Operand& diagonal, const std::string& name = "") {
  return internal::Call("MatrixSetDiag", name, {input, diagonal}).One();
}

// Adds a node of the op MatrixSetDiagV2. It has a gradient.
// Inputs: input (T), diagonal (T), k (int32).
// Output: output (T).
// T: any.
inline Output MatrixSetDiagV2(const Operand& input, const Operand& diagonal, const Operand& k,
    const std::string& name = "") {
  return internal::Call("MatrixSetDiagV2", name, {input, diagonal, k}).One();
}

struct MatrixSetDiagV3Options {
  std::string align = "RIGHT_LEFT";
  std::string name = {};
};
// Adds a node of the op MatrixSetDiagV3. It has a gradient.
// Inputs: input (T), diagonal (T), k (int32).
// Attributes: align (string: 'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'; default "RIGHT_LEFT").
// Output: output (T).
// T: any.
inline Output MatrixSetDiagV3(const Operand& input, const Operand& diagonal, const Operand& k,
    const MatrixSetDiagV3Options& options = {}) {
  return internal::Call("MatrixSetDiagV3", options.name, {input, diagonal, k}).Attr("align", options.align).One();
}

struct MatrixSolveOptions {
  bool adjoint = false;
  std::string name = {};
};
// Adds a node of the op MatrixSolve. It has a gradient.
// Inputs: matrix (T), rhs (T).
// Attributes: adjoint (bool; default false).
// Output: output (T).
// T: complex float32 float64.
inline Output MatrixSolve(const Operand& matrix, const Operand& rhs, const MatrixSolveOptions& options = {}) {
  return internal::Call("MatrixSolve", options.name, {matrix, rhs}).Attr("adjoint", options.adjoint).One();
}

struct MatrixSolveLsOptions {
  bool fast = true;
  std::string name = {};
};
// Adds a node of the op MatrixSolveLs. It has a gradient.
// Inputs: matrix (T), rhs (T), l2_regularizer (float64).
// Attributes: fast (bool; default true).
// Output: output (T).
// T: complex float32 float64.
inline Output MatrixSolveLs(const Operand& matrix, const Operand& rhs, const Operand& l2_regularizer,
    const MatrixSolveLsOptions& options = {}) {
  return internal::Call("MatrixSolveLs", options.name, {matrix, rhs, l2_regularizer}).Attr("fast", options.fast).One();
}

// Adds a node of the op MatrixSquareRoot. It has a gradient.
// Inputs: input (T).
// Output: output (T).
// T: complex float32 float64.
inline Output MatrixSquareRoot(const Operand& input, const std::string& name = "") {
  return internal::Call("MatrixSquareRoot", name, {input}).One();
}

struct MatrixTriangularSolveOptions {
  bool lower = true;
  bool adjoint = false;
  std::string name = {};
};
// Adds a node of the op MatrixTriangularSolve. It has a gradient.
// Inputs: matrix (T), rhs (T).
// Attributes: lower (bool; default true), adjoint (bool; default false).
// Output: output (T).
// T: complex float32 float64.
inline Output MatrixTriangularSolve(const Operand& matrix, const Operand& rhs,
    const MatrixTriangularSolveOptions& options = {}) {
  return internal::Call("MatrixTriangularSolve", options.name, {matrix, rhs}).Attr("lower", options.lower)
      .Attr("adjoint", options.adjoint).One();
}

struct QrOptions {
  bool full_matrices = false;
  std::string name = {};
};
struct QrOutputs {
  Output q;
  Output r;
  Operation operation;
};
// Adds a node of the op Qr. It has a gradient.
// Inputs: input (T).
// Attributes: full_matrices (bool; default false).
// Outputs: q (T), r (T).
// T: complex float32 float64.
inline QrOutputs Qr(const Operand& input, const QrOptions& options = {}) {
  auto results = internal::Call("Qr", options.name, {input}).Attr("full_matrices", options.full_matrices).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct RFFTOptions {
  DType tcomplex = DType::kComplex64;
  std::string name = {};
};
// Adds a node of the op RFFT. It has a gradient.
// Inputs: input (Treal), fft_length (int32).
// Attributes: tcomplex (attribute Tcomplex, dtype: complex; default complex64).
// Output: output (Tcomplex).
// Treal: float32 float64.
inline Output RFFT(const Operand& input, const Operand& fft_length, const RFFTOptions& options = {}) {
  return internal::Call("RFFT", options.name, {input, fft_length}).Attr("Tcomplex", options.tcomplex).One();
}

struct RFFT2DOptions {
  DType tcomplex = DType::kComplex64;
  std::string name = {};
};
// Adds a node of the op RFFT2D. It has a gradient.
// Inputs: input (Treal), fft_length (int32).
// Attributes: tcomplex (attribute Tcomplex, dtype: complex; default complex64).
// Output: output (Tcomplex).
// Treal: float32 float64.
inline Output RFFT2D(const Operand& input, const Operand& fft_length, const RFFT2DOptions& options = {}) {
  return internal::Call("RFFT2D", options.name, {input, fft_length}).Attr("Tcomplex", options.tcomplex).One();
}

struct RFFT3DOptions {
  DType tcomplex = DType::kComplex64;
  std::string name = {};
};
// Adds a node of the op RFFT3D. It has a gradient.
// Inputs: input (Treal), fft_length (int32).
// Attributes: tcomplex (attribute Tcomplex, dtype: complex; default complex64).
// Output: output (Tcomplex).
// Treal: float32 float64.
inline Output RFFT3D(const Operand& input, const Operand& fft_length, const RFFT3DOptions& options = {}) {
  return internal::Call("RFFT3D", options.name, {input, fft_length}).Attr("Tcomplex", options.tcomplex).One();
}

struct SelfAdjointEigV2Options {
  bool compute_v = true;
  std::string name = {};
};
struct SelfAdjointEigV2Outputs {
  Output e;
  Output v;
  Operation operation;
};
// Adds a node of the op SelfAdjointEigV2. It has a gradient.
// Inputs: input (T).
// Attributes: compute_v (bool; default true).
// Outputs: e (T), v (T).
// T: complex float32 float64.
inline SelfAdjointEigV2Outputs SelfAdjointEigV2(const Operand& input, const SelfAdjointEigV2Options& options = {}) {
  auto results = internal::Call("SelfAdjointEigV2", options.name, {input}).Attr("compute_v", options.compute_v).All();
  return {results.Next(), results.Next(), results.operation()};
}

struct SvdOptions {
  bool compute_uv = true;
  bool full_matrices = false;
  std::string name = {};
};
struct SvdOutputs {
  Output s;
  Output u;
  Output v;
  Operation operation;
};
// Adds a node of the op Svd. It has a gradient.
// Inputs: input (T).
// Attributes: compute_uv (bool; default true), full_matrices (bool; default false).
// Outputs: s (T), u (T), v (T).
// T: complex float32 float64.
inline SvdOutputs Svd(const Operand& input, const SvdOptions& options = {}) {
  auto results = internal::Call("Svd", options.name, {input}).Attr("compute_uv", options.compute_uv)
      .Attr("full_matrices", options.full_matrices).All();
  return {results.Next(), results.Next(), results.Next(), results.operation()};
}

// Adds a node of the op TridiagonalMatMul. It has a gradient.
// Inputs: superdiag (T), maindiag (T), subdiag (T), rhs (T).
// Output: output (T).
// T: complex float32 float64.
inline Output TridiagonalMatMul(const Operand& superdiag, const Operand& maindiag, const Operand& subdiag,
    const Operand& rhs, const std::string& name = "") {
  return internal::Call("TridiagonalMatMul", name, {superdiag, maindiag, subdiag, rhs}).One();
}

struct TridiagonalSolveOptions {
  bool partial_pivoting = true;
  bool perturb_singular = false;
  std::string name = {};
};
// Adds a node of the op TridiagonalSolve. It has a gradient.
// Inputs: diagonals (T), rhs (T).
// Attributes: partial_pivoting (bool; default true), perturb_singular (bool; default false).
// Output: output (T).
// T: complex float32 float64.
inline Output TridiagonalSolve(const Operand& diagonals, const Operand& rhs,
    const TridiagonalSolveOptions& options = {}) {
  return internal::Call("TridiagonalSolve", options.name, {diagonals, rhs})
      .Attr("partial_pivoting", options.partial_pivoting).Attr("perturb_singular", options.perturb_singular).One();
}

}  // namespace tensorbraid::raw_ops

#endif  // TENSORBRAID_RAW_OPS_LINALG_H_
