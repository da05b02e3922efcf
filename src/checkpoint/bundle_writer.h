// Writing tensor bundles: TensorFlow's checkpoints of version 2 (docs/formats/tensor_bundle.md).
#ifndef TENSORBRAID_CHECKPOINT_BUNDLE_WRITER_H_
#define TENSORBRAID_CHECKPOINT_BUNDLE_WRITER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/files.h"
#include "checkpoint/tensor_slice.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

namespace proto {
class BundleEntryProto;
}  // namespace proto

// "prefix.index" and "prefix.data-00003-of-00005".
std::string BundleIndexName(const std::string& prefix);
std::string BundleDataName(const std::string& prefix, int shard, int num_shards);

// Writes one bundle of one data file. Its files appear at Finish, whole and on the disk, the index after the data;
// without Finish nothing stays. Not thread-safe; blocks as the file system does.
class BundleWriter {
 public:
  // Makes the directory of `prefix` if only that is missing. Returns the file system's errors.
  static StatusOr<std::unique_ptr<BundleWriter>> Create(const std::string& prefix);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // InvalidArgument for a name that is there already, empty or too long; Unimplemented for dtypes that are no values
  // (resource, variant).
  Status Add(std::string_view name, const Tensor& tensor);
  // Adds one part of a tensor. InvalidArgument when another part of it said something else of the whole.
  Status AddSlice(std::string_view name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor);
  Status Finish();

 private:
  explicit BundleWriter(std::string prefix);
  Status Append(std::string_view bytes, uint32_t* crc);
  Status AppendStrings(const Tensor& tensor, uint32_t* crc);

  const std::string prefix_;
  std::unique_ptr<AtomicFile> data_;
  int64_t size_ = 0;
  std::map<std::string, proto::BundleEntryProto, std::less<>> entries_;
};

struct MergeOptions {
  // Bundles that are not there are passed over, as long as one is.
  bool allow_missing = false;
};
// Makes one bundle of several, whose data files are renamed; their index files go. InvalidArgument when a prefix is
// missing or two have a tensor of the same name; DataLoss for damaged indices.
Status MergeBundles(const std::vector<std::string>& prefixes, const std::string& destination,
                    const MergeOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BUNDLE_WRITER_H_
