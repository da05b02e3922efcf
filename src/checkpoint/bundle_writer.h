// Writing tensor bundles: TensorFlow's checkpoints of version 2 (docs/formats/tensor_bundle.md).
#ifndef TENSORBRAID_CHECKPOINT_BUNDLE_WRITER_H_
#define TENSORBRAID_CHECKPOINT_BUNDLE_WRITER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/bundle_files.h"
#include "checkpoint/files.h"
#include "checkpoint/tensor_slice.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// "prefix.index" and "prefix.data-00003-of-00005".
std::string BundleIndexName(const std::string& prefix);
std::string BundleDataName(const std::string& prefix, int shard, int num_shards);

// InvalidArgument if `prefix` is empty or ends with '/': the files of such a bundle would have no name but a suffix,
// and would be hidden.
Status CheckBundlePrefix(const std::string& prefix);

// Writes a bundle with one data file. Finish makes the files appear, complete and on the disk: first the data, then the
// index. If Finish is not called or fails, no file is left, and a bundle that the prefix had before is unchanged.
// Several writers of this process may have the same prefix. Each one that finishes replaces the bundle of the one
// before. Not thread-safe; blocks for as long as the file system does.
class BundleWriter {
 public:
  // Creates the directory of `prefix`, but not its parents. Returns the errors of CheckBundlePrefix and of the file
  // system.
  static StatusOr<std::unique_ptr<BundleWriter>> Create(const std::string& prefix);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  // InvalidArgument if the name was added before, is empty or is too long; Unimplemented for values without a
  // stored form: resources, and variants that hold something else than a tensor.
  Status Add(std::string_view name, const Tensor& tensor);
  // Adds a slice of a tensor. InvalidArgument if the slice and `tensor` have different shapes, or if an earlier
  // slice of this tensor has another dtype or full shape; Internal if the slice is not within the full shape.
  Status AddSlice(std::string_view name, const Shape& full_shape, const TensorSlice& slice, const Tensor& tensor);
  Status Finish();

 private:
  explicit BundleWriter(const std::string& prefix);
  Status Append(std::string_view bytes, uint32_t* crc);
  Status AppendStrings(const Tensor& tensor, uint32_t* crc);
  Status AppendVariants(std::string_view name, const Tensor& tensor, uint32_t* crc);

  const std::string prefix_;
  std::unique_ptr<AtomicFile> data_;
  int64_t size_ = 0;
  BundleEntries entries_;
};

struct MergeOptions {
  // Skips bundles that do not exist. At least one must exist.
  bool allow_missing = false;
};
// Merges bundles into one: renames their data files and removes their index files. A bundle that `destination` had
// before stays whole until it is replaced. InvalidArgument if a bundle does not exist or two have a tensor of the same
// name; NotFound if a data file does not exist; DataLoss for damaged indices.
Status MergeBundles(const std::vector<std::string>& prefixes, const std::string& destination,
                    const MergeOptions& options = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BUNDLE_WRITER_H_
