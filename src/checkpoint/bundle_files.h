// The files of a tensor bundle (TensorFlow's checkpoint of version 2, docs/formats/tensor_bundle.md) that is being
// written: its index file, and the data files that BundleWriter fills.
#ifndef TENSORBRAID_CHECKPOINT_BUNDLE_FILES_H_
#define TENSORBRAID_CHECKPOINT_BUNDLE_FILES_H_

#include <map>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

namespace proto {
class BundleEntryProto;
}  // namespace proto

// The entries of a bundle's index, by their keys.
using BundleEntries = std::map<std::string, proto::BundleEntryProto, std::less<>>;

// Held while the files of a bundle get their names. Writers of the same prefix take turns, or the data of one could get
// the index of another: a Supervisor's thread and its program may save the same step at the same time. Only writers of
// this process wait for each other.
class BundleLock {
 public:
  explicit BundleLock(std::string prefix);  // blocks while another one of the same prefix exists
  ~BundleLock();
  BundleLock(const BundleLock&) = delete;
  BundleLock& operator=(const BundleLock&) = delete;

 private:
  const std::string prefix_;
};

// Chooses the names of a new bundle's data files, and makes the bundle appear by writing its index. If the prefix
// already has a bundle, the new data files must have other names than the old ones. Names contain the number of data
// files, so if this number is the same, the new bundle gets one more data file, which is empty. So the old bundle stays
// whole until the new index replaces the old index, in one rename. Not thread-safe; blocks for as long as the file
// system does. REQUIRES: a BundleLock of the prefix exists for as long as this object.
class BundleFiles {
 public:
  BundleFiles(std::string prefix, int num_data_files);
  ~BundleFiles();  // Removes the data files that were added, unless the index was written.
  BundleFiles(const BundleFiles&) = delete;
  BundleFiles& operator=(const BundleFiles&) = delete;

  // The name of data file `i`.
  std::string DataName(int i) const;
  // Records that the next data file exists under its name. Call it once for each data file before Commit.
  void Added() { ++added_; }
  // Writes the index, then removes the data files of the old bundle.
  Status Commit(const BundleEntries& entries);

 private:
  Status WriteIndex(const BundleEntries& entries);

  const std::string prefix_;
  const int given_;       // data files of the caller
  const int replaced_;    // data files of the bundle that the prefix has; 0 if there is none
  const int num_shards_;  // data files of the new bundle: given_, or one more
  int added_ = 0;
  bool has_index_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BUNDLE_FILES_H_
