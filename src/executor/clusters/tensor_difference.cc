#include "executor/clusters/tensor_difference.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// The elements as numbers; a complex one gives two. Empty for a dtype without numbers.
std::vector<double> NumbersOf(const Tensor& t) {
  std::vector<double> numbers;
  const auto add = [&](auto element) {
    for (const auto& x : t.data<decltype(element)>()) {
      if constexpr (requires { x.real(); }) {
        numbers.push_back(static_cast<double>(x.real()));
        numbers.push_back(static_cast<double>(x.imag()));
      } else if constexpr (requires { static_cast<double>(x); }) {
        numbers.push_back(static_cast<double>(x));
      } else {
        numbers.push_back(static_cast<double>(static_cast<float>(x)));
      }
    }
  };
  switch (t.dtype()) {
    case DType::kFloat32:
      add(float());
      break;
    case DType::kFloat64:
      add(double());
      break;
    case DType::kFloat16:
      add(Float16());
      break;
    case DType::kBfloat16:
      add(Bfloat16());
      break;
    case DType::kComplex64:
      add(std::complex<float>());
      break;
    case DType::kComplex128:
      add(std::complex<double>());
      break;
    case DType::kBool:
      add(bool());
      break;
    case DType::kInt8:
      add(int8_t());
      break;
    case DType::kUint8:
      add(uint8_t());
      break;
    case DType::kInt16:
      add(int16_t());
      break;
    case DType::kUint16:
      add(uint16_t());
      break;
    case DType::kInt32:
      add(int32_t());
      break;
    case DType::kUint32:
      add(uint32_t());
      break;
    case DType::kInt64:
      add(int64_t());
      break;
    case DType::kUint64:
      add(uint64_t());
      break;
    default:
      break;
  }
  return numbers;
}

// By how much two elements may differ, as a part of the largest one. 0 for integers.
double ToleranceOf(DType dtype, double of_float32) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return of_float32;
    case DType::kFloat64:
    case DType::kComplex128:
      return of_float32 * 1e-6;
    case DType::kFloat16:
      return of_float32 * 10;
    case DType::kBfloat16:
      return of_float32 * 50;
    default:
      return 0;
  }
}

}  // namespace

std::string DifferenceOf(const Tensor& actual, const Tensor& expected, double tolerance) {
  const std::string type = StrCat(expected.dtype(), expected.shape());
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    return StrCat("it is ", actual.dtype(), actual.shape(), " instead of ", type);
  }
  const std::vector<double> a = NumbersOf(actual), e = NumbersOf(expected);
  // Below it, differences count as if it were the largest element: what is 0 on one side is mostly not on the other.
  double largest = 1e-3;
  for (const double x : e) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  const double most = ToleranceOf(expected.dtype(), tolerance) * largest;
  std::string first;
  size_t differing = 0;
  for (size_t i = 0; i < e.size(); ++i) {
    const bool same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])) || std::abs(a[i] - e[i]) <= most;
    if (same || ++differing > 1) continue;
    const size_t element = IsComplex(expected.dtype()) ? i / 2 : i;
    first = StrCat("element ", element, " of ", type, " is ", a[i], " instead of ", e[i]);
  }
  return differing <= 1 ? first : StrCat(first, ", and ", differing - 1, " more differ");
}

}  // namespace tensorbraid
