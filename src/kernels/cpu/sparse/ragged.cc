// Ops on ragged tensors. A ragged tensor is passed as the values of all rows one after the other, and the row splits of
// each level.
#include "kernels/cpu/sparse/ragged.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/strings.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/sparse/fill_empty_rows.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {

StatusOr<IntVector> SplitsOf(const Tensor& t, int64_t count) {
  if (t.shape().rank() != 1) return InvalidArgument("splits must be a vector, got shape ", t.shape());
  TF_ASSIGN_OR_RETURN(IntVector splits, IntegersOf(t, "splits"));
  if (splits.empty()) return InvalidArgument("ragged splits may not be empty: the first value must be 0");
  if (splits[0] != 0) return InvalidArgument("First value of ragged splits must be 0, got ", splits[0]);
  if (!std::is_sorted(splits.begin(), splits.end())) return InvalidArgument("ragged splits must be non-decreasing");
  const int64_t last = splits[splits.size() - 1];
  if (count >= 0 && last != count) {
    return InvalidArgument("Final value of ragged splits must match the number of values: got ", last, " for ", count,
                           " values");
  }
  return splits;
}

namespace {

// Inputs: the splits of each level, the values. Outputs: indices, values, shape.
Status RaggedTensorToSparse(KernelContext& ctx) {
  const int levels = ctx.num_inputs() - 1;
  const Tensor& values = ctx.input(levels);
  const Shape& inner = values.shape();
  if (inner.rank() < 1) return InvalidArgument("the values must have rank 1 or more, got a scalar");
  std::vector<IntVector> splits(levels);
  for (int l = levels - 1; l >= 0; --l) {
    const int64_t count = l == levels - 1 ? inner.dim(0) : static_cast<int64_t>(splits[l + 1].size()) - 1;
    TF_ASSIGN_OR_RETURN(splits[l], SplitsOf(ctx.input(l), count));
  }
  const int rank = levels + inner.rank();
  std::vector<int64_t> sizes(rank, 0);
  sizes[0] = static_cast<int64_t>(splits[0].size()) - 1;
  for (int l = 0; l < levels; ++l) {
    for (size_t row = 0; row + 1 < splits[l].size(); ++row) {
      sizes[l + 1] = std::max(sizes[l + 1], splits[l][row + 1] - splits[l][row]);
    }
  }
  for (int d = 1; d < inner.rank(); ++d) sizes[levels + d] = inner.dim(d);

  const int64_t n = values.num_elements();
  TF_ASSIGN_OR_RETURN(Tensor * indices, ctx.AllocateOutput(0, Shape({n, rank})));
  TF_ASSIGN_OR_RETURN(Tensor flat, values.Reshaped(Shape({n})));
  ctx.set_output(1, std::move(flat));
  ctx.set_output(2, Tensor::Vector(sizes));
  if (n == 0) return OkStatus();
  int64_t* to = indices->inplace_data<int64_t>().data();
  const int64_t per_element = n / inner.dim(0);
  std::vector<size_t> rows(levels, 0);  // for each level, the row that contains the element
  for (int64_t element = 0; element < inner.dim(0); ++element) {
    int64_t at = element;
    std::vector<int64_t> place(levels + 1);
    for (int l = levels - 1; l >= 0; --l) {
      while (splits[l][rows[l] + 1] <= at) ++rows[l];
      place[l + 1] = at - splits[l][rows[l]];
      at = static_cast<int64_t>(rows[l]);
    }
    place[0] = at;
    for (int64_t i = 0; i < per_element; ++i, to += rank) {
      std::copy(place.begin(), place.end(), to);
      int64_t rest = i;
      for (int d = inner.rank() - 1; d > 0; rest /= inner.dim(d), --d) to[levels + d] = rest % inner.dim(d);
    }
  }
  return OkStatus();
}

// A ragged tensor with one range per row. Inputs: starts, limits and deltas, which are scalars or vectors of the same
// length. Outputs: splits and values.
template <typename T, typename S>
Status RaggedRange(KernelContext& ctx) {
  constexpr const char* kNames[] = {"starts", "limits", "deltas"};
  int64_t rows = 1;
  bool has_vector = false;
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = ctx.input(i).shape();
    if (shape.rank() > 1) return InvalidArgument(kNames[i], " must be a scalar or vector, got shape ", shape);
    if (shape.rank() == 0) continue;
    if (has_vector && shape.dim(0) != rows) {
      return InvalidArgument("starts, limits, and deltas must have the same shape, got ", ctx.input(0).shape(), ", ",
                             ctx.input(1).shape(), " and ", ctx.input(2).shape());
    }
    rows = shape.dim(0);
    has_vector = true;
  }
  const auto at = [&](int i, int64_t row) {
    return ctx.input(i).data<T>()[ctx.input(i).shape().rank() == 0 ? 0 : row];
  };
  TF_ASSIGN_OR_RETURN(Tensor * splits, ctx.AllocateOutput(0, {rows + 1}));
  S* ends = splits->inplace_data<S>().data();
  int64_t total = 0;
  ends[0] = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const T start = at(0, row), limit = at(1, row), delta = at(2, row);
    if (delta == T(0)) return InvalidArgument("Requires delta != 0, but it is 0 in row ", row);
    double size = 0;
    if (delta > T(0) ? start < limit : start > limit) {
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        const U way = delta > T(0) ? U(limit) - U(start) : U(start) - U(limit);
        const U step = delta > T(0) ? U(delta) : U(0) - U(delta);
        size = static_cast<double>((way - 1) / step + 1);
      } else {
        size =
            std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
      }
    }
    constexpr int64_t kMost = int64_t{1} << 40;
    const double most = std::min(static_cast<double>(kMost), static_cast<double>(std::numeric_limits<S>::max()));
    if (!(static_cast<double>(total) + size <= most))
      return InvalidArgument("the rows have too many elements in total");
    total += static_cast<int64_t>(size);
    ends[row + 1] = static_cast<S>(total);
  }
  TF_ASSIGN_OR_RETURN(Tensor * values, ctx.AllocateOutput(1, {total}));
  T* to = values->inplace_data<T>().data();
  for (int64_t row = 0; row < rows; ++row) {
    T value = at(0, row);
    for (int64_t i = ends[row]; i < ends[row + 1]; ++i) {
      *to++ = value;
      if (i + 1 < ends[row + 1]) value += at(2, row);
    }
  }
  return OkStatus();
}

