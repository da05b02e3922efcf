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
#include "tensorbraid/tensor.h"

namespace tensorbraid {

namespace proto {
class BundleEntryProto;
}  // namespace proto

// Of the bundles that we and TensorFlow write.
inline constexpr int kBundleVersion = 1;

// How the lengths of strings enter the checksum of their tensor: as 32 bits, or as 64 where those do not suffice.
uint32_t ExtendByLength(uint64_t length, uint32_t crc);

// Nothing in the files is believed: sizes are checked against the files before memory is taken, names, bytes and
// indices by their checksums. Not thread-safe; blocks as the file system does.
class BundleReader {
 public:
  // NotFound when there is no index; DataLoss when it is damaged; Unimplemented for a bundle of a big-endian machine or
  // of a version that is too new.
  static StatusOr<std::unique_ptr<BundleReader>> Open(const std::string& prefix);
  ~BundleReader();
  BundleReader(const BundleReader&) = delete;
  BundleReader& operator=(const BundleReader&) = delete;

  struct Info {
    std::string name;
    DType dtype = DType::kInvalid;
    Shape shape;
  };
  // NotFound when there is no such tensor.
  StatusOr<Info> Find(std::string_view name);
  // All tensors, in the order of their names; partitioned ones once, as a whole.
  StatusOr<std::vector<Info>> List();
  // A tensor, put together if it was partitioned. NotFound for names and files that are not there, DataLoss when a
  // checksum does not fit, InvalidArgument when slices are missing.
  StatusOr<Tensor> Read(std::string_view name);
  // A part of a tensor, however it was partitioned. Internal when it does not lie within.
  StatusOr<Tensor> ReadSlice(std::string_view name, const TensorSlice& slice);

  // Every entry with its key, those of slices too; ends with the first error.
  Status ForEachEntry(const std::function<Status(const std::string& key, const proto::BundleEntryProto& entry)>& visit);
  const std::string& prefix() const { return prefix_; }
  int num_shards() const { return num_shards_; }

 private:
  struct Entry;
  explicit BundleReader(std::string prefix) : prefix_(std::move(prefix)) {}
  Status Damaged(std::string_view name, const std::string& why) const;
  StatusOr<Entry> Lookup(std::string_view key, std::string_view shown_name);
  StatusOr<Entry> Decode(std::string_view bytes, std::string_view shown_name) const;
  StatusOr<const RandomAccessFile*> Shard(int shard);
  // The bytes of an entry without slices.
  StatusOr<Tensor> ReadWhole(const Entry& entry, std::string_view name);
  StatusOr<Tensor> ReadStrings(const Entry& entry, const RandomAccessFile& file, std::string_view name);
  StatusOr<Tensor> Assemble(const Entry& entry, std::string_view name, const TensorSlice& wanted, const Shape& shape);
  // Checks that the bytes of an entry lie in its file and are as many as its shape says, before memory is taken.
  StatusOr<const RandomAccessFile*> CheckExtent(const Entry& entry, std::string_view name);

  const std::string prefix_;
  std::unique_ptr<TableReader> table_;
  int num_shards_ = 0;
  std::map<int, std::unique_ptr<RandomAccessFile>> shards_;  // opened when first needed
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BUNDLE_READER_H_
