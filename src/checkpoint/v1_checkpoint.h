// Checkpoints of version 1: one sorted table that holds the tensors as protobuf messages. TensorFlow's programs can
// still be told to write them, and the ops Save, SaveSlices, Restore and RestoreSlice support no other version.
#ifndef TENSORBRAID_CHECKPOINT_V1_CHECKPOINT_H_
#define TENSORBRAID_CHECKPOINT_V1_CHECKPOINT_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/table_reader.h"
#include "checkpoint/tensor_slice.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Collects tensors in memory and writes them all in Finish. Not thread-safe.
class V1Writer {
 public:
  explicit V1Writer(std::string path);
  ~V1Writer();
  V1Writer(const V1Writer&) = delete;
  V1Writer& operator=(const V1Writer&) = delete;

  // Adds a slice of a tensor, or the whole tensor if `slice` covers it. InvalidArgument if the name is empty, the slice
  // and `tensor` have different shapes, the tensor or an overlapping slice was added before, an earlier slice has
  // another dtype or full shape, the tensor is too large for a message of 2 GiB, or version 1 does not support
  // its dtype (Unimplemented for bfloat16). Internal if the slice is not within the full shape.
  Status Add(const std::string& name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor);
  // Writes the file atomically. Returns the file system's errors.
  Status Finish();

 private:
  struct Meta;
  const std::string path_;
  std::map<std::string, Meta> tensors_;
  std::map<std::string, std::string> values_;  // the entries of the table
};

// Reads all files that match a pattern ("model-?????-of-00003") as one checkpoint. Does not trust their content; see
// BundleReader. Not thread-safe.
class V1Reader {
 public:
  // NotFound if no file matches, DataLoss if one is damaged.
  static StatusOr<std::unique_ptr<V1Reader>> Open(const std::string& pattern);
  ~V1Reader();
  V1Reader(const V1Reader&) = delete;
  V1Reader& operator=(const V1Reader&) = delete;

  struct Info {
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // NotFound if the checkpoint has no tensor of that name.
  StatusOr<Info> Find(const std::string& name) const;
  std::vector<std::string> Names() const;  // sorted
  // Like BundleReader::ReadSlice.
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

// Whether files match the pattern. A directory is none.
bool V1CheckpointExists(const std::string& pattern);

// Implements the ops that restore: returns the tensor or, if `shape_and_slice` is not empty, a slice of it.
// InvalidArgument if the checkpoint has another dtype or shape.
StatusOr<Tensor> RestoreV1(V1Reader& reader, const std::string& name, const std::string& shape_and_slice, DType dtype);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_V1_CHECKPOINT_H_
