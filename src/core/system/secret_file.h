// Refuses files of secrets that other users can read, as ssh does.
#ifndef TENSORBRAID_CORE_SYSTEM_SECRET_FILE_H_
#define TENSORBRAID_CORE_SYSTEM_SECRET_FILE_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// OK if only this process's user, root, and those whom root allows can read or write the file: it belongs to this user
// or to root, and its mode gives nothing to others and nothing to its group; but the group of a file of root may read
// it, because that is how Kubernetes gives a secret to a container of another user (fsGroup). Otherwise
// InvalidArgument, with the command that mends it. OK also if the file does not exist: its reader reports that. `flag`
// names the file in the error ("--tls_key"). Thread-safe.
Status CheckIsSecret(const std::string& flag, const std::string& path);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_SYSTEM_SECRET_FILE_H_
