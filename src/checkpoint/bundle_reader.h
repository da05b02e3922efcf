// Reading tensor bundles: TensorFlow's checkpoints of version 2 (docs/formats/tensor_bundle.md).
#ifndef TENSORBRAID_CHECKPOINT_BUNDLE_READER_H_
#define TENSORBRAID_CHECKPOINT_BUNDLE_READER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/files.h"
#include "checkpoint/table_reader.h"
#include "checkpoint/tensor_slice.h"
#include "checkpoint/tensor_stream.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

namespace proto {
class BundleEntryProto;
}  // namespace proto

// The format version of the bundles that TensorFlow and this project write.
inline constexpr int kBundleVersion = 1;

// The type name of a variant that holds a tensor.
inline constexpr const char* kTensorVariant = "tensorflow::Tensor";

// Extends the checksum of a string tensor by the length of one of its strings: as 32 bits, or as 64 if the length needs
// them.
uint32_t ExtendByLength(uint64_t length, uint32_t crc);

// Reads one bundle without trusting its files: it checks sizes against the files before it allocates memory, and
// verifies the checksums of names, bytes and indices. Not thread-safe; blocks for as long as the file system does.
class BundleReader {
 public:
  // NotFound if the index file does not exist; DataLoss if it is damaged; Unimplemented if the bundle was written by a
  // big-endian machine or its version is too new.
  static StatusOr<std::unique_ptr<BundleReader>> Open(const std::string& prefix);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  struct Info {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // NotFound if the bundle has no tensor of that name.
  StatusOr<Info> Find(std::string_view name);
  // Returns all tensors in the order of their names. A partitioned tensor is listed once, as a whole.
  StatusOr<std::vector<Info>> List();
  // Reads a tensor, and assembles it if it was partitioned. NotFound if the tensor or a data file does not exist,
  // DataLoss if a checksum is wrong, InvalidArgument if slices are missing.
  StatusOr<Tensor> Read(std::string_view name);
  // Reads a slice of a tensor, however the tensor was partitioned. Internal if the slice is not within the tensor.
  StatusOr<Tensor> ReadSlice(std::string_view name, const TensorSlice& slice);

  // Where the slices of a partitioned tensor are in it, in the order of the file; none if it is stored as a whole.
  // NotFound if there is no tensor of that name.
  StatusOr<std::vector<TensorSlice>> Slices(std::string_view name);

  // As Read, piece by piece. A tensor that was partitioned is in memory as a whole. InvalidArgument for dtypes that are
  // not numbers.
  StatusOr<std::unique_ptr<TensorStream>> Stream(std::string_view name);
  // Whether two tensors are stored as the same bytes (BundleStreams::AddAgain). NotFound if one of them does not exist.
  StatusOr<bool> ShareBytes(std::string_view a, std::string_view b);

  // Visits every entry with its key, including the entries of slices. Ends at the first error.
  Status ForEachEntry(const std::function<Status(const std::string& key, const proto::BundleEntryProto& entry)>& visit);
  // The name of the first data file that does not exist; "" if all exist.
  std::string MissingFile() const;
  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return num_shards_; }  // the number of data files

 private:
  struct Entry;
  explicit BundleReader(std::string prefix) : prefix_(std::move(prefix)) {}
  Status Damaged(std::string_view name, const std::string& why) const;
  StatusOr<Entry> Lookup(std::string_view key, std::string_view shown_name);
  StatusOr<Entry> Decode(std::string_view bytes, std::string_view shown_name) const;
  StatusOr<const RandomAccessFile*> Shard(int shard);
  // Reads the tensor of an entry that has no slices.
  StatusOr<Tensor> ReadWhole(const Entry& entry, std::string_view name);
  StatusOr<Tensor> ReadStrings(const Entry& entry, const RandomAccessFile& file, std::string_view name);
  StatusOr<Tensor> ReadVariants(const Entry& entry, const RandomAccessFile& file, std::string_view name);
  StatusOr<Tensor> Assemble(const Entry& entry, std::string_view name, const TensorSlice& wanted, const Shape& shape);
  // Checks, before memory is taken, that the bytes of an entry lie within its file and are as many as its shape needs.
  // Returns the file.
  StatusOr<const RandomAccessFile*> CheckExtent(const Entry& entry, std::string_view name);

  const std::string prefix_;
  std::unique_ptr<TableReader> table_;
  int num_shards_ = 0;
  std::map<int, std::unique_ptr<RandomAccessFile>> shards_;  // opened when first needed
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BUNDLE_READER_H_
