#include "runtime/resources/lookup_table.h"

#include <algorithm>
#include <cstring>

#include "core/text/strings.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid {
namespace {

using TableKind = TableOptions::Kind;

Shape Joined(std::span<const int64_t> a, std::span<const int64_t> b) {
  std::vector<int64_t> dims(a.begin(), a.end());
  dims.insert(dims.end(), b.begin(), b.end());
  return Shape(dims);
}

// The shape of a tensor with one value for each key in `keys`. REQUIRES: the shape of `keys` ends with the shape of a
// key.
Shape ShapeOfValues(const TableOptions& o, const Tensor& keys) {
  const auto dims = keys.shape().dims();
  return Joined(dims.subspan(0, dims.size() - o.key_shape.rank()), o.value_shape.dims());
}

// Whether static tables exist for these dtypes, as in TensorFlow.
bool HasStaticTable(DType key, DType value) {
  switch (value) {
    case DType::kString:
    case DType::kInt32:
    case DType::kFloat32:
    case DType::kFloat64:
      return true;
    case DType::kInt64:
      return key != kInt32;
    case DType::kBool:
      return key == kString;
    default:
      return false;
  }
}

}  // namespace

LookupTable::LookupTable(std::string name, TableOptions options)
    : name_(std::move(name)), options_(std::move(options)), value_size_(options_.value_shape.num_elements()) {
  if (options_.kind == TableKind::kDense) {
    empty_ = KeyAt(options_.empty_key, 0);
    deleted_ = KeyAt(options_.deleted_key, 0);
    num_buckets_ = options_.initial_num_buckets;
  }
}

Status LookupTable::CheckOptions(const TableOptions& o) {
  if (o.key_dtype != kString && o.key_dtype != kInt32 && o.key_dtype != kInt64) {
    return InvalidArgument("keys of a table must be string, int32 or int64, not ", o.key_dtype);
  }
  if (o.value_dtype != kString && !IsPlain(o.value_dtype)) {
    return InvalidArgument("values of a table cannot be ", o.value_dtype);
  }
  if (o.kind == TableKind::kStatic && !HasStaticTable(o.key_dtype, o.value_dtype)) {
    return InvalidArgument("static tables (HashTable) from ", o.key_dtype, " to ", o.value_dtype, " are not supported");
  }
  if (!o.value_shape.is_fully_defined())
    return InvalidArgument("the shape ", o.value_shape, " of values must be fully known");
  // A value is a row of one tensor, so a shape whose size overflows is refused before anything is allocated.
  if (o.value_shape.num_elements() < 0) return InvalidArgument("the shape ", o.value_shape, " of values is too large");
  if (o.kind != TableKind::kDense) return OkStatus();
  if (o.empty_key.dtype() != o.key_dtype || o.deleted_key.dtype() != o.key_dtype) {
    return InvalidArgument("the empty and the deleted key must be ", o.key_dtype);
  }
  if (o.empty_key.shape() != o.deleted_key.shape()) {
    return InvalidArgument("Empty and deleted keys must have same shape: the empty one has ", o.empty_key.shape(),
                           ", the other ", o.deleted_key.shape());
  }
  if (o.initial_num_buckets < 4 || (o.initial_num_buckets & (o.initial_num_buckets - 1)) != 0) {
    return InvalidArgument("Number of buckets must be 4, 8 or a higher power of 2, got ", o.initial_num_buckets);
  }
  if (!(o.max_load_factor > 0 && o.max_load_factor < 1)) {
    return InvalidArgument("max_load_factor must lie above 0 and below 1, got ", o.max_load_factor);
  }
  TableOptions plain = o;
  plain.kind = TableKind::kMutable;
  const LookupTable keys("", std::move(plain));
  if (keys.KeyAt(o.empty_key, 0) == keys.KeyAt(o.deleted_key, 0)) {
    return InvalidArgument("Empty and deleted keys cannot be equal");
  }
  return OkStatus();
}

std::string LookupTable::KeyAt(const Tensor& keys, int64_t i) const {
  const int64_t n = options_.key_shape.num_elements();
  if (options_.key_dtype == kString) {
    const auto strings = keys.data<std::string>();
    if (n == 1) return strings[i];
    std::string key;
    for (int64_t j = i * n; j < (i + 1) * n; ++j) key += StrCat(strings[j].size(), ":", strings[j]);
    return key;
  }
  const size_t bytes = static_cast<size_t>(n) * DTypeSize(options_.key_dtype);
  return std::string(static_cast<const char*>(keys.raw_data()) + static_cast<size_t>(i) * bytes, bytes);
}

