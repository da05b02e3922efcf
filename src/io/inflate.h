// Decompresses data in memory.
#ifndef TENSORBRAID_IO_INFLATE_H_
#define TENSORBRAID_IO_INFLATE_H_

#include <string>
#include <string_view>

#include "io/input_stream.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Returns the decompressed bytes. DataLoss for damaged or truncated data; ResourceExhausted if the result has more than
// `max_bytes`.
StatusOr<std::string> Inflate(std::string_view bytes, Compression compression, int64_t max_bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_INFLATE_H_
