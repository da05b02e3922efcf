#include "transport/caller.h"

#include "core/text/strings.h"

namespace tensorbraid {

Status CheckIsTask(const Caller& caller, const std::string& what) {
  if (caller.role == Role::kTask) return OkStatus();
  return absl::PermissionDeniedError(
      StrCat(what, " is for the tasks of the cluster, and the token or the certificate of ",
             caller.address.empty() ? "the caller" : caller.address,
             " is a client's; use the tasks' --token_file, or a certificate of 'tensorbraid certs --hosts'"));
}

}  // namespace tensorbraid