StatusOr<int64_t> LookupTable::CountKeys(const Tensor& keys) const {
  if (keys.dtype() != options_.key_dtype) {
    return InvalidArgument("table '", name_, "' has keys of ", options_.key_dtype, ", got ", keys.dtype());
  }
  const int extra = keys.shape().rank() - options_.key_shape.rank();
  if (extra < 0 || Shape(keys.shape().dims().subspan(extra)) != options_.key_shape) {
    return InvalidArgument("table '", name_, "': Expected key shape ending in ", options_.key_shape, ", got ",
                           keys.shape());
  }
  int64_t n = 1;
  for (int i = 0; i < extra; ++i) n *= keys.shape().dim(i);
  if (options_.kind == TableKind::kDense && keys.shape().rank() > 0 && n != keys.shape().dim(0)) {
    // The keys of a dense table form a vector: only one dimension may precede the shape of a key.
    return InvalidArgument("table '", name_, "': Expected key shape ",
                           Joined(std::vector<int64_t>{keys.shape().dim(0)}, options_.key_shape.dims()), ", got ",
                           keys.shape());
  }
  return n;
}

Status LookupTable::CheckValues(const Tensor& keys, const Tensor& values) const {
  if (values.dtype() != options_.value_dtype) {
    return InvalidArgument("table '", name_, "' has values of ", options_.value_dtype, ", got ", values.dtype());
  }
  const Shape wanted = ShapeOfValues(options_, keys);
  if (values.shape() == wanted) return OkStatus();
  return InvalidArgument("table '", name_, "': Expected shape ", wanted, " of the values of keys of shape ",
                         keys.shape(), ", got ", values.shape());
}

Status LookupTable::CheckUsable(const Tensor& keys, int64_t n) const {
  if (options_.kind != TableKind::kDense) return OkStatus();
  for (int64_t i = 0; i < n; ++i) {
    const std::string key = KeyAt(keys, i);
    if (key == empty_) return InvalidArgument("table '", name_, "': a key is the empty_key, which marks free buckets");
    if (key == deleted_)
      return InvalidArgument("table '", name_, "': a key is the deleted_key, which marks removed entries");
  }
  return OkStatus();
}

StatusOr<Tensor> LookupTable::Find(const Tensor& keys, const Tensor& default_value) const {
  TF_ASSIGN_OR_RETURN(const int64_t n, CountKeys(keys));
  if (default_value.dtype() != options_.value_dtype) {
    return InvalidArgument("table '", name_, "' has values of ", options_.value_dtype, ", the default is ",
                           default_value.dtype());
  }
  const Shape shape = ShapeOfValues(options_, keys);
  const bool each = default_value.shape() == shape && shape != options_.value_shape;
  if (!each && default_value.shape() != options_.value_shape) {
    return InvalidArgument("table '", name_, "' takes a default of shape ", options_.value_shape, " or ", shape,
                           ", got ", default_value.shape());
  }
  TF_RETURN_IF_ERROR(CheckUsable(keys, n));
  TF_ASSIGN_OR_RETURN(Tensor found, Tensor::Create(options_.value_dtype, shape));
  MutexLock lock(mu_);
  if (options_.kind == TableKind::kStatic && !initialized_) {
    return FailedPrecondition("table '", name_,
                              "': Table not initialized: run its initializer (tables_initializer) first");
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto it = rows_.find(KeyAt(keys, i));
    if (it != rows_.end()) {
      CopyElementRange(values_, it->second * value_size_, value_size_, &found, i * value_size_);
    } else {
      CopyElementRange(default_value, each ? i * value_size_ : 0, value_size_, &found, i * value_size_);
    }
  }
  return found;
}

Status LookupTable::Reserve(int64_t rows) {
  const int64_t have = values_.is_valid() ? values_.shape().dim(0) : 0;
  if (rows <= have) return OkStatus();
  const int64_t capacity = std::max({rows, 2 * have, int64_t{8}});
  TF_ASSIGN_OR_RETURN(Tensor larger, Tensor::Create(options_.value_dtype, Joined(std::vector<int64_t>{capacity},
                                                                                 options_.value_shape.dims())));
  if (used_ > 0) CopyElementRange(values_, 0, used_ * value_size_, &larger, 0);
  values_ = std::move(larger);
  return OkStatus();
}