// Sets output i to the splits of `rows` rows with `elements` elements in total. `ends(store)` calls store(end) for each
// row, in order.
template <typename Ends>
Status SetSplits(KernelContext& ctx, int i, int64_t rows, int64_t elements, const Ends& ends) {
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(i, {rows + 1}));
  const auto fill = [&]<typename S>(std::span<S> to) -> Status {
    if (elements > std::numeric_limits<S>::max()) {
      return InvalidArgument("the gathered rows have ", elements, " elements, too many for int32 splits; use int64");
    }
    to[0] = 0;
    auto next = to.begin();
    ends([&](int64_t end) { *++next = static_cast<S>(end); });
    return OkStatus();
  };
  return out->dtype() == kInt32 ? fill(out->inplace_data<int32_t>()) : fill(out->inplace_data<int64_t>());
}

// Gathers rows of a ragged tensor by index. Inputs: the splits of each level, the values, and indices of any shape.
// Outputs: splits for the inner dimensions of the indices, then the splits of each level, then the values.
Status RaggedGather(KernelContext& ctx) {
  const auto levels = static_cast<int>(ctx.node().attr<int64_t>("PARAMS_RAGGED_RANK"));
  const Tensor &values = ctx.input(levels), &indices = ctx.input(levels + 1);
  if (values.shape().rank() < 1)
    return InvalidArgument("the values must have rank 1 or more, got a scalar: it has no rows to gather");
  std::vector<IntVector> splits(levels);
  for (int l = levels - 1; l >= 0; --l) {
    const int64_t count = l == levels - 1 ? values.shape().dim(0) : static_cast<int64_t>(splits[l + 1].size()) - 1;
    TF_ASSIGN_OR_RETURN(splits[l], SplitsOf(ctx.input(l), count));
  }
  const int index_rank = indices.shape().rank();
  const int out_levels = ctx.num_outputs() - 1;
  if (out_levels != levels + index_rank - 1) {
    return InvalidArgument("OUTPUT_RAGGED_RANK is ", out_levels, ", but params of ragged rank ", levels,
                           " and indices of rank ", index_rank, " require ", levels + index_rank - 1);
  }
  int64_t rows = 1;
  for (int d = 0; d + 1 < index_rank; ++d) {
    const int64_t size = indices.shape().dim(d + 1);
    int64_t elements;
    if (__builtin_mul_overflow(rows, indices.shape().dim(d), &rows) || __builtin_mul_overflow(rows, size, &elements)) {
      return InvalidArgument("indices of shape ", indices.shape(), " have too many rows");
    }
    TF_RETURN_IF_ERROR(SetSplits(ctx, d, rows, elements, [&](const auto& store) {
      for (int64_t row = 1; row <= rows; ++row) store(row * size);
    }));
  }
  // For each index, the range of rows gathered at the current level.
  std::vector<std::pair<int64_t, int64_t>> parts;
  TF_ASSIGN_OR_RETURN(const Tensor flat, indices.Reshaped(Shape({indices.num_elements()})));
  const int64_t params = static_cast<int64_t>(splits[0].size()) - 1;
  for (int64_t i = 0; i < flat.num_elements(); ++i) {
    const int64_t index = flat.dtype() == kInt32 ? flat.data<int32_t>()[i] : flat.data<int64_t>()[i];
    if (index < 0 || index >= params) {
      return InvalidArgument("indices[", i, "] = ", index, " is not in [0, ", params, ")");
    }
    parts.emplace_back(index, index + 1);
  }
  for (int l = 0; l < levels; ++l) {
    int64_t gathered = 0, elements = 0;
    for (const auto& [begin, end] : parts) {
      if (__builtin_add_overflow(gathered, end - begin, &gathered) ||
          __builtin_add_overflow(elements, splits[l][end] - splits[l][begin], &elements)) {
        return InvalidArgument("too many rows are gathered");
      }
    }
    if (const int out = index_rank - 1 + l; out >= 0) {
      TF_RETURN_IF_ERROR(SetSplits(ctx, out, gathered, elements, [&](const auto& store) {
        int64_t last = 0;
        for (const auto& [begin, end] : parts) {
          const int64_t before = last - splits[l][begin];
          for (int64_t row = begin; row < end; ++row) store(last = before + splits[l][row + 1]);
        }
      }));
    }
    for (auto& [begin, end] : parts) {
      begin = splits[l][begin];
      end = splits[l][end];
    }
  }
  int64_t n = 0;
  for (const auto& [begin, end] : parts) n += end - begin;
  Shape shape = values.shape();
  shape.set_dim(0, n);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(out_levels, shape));
  if (out->num_elements() == 0) return OkStatus();
  const int64_t size = values.num_elements() / values.shape().dim(0);
  return ForElementsOf(values.dtype(), [&]<typename E>() {
    E* to = MutableElements<E>(*out);
    for (const auto& [begin, end] : parts) {
      CopyElements(Elements<E>(values) + begin * size, (end - begin) * size, to);
      to += (end - begin) * size;
    }
    return OkStatus();
  });
}

