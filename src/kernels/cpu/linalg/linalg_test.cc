// Tests decompositions with what the small matrices in the table of op test cases (tests/ops) do not have: several
// blocks, a deficient rank, and several threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "kernels/cpu/linalg/dense.h"
#include "kernels/cpu/linalg/lapack.h"
#include "tensorbraid/ops.h"

namespace tensorbraid::cpu {
namespace {

// Pseudorandom elements in [-1, 1).
template <typename W>
Matrix<W> Scattered(int64_t rows, int64_t columns, uint32_t seed = 1) {
  const auto next = [&seed] { return static_cast<double>((seed = seed * 1664525 + 1013904223) >> 8) / (1 << 23) - 1; };
  Matrix<W> a(rows, columns);
  for (int64_t i = 0; i < a.size(); ++i) {
    if constexpr (kIsComplex<W>) {
      const double real = next();
      a.data()[i] = W(real, next());
    } else {
      a.data()[i] = next();
    }
  }
  return a;
}

template <typename W>
void ExpectNear(const Matrix<W>& a, const Matrix<W>& b, double tolerance) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.columns(), b.columns());
  for (int64_t i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(a.data()[i] - b.data()[i]), tolerance) << "element " << i;
}

template <typename W>
Matrix<W> Identity(int64_t n) {
  Matrix<W> a(n, n);
  StoreIdentity(n, n, a.data());
  return a;
}

template <typename W>
class Decompositions : public testing::Test {};
using Numbers = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(Decompositions, Numbers);

TYPED_TEST(Decompositions, LuOfSeveralBlocksMultipliesToTheRearrangedMatrix) {
  const int64_t n = 150;
  const auto a = Scattered<TypeParam>(n, n);
  const LuFactors<TypeParam> lu(a);
  Matrix<TypeParam> rearranged(n, n), lower = Identity<TypeParam>(n), upper(n, n);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(a.row(lu.rows()[i]), n, rearranged.row(i));
    for (int64_t j = 0; j < n; ++j) (j < i ? lower : upper)(i, j) = lu.triangles()(i, j);
  }
  ExpectNear(Product(lower, upper), rearranged, 1e-12);
  ExpectNear(Product(a, lu.Inverse()), Identity<TypeParam>(n), 1e-9);
  const auto x = Scattered<TypeParam>(n, 3, 2);
  ExpectNear(lu.Solve(Product(a, x)), x, 1e-9);
}

TYPED_TEST(Decompositions, CholeskyOfSeveralBlocksMultipliesToTheMatrix) {
  const auto root = Scattered<TypeParam>(150, 150);
  auto a = Product(root, Adjoint(root));
  Matrix<TypeParam> l;
  ASSERT_TRUE(FactorCholesky(a, &l));
  ExpectNear(Product(l, Adjoint(l)), a, 1e-11);
  a(149, 149) = -1;
  EXPECT_FALSE(FactorCholesky(a, &l));
}

TYPED_TEST(Decompositions, QrMultipliesToTheMatrix) {
  for (const auto& [rows, columns] : {std::pair{90, 70}, {70, 90}}) {
    const auto a = Scattered<TypeParam>(rows, columns);
    for (const int64_t inner : {rows, std::min(rows, columns)}) {
      Matrix<TypeParam> q, r;
      ASSERT_TRUE(FactorQr(a, inner, &q, &r).ok());
      ExpectNear(Product(q, r), a, 1e-12);
      ExpectNear(Product(Adjoint(q), q), Identity<TypeParam>(inner), 1e-12);
    }
  }
}

