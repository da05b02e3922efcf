#include "core/system/host_name.h"

#include <unistd.h>

#include <climits>

namespace tensorbraid {

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = "";
  return ::gethostname(name, sizeof name) == 0 && name[0] != '\0' ? name : "localhost";
}

}  // namespace tensorbraid
