// Lookup tables, which map keys to values. Both are tensors.
#ifndef TENSORBRAID_RUNTIME_RESOURCES_LOOKUP_TABLE_H_
#define TENSORBRAID_RUNTIME_RESOURCES_LOOKUP_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/kernel/resource.h"

namespace tensorbraid {

// How a table is constructed.
struct TableOptions {
  enum class Kind {
    kStatic,   // HashTable: initialized once, then only read
    kMutable,  // MutableHashTable, MutableHashTableOfTensors
    kDense,    // MutableDenseHashTable: the empty and the deleted key are reserved
  };
  Kind kind = Kind::kStatic;
  DType key_dtype = kString;  // string, int32 or int64
  DType value_dtype = kInt64;
  Shape key_shape = {};    // of one key; fully known
  Shape value_shape = {};  // of one value; fully known
  // Only for kDense:
  Tensor empty_key, deleted_key;
  int64_t initial_num_buckets = 131072;
  double max_load_factor = 0.8;
};

// Thread-safe. Error codes are TensorFlow's: InvalidArgument if dtypes or shapes do not fit the table.
class LookupTable final : public Resource {
 public:
  static constexpr const char* kTypeName = "lookup table";

  // REQUIRES: CheckOptions(options).
  LookupTable(std::string name, TableOptions options);
  static Status CheckOptions(const TableOptions& options);
  const std::string& name() const { return name_; }
  const TableOptions& options() const { return options_; }

  // Returns the values of the keys. A missing key gets `default_value`, which holds one value for all keys or one value
  // for each key. FailedPrecondition if a static table is not initialized.
  StatusOr<Tensor> Find(const Tensor& keys, const Tensor& default_value) const;
  // Adds entries, or replaces their values. Unimplemented for static tables.
  Status Insert(const Tensor& keys, const Tensor& values);
  // Removes entries; ignores missing keys. Unimplemented for static tables.
  Status Remove(const Tensor& keys);
  // Replaces all entries. For a static table the same as Initialize.
  Status Import(const Tensor& keys, const Tensor& values);
  // All keys and values, in no particular order. A dense table exports a row for each bucket: an empty bucket has the
  // empty key, and the bucket of a removed entry has the deleted key and the old value. The keys and the values of a
  // dense table are each a matrix with one entry in a row, whatever their shapes. Aborted if a static table is not
  // initialized.
  StatusOr<std::pair<Tensor, Tensor>> Export() const;
  // Fills a static table. If the table is already initialized with as many entries, does nothing. FailedPrecondition if
  // it has another number of entries, or if a key occurs with two values; InvalidArgument if there are no entries.
  Status Initialize(const Tensor& keys, const Tensor& values);
  bool is_initialized() const;
  int64_t size() const;
  std::string DebugString() const override;

 private:
  // The number of keys in a tensor. InvalidArgument if its dtype or shape do not fit the keys of this table.
  StatusOr<int64_t> CountKeys(const Tensor& keys) const;
  // InvalidArgument unless `values` has one value for each key.
  Status CheckValues(const Tensor& keys, const Tensor& values) const;
  // InvalidArgument if one of the `n` keys is a reserved key of a dense table.
  Status CheckUsable(const Tensor& keys, int64_t n) const;
  // Key `i` as it is stored in rows_: a scalar string itself, several strings with their lengths, numbers as bytes.
  std::string KeyAt(const Tensor& keys, int64_t i) const;
  // Adds entries. With `refuse_change`, FailedPrecondition if a key already has another value.
  Status Put(const Tensor& keys, const Tensor& values, bool refuse_change) TB_REQUIRES(mu_);
  // Makes room for this many rows in values_.
  Status Reserve(int64_t rows) TB_REQUIRES(mu_);
  void Clear() TB_REQUIRES(mu_);
  // Doubles the number of buckets of a dense table until this many entries do not exceed the load factor.
  void Grow(int64_t entries) TB_REQUIRES(mu_);

  const std::string name_;
  const TableOptions options_;
  const int64_t value_size_;  // elements of one value
  std::string empty_, deleted_;
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, int64_t> rows_ TB_GUARDED_BY(mu_);  // key to row of values_
  Tensor values_ TB_GUARDED_BY(mu_);                                   // [capacity] + value_shape
  int64_t used_ TB_GUARDED_BY(mu_) = 0;                                // rows ever used, including those in free_
  std::vector<int64_t> free_ TB_GUARDED_BY(mu_);                       // rows of removed entries
  bool initialized_ TB_GUARDED_BY(mu_) = false;
  int64_t num_buckets_ TB_GUARDED_BY(mu_) = 0;
  size_t num_deleted_ TB_GUARDED_BY(mu_) = 0;  // the last num_deleted_ of free_ are buckets with the deleted key
};

// How to fill a table from a text file with an entry on each line.
struct TextFileInitializer {
  static constexpr int64_t kWholeLine = -2;
  static constexpr int64_t kLineNumber = -1;
  std::string path;
  int64_t key_index = kWholeLine;  // kWholeLine, kLineNumber or a column, from 0
  int64_t value_index = kLineNumber;
  int64_t vocab_size = -1;  // number of lines to read; -1: all
  std::string delimiter = "\t";
  int64_t offset = 0;  // added to line numbers, which begin at 0
};
// Reads the keys and values of a file, for a table of these dtypes. Blocks for as long as the file system does.
// InvalidArgument if the options or the lines do not fit; otherwise the file system's errors.
StatusOr<std::pair<Tensor, Tensor>> ReadTableFile(const TextFileInitializer& file, DType key_dtype, DType value_dtype);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_RESOURCES_LOOKUP_TABLE_H_
