// Implements SparseAccumulator (accumulator_resource.h).
#include <algorithm>
#include <memory>
#include <utility>

#include "core/text/strings.h"
#include "runtime/resources/accumulator_resource.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid {

Status SparseAccumulator::Check(const Gradient& gradient, const Tensor* sum) const {
  const auto wrong = [&](const auto&... what) {
    return InvalidArgument("sparse accumulator '", name(), "': ", what...);
  };
  if (gradient.size() < 2 || gradient[0].dtype() != kInt64 || gradient[1].dtype() != dtype()) {
    return wrong("a gradient must have int64 indices and ", dtype(), " values");
  }
  const Tensor& indices = gradient[0];
  const Tensor& values = gradient[1];
  if (indices.shape().rank() != 1) {
    return wrong("Input indices should be vector but received shape: ", indices.shape());
  }
  if (values.shape().rank() < 1) return wrong("Values cannot be 0-dimensional.");
  if (values.shape().dim(0) != indices.num_elements()) {
    return wrong("Expected ", indices.num_elements(), " non-empty input values, got ", values.shape().dim(0));
  }
  const int known = shape().has_rank() ? shape().rank() : 0;
  if (gradient.size() > 2) {
    if (gradient[2].num_elements() < known) {
      return wrong("Shape mismatch: expected shape rank at least ", known, ", got ", gradient[2].num_elements());
    }
    const auto whole = gradient[2].data<int64_t>();
    for (int i = 0; i < known; ++i) {
      if (shape().dim(i) < 0 || shape().dim(i) == whole[i]) continue;
      return wrong("Shape mismatch: expected shape dim ", i, " to be ", shape().dim(i), ", got ", whole[i]);
    }
  }
  if (known > 0 && shape().dim(0) >= 0) {
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = indices.data<int64_t>()[i];
      if (index < shape().dim(0)) continue;
      return wrong("Shape mismatch: index of slice ", i, " exceeded limits of shape; index is ", index, " exceeded ",
                   shape().dim(0));
    }
  }
  // The shape of the values must match the sum, or, for the first gradient of a round, the declared shape.
  const int rank = values.shape().rank();
  if (sum != nullptr && sum->shape().rank() != rank) {
    return wrong("Shape mismatch: expected values rank ", sum->shape().rank(), ", got ", rank);
  }
  if (sum == nullptr && known > rank) {
    return wrong("Shape mismatch: expected values rank at least ", known, ", got ", rank);
  }
  const Shape& wanted = sum != nullptr ? sum->shape() : shape();
  for (int i = 1; i < (sum != nullptr ? rank : known); ++i) {
    if (wanted.dim(i) < 0 || wanted.dim(i) == values.shape().dim(i)) continue;
    return wrong("Shape mismatch: expected values dim ", i, " to be ", wanted.dim(i), ", got ", values.shape().dim(i));
  }
  return OkStatus();
}

Status SparseAccumulator::Begin(Gradient gradient) {
  TF_RETURN_IF_ERROR(Check(gradient, nullptr));
  sum_ = Sum();
  const auto indices = gradient[0].data<int64_t>();
  sum_.rows.reserve(indices.size());
  sum_.parts.reserve(indices.size());
  for (const int64_t index : indices) {
    const int64_t i = std::ssize(sum_.parts);
    sum_.rows.push_back({.index = index, .count = 1, .first = i, .last = i});
    sum_.parts.push_back({.gradient = 0, .row = i});
  }
  sum_.gradients.push_back(std::move(gradient[1]));
  return OkStatus();
}

