// Checksums of files, to compare a program on several machines.
#ifndef TENSORBRAID_CLI_LAUNCH_FILE_CHECKSUM_H_
#define TENSORBRAID_CLI_LAUNCH_FILE_CHECKSUM_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// The SHA-256 of a file, in hexadecimal digits. NotFound, or the system's error.
StatusOr<std::string> FileChecksum(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_LAUNCH_FILE_CHECKSUM_H_
