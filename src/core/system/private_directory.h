// Directories whose files a later process trusts, because only this user can write them.
#ifndef TENSORBRAID_CORE_SYSTEM_PRIVATE_DIRECTORY_H_
#define TENSORBRAID_CORE_SYSTEM_PRIVATE_DIRECTORY_H_

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Makes the directory with mode 0700 if it does not exist; its parent must exist. FailedPrecondition, with the command
// that mends it, if the directory belongs to another user, or if other users have rights to it. Otherwise the system's
// error. Blocks for as long as the file system does. Thread-safe.
Status MakePrivateDirectory(const std::string& path);

// Writes a file of a private directory, with mode 0600. Other processes see the whole file or the one that was there
// before. Returns the system's error; then nothing has changed. Blocks for as long as the file system does.
// Thread-safe.
Status WritePrivateFile(const std::string& path, std::string_view bytes);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_PRIVATE_DIRECTORY_H_
