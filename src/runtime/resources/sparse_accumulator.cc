// Implements SparseAccumulator (accumulator_resource.h).
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
  const auto indices = gradient[0].data<int64_t>();
  indices_.assign(indices.begin(), indices.end());
  counts_.assign(indices.size(), 1);
  values_ = std::move(gradient[1]);
  return OkStatus();
}

Status SparseAccumulator::Add(Gradient gradient, ThreadPool&) {
  TF_RETURN_IF_ERROR(Check(gradient, &values_));
  const auto added = gradient[0].data<int64_t>();
  const Tensor& values = gradient[1];
  // The rows of the result: the rows of the sum and the rows of the gradient, merged by index. `mine` is a row of the
  // sum and `other` a row of the gradient; either is -1 if there is none.
  struct Row {
    int64_t index = 0, count = 0, mine = -1, other = -1;
  };
  std::vector<Row> rows;
  for (size_t i = 0, j = 0; i < indices_.size() || j < added.size();) {
    const bool take_mine = i < indices_.size() && (j == added.size() || indices_[i] <= added[j]);
    const bool take_other = j < added.size() && (i == indices_.size() || added[j] <= indices_[i]);
    Row row;
    if (take_other) row = {added[j], 1, -1, static_cast<int64_t>(j++)};
    if (take_mine) {
      row.index = indices_[i];
      row.count += counts_[i];
      row.mine = static_cast<int64_t>(i++);
    }
    rows.push_back(row);
  }
  Shape shape = values_.shape();
  shape.set_dim(0, static_cast<int64_t>(rows.size()));
  TF_ASSIGN_OR_RETURN(Tensor merged, Tensor::Create(dtype(), shape));
  const int64_t size = rows.empty() ? 0 : merged.num_elements() / shape.dim(0);
  indices_.clear();
  counts_.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const auto to = static_cast<int64_t>(i);
    if (row.mine >= 0) {
      CopyElementRange(values_, row.mine * size, size, &merged, to * size);
      if (row.other >= 0) arithmetic_.add_row(values, row.other, &merged, to);
    } else {
      CopyElementRange(values, row.other * size, size, &merged, to * size);
    }
    indices_.push_back(row.index);
    counts_.push_back(row.count);
  }
  values_ = std::move(merged);
  return OkStatus();
}

AccumulatorResource::Finish SparseAccumulator::End(int64_t) {
  struct Round {
    std::vector<int64_t> indices, counts;
    Tensor values;
  };
  auto round = std::make_shared<Round>();
  round->indices = std::exchange(indices_, {});
  round->counts = std::exchange(counts_, {});
  std::swap(round->values, values_);
  const bool mean = reduction() == Reduction::kMean;
  const int64_t num_rows = shape().has_rank() && shape().rank() > 0 ? shape().dim(0) : -1;
  return [round, mean, num_rows, divide = arithmetic_.divide_row](ThreadPool&) -> StatusOr<Gradient> {
    Tensor& values = round->values;
    for (size_t i = 0; mean && i < round->counts.size(); ++i) {
      if (round->counts[i] == 1) continue;
      divide(&values, static_cast<int64_t>(i), round->counts[i]);  // a sum of several gradients has its own buffer
    }
    std::vector<int64_t> whole(values.shape().dims().begin(), values.shape().dims().end());
    whole[0] = num_rows;
    Tensor indices = Tensor::Vector(round->indices);
    return Gradient{std::move(indices), std::move(values), Tensor::Vector(whole)};
  };
}

}  // namespace tensorbraid