// Converts value_rowids to row splits. Returns InvalidArgument if the row ids decrease or are not in [0, rows).
StatusOr<IntVector> SplitsOfRowIds(const Tensor& t, int64_t rows) {
  if (t.shape().rank() != 1) return InvalidArgument("value_rowids must be a vector, got shape ", t.shape());
  TF_ASSIGN_OR_RETURN(const IntVector ids, IntegersOf(t, "value_rowids"));
  constexpr int64_t kMost = int64_t{1} << 24;
  if (rows < 0 || rows > kMost) return InvalidArgument("the number of rows must be in [0, ", kMost, "], got ", rows);
  IntVector splits(static_cast<size_t>(rows) + 1, 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= rows || (i > 0 && ids[i] < ids[i - 1])) {
      return InvalidArgument("value_rowids[", i, "] is ", ids[i], ": row ids must be non-decreasing and in [0, ", rows,
                             ")");
    }
    ++splits[static_cast<size_t>(ids[i]) + 1];
  }
  for (size_t row = 1; row < splits.size(); ++row) splits[row] += splits[row - 1];
  return splits;
}

// The splits of each level, from the row partitions in the inputs from 3 on. `count` is the number of values.
StatusOr<std::vector<IntVector>> Partitions(KernelContext& ctx, int64_t count) {
  const auto& types = ctx.node().attr<std::vector<std::string>>("row_partition_types");
  if (static_cast<int>(types.size()) != ctx.num_inputs() - 3) {
    return InvalidArgument("there are ", ctx.num_inputs() - 3, " row partitions, but ", types.size(),
                           " row_partition_types");
  }
  std::vector<IntVector> levels;
  int64_t rows = -1;  // number of rows of the next level; -1 if only that level determines it
  for (size_t i = 0; i < types.size(); ++i) {
    const Tensor& t = ctx.input(static_cast<int>(i) + 3);
    if (types[i] == "FIRST_DIM_SIZE" && i == 0) {
      TF_ASSIGN_OR_RETURN(rows, IntegerOf(t, "the number of rows"));
      continue;
    }
    if (types[i] == "ROW_SPLITS") {
      TF_ASSIGN_OR_RETURN(IntVector splits, SplitsOf(t, /*count=*/-1));
      if (rows >= 0 && static_cast<int64_t>(splits.size()) - 1 != rows) {
        return InvalidArgument("row partition ", i, " has ", splits.size() - 1,
                               " rows, but the partition before it has ", rows, " elements");
      }
      levels.push_back(std::move(splits));
    } else if (types[i] == "VALUE_ROWIDS" && i > 0) {
      TF_ASSIGN_OR_RETURN(IntVector splits, SplitsOfRowIds(t, rows));
      levels.push_back(std::move(splits));
    } else {
      return InvalidArgument("row partition ", i, " cannot be of type '", types[i], "'");
    }
    rows = levels.back()[levels.back().size() - 1];
  }
  if (levels.empty()) return InvalidArgument("there must be at least one row partition");
  if (rows != count) return InvalidArgument("the row partitions describe ", rows, " values, but there are ", count);
  return levels;
}

