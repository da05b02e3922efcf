#include "kernels/cpu/parsing/example_columns.h"

#include <algorithm>
#include <limits>

#include "core/text/op_type_name.h"
#include "core/text/strings.h"
#include "io/example.pb.h"

namespace tensorbraid::cpu {
namespace {

DType TypeOf(const proto::Feature& f) {
  switch (f.kind_case()) {
    case proto::Feature::kFloatList:
      return kFloat32;
    case proto::Feature::kInt64List:
      return kInt64;
    case proto::Feature::kBytesList:
      return kString;
    default:
      return DType::kInvalid;
  }
}

bool IsAbsent(const proto::Feature* f) { return f == nullptr || f->kind_case() == proto::Feature::KIND_NOT_SET; }

int64_t CountOf(const proto::Feature* f) {
  if (f == nullptr) return 0;
  return f->float_list().value_size() + f->int64_list().value_size() + f->bytes_list().value_size();
}

// The name of an example, or "<unknown>".
std::string NameOf(const Column& column, size_t row) {
  const bool has_names = column.names != nullptr && column.names->is_valid();
  if (!has_names || row >= static_cast<size_t>(column.names->num_elements())) return "<unknown>";
  return column.names->data<std::string>()[row];
}

// The name of the list of a Feature that holds values of this type, without "_list".
std::string_view ListName(DType dtype) { return dtype == kString ? "bytes" : OpTypeName(dtype); }

// `place()` returns the position of the feature in the data, for messages.
template <typename Place>
Status CheckType(const Column& column, const proto::Feature* f, const Place& place) {
  if (IsAbsent(f) || TypeOf(*f) == column.dtype) return OkStatus();
  return InvalidArgument(place(), "  Data types don't match. Expected type: ", OpTypeName(column.dtype),
                         "  Feature is: ", ListName(TypeOf(*f)), "_list");
}

std::string KeyPlace(const Column& column, size_t row) {
  return StrCat("Name: ", NameOf(column, row), ", Key: ", column.key, ", Index: ", row, ".");
}
std::string StepPlace(const Column& column, size_t sequence, size_t step) {
  return StrCat("Name: ", NameOf(column, sequence), ", Feature list: ", column.key, ", Index: ", step, ".");
}

Status WrongCount(const std::string& place, const Column& column, int64_t count, const Shape& shape) {
  return InvalidArgument(place, "  Number of ", ListName(column.dtype), " values != expected.  values size: ", count,
                         " but output shape: ", shape);
}

// Appends values to a tensor, row after row.
class Filler {
 public:
  explicit Filler(Tensor* out) : out_(out) {}
  void Add(const proto::Feature* f) {
    if (IsAbsent(f)) return;
    switch (TypeOf(*f)) {
      case kFloat32:
        return Copy<float>(f->float_list().value());
      case kInt64:
        return Copy<int64_t>(f->int64_list().value());
      default:
        return Copy<std::string>(f->bytes_list().value());
    }
  }
  // Appends the elements of a tensor `times` times.
  void Add(const Tensor& values, int64_t times) {
    for (int64_t i = 0; i < times; ++i) {
      if (values.dtype() == kFloat32) Copy<float>(values.data<float>());
      if (values.dtype() == kInt64) Copy<int64_t>(values.data<int64_t>());
      if (values.dtype() == kString) Copy<std::string>(values.data<std::string>());
    }
  }

 private:
  template <typename T, typename Values>
  void Copy(const Values& values) {
    std::copy(values.begin(), values.end(), out_->inplace_data<T>().begin() + static_cast<std::ptrdiff_t>(next_));
    next_ += static_cast<int64_t>(values.size());
  }
  Tensor* const out_;
  int64_t next_ = 0;
};

Tensor ZeroOf(DType dtype) {
  if (dtype == kFloat32) return Tensor::Scalar(0.0f);
  return dtype == kInt64 ? Tensor::Scalar(int64_t{0}) : Tensor::Scalar("");
}

// The shape [batch, more..., inner...], without the batch unless `batched`.
Shape Outer(bool batched, int64_t batch, std::initializer_list<int64_t> more, std::span<const int64_t> inner) {
  Shape shape;
  if (batched) shape.AddDim(batch);
  for (int64_t d : more) shape.AddDim(d);
  for (int64_t d : inner) shape.AddDim(d);
  return shape;
}

StatusOr<Tensor> AllValues(const Column& column, const FeatureRows& rows) {
  int64_t total = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    TF_RETURN_IF_ERROR(CheckType(column, rows[row], [&] { return KeyPlace(column, row); }));
    total += CountOf(rows[row]);
  }
  TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(column.dtype, Shape({total})));
  Filler filler(&values);
  for (const proto::Feature* f : rows) filler.Add(f);
  return values;
}

