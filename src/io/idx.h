// Reads the idx format, in which MNIST and similar data sets are published: a header with type and sizes, then the
// elements.
#ifndef TENSORBRAID_IO_IDX_H_
#define TENSORBRAID_IO_IDX_H_

#include <string>

#include "tensorbraid/core/status.h"
#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// Reads an idx file of unsigned bytes, gzipped or not, into a uint8 tensor. Returns NotFound or another system error if
// the file cannot be opened, and InvalidArgument if it is not a regular file. Returns DataLoss, naming the file and the
// fault, if any part of it is wrong: bad magic number, other element type, too few or too many bytes, wrong checksum of
// the compressed data. Memory use is proportional to the size of the file, whatever its header claims.
StatusOr<Tensor> ReadIdx(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_IDX_H_
