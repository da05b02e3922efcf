// Who sends a call or opens a link, as far as the transport knows.
#ifndef TENSORBRAID_TRANSPORT_CALLER_H_
#define TENSORBRAID_TRANSPORT_CALLER_H_

#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// What a caller may do. kClient: create sessions and run them. kTask: also everything that concerns the whole cluster,
// such as opening a link as a task, resetting containers, or creating sessions that bring their own cluster.
enum class Role { kTask, kClient };

// The organizational unit in the subject of a client's certificate; `tensorbraid certs --clients` writes it.
inline constexpr char kClientUnit[] = "Tensorbraid client";

struct Caller {
  Role role = Role::kTask;
  // Whether the connection comes over loopback, or the caller is in this process.
  bool is_local = true;
  // The other end of the connection, "10.0.0.7:41234": named in messages, and used to limit the calls of each
  // connection. Empty if the caller is in this process.
  std::string address = {};
};

// PermissionDenied unless the caller is a task. `what` is the subject of the error ("Reset").
Status CheckIsTask(const Caller& caller, const std::string& what);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_CALLER_H_
