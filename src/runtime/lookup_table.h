// Lookup tables: from keys to values, both tensors.
#ifndef TENSORBRAID_RUNTIME_LOOKUP_TABLE_H_
#define TENSORBRAID_RUNTIME_LOOKUP_TABLE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/resource.h"

namespace tensorbraid {

// What a table is made with.
struct TableOptions {
  enum class Kind {
    kStatic,   // HashTable: filled once, then only read
    kMutable,  // MutableHashTable, MutableHashTableOfTensors
    kDense,    // MutableDenseHashTable: two keys are set aside and may not be used
  };
  Kind kind = Kind::kStatic;
  DType key_dtype = kString;  // string, int32 or int64
  DType value_dtype = kInt64;
  Shape key_shape = {};  // of one key, of one value: fully known
  Shape value_shape = {};
  // kDense:
  Tensor empty_key, deleted_key;
  int64_t initial_num_buckets = 131072;
  double max_load_factor = 0.8;
};

// Thread-safe. Errors are TensorFlow's: InvalidArgument when dtypes or shapes do not fit the table.
class LookupTable final : public Resource {
 public:
  static constexpr const char* kTypeName = "lookup table";

  // REQUIRES: CheckOptions(options).
  LookupTable(std::string name, TableOptions options);
  static Status CheckOptions(const TableOptions& options);
  const std::string& name() const { return name_; }
  const TableOptions& options() const { return options_; }

  // The values of the keys; where there is none, `default_value`, which is one value or as many as there are keys.
  // FailedPrecondition when a static table is not initialized.
  StatusOr<Tensor> Find(const Tensor& keys, const Tensor& default_value) const;
  // Adds or replaces. Unimplemented for static tables.
  Status Insert(const Tensor& keys, const Tensor& values);
  // Keys that are not there are no error. Unimplemented for static tables.
  Status Remove(const Tensor& keys);
  // Replaces everything. Of a static table: as Initialize.
  Status Import(const Tensor& keys, const Tensor& values);
  // All keys and values, in no order. A dense table gives as many rows as it has buckets: empty ones hold the empty
  // key, those of removed entries the deleted key and what they had. All keys and all values of a dense
  // table are rows of a matrix, whatever their shapes are. Aborted when a static table is not initialized.
  StatusOr<std::pair<Tensor, Tensor>> Export() const;
  // Fills a static table; doing so again with as many entries does nothing. FailedPrecondition when a key has two
  // values, or when the table is filled otherwise; InvalidArgument when there is no entry.
  Status Initialize(const Tensor& keys, const Tensor& values);
  bool is_initialized() const;
  int64_t size() const;
  std::string DebugString() const override;

 private:
  // How many keys a tensor holds; InvalidArgument when it holds none of this table's kind.
  StatusOr<int64_t> CountKeys(const Tensor& keys) const;
  // InvalidArgument unless `values` has one value for each key.
  Status CheckValues(const Tensor& keys, const Tensor& values) const;
  Status CheckUsable(const Tensor& keys, int64_t n) const;
  // What key `i` is found by: the string itself, or bytes.
  std::string KeyAt(const Tensor& keys, int64_t i) const;
  Status Put(const Tensor& keys, const Tensor& values, bool refuse_change) TB_REQUIRES(mu_);
  Status Reserve(int64_t rows) TB_REQUIRES(mu_);
  void Clear() TB_REQUIRES(mu_);
  void Grow(int64_t entries) TB_REQUIRES(mu_);

  const std::string name_;
  const TableOptions options_;
  const int64_t value_size_;  // elements of one value
  std::string empty_, deleted_;
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, int64_t> rows_ TB_GUARDED_BY(mu_);  // where the value of a key lies
  Tensor values_ TB_GUARDED_BY(mu_);                                   // [capacity] + value_shape
  int64_t used_ TB_GUARDED_BY(mu_) = 0;                                // rows that have been handed out
  std::vector<int64_t> free_ TB_GUARDED_BY(mu_);                       // and given back
  bool initialized_ TB_GUARDED_BY(mu_) = false;
  int64_t num_buckets_ TB_GUARDED_BY(mu_) = 0;
  size_t num_deleted_ TB_GUARDED_BY(mu_) = 0;  // so many at the end of free_ are buckets with the deleted key
};

// What a table is to be filled with from a text file, a line for each entry.
struct TextFileInitializer {
  static constexpr int64_t kWholeLine = -2;
  static constexpr int64_t kLineNumber = -1;
  std::string path;
  int64_t key_index = kWholeLine;  // or the number of a column
  int64_t value_index = kLineNumber;
  int64_t vocab_size = -1;  // so many lines; -1: all
  std::string delimiter = "\t";
  int64_t offset = 0;  // the number of the first line
};
// The keys and values of the file, for a table of these dtypes. Blocks for as long as the file system does.
// InvalidArgument for what does not fit; else the file system's errors.
StatusOr<std::pair<Tensor, Tensor>> ReadTableFile(const TextFileInitializer& file, DType key_dtype, DType value_dtype);

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_LOOKUP_TABLE_H_
