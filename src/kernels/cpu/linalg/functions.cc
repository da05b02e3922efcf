// Kernels of square roots and logarithms of matrices. Both are computed as complex numbers, because intermediate
// results of real matrices may be complex. If the square root of a real matrix is not real, the result is NaN.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include "kernels/cpu/costs.h"
#include "kernels/cpu/linalg/dense.h"
#include "kernels/cpu/linalg/lapack.h"
#include "kernels/cpu/linalg/linalg.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

using Complex = std::complex<double>;
// A function of an upper triangular matrix, whose result is upper triangular too.
using Function = Matrix<Complex> (*)(const Matrix<Complex>&);

// The recurrence of Bjorck and Hammarling, row by row from below: R[i, j] (R[i, i] + R[j, j]) is T[i, j] less the sum
// of R[i, k] R[k, j] over the k between i and j.
Matrix<Complex> SquareRoot(const Matrix<Complex>& t) {
  const int64_t n = t.rows();
  Matrix<Complex> r = t;
  for (int64_t i = n - 1; i >= 0; --i) {
    r(i, i) = std::sqrt(t(i, i));
    for (int64_t k = i + 1; k < n; ++k) {
      r(i, k) /= r(i, i) + r(k, k);
      for (int64_t j = k + 1; j < n; ++j) r(i, j) -= r(i, k) * r(k, j);
    }
  }
  return r;
}

// The largest sum of moduli in a column of T - I.
double DistanceFromIdentity(const Matrix<Complex>& t) {
  double distance = 0;
  for (int64_t j = 0; j < t.columns(); ++j) {
    double sum = 0;
    for (int64_t i = 0; i < j; ++i) sum += std::abs(t(i, j));
    distance = std::max(distance, sum + std::abs(t(j, j) - 1.0));
  }
  return distance;
}

// Inverse scaling and squaring: log T = 2^s log(T^(1/2^s)). The logarithm of the root, which is close to I, is its Pade
// approximant of degree 7, as partial fractions: the integral of X (I + p X)^-1 over 0 <= p <= 1 by Gauss's rule of 7
// points, for X = T^(1/2^s) - I (N. Higham, Functions of Matrices, chapter 11).
Matrix<Complex> Logarithm(const Matrix<Complex>& t) {
  constexpr double kClose = 0.264;  // the approximant is exact to double precision up to this distance
  constexpr int kMaxRoots = 100;
  // The points >= 0 of the rule for [-1, 1], and their weights; the other points are -kPoints[1] to -kPoints[3].
  constexpr double kPoints[] = {0, 0.4058451513773972, 0.7415311855993945, 0.9491079123427585};
  constexpr double kWeights[] = {0.4179591836734694, 0.3818300505051189, 0.2797053914892766, 0.1294849661688697};
  const int64_t n = t.rows();
  Matrix<Complex> x = t;
  int roots = 0;
  for (; DistanceFromIdentity(x) > kClose && roots < kMaxRoots; ++roots) x = SquareRoot(x);
  for (int64_t i = 0; i < n; ++i) x(i, i) -= 1.0;

  Matrix<Complex> result(n, n);
  for (int k = -3; k <= 3; ++k) {
    const double point = 0.5 + 0.5 * std::copysign(kPoints[std::abs(k)], k);
    const double scale = 0.5 * kWeights[std::abs(k)] * std::ldexp(1.0, roots);
    Matrix<Complex> denominator = x, term = x;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) denominator(i, j) *= point;
      denominator(i, i) += 1.0;
    }
    SolveTriangular(denominator.data(), n, /*lower=*/false, /*adjoint=*/false, term.data(), n);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i; j < n; ++j) result(i, j) += scale * term(i, j);
    }
  }
  for (int64_t i = 0; i < n; ++i) result(i, i) = std::log(t(i, i));
  return result;
}

template <Function F, typename T>
Status FunctionKernel(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Matrices m, SquareMatricesOf(ctx.input(0), "input"));
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, ctx.input(0).shape()));
  T* data = out->inplace_data<T>().data();
  return ForEachMatrix(ctx, m.count(), 30 * CubicCost(m), [&](int64_t i) -> Status {
    if (m.rows == 0) return OkStatus();
    const Matrix<Complex> a = LoadMatrix<Complex, T>(ctx.input(0), m, i);
    if (!AllFinite(a)) return InvalidArgument("the matrix has elements that are not finite");
    Matrix<Complex> t, v;
    TF_RETURN_IF_ERROR(Schur(a, &t, &v));
    const Matrix<Complex> result = Product(Product(v, F(t)), Adjoint(v));
    T* const to = data + i * m.size();
    if constexpr (kIsComplex<T>) {
      Store(result, to);
    } else {
      double largest = 0, largest_imaginary = 0;
      for (int64_t k = 0; k < m.size(); ++k) {
        largest = std::max(largest, std::abs(result.data()[k]));
        largest_imaginary = std::max(largest_imaginary, std::abs(result.data()[k].imag()));
      }
      const bool is_real = largest_imaginary <= 1e-7 * largest;
      for (int64_t k = 0; k < m.size(); ++k) {
        to[k] = is_real ? static_cast<T>(result.data()[k].real()) : std::numeric_limits<T>::quiet_NaN();
      }
    }
    return OkStatus();
  });
}

template <Function F, typename... T>
void AddFunction(KernelRegistry& r, const char* op, Types<T...>) {
  (r.Add(op, {{"T", {DTypeOf<T>::value}}}, FunctionKernel<F, T>, LinalgCost), ...);
}

}  // namespace

void RegisterLinalgFunctionsKernels(KernelRegistry& r) {
  AddFunction<SquareRoot>(r, "MatrixSquareRoot", LinalgTypes{});
  AddFunction<Logarithm>(r, "MatrixLogarithm", ComplexTypes{});
}

}  // namespace tensorbraid::cpu
