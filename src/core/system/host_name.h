#ifndef TENSORBRAID_CORE_SYSTEM_HOST_NAME_H_
#define TENSORBRAID_CORE_SYSTEM_HOST_NAME_H_

#include <string>

namespace tensorbraid {

// The name of this machine, or of the container that this process is in. "localhost" if the system has none.
std::string HostName();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_HOST_NAME_H_
