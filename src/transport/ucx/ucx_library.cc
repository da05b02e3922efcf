#include "transport/ucx/ucx_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

#include "core/system/env.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

StatusOr<const UcxLibrary*> LoadOnce() {
  // UCX reads these variables when it is loaded. Without them, it would handle the signals of this process, print
  // warnings about variables that it does not know, and print errors that this transport reports itself.
  setenv("UCX_HANDLE_ERRORS", "none", /*overwrite=*/0);
  setenv("UCX_WARN_UNUSED_ENV_VARS", "n", /*overwrite=*/0);
  setenv("UCX_LOG_LEVEL", "fatal", /*overwrite=*/0);
  // Larger segments make copies over TCP faster than sends in place. UCX takes this from the environment alone.
  setenv("UCX_TCP_TX_SEG_SIZE", "64k", /*overwrite=*/0);
  void* ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  void* ucs = ucp == nullptr ? nullptr : dlopen("libucs.so.0", RTLD_NOW | RTLD_LOCAL);
  if (ucs == nullptr) {
    const char* const why = dlerror();
    return FailedPrecondition("UCX cannot be used: ", why == nullptr ? "" : why, "; install it (Debian: libucx0)");
  }
  auto* library = new UcxLibrary;
#define TENSORBRAID_UCX_FIND(name)                                                                                    \
  library->name = reinterpret_cast<decltype(library->name)>(dlsym(ucp, #name));                                       \
  if (library->name == nullptr) library->name = reinterpret_cast<decltype(library->name)>(dlsym(ucs, #name));         \
  if (library->name == nullptr) {                                                                                     \
    return FailedPrecondition("UCX cannot be used: the installed version has no " #name "; 1.11 or later is needed"); \
  }
  TENSORBRAID_UCX_FUNCTIONS(TENSORBRAID_UCX_FIND)
#undef TENSORBRAID_UCX_FIND
  unsigned major = 0, minor = 0, release = 0;
  library->ucp_get_version(&major, &minor, &release);
  library->version = StrCat(major, ".", minor);
  return library;
}

}  // namespace

StatusOr<const UcxLibrary*> UcxLibrary::Load() {
  static const auto& library = *new StatusOr<const UcxLibrary*>(LoadOnce());
  return library;
}

StatusOr<std::shared_ptr<UcxContext>> UcxContext::Create(bool loopback_only) {
  TF_ASSIGN_OR_RETURN(const UcxLibrary* const ucx, UcxLibrary::Load());
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucx->ucp_config_read(nullptr, nullptr, &config);
  // Variables that are set in the environment take precedence.
  const auto set = [&](const char* name, const char* value) {
    if (status != UCS_OK || std::getenv(StrCat("UCX_", name).c_str()) != nullptr) return;
    status = ucx->ucp_config_modify(config, name, value);
  };
  if (loopback_only) set("NET_DEVICES", "lo");
  if (!HasRdmaDevice()) {
    // Makes UCX copy what it sends over TCP. UCX 1.13 can end the process if the peer is lost while UCX sends memory in
    // place over TCP: it reports the end of such a send twice.
    set("ZCOPY_THRESH", "inf");
  }
  ucp_context_h context = nullptr;
  if (status == UCS_OK) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
    params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
    params.mt_workers_shared = 1;
    status = ucx->ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context);
  }
  if (config != nullptr) ucx->ucp_config_release(config);
  if (status != UCS_OK) return FailedPrecondition("UCX cannot be used: ", ucx->ucs_status_string(status));
  return std::shared_ptr<UcxContext>(new UcxContext(ucx, context));
}

bool HasRdmaDevice() {
  const auto devices = Env::Default().MatchingPaths("/sys/class/infiniband/*");
  return devices.ok() && !devices->empty();
}

}  // namespace tensorbraid