Status SparseAccumulator::Add(Gradient gradient, ThreadPool& pool) {
  TF_RETURN_IF_ERROR(Check(gradient, &sum_.gradients[0]));
  const auto added = gradient[0].data<int64_t>();
  // Merges the rows of the sum and those of the gradient by index.
  std::vector<Row> rows;
  rows.reserve(sum_.rows.size() + added.size());
  const int64_t number = std::ssize(sum_.gradients);
  for (size_t i = 0, j = 0; i < sum_.rows.size() || j < added.size();) {
    const bool take_mine = i < sum_.rows.size() && (j == added.size() || sum_.rows[i].index <= added[j]);
    const bool take_other = j < added.size() && (i == sum_.rows.size() || added[j] <= sum_.rows[i].index);
    const int64_t part = std::ssize(sum_.parts);
    if (take_other) sum_.parts.push_back({.gradient = number, .row = static_cast<int64_t>(j)});
    if (!take_mine) {
      rows.push_back({.index = added[j], .count = 1, .first = part, .last = part});
    } else {
      Row row = sum_.rows[i];
      if (take_other) {
        ++row.count;
        sum_.parts[row.last].next = part;
        row.last = part;
      }
      rows.push_back(row);
    }
    i += take_mine;
    j += take_other;
  }
  sum_.rows = std::move(rows);
  sum_.gradients.push_back(std::move(gradient[1]));
  // Where gradients often have the same rows, their sum needs less memory than they do.
  if (sum_.parts.size() > 2 * sum_.rows.size()) Compact(pool);
  return OkStatus();
}

void SparseAccumulator::Compact(ThreadPool& pool) {
  StatusOr<Tensor> values = sum_.Values(arithmetic_, /*mean=*/false, pool);
  if (!values.ok()) return;  // there is no memory for it; the gradients still are the sum
  sum_.gradients.assign(1, *std::move(values));
  sum_.parts.resize(sum_.rows.size());
  for (int64_t i = 0; i < std::ssize(sum_.rows); ++i) {
    sum_.rows[i].first = sum_.rows[i].last = i;
    sum_.parts[i] = {.gradient = 0, .row = i};
  }
}

StatusOr<Tensor> SparseAccumulator::Sum::Values(const Arithmetic& arithmetic, bool mean, ThreadPool& pool) {
  if (gradients.size() == 1) {
    // Only a sum that Compact has made, which has its own buffer, has rows of several gradients.
    for (int64_t i = 0; mean && i < std::ssize(rows); ++i) {
      if (rows[i].count > 1) arithmetic.divide_row(&gradients[0], i, rows[i].count);
    }
    return std::move(gradients[0]);
  }
  Shape shape = gradients[0].shape();
  shape.set_dim(0, std::ssize(rows));
  TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(gradients[0].dtype(), shape));
  const int64_t size = rows.empty() ? 0 : values.num_elements() / shape.dim(0);
  constexpr double kRowNs = 20, kElementNs = 0.5;
  pool.ParallelFor(std::ssize(rows), kRowNs + kElementNs * static_cast<double>(size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Part* part = &parts[rows[i].first];
      CopyElementRange(gradients[part->gradient], part->row * size, size, &values, i * size);
      while (part->next >= 0) {
        part = &parts[part->next];
        arithmetic.add_row(gradients[part->gradient], part->row, &values, i);
      }
      if (mean && rows[i].count > 1) arithmetic.divide_row(&values, i, rows[i].count);
    }
  });
  return values;
}

AccumulatorResource::Finish SparseAccumulator::End(int64_t) {
  const auto sum = std::make_shared<Sum>(std::exchange(sum_, {}));
  const int64_t num_rows = shape().has_rank() && shape().rank() > 0 ? shape().dim(0) : -1;
  const bool mean = reduction() == Reduction::kMean;
  return [sum, num_rows, mean, arithmetic = arithmetic_](ThreadPool& pool) -> StatusOr<Gradient> {
    std::vector<int64_t> whole(sum->gradients[0].shape().dims().begin(), sum->gradients[0].shape().dims().end());
    whole[0] = num_rows;
    TF_ASSIGN_OR_RETURN(Tensor indices, Tensor::Create(kInt64, {std::ssize(sum->rows)}));
    const auto index = indices.inplace_data<int64_t>();
    for (size_t i = 0; i < sum->rows.size(); ++i) index[i] = sum->rows[i].index;
    TF_ASSIGN_OR_RETURN(Tensor values, sum->Values(arithmetic, mean, pool));
    return Gradient{std::move(indices), std::move(values), Tensor::Vector(whole)};
  };
}

}  // namespace tensorbraid
