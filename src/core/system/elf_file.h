// Checks a shared library before it is loaded.
#ifndef TENSORBRAID_CORE_SYSTEM_ELF_FILE_H_
#define TENSORBRAID_CORE_SYSTEM_ELF_FILE_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Whether the file is a shared library for this machine and has all bytes that its headers promise: dlopen maps them,
// and reading a missing one would end the program. InvalidArgument if not ("it is ..."), or the system's error if the
// file cannot be read. Reads only the headers.
Status CheckSharedLibrary(const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_ELF_FILE_H_