// Copies a ragged tensor into a dense one, which already holds the default value. Rows and elements beyond
// the sizes of the dense tensor are dropped.
class DenseFromRagged {
 public:
  DenseFromRagged(const std::vector<IntVector>& levels, const Shape& shape) : levels_(levels) {
    for (size_t l = 0; l <= levels.size(); ++l) sizes_.push_back(shape.dim(static_cast<int>(l)));
  }

  // Copies the values, of `n` elements each, to their positions in the dense tensor `to`.
  template <typename E>
  void Put(const E* values, int64_t n, E* to) const {
    PutRows(/*l=*/0, /*begin=*/0, static_cast<int64_t>(levels_[0].size()) - 1, /*at=*/0, values, n, to);
  }

 private:
  // Copies elements [begin, end) of level l to the positions from `at` on in dimension l of the output.
  template <typename E>
  void PutRows(size_t l, int64_t begin, int64_t end, int64_t at, const E* values, int64_t n, E* to) const {
    end = std::min(end, begin + sizes_[l]);
    if (l == levels_.size()) {
      CopyElements(values + begin * n, std::max<int64_t>(0, end - begin) * n, to + at * n);
      return;
    }
    for (int64_t row = begin; row < end; ++row) {
      PutRows(l + 1, levels_[l][row], levels_[l][row + 1], (at + row - begin) * sizes_[l + 1], values, n, to);
    }
  }

  const std::vector<IntVector>& levels_;
  IntVector sizes_;
};