void LookupTable::Grow(int64_t entries) {
  while (num_buckets_ > 0 &&
         static_cast<double>(entries) > static_cast<double>(num_buckets_) * options_.max_load_factor) {
    num_buckets_ *= 2;
    num_deleted_ = 0;
  }
}

Status LookupTable::Put(const Tensor& keys, const Tensor& values, bool refuse_change) {
  const int64_t n = value_size_ == 0 ? *CountKeys(keys) : values.num_elements() / value_size_;
  for (int64_t i = 0; i < n; ++i) {
    const auto [it, added] = rows_.try_emplace(KeyAt(keys, i), -1);
    if (added) {
      if (free_.empty()) {
        const Status reserved = Reserve(used_ + 1);
        if (!reserved.ok()) {
          rows_.erase(it);
          return reserved;
        }
        it->second = used_++;
      } else {
        it->second = free_.back();
        free_.pop_back();
        num_deleted_ -= num_deleted_ > 0 ? 1 : 0;
      }
    } else if (refuse_change) {
      bool equal;
      if (options_.value_dtype == kString) {
        const auto have = values_.data<std::string>().subspan(it->second * value_size_, value_size_);
        equal = std::equal(have.begin(), have.end(), values.data<std::string>().begin() + i * value_size_);
      } else {
        const size_t bytes = static_cast<size_t>(value_size_) * DTypeSize(options_.value_dtype);
        equal = std::memcmp(static_cast<const char*>(values_.raw_data()) + it->second * bytes,
                            static_cast<const char*>(values.raw_data()) + i * bytes, bytes) == 0;
      }
      if (!equal) return FailedPrecondition("table '", name_, "': a key has two values (entry ", i, ")");
    }
    CopyElementRange(values, i * value_size_, value_size_, &values_, it->second * value_size_);
  }
  return OkStatus();
}

Status LookupTable::Insert(const Tensor& keys, const Tensor& values) {
  TF_ASSIGN_OR_RETURN(const int64_t n, CountKeys(keys));
  TF_RETURN_IF_ERROR(CheckValues(keys, values));
  if (options_.kind == TableKind::kStatic)
    return Unimplemented("table '", name_, "' is static: nothing can be inserted after its initialization");
  TF_RETURN_IF_ERROR(CheckUsable(keys, n));
  MutexLock lock(mu_);
  Grow(static_cast<int64_t>(rows_.size()) + n);
  return Put(keys, values, /*refuse_change=*/false);
}

Status LookupTable::Remove(const Tensor& keys) {
  TF_ASSIGN_OR_RETURN(const int64_t n, CountKeys(keys));
  if (options_.kind == TableKind::kStatic)
    return Unimplemented("table '", name_, "' is static: nothing can be removed");
  TF_RETURN_IF_ERROR(CheckUsable(keys, n));
  MutexLock lock(mu_);
  for (int64_t i = 0; i < n; ++i) {
    const auto it = rows_.find(KeyAt(keys, i));
    if (it == rows_.end()) continue;
    free_.push_back(it->second);
    ++num_deleted_;
    rows_.erase(it);
  }
  return OkStatus();
}

void LookupTable::Clear() {
  Tensor none;
  rows_.clear();
  free_.clear();
  num_deleted_ = 0;
  std::swap(values_, none);
  used_ = 0;
}

Status LookupTable::Import(const Tensor& keys, const Tensor& values) {
  if (options_.kind == TableKind::kDense && keys.shape().rank() == 2 && values.shape().rank() == 2) {
    // The format of Export(): a matrix of keys and a matrix of values.
    const std::vector<int64_t> n{keys.shape().dim(0)};
    const auto k = keys.Reshaped(Joined(n, options_.key_shape.dims()));
    const auto v = values.Reshaped(Joined(n, options_.value_shape.dims()));
    if (k.ok() && v.ok() && (k->shape() != keys.shape() || v->shape() != values.shape())) return Import(*k, *v);
  }
  TF_ASSIGN_OR_RETURN(const int64_t n, CountKeys(keys));
  TF_RETURN_IF_ERROR(CheckValues(keys, values));
  if (options_.kind == TableKind::kStatic) return Initialize(keys, values);
  MutexLock lock(mu_);
  Clear();
  const Status put = Put(keys, values, /*refuse_change=*/false);
  if (options_.kind == TableKind::kDense) {
    // An exported table contains its empty and deleted buckets.
    rows_.erase(empty_);
    rows_.erase(deleted_);
    num_buckets_ = 4;
    while (num_buckets_ < n) num_buckets_ *= 2;
    Grow(static_cast<int64_t>(rows_.size()));
  }
  return put;
}

