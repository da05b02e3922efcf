// Compressed bytes in memory.
#ifndef TENSORBRAID_IO_INFLATE_H_
#define TENSORBRAID_IO_INFLATE_H_

#include <string>
#include <string_view>

#include "io/input_stream.h"
#include "tensorbraid/status.h"

namespace tensorbraid {

// What was compressed. DataLoss for damaged or truncated data; ResourceExhausted for more than `max_bytes`.
StatusOr<std::string> Inflate(std::string_view bytes, Compression compression, int64_t max_bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_IO_INFLATE_H_
