// The files of a snapshot: the elements of a dataset, in TensorFlow's format (docs/formats/snapshot.md).
#ifndef TENSORBRAID_KERNELS_CPU_DATASET_SNAPSHOT_FILES_H_
#define TENSORBRAID_KERNELS_CPU_DATASET_SNAPSHOT_FILES_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/record.h"
#include "runtime/dataset/dataset.h"

namespace tensorbraid {

// The compression with this name, which must be "NONE" or "", "GZIP", "ZLIB" or "AUTO". AUTO lets the program choose,
// and this program chooses no compression. Returns InvalidArgument for any other name, such as "SNAPPY".
StatusOr<Compression> SnapshotCompression(const std::string& name);

// A complete snapshot.
struct Snapshot {
  std::string run_directory;  // has the files of the pass over the dataset (the run) that wrote the snapshot
  int64_t elements = 0;       // Dataset::kUnknown if it is not recorded
};

// The complete snapshot in a directory, or nothing if the directory has no snapshot or only one that was never
// completed. DataLoss if the metadata is damaged; InvalidArgument if the components are not of `types`.
StatusOr<std::optional<Snapshot>> FindSnapshot(const std::string& directory, const std::vector<DType>& types);

// A dataset whose elements are datasets, one for each shard of a snapshot. An iterator over a shard returns DataLoss if
// a file is damaged.
StatusOr<RefPtr<Dataset>> OpenSnapshot(const Snapshot& snapshot, Compression compression,
                                       const std::vector<DType>& types, const std::vector<Shape>& shapes);

// Writes the elements of one pass over a dataset into a new directory under `directory`. A snapshot that is not
// finished is never read. Not thread-safe; blocks for as long as the file system does.
class SnapshotWriter {
 public:
  // `hash` identifies the dataset; it may be empty.
  static StatusOr<std::unique_ptr<SnapshotWriter>> Create(const std::string& directory, const std::string& hash,
                                                          const std::vector<DType>& types, Compression compression);

  // InvalidArgument if the shard is negative or a component cannot be stored (a dataset, for example).
  Status Write(int64_t shard, const Element& element);
  // Completes the files, and makes this the snapshot of the directory.
  Status Finish();

 private:
  SnapshotWriter(std::string directory, std::string hash, std::vector<DType> types, Compression compression);
  Status WriteMetadata(bool finalized);

  const std::string directory_;
  const std::string hash_;
  const std::string run_id_;
  const std::vector<DType> types_;
  const Compression compression_;
  std::map<int64_t, std::unique_ptr<RecordWriter>> shards_;
  int64_t elements_ = 0;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_DATASET_SNAPSHOT_FILES_H_
