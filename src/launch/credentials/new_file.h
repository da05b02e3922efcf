// Writes files whose mode matters, such as those with keys.
#ifndef TENSORBRAID_LAUNCH_CREDENTIALS_NEW_FILE_H_
#define TENSORBRAID_LAUNCH_CREDENTIALS_NEW_FILE_H_

#include <sys/types.h>

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Creates the file with its mode, so that others can never read a key, and writes it. AlreadyExists if it exists, and
// otherwise the system's error; then the file does not exist.
Status WriteNewFile(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_CREDENTIALS_NEW_FILE_H_