Status LookupTable::Initialize(const Tensor& keys, const Tensor& values) {
  if (options_.kind != TableKind::kStatic)
    return InvalidArgument("table '", name_, "' cannot be initialized: it is not static");
  TF_ASSIGN_OR_RETURN(const int64_t n, CountKeys(keys));
  TF_RETURN_IF_ERROR(CheckValues(keys, values));
  if (n == 0)
    return InvalidArgument("table '", name_, "': keys and values cannot be empty when a table is initialized");
  MutexLock lock(mu_);
  if (initialized_) {
    if (static_cast<int64_t>(rows_.size()) == n) return OkStatus();
    return FailedPrecondition("table '", name_, "' is initialized already, with other data");
  }
  const Status put = Put(keys, values, /*refuse_change=*/true);
  if (!put.ok()) Clear();
  initialized_ = put.ok();
  return put;
}

StatusOr<std::pair<Tensor, Tensor>> LookupTable::Export() const {
  MutexLock lock(mu_);
  if (options_.kind == TableKind::kStatic && !initialized_) return Aborted("table '", name_, "' is not initialized");
  const auto entries = static_cast<int64_t>(rows_.size());
  const bool dense = options_.kind == TableKind::kDense;
  const std::vector<int64_t> rows{dense ? std::max(num_buckets_, entries) : entries};
  const int64_t key_size = options_.key_shape.num_elements();
  const Shape key_shape = dense ? Shape({key_size}) : options_.key_shape;
  const Shape value_shape = dense ? Shape({value_size_}) : options_.value_shape;
  TF_ASSIGN_OR_RETURN(Tensor keys, ZeroTensor(options_.key_dtype, Joined(rows, key_shape.dims())));
  TF_ASSIGN_OR_RETURN(Tensor values, ZeroTensor(options_.value_dtype, Joined(rows, value_shape.dims())));
  const size_t key_bytes = static_cast<size_t>(key_size) * DTypeSize(options_.key_dtype);
  int64_t row = 0;
  for (const auto& [key, at] : rows_) {
    if (options_.key_dtype != kString) {
      if (key_bytes > 0)
        std::memcpy(static_cast<char*>(keys.inplace_raw_data()) + row * key_bytes, key.data(), key_bytes);
    } else if (key_size == 1) {
      keys.inplace_data<std::string>()[row] = key;
    } else {
      const char* rest = key.c_str();
      for (int64_t j = 0; j < key_size; ++j) {
        char* colon = nullptr;
        const size_t length = std::strtoull(rest, &colon, 10);
        keys.inplace_data<std::string>()[row * key_size + j].assign(colon + 1, length);
        rest = colon + 1 + length;
      }
    }
    CopyElementRange(values_, at * value_size_, value_size_, &values, row * value_size_);
    ++row;
  }
  for (size_t i = free_.size() - num_deleted_; dense && i < free_.size() && row < rows[0]; ++i, ++row) {
    CopyElementRange(options_.deleted_key, 0, key_size, &keys, row * key_size);
    CopyElementRange(values_, free_[i] * value_size_, value_size_, &values, row * value_size_);
  }
  for (; row < rows[0]; ++row) CopyElementRange(options_.empty_key, 0, key_size, &keys, row * key_size);
  return std::pair{std::move(keys), std::move(values)};
}

bool LookupTable::is_initialized() const {
  MutexLock lock(mu_);
  return initialized_;
}

int64_t LookupTable::size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(rows_.size());
}

std::string LookupTable::DebugString() const {
  return StrCat("table from ", options_.key_dtype, options_.key_shape, " to ", options_.value_dtype,
                options_.value_shape);
}

}  // namespace tensorbraid
