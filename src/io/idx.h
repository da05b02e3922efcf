// The idx format, in which MNIST and its kin are published: a header with type and sizes, then the elements.
#ifndef TENSORBRAID_IO_IDX_H_
#define TENSORBRAID_IO_IDX_H_

#include <string>

#include "tensorbraid/status.h"
#include "tensorbraid/tensor.h"

namespace tensorbraid {

// Reads an idx file of unsigned bytes, gzipped or not, into a uint8 tensor. NotFound, or the system's error, when the
// file cannot be opened; DataLoss, naming file and fault, when it is not such a file from its first byte to its last:
// bad magic number, other element type, too short, too long, checksum of the compression.
// Memory follows the size of the file, whatever its header claims.
StatusOr<Tensor> ReadIdx(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_IDX_H_
