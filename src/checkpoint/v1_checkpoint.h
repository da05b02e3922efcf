// Checkpoints of version 1: one sorted table with the tensors in it, as protobuf messages. TensorFlow's programs still
// write them when they are told to, and the ops Save, SaveSlices, Restore and RestoreSlice know no others.
#ifndef TENSORBRAID_CHECKPOINT_V1_CHECKPOINT_H_
#define TENSORBRAID_CHECKPOINT_V1_CHECKPOINT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/table_reader.h"
#include "checkpoint/tensor_slice.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Gathers tensors in memory and writes them at once. Not thread-safe.
class V1Writer {
 public:
  explicit V1Writer(std::string path);
  ~V1Writer();
  V1Writer(const V1Writer&) = delete;
  V1Writer& operator=(const V1Writer&) = delete;

  // All of a tensor when `slice` takes all. InvalidArgument for a name or slice that is there already, a name that is
  // empty, other wholes for slices of one name, a tensor of 2 GiB or more, or dtypes
  // that version 1 does not know (Unimplemented for bfloat16).
  Status Add(const std::string& name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor);
  // The file appears whole, or not at all. Returns the file system's errors.
  Status Finish();

 private:
  struct Meta;
  const std::string path_;
  std::map<std::string, Meta> tensors_;
  std::map<std::string, std::string> values_;  // by key
};

// Reads the files that a pattern ("model-?????-of-00003") fits as one checkpoint. Believes nothing that they say; see
// BundleReader. Not thread-safe.
class V1Reader {
 public:
  // NotFound when no file fits, DataLoss when one is damaged.
  static StatusOr<std::unique_ptr<V1Reader>> Open(const std::string& pattern);
  ~V1Reader();
  V1Reader(const V1Reader&) = delete;
  V1Reader& operator=(const V1Reader&) = delete;

  struct Info {
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // NotFound when there is no such tensor.
  StatusOr<Info> Find(const std::string& name) const;
  // As BundleReader::ReadSlice.
  StatusOr<Tensor> ReadSlice(const std::string& name, const TensorSlice& slice);
  const std::string& pattern() const { return pattern_; }

 private:
  struct Part {
    TensorSlice slice;
    TableReader* table;
  };
  struct Entry {
    Info info;
    std::vector<Part> parts;
  };
  explicit V1Reader(std::string pattern) : pattern_(std::move(pattern)) {}
  Status AddTable(TableReader* table);
  StatusOr<Tensor> ReadPart(const std::string& name, const Entry& entry, const Part& part);

  const std::string pattern_;
  std::vector<std::unique_ptr<TableReader>> tables_;
  std::map<std::string, Entry> entries_;
};

// What the restoring ops do: a tensor of that dtype, or, when `shape_and_slice` is not empty, a part of it.
// InvalidArgument when dtype or shape are others.
StatusOr<Tensor> RestoreV1(V1Reader& reader, const std::string& name, const std::string& shape_and_slice, DType dtype);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_V1_CHECKPOINT_H_
