// Feature crosses: for each row, all combinations of one feature from each column, as text or as a hash.
#include <algorithm>
#include <functional>
#include <limits>

#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "kernels/cpu/sparse/sparse.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

constexpr uint64_t ShiftMix(uint64_t v) { return v ^ (v >> 47); }

// Combines two fingerprints with the constants of MurmurHash64A. The order matters. Equals TensorFlow's
// FingerprintCat64.
uint64_t Joined(uint64_t a, uint64_t b) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  uint64_t r = a ^ kMul;
  r ^= ShiftMix(b * kMul) * kMul;
  r *= kMul;
  return ShiftMix(ShiftMix(r) * kMul);
}

// One input, sparse or dense. Row `row` has Count(row) features.
class Column {
 public:
  static StatusOr<Column> Sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
    // Programs look for these words, which are TensorFlow's.
    if (indices.shape().rank() != 2) {
      return InvalidArgument("Input indices should be a matrix, got shape ", indices.shape());
    }
    if (values.shape().rank() != 1) {
      return InvalidArgument("Input values should be a vector, got shape ", values.shape());
    }
    if (shape.shape().rank() != 1) {
      return InvalidArgument("Input shapes should be a vector, got shape ", shape.shape());
    }
    if (indices.shape().dim(1) != 2) {
      return InvalidArgument("Expected D2 of index to be 2 got ", indices.shape().dim(1));
    }
    TF_ASSIGN_OR_RETURN(const SparseView v, SparseView::Of(indices, values, shape));
    Column c(values, v.shape()[0]);
    // Store the ranges of the rows that have features, in order.
    c.order_ = v.Sorted();
    for (int64_t i = 0; i < v.size(); ++i) {
      const int64_t row = v.index(c.order_[i])[0];
      if (c.ranges_.empty() || c.ranges_.back().row != row) c.ranges_.push_back({row, i, i});
      ++c.ranges_.back().end;
    }
    return c;
  }
  static StatusOr<Column> Dense(const Tensor& t) {
    if (t.shape().rank() != 2) return InvalidArgument("Dense inputs should be a matrix, got shape ", t.shape());
    Column c(t, t.shape().dim(0));
    c.width_ = t.shape().dim(1);
    return c;
  }

  int64_t rows() const { return rows_; }
  int64_t Count(int64_t row) const {
    if (width_ >= 0) return width_;
    const Range* r = Find(row);
    return r == nullptr ? 0 : r->end - r->begin;
  }
  // Calls f(row) for each row that has features, in order.
  template <typename F>
  void ForEachRow(const F& f) const {
    if (width_ < 0) {
      for (const Range& r : ranges_) f(r.row);
    } else if (width_ > 0) {
      for (int64_t row = 0; row < rows_; ++row) f(row);
    }
  }
  // The number of rows that ForEachRow visits.
  int64_t rows_with_features() const {
    return width_ < 0 ? static_cast<int64_t>(ranges_.size()) : width_ > 0 ? rows_ : 0;
  }
  // Feature i of a row, as text. REQUIRES: i < Count(row).
  std::string Text(int64_t row, int64_t i) const {
    const int64_t at = Place(row, i);
    return is_text() ? values_.data<std::string>()[at] : std::to_string(values_.data<int64_t>()[at]);
  }
  using HashFn = std::function<uint64_t(std::string_view)>;
  uint64_t Hash(int64_t row, int64_t i, const HashFn& hash) const {
    const int64_t at = Place(row, i);
    return is_text() ? hash(values_.data<std::string>()[at]) : static_cast<uint64_t>(values_.data<int64_t>()[at]);
  }
  // The hash that SparseCrossHashed uses. Of numbers in a sparse column, only the low 32 bits are hashed, as in
  // TensorFlow, because trained models depend on the buckets.
  uint64_t HashForSparseCrossHashed(int64_t row, int64_t i, const HashFn& hash) const {
    if (is_text() || width_ >= 0) return Hash(row, i, hash);
    const auto number = static_cast<uint64_t>(values_.data<int64_t>()[Place(row, i)]);
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(number >> shift & 0xff));
    return hash(bytes);
  }
  bool is_text() const { return values_.dtype() == kString; }

 private:
  struct Range {
    int64_t row, begin, end;
  };
  Column(Tensor values, int64_t rows) : values_(std::move(values)), rows_(rows) {}
  const Range* Find(int64_t row) const {
    const auto it = std::lower_bound(ranges_.begin(), ranges_.end(), row,
                                     [](const Range& r, int64_t wanted) { return r.row < wanted; });
    return it == ranges_.end() || it->row != row ? nullptr : &*it;
  }
  int64_t Place(int64_t row, int64_t i) const { return width_ >= 0 ? row * width_ + i : order_[Find(row)->begin + i]; }

  Tensor values_;
  int64_t rows_;
  int64_t width_ = -1;  // columns of a dense input; -1 for a sparse input
  std::vector<int64_t> order_;
  std::vector<Range> ranges_;
};

