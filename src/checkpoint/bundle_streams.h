// Writing a tensor bundle piece by piece.
#ifndef TENSORBRAID_CHECKPOINT_BUNDLE_STREAMS_H_
#define TENSORBRAID_CHECKPOINT_BUNDLE_STREAMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/block_writer.h"
#include "checkpoint/bundle_files.h"
#include "checkpoint/files.h"
#include "core/system/direct_block.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Writes a bundle of tensors that are too large for memory, and whose sizes are not known before they end. Several
// tensors can grow at the same time, each in a data file of its own. Those with few bytes share a file. As with
// BundleWriter, the bundle appears when Finish returns, and otherwise no file is left. Not thread-safe; blocks for as
// long as the file system does.
class BundleStreams {
 public:
  // Creates the directory of `prefix`, but not its parents. With a thread of its own, the files are written while the
  // caller makes the next bytes; it has the priority of the thread that calls Create. REQUIRES: num_files >= 1.
  static StatusOr<std::unique_ptr<BundleStreams>> Create(const std::string& prefix, int num_files,
                                                         bool has_thread = false);
  ~BundleStreams();
  BundleStreams(const BundleStreams&) = delete;
  BundleStreams& operator=(const BundleStreams&) = delete;

  // Continues the tensor that grows in a data file. Files are numbered from 0.
  Status Append(int file, std::string_view bytes);
  // Ends the tensor that grows in a data file, and names it. The next Append begins another one. InvalidArgument if the
  // bundle has the name already, or if the appended bytes are not as many as the shape needs.
  Status End(int file, const std::string& name, DType dtype, const Shape& shape);
  // Adds a tensor that is equal to an earlier one, and has no bytes of its own. NotFound if there is none.
  Status AddAgain(const std::string& name, const std::string& earlier);
  // Adds a whole tensor of a dtype without strings. REQUIRES: no tensor grows in the file.
  Status Add(int file, const std::string& name, const Tensor& tensor);
  Status Finish();

 private:
  struct File {
    std::unique_ptr<AtomicFile> file = nullptr;  // null while there are few bytes, which are in `few`
    std::string few = {};
    DirectBlock block;  // the bytes after those that writer_ has; null if there are none
    size_t filled = 0;  // of the block
    bool is_large = false;
    int64_t size = 0;   // bytes of all tensors
    int64_t begin = 0;  // of the tensor that grows
    uint32_t crc = 0;   // of the tensor that grows
  };
  BundleStreams(const std::string& prefix, int num_files, bool has_thread);
  Status EnsureFile(int file);
  Status Fill(File& file, std::string_view bytes);
  Status WriteBlock(File& file);

  const std::string prefix_;
  std::vector<File> files_;
  BundleEntries entries_;
  BlockWriter writer_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_BUNDLE_STREAMS_H_
