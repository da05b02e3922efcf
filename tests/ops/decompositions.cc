#include "decompositions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <utility>

#include "op_case.h"

namespace tensorbraid {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> Values(const Tensor& t) {
  const std::vector<double> parts = Doubles(t);
  std::vector<Complex> values;
  if (!IsComplex(t.dtype())) return {parts.begin(), parts.end()};
  for (size_t i = 0; i < parts.size(); i += 2) values.emplace_back(parts[i], parts[i + 1]);
  return values;
}

// Returns the indices of the numbers, ordered by real part and then by imaginary part. Real parts are rounded to three
// decimals, so that small errors do not change the order. Returns the given order if a number is not finite.
std::vector<int64_t> RisingOrder(const Complex* e, int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  if (std::any_of(e, e + n, [](Complex z) { return !std::isfinite(std::abs(z)); })) return order;
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const double ra = std::round(e[a].real() * 1e3), rb = std::round(e[b].real() * 1e3);
    return ra != rb ? ra < rb : e[a].imag() < e[b].imag();
  });
  return order;
}

// Returns the elements of the matrices a[:, k] b[:, k]^H. For each matrix of the batch, k takes the first `count`
// values of that matrix's element of `orders`.
Tensor Products(const Tensor& a, const Tensor& b, int64_t count, const std::vector<std::vector<int64_t>>& orders) {
  const auto x = Values(a), y = Values(b);
  const int64_t rows = a.shape().dim(a.shape().rank() - 2), columns = a.shape().dim(a.shape().rank() - 1);
  const int64_t b_rows = b.shape().dim(b.shape().rank() - 2), b_columns = b.shape().dim(b.shape().rank() - 1);
  std::vector<Complex> products;
  for (size_t m = 0; m < orders.size(); ++m) {
    const Complex* u = x.data() + static_cast<int64_t>(m) * rows * columns;
    const Complex* v = y.data() + static_cast<int64_t>(m) * b_rows * b_columns;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t column = orders[m][k];
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < b_rows; ++j) {
          products.push_back(u[i * columns + column] * std::conj(v[j * b_columns + column]));
        }
      }
    }
  }
  return Tensor::Of<Complex>({static_cast<int64_t>(products.size())}, products);
}

// A tensor of a floating or complex dtype with these values.
Tensor Of(DType dtype, const Shape& shape, const std::vector<Complex>& values) {
  Tensor t(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto real = values[i].real(), imag = values[i].imag();
    if (dtype == kFloat32) t.mutable_data<float>()[i] = static_cast<float>(real);
    if (dtype == kFloat64) t.mutable_data<double>()[i] = real;
    if (dtype == DType::kComplex64) {
      t.mutable_data<std::complex<float>>()[i] = {static_cast<float>(real), static_cast<float>(imag)};
    }
    if (dtype == DType::kComplex128) t.mutable_data<Complex>()[i] = values[i];
  }
  return t;
}

// Finds the column of `theirs` that equals column `column` of `ours` up to a factor of modulus 1. Both matrices are
// [rows, columns]. Returns the number of the column, and the factor that turns it into our column.
std::pair<int64_t, Complex> Match(const Complex* theirs, const Complex* ours, int64_t rows, int64_t columns,
                                  int64_t column) {
  std::pair<int64_t, Complex> best = {column, 0};
  for (int64_t j = 0; j < columns; ++j) {
    Complex product = 0;
    for (int64_t i = 0; i < rows; ++i) product += std::conj(theirs[i * columns + j]) * ours[i * columns + column];
    if (std::abs(product) > std::abs(best.second)) best = {j, product};
  }
  return {best.first, best.second / std::abs(best.second)};
}

}  // namespace

bool IsAmbiguous(const std::string& op) { return op == "Eig" || op == "SelfAdjointEigV2" || op == "Svd"; }

std::vector<Tensor> Unambiguous(const std::string& op, const std::vector<Tensor>& outputs) {
  const Tensor& e = outputs[0];
  const int64_t n = e.shape().dim(e.shape().rank() - 1);
  const std::vector<Complex> values = Values(e);
  std::vector<std::vector<int64_t>> orders;
  std::vector<Complex> sorted;
  for (int64_t begin = 0; n > 0 && begin < static_cast<int64_t>(values.size()); begin += n) {
    orders.push_back(RisingOrder(values.data() + begin, n));
    for (int64_t i : orders.back()) sorted.push_back(values[begin + i]);
  }
  std::vector<Tensor> unique = {Tensor::Of<Complex>({static_cast<int64_t>(sorted.size())}, sorted)};
  if (outputs[1].shape().rank() < 2) return unique;
  if (op == "Svd") {
    unique.push_back(Products(outputs[1], outputs[2], n, orders));
    return unique;
  }
  unique.push_back(Products(outputs[1], outputs[1], n, orders));
  return unique;
}

std::vector<Tensor> TurnedGradients(const std::string& op, const std::vector<Tensor>& grad_ys,
                                    const std::vector<Tensor>& theirs, const std::vector<Tensor>& ours) {
  std::vector<Tensor> turned = grad_ys;
  if (!IsAmbiguous(op) || theirs[1].shape().rank() < 2) return turned;
  for (size_t k = 0; k < grad_ys.size(); ++k) {
    if (!grad_ys[k].is_valid()) continue;
    // Output 0 has the eigenvalues or singular values. They are in the order of the vectors of output 1.
    const Tensor& vectors = theirs[std::max<size_t>(k, 1)];
    const int64_t rows = vectors.shape().dim(vectors.shape().rank() - 2);
    const int64_t columns = vectors.shape().dim(vectors.shape().rank() - 1);
    const auto their_vectors = Values(vectors), our_vectors = Values(ours[std::max<size_t>(k, 1)]);
    const auto given = Values(grad_ys[k]);
    std::vector<Complex> result = given;
    const int64_t height = k == 0 ? 1 : rows;
    const int64_t width = grad_ys[k].shape().dim(grad_ys[k].shape().rank() - 1);
    for (int64_t m = 0; m < static_cast<int64_t>(given.size()) / (height * width); ++m) {
      const int64_t at = m * rows * columns;
      for (int64_t c = 0; c < width; ++c) {
        const auto [from, factor] = Match(&their_vectors[at], &our_vectors[at], rows, columns, c);
        for (int64_t i = 0; i < height; ++i) {
          const int64_t row = (m * height + i) * width;
          result[row + c] = given[row + from] * (k == 0 ? 1 : factor);
        }
      }
    }
    turned[k] = Of(grad_ys[k].dtype(), grad_ys[k].shape(), result);
  }
  return turned;
}

}  // namespace tensorbraid