// Reads the inputs: N indices, N values, N shapes, then dense tensors. The last `rest` inputs are not columns.
StatusOr<std::vector<Column>> ColumnsOf(KernelContext& ctx, int rest) {
  const int num = static_cast<int>(ctx.node().attr<int64_t>("N"));
  const auto& types = ctx.node().attr<std::vector<DType>>("sparse_types");
  if (static_cast<int>(types.size()) != num) {
    return InvalidArgument("the op has ", num, " sparse indices, but ", types.size(), " sparse values");
  }
  std::vector<Column> columns;
  for (int i = 0; i < num; ++i) {
    TF_ASSIGN_OR_RETURN(Column c, Column::Sparse(ctx.input(i), ctx.input(num + i), ctx.input(2 * num + i)));
    columns.push_back(std::move(c));
  }
  for (int i = 3 * num; i < ctx.num_inputs() - rest; ++i) {
    TF_ASSIGN_OR_RETURN(Column c, Column::Dense(ctx.input(i)));
    columns.push_back(std::move(c));
  }
  if (columns.empty()) return InvalidArgument("there must be at least one input");
  for (const Column& c : columns) {
    if (c.rows() != columns[0].rows()) {
      return InvalidArgument("Expected batch size ", columns[0].rows(), " got ", c.rows(),
                             ": all inputs must have the same number of rows");
    }
  }
  return columns;
}

// Fills outputs 0 to 2. value(row, features) returns the value of one combination; the last column varies fastest.
template <typename T, typename F>
Status Cross(KernelContext& ctx, const std::vector<Column>& columns, const F& value) {
  const int64_t rows = columns[0].rows();
  // A row has combinations only if each column has features in it. So it is sufficient to visit the rows of the column
  // with the fewest rows. (The number of rows that a sparse column declares may be huge.)
  const Column& fewest = *std::min_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
    return a.rows_with_features() < b.rows_with_features();
  });
  int64_t total = 0, widest = 0;
  const auto combinations = [&](int64_t row, int64_t* count) {
    *count = 1;
    for (const Column& c : columns) {
      if (__builtin_mul_overflow(*count, c.Count(row), count)) return false;
    }
    return true;
  };
  Status status;
  fewest.ForEachRow([&](int64_t row) {
    int64_t count;
    if (!combinations(row, &count) || __builtin_add_overflow(total, count, &total)) {
      status = InvalidArgument("row ", row, " has too many combinations of features");
      return;
    }
    widest = std::max(widest, count);
  });
  TF_RETURN_IF_ERROR(status);
  const int64_t shape[] = {rows, widest};
  TF_ASSIGN_OR_RETURN(const SparseOutput out, AllocateSparse(ctx, 0, total, shape));
  int64_t* index = out.indices;
  T* to = out.values->inplace_data<T>().data();
  std::vector<int64_t> chosen(columns.size());
  fewest.ForEachRow([&](int64_t row) {
    int64_t count = 0;
    combinations(row, &count);
    std::fill(chosen.begin(), chosen.end(), 0);
    for (int64_t n = 0; n < count; ++n) {
      *index++ = row;
      *index++ = n;
      *to++ = value(row, chosen);
      for (size_t c = columns.size(); c-- > 0 && ++chosen[c] == columns[c].Count(row);) chosen[c] = 0;
    }
  });
  return OkStatus();
}

