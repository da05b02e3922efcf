// Loads UCX (https://openucx.org) when a task first needs it, so that other tasks do not need UCX to be installed.
#ifndef TENSORBRAID_TRANSPORT_UCX_UCX_LIBRARY_H_
#define TENSORBRAID_TRANSPORT_UCX_UCX_LIBRARY_H_

#include <ucp/api/ucp.h>

#include <memory>
#include <string>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct UcxLibrary {
  // Loads the library at the first call. FailedPrecondition if that is not possible; the message says what to install.
  // The result is never destroyed. Thread-safe.
  static StatusOr<const UcxLibrary*> Load();

  std::string version;  // "1.13"

  // clang-format off
#define TENSORBRAID_UCX_FUNCTIONS(X) \
  X(ucp_am_data_release) X(ucp_am_recv_data_nbx) X(ucp_am_send_nbx) X(ucp_cleanup) X(ucp_config_modify) \
  X(ucp_config_read) X(ucp_config_release) X(ucp_ep_close_nbx) X(ucp_ep_create) X(ucp_get_version) \
  X(ucp_init_version) X(ucp_request_check_status) X(ucp_request_free) X(ucp_worker_arm) \
  X(ucp_worker_create) X(ucp_worker_destroy) X(ucp_worker_get_address) X(ucp_worker_get_efd) \
  X(ucp_worker_progress) X(ucp_worker_query) X(ucp_worker_release_address) \
  X(ucp_worker_set_am_recv_handler) X(ucs_status_string)
  // clang-format on
#define TENSORBRAID_UCX_MEMBER(name) decltype(&::name) name = nullptr;
  TENSORBRAID_UCX_FUNCTIONS(TENSORBRAID_UCX_MEMBER)
#undef TENSORBRAID_UCX_MEMBER
};

// What the workers of one transport share: the devices that they use, and the memory that is registered with these.
// Thread-safe.
class UcxContext {
 public:
  // With `loopback_only` no other machine can reach the workers, unless UCX_NET_DEVICES is set in the environment.
  static StatusOr<std::shared_ptr<UcxContext>> Create(bool loopback_only);
  ~UcxContext() { library_->ucp_cleanup(context_); }
  UcxContext(const UcxContext&) = delete;
  UcxContext& operator=(const UcxContext&) = delete;

  const UcxLibrary& library() const { return *library_; }
  ucp_context_h get() const { return context_; }

 private:
  UcxContext(const UcxLibrary* library, ucp_context_h context) : library_(library), context_(context) {}

  const UcxLibrary* const library_;
  const ucp_context_h context_;
};

// Whether this machine has a device for RDMA.
bool HasRdmaDevice();

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRANSPORT_UCX_UCX_LIBRARY_H_