// Inputs: the shape of the result (-1 for a size that fits the longest row; a scalar -1 if all sizes are -1), the
// values, the default value, and the row partitions.
Status RaggedTensorToTensor(KernelContext& ctx) {
  const Tensor &values = ctx.input(1), &rest = ctx.input(2);
  if (values.shape().rank() < 1) return InvalidArgument("the values must have rank 1 or more, got a scalar");
  TF_ASSIGN_OR_RETURN(const std::vector<IntVector> levels, Partitions(ctx, values.shape().dim(0)));
  const auto depth = static_cast<int>(levels.size());
  const int rank = depth + values.shape().rank();
  TF_ASSIGN_OR_RETURN(IntVector wanted, IntegersOf(ctx.input(0), "shape"));
  if (ctx.input(0).shape().rank() == 0) {
    if (wanted[0] != -1) return InvalidArgument("shape must be a vector, or the scalar -1, got the scalar ", wanted[0]);
    wanted.assign(static_cast<size_t>(rank), -1);
  }
  if (static_cast<int>(wanted.size()) != rank) {
    return InvalidArgument("shape has ", wanted.size(), " dimensions, but the ragged tensor has ", rank);
  }
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    if (wanted[d] < -1) return InvalidArgument("shape has the invalid size ", wanted[d], " in dimension ", d);
    int64_t size = 0;
    if (d == 0) {
      size = static_cast<int64_t>(levels[0].size()) - 1;
    } else if (d <= depth) {
      const IntVector& splits = levels[d - 1];
      for (size_t row = 0; row + 1 < splits.size(); ++row) size = std::max(size, splits[row + 1] - splits[row]);
    } else {
      size = values.shape().dim(d - depth);
      if (wanted[d] != -1 && wanted[d] != size) {
        return InvalidArgument("shape has the size ", wanted[d], " in dimension ", d, ", but the values have ", size);
      }
    }
    shape.AddDim(wanted[d] == -1 ? size : wanted[d]);
  }
  if (shape.num_elements() < 0) return InvalidArgument("a tensor of shape ", shape, " has too many elements");
  const Shape of_value(values.shape().dims().subspan(1));
  const int lack = of_value.rank() - rest.shape().rank();
  bool fits = lack >= 0;
  for (int d = 0; fits && d < rest.shape().rank(); ++d) {
    fits = rest.shape().dim(d) == 1 || rest.shape().dim(d) == of_value.dim(d + lack);
  }
  if (!fits)
    return InvalidArgument("default_value of shape ", rest.shape(), " cannot be broadcast to values of shape ",
                           of_value);
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, shape));
  const int64_t n = of_value.num_elements();
  if (out->num_elements() == 0 || n == 0) return OkStatus();
  return ForElementsOf(values.dtype(), [&]<typename E>() {
    // Broadcast the default to the first value, then copy it to all others.
    E* to = MutableElements<E>(*out);
    for (int64_t i = 0; i < n; ++i) {
      int64_t from = 0, stride = 1, at = i;
      for (int d = of_value.rank() - 1; d >= lack; --d) {
        const int64_t size = rest.shape().dim(d - lack);
        if (size != 1) from += at % of_value.dim(d) * stride;
        at /= of_value.dim(d);
        stride *= size;
      }
      to[i] = Elements<E>(rest)[from];
    }
    for (int64_t i = n; i < out->num_elements(); ++i) to[i] = to[i - n];
    DenseFromRagged(levels, shape).Put(Elements<E>(values), n, to);
    return OkStatus();
  });
}

// Inputs: the row of each value, the values, the number of rows, the default value.
Status RaggedFillEmptyRows(KernelContext& ctx) {
  const Tensor &rowids = ctx.input(0), &values = ctx.input(1), &nrows = ctx.input(2);
  if (rowids.shape().rank() != 1) return InvalidArgument("value_rowids must be a vector, got shape ", rowids.shape());
  if (values.shape().rank() != 1) return InvalidArgument("values must be a vector, got shape ", values.shape());
  if (rowids.num_elements() != values.num_elements()) {
    return InvalidArgument("The length of values (", values.num_elements(),
                           ") must match the first dimension of value_rowids (", rowids.num_elements(), ")");
  }
  if (!nrows.shape().is_scalar()) return InvalidArgument("nrows must be a scalar, got shape ", nrows.shape());
  const int64_t rows = nrows.data<int64_t>()[0];
  if (rows < 0) return InvalidArgument("nrows must not be negative, got ", rows);
  return FillEmptyRows(ctx, rowids, values, rows, ctx.input(3));
}

template <typename T>
void AddRaggedRange(KernelRegistry& r) {
  r.Add("RaggedRange", {{"T", {DTypeOf<T>::value}}, {"Tsplits", {kInt32}}}, RaggedRange<T, int32_t>);
  r.Add("RaggedRange", {{"T", {DTypeOf<T>::value}}, {"Tsplits", {kInt64}}}, RaggedRange<T, int64_t>);
}

}  // namespace

void RegisterSparseRaggedKernels(KernelRegistry& r) {
  r.Add("RaggedTensorToSparse", {}, RaggedTensorToSparse);
  r.Add("RaggedTensorToTensor", {}, RaggedTensorToTensor);
  r.Add("RaggedGather", {}, RaggedGather);
  r.Add("RaggedFillEmptyRows", {}, RaggedFillEmptyRows);
  AddFillEmptyRowsGrad(r, "RaggedFillEmptyRowsGrad");
  AddRaggedRange<float>(r);
  AddRaggedRange<double>(r);
  AddRaggedRange<int32_t>(r);
  AddRaggedRange<int64_t>(r);
}

}  // namespace tensorbraid::cpu