Status CrossTexts(KernelContext& ctx, const std::vector<Column>& columns, const std::string& separator) {
  return Cross<std::string>(ctx, columns, [&](int64_t row, const std::vector<int64_t>& chosen) {
    std::string text = columns[0].Text(row, chosen[0]);
    for (size_t c = 1; c < columns.size(); ++c) text += separator + columns[c].Text(row, chosen[c]);
    return text;
  });
}

int64_t Bucket(uint64_t hash, int64_t num_buckets) {
  const int64_t buckets = num_buckets > 0 ? num_buckets : std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(hash % static_cast<uint64_t>(buckets));
}

Status SparseCross(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(ctx, /*rest=*/0));
  const DType type = ctx.node().attr<DType>("internal_type");
  for (const Column& c : columns) {
    if (type == kString && !c.is_text())
      return InvalidArgument("all inputs must be strings, because internal_type is string");
  }
  const bool hashed = ctx.node().attr<bool>("hashed_output");
  if (hashed != (ctx.node().output_type(1) == kInt64)) {
    return InvalidArgument("the output must be int64 if hashed_output is true and string otherwise, got ",
                           ctx.node().output_type(1));
  }
  if (!hashed) return CrossTexts(ctx, columns, "_X_");
  const auto key = static_cast<uint64_t>(ctx.node().attr<int64_t>("hash_key"));
  const int64_t buckets = ctx.node().attr<int64_t>("num_buckets");
  return Cross<int64_t>(ctx, columns, [&](int64_t row, const std::vector<int64_t>& chosen) {
    uint64_t hash = key;
    for (size_t c = 0; c < columns.size(); ++c) {
      hash = Joined(hash, columns[c].Hash(row, chosen[c], Fingerprint64));
    }
    return Bucket(hash, buckets);
  });
}

Status SparseCrossV2(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(ctx, /*rest=*/1));
  const Tensor& separator = ctx.input(ctx.num_inputs() - 1);
  if (!separator.shape().is_scalar())
    return InvalidArgument("Input separator should be a scalar, got shape ", separator.shape());
  return CrossTexts(ctx, columns, separator.scalar<std::string>());
}

Status SparseCrossHashed(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::vector<Column> columns, ColumnsOf(ctx, /*rest=*/3));
  const int last = ctx.num_inputs() - 1;
  const Tensor &num_buckets = ctx.input(last - 2), &strong = ctx.input(last - 1), &salt = ctx.input(last);
  if (!num_buckets.shape().is_scalar() || !strong.shape().is_scalar()) {
    return InvalidArgument("num_buckets and strong_hash must be scalars, got shapes ", num_buckets.shape(), " and ",
                           strong.shape());
  }
  if (salt.shape() != Shape({2})) return InvalidArgument("the salt must have shape [2], got ", salt.shape());
  const auto key0 = static_cast<uint64_t>(salt.data<int64_t>()[0]),
             key1 = static_cast<uint64_t>(salt.data<int64_t>()[1]);
  const bool keyed = strong.scalar<bool>();
  return Cross<int64_t>(ctx, columns, [&](int64_t row, const std::vector<int64_t>& chosen) {
    uint64_t hash = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      const uint64_t one = columns[c].HashForSparseCrossHashed(row, chosen[c], [&](std::string_view bytes) {
        return keyed ? SipHash(key0, key1, bytes) : Fingerprint64(bytes);
      });
      hash = c == 0 ? one : Joined(hash, one);
    }
    return Bucket(hash, num_buckets.scalar<int64_t>());
  });
}

}  // namespace

void RegisterSparseCrossKernels(KernelRegistry& r) {
  r.Add("SparseCross", {}, SparseCross);
  r.Add("SparseCrossV2", {}, SparseCrossV2);
  r.Add("SparseCrossHashed", {}, SparseCrossHashed);
}

}  // namespace tensorbraid::cpu
