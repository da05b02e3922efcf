// Refuses files of secrets that other users can read, as ssh does.
#ifndef TENSORBRAID_CORE_SYSTEM_SECRET_FILE_H_
#define TENSORBRAID_CORE_SYSTEM_SECRET_FILE_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// OK if the file belongs to this process's user or to root, and its mode gives no rights to other users and to its
// group. Exception: the group of a file of root may read it, because Kubernetes gives a secret to a container of
// another user in this way (fsGroup). Otherwise InvalidArgument, with the command that mends it. OK also if the file
// does not exist, which its reader reports. `flag` names the file in the error ("--tls_key"). Thread-safe.
Status CheckIsSecret(const std::string& flag, const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_SECRET_FILE_H_