FeatureRows AllRows(const std::vector<Steps>& sequences) {
  FeatureRows rows;
  for (const Steps& s : sequences) rows.insert(rows.end(), s.rows.begin(), s.rows.end());
  return rows;
}

StatusOr<Tensor> Splits(const std::vector<int64_t>& ends, DType type) {
  if (type == kInt64) return Tensor::Vector(ends);
  if (!ends.empty() && ends.back() > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("int32 row splits cannot hold ", ends.back(), " values; use int64");
  }
  return Tensor::Vector(std::vector<int32_t>(ends.begin(), ends.end()));
}

// A placeholder for the row splits of a sequence without a batch. Its value is not used.
Tensor NoSplits(DType type) { return type == kInt64 ? Tensor::Scalar(int64_t{0}) : Tensor::Scalar(int32_t{0}); }

std::vector<int64_t> EndsOf(const FeatureRows& rows) {
  std::vector<int64_t> ends = {0};
  for (const proto::Feature* f : rows) ends.push_back(ends.back() + CountOf(f));
  return ends;
}

}  // namespace

StatusOr<SparseColumn> GatherSparse(const Column& column, const FeatureRows& rows, bool batched) {
  SparseColumn out;
  TF_ASSIGN_OR_RETURN(out.values, AllValues(column, rows));
  const int64_t total = out.values.num_elements();
  const int64_t width = batched ? 2 : 1;
  TF_ASSIGN_OR_RETURN(out.indices, Tensor::Create(kInt64, Shape({total, width})));
  int64_t* index = out.indices.inplace_data<int64_t>().data();
  int64_t longest = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t count = CountOf(rows[row]);
    longest = std::max(longest, count);
    for (int64_t i = 0; i < count; ++i) {
      if (batched) *index++ = static_cast<int64_t>(row);
      *index++ = i;
    }
  }
  out.shape = batched ? Tensor::Vector<int64_t>({static_cast<int64_t>(rows.size()), longest})
                      : Tensor::Vector<int64_t>({longest});
  return out;
}

Status CheckDefault(const Column& column, const Shape& shape, const Tensor& default_value) {
  if (!shape.has_rank()) return InvalidArgument("key '", column.key, "' has a dense shape of unknown rank");
  if (default_value.dtype() != column.dtype) {
    return InvalidArgument("key '", column.key, "' has type ", column.dtype, ", but its default has type ",
                           default_value.dtype());
  }
  const bool variable = shape.rank() > 0 && shape.dim(0) < 0;
  for (int i = 1; i < shape.rank(); ++i) {
    if (shape.dim(i) < 0) return InvalidArgument("only the first size of a dense shape may be unknown, got ", shape);
  }
  if (variable && default_value.num_elements() != 1) {
    return InvalidArgument("key '", column.key, "' is padded to shape ", shape,
                           ", so its default must have one element, got shape ", default_value.shape());
  }
  if (!variable && default_value.num_elements() > 0 && !shape.IsCompatibleWith(default_value.shape())) {
    return InvalidArgument("key '", column.key, "' has shape ", shape, ", but its default has shape ",
                           default_value.shape());
  }
  return OkStatus();
}

StatusOr<Tensor> GatherDense(const Column& column, const FeatureRows& rows, const Shape& shape,
                             const Tensor& default_value, bool batched) {
  const auto batch = static_cast<int64_t>(rows.size());
  const bool variable = shape.rank() > 0 && shape.dim(0) < 0;
  const Shape inner(variable ? shape.dims().subspan(1) : shape.dims());
  const int64_t stride = inner.num_elements();
  if (stride < 0) return InvalidArgument("dense shape ", shape, " has too many elements");
  int64_t longest = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    TF_RETURN_IF_ERROR(CheckType(column, rows[row], [&] { return KeyPlace(column, row); }));
    const int64_t count = CountOf(rows[row]);
    if (variable) {
      if (stride == 0 ? count != 0 : count % stride != 0) {
        return InvalidArgument(KeyPlace(column, row), "  Number of ", ListName(column.dtype),
                               " values is not a multiple of stride length: got ", count, " values for shape ", shape);
      }
      if (stride > 0) longest = std::max(longest, count / stride);
    } else if (IsAbsent(rows[row])) {
      if (default_value.num_elements() == stride) continue;
      return InvalidArgument("Name: ", NameOf(column, row), ", Feature: ", column.key,
                             " (data type: ", OpTypeName(column.dtype),
                             ") is required, but the example lacks it and no default is set");
    } else if (count != stride) {
      return WrongCount(KeyPlace(column, row), column, count, shape);
    }
  }
  const Shape all = variable ? Outer(batched, batch, {longest}, inner.dims()) : Outer(batched, batch, {}, inner.dims());
  TF_ASSIGN_OR_RETURN(Tensor out, Tensor::Create(column.dtype, all));
  Filler filler(&out);
  for (const proto::Feature* f : rows) {
    if (IsAbsent(f) && !variable) {
      filler.Add(default_value, 1);
      continue;
    }
    filler.Add(f);
    if (variable) filler.Add(default_value, longest * stride - CountOf(f));
  }
  return out;
}

