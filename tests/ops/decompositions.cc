#include "decompositions.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>

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

// Orders by real part, then by imaginary part. Numbers that differ only by rounding count as equal.
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

// Matrices a[:, k] b[:, k]^H for the first `count` k in `order`.
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

}  // namespace tensorbraid