TYPED_TEST(Decompositions, SingularVectorsMultiplyToTheMatrix) {
  for (const auto& [rows, columns] : {std::pair{70, 40}, {40, 70}}) {
    const auto a = Scattered<TypeParam>(rows, columns);
    for (const auto which : {SingularVectors::kThin, SingularVectors::kFull}) {
      std::vector<double> s;
      Matrix<TypeParam> u, v;
      ASSERT_TRUE(SingularValues(a, which, &s, &u, &v).ok());
      Matrix<TypeParam> values(u.columns(), v.columns());
      for (size_t i = 0; i < s.size(); ++i) values(i, i) = s[i];
      ExpectNear(Product(Product(u, values), Adjoint(v)), a, 1e-12);
      ExpectNear(Product(Adjoint(u), u), Identity<TypeParam>(u.columns()), 1e-12);
      ExpectNear(Product(Adjoint(v), v), Identity<TypeParam>(v.columns()), 1e-12);
      std::vector<double> alone;
      ASSERT_TRUE(SingularValues(a, SingularVectors::kNone, &alone, &u, &v).ok());
      for (size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(alone[i], s[i], 1e-12);
    }
  }
}

TYPED_TEST(Decompositions, LeastSquaresOfARankDeficientMatrixReturnsTheShortestSolution) {
  // x is in the row space of A, so it is the shortest of all solutions X of A X = A x.
  const auto left = Scattered<TypeParam>(40, 5), right = Scattered<TypeParam>(5, 30, 2);
  const auto x = Product(Adjoint(right), Scattered<TypeParam>(5, 2, 3));
  const auto a = Product(left, right);
  const auto solution = LeastSquares(a, Product(a, x));
  ASSERT_TRUE(solution.ok());
  ExpectNear(*solution, x, 1e-10);
}

TYPED_TEST(Decompositions, LeastSquaresOfAMatrixThatIsNotFiniteReturnsZeroAsInTensorFlow) {
  auto a = Scattered<TypeParam>(4, 3);
  a(1, 2) = std::numeric_limits<double>::quiet_NaN();
  const auto solution = LeastSquares(a, Scattered<TypeParam>(4, 1));
  ASSERT_TRUE(solution.ok());
  ExpectNear(*solution, Matrix<TypeParam>(3, 1), 0);
}

TEST(LinearAlgebra, ComplexPivotsHaveTheLargestModulus) {
  Matrix<std::complex<double>> a = Identity<std::complex<double>>(2);
  a(0, 0) = {3, 3};  // a larger sum of parts than 5, but a smaller modulus
  a(1, 0) = 5;
  EXPECT_EQ(LuFactors<std::complex<double>>(a).rows(), (std::vector<int64_t>{1, 0}));
}

// A matrix A is normal if A A^H = A^H A.
TEST(LinearAlgebra, LogarithmsOfMatricesThatAreFarFromNormalAreAccurate) {
  Graph g;
  const Output a =
      Const(g, Tensor::Of<std::complex<double>>({3, 3}, {{1}, {1e6}, {0}, {0}, {1}, {0}, {0}, {0}, {1e-200}}));
  const auto result = Evaluate({NodeBuilder(g, "MatrixLogarithm").Input(a).Output()});
  ASSERT_TRUE(result.ok()) << result.status() << g.status();
  const std::vector<double> want = {0, 1e6, 0, 0, 0, 0, 0, 0, std::log(1e-200)};
  for (int i = 0; i < 9; ++i) EXPECT_LE(std::abs(result->at(0).data<std::complex<double>>()[i] - want[i]), 1e-6) << i;
}

TEST(LinearAlgebra, DecompositionsDoNotDependOnThreads) {
  Tensor matrices(kFloat64, {200, 20, 20});
  const auto elements = Scattered<double>(200 * 20, 20);
  std::copy_n(elements.data(), elements.size(), matrices.mutable_data<double>().data());
  Graph g;
  ThreadPool pool("linalg_test", 3);
  EvaluateOptions options;
  options.pool = &pool;
  for (const char* op : {"SelfAdjointEigV2", "Svd", "Qr", "Eig"}) {
    NodeBuilder builder(g, op);
    builder.Input(Const(g, matrices));
    if (op == std::string("Eig")) builder.Attr("Tout", DType::kComplex128);
    const Output o = builder.Output();
    const auto alone = Evaluate({o}), shared = Evaluate({o}, {}, options);
    ASSERT_TRUE(alone.ok() && shared.ok()) << alone.status() << shared.status() << g.status();
    EXPECT_EQ(std::memcmp(alone->at(0).raw_data(), shared->at(0).raw_data(), alone->at(0).num_bytes()), 0) << op;
  }
}

}  // namespace
}  // namespace tensorbraid::cpu
