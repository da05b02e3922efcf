#include "cluster/discovery/pmix_library.h"

#include <dlfcn.h>

#include "core/text/strings.h"

namespace tensorbraid::pmix {
namespace {

template <typename Function>
bool FindFunction(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

StatusOr<const Library*> LoadLibrary() {
  // Global, because the library's plugins use its symbols.
  void* const handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return FailedPrecondition("PMIx cannot be used: ", why == nullptr ? "" : why, "; install it (Debian: libpmix2)");
  }
  auto* library = new Library;
  const bool complete =
      FindFunction(handle, "PMIx_Init", &library->init) && FindFunction(handle, "PMIx_Put", &library->put) &&
      FindFunction(handle, "PMIx_Commit", &library->commit) && FindFunction(handle, "PMIx_Fence_nb", &library->fence) &&
      FindFunction(handle, "PMIx_Get", &library->get) && FindFunction(handle, "PMIx_Finalize", &library->finalize) &&
      FindFunction(handle, "PMIx_Error_string", &library->error_text);
  if (!complete) return FailedPrecondition("PMIx cannot be used: libpmix.so.2 lacks a function of PMIx 3");
  return library;
}

}  // namespace

StatusOr<const Library*> Library::Load() {
  static const auto& library = *new StatusOr<const Library*>(LoadLibrary());
  return library;
}

Status Library::Check(const char* what, Result result) const {
  if (result == kSuccess || result == kOperationSucceeded) return OkStatus();
  const char* const text = error_text(result);
  return Unavailable(what, " of PMIx fails: ", text == nullptr ? "" : text, " (", result, ")");
}

}  // namespace tensorbraid::pmix