StatusOr<RaggedColumn> GatherRagged(const Column& column, const FeatureRows& rows, DType split_type, bool batched) {
  RaggedColumn out;
  TF_ASSIGN_OR_RETURN(out.values, AllValues(column, rows));
  TF_ASSIGN_OR_RETURN(out.splits, Splits(batched ? EndsOf(rows) : std::vector<int64_t>{}, split_type));
  return out;
}

StatusOr<SparseColumn> GatherSequenceSparse(const Column& column, const std::vector<Steps>& sequences, bool batched) {
  SparseColumn out;
  TF_ASSIGN_OR_RETURN(out.values, AllValues(column, AllRows(sequences)));
  const int64_t total = out.values.num_elements();
  TF_ASSIGN_OR_RETURN(out.indices, Tensor::Create(kInt64, Shape({total, batched ? 3 : 2})));
  int64_t* index = out.indices.inplace_data<int64_t>().data();
  int64_t most_steps = 0;
  int64_t longest = 0;
  for (size_t n = 0; n < sequences.size(); ++n) {
    const FeatureRows& rows = sequences[n].rows;
    most_steps = std::max(most_steps, static_cast<int64_t>(rows.size()));
    for (size_t step = 0; step < rows.size(); ++step) {
      const int64_t count = CountOf(rows[step]);
      longest = std::max(longest, count);
      for (int64_t i = 0; i < count; ++i) {
        if (batched) *index++ = static_cast<int64_t>(n);
        *index++ = static_cast<int64_t>(step);
        *index++ = i;
      }
    }
  }
  std::vector<int64_t> shape = {most_steps, longest};
  if (batched) shape.insert(shape.begin(), static_cast<int64_t>(sequences.size()));
  out.shape = Tensor::Vector(shape);
  return out;
}

StatusOr<DenseSequences> GatherSequenceDense(const Column& column, const std::vector<Steps>& sequences,
                                             const Shape& shape, bool required, bool batched) {
  const int64_t per_step = shape.num_elements();
  if (per_step < 0) return InvalidArgument("key '", column.key, "': the shape of a step must be known, got ", shape);
  int64_t most_steps = 0;
  std::vector<int64_t> lengths;
  for (size_t n = 0; n < sequences.size(); ++n) {
    const Steps& steps = sequences[n];
    if (required && !steps.present) {
      return InvalidArgument("Name: ", NameOf(column, n), ", Feature list '", column.key,
                             "' is required but could not be found.  Did you mean to include it in "
                             "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?");
    }
    for (size_t step = 0; step < steps.rows.size(); ++step) {
      TF_RETURN_IF_ERROR(CheckType(column, steps.rows[step], [&] { return StepPlace(column, n, step); }));
      if (const int64_t count = CountOf(steps.rows[step]); count != per_step || IsAbsent(steps.rows[step])) {
        return WrongCount(StrCat("Name: ", NameOf(column, n), ", Key: ", column.key, ", Index: ", step, "."), column,
                          count, shape);
      }
    }
    lengths.push_back(static_cast<int64_t>(steps.rows.size()));
    most_steps = std::max(most_steps, lengths.back());
  }
  DenseSequences out;
  const auto batch = static_cast<int64_t>(sequences.size());
  TF_ASSIGN_OR_RETURN(out.values, Tensor::Create(column.dtype, Outer(batched, batch, {most_steps}, shape.dims())));
  Filler filler(&out.values);
  const Tensor zero = ZeroOf(column.dtype);
  for (size_t n = 0; n < sequences.size(); ++n) {
    for (const proto::Feature* f : sequences[n].rows) filler.Add(f);
    filler.Add(zero, (most_steps - lengths[n]) * per_step);
  }
  out.lengths = batched ? Tensor::Vector(lengths) : Tensor::Scalar(lengths.empty() ? int64_t{0} : lengths[0]);
  return out;
}

StatusOr<RaggedColumn> GatherSequenceRagged(const Column& column, const std::vector<Steps>& sequences, DType split_type,
                                            bool batched) {
  RaggedColumn out;
  const FeatureRows rows = AllRows(sequences);
  TF_ASSIGN_OR_RETURN(out.values, AllValues(column, rows));
  TF_ASSIGN_OR_RETURN(out.inner_splits, Splits(EndsOf(rows), split_type));
  std::vector<int64_t> ends = {0};
  for (const Steps& s : sequences) ends.push_back(ends.back() + static_cast<int64_t>(s.rows.size()));
  if (batched) {
    TF_ASSIGN_OR_RETURN(out.splits, Splits(ends, split_type));
  } else {
    out.splits = NoSplits(split_type);
  }
  return out;
}

}  // namespace tensorbraid::cpu
