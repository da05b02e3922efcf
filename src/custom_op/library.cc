#include "tensorbraid/custom_op/library.h"

#include <dlfcn.h>

#include <map>

#include "core/system/elf_file.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "custom_op/custom_ops.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

constexpr const char* kEntry = "tensorbraid_op_library";

// Closes a library unless it is kept.
class OpenLibrary {
 public:
  explicit OpenLibrary(void* handle) : handle_(handle) {}
  OpenLibrary(const OpenLibrary&) = delete;
  OpenLibrary& operator=(const OpenLibrary&) = delete;
  ~OpenLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  void* get() const { return handle_; }
  void Keep() { handle_ = nullptr; }

 private:
  void* handle_;
};

std::string LastError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown error" : error;
}

// The bytes before ": " in TB_OP_LIBRARY_ABI. Not a part of this file's constants, so that a library that contains a
// copy of Tensorbraid does not seem to be an op library.
std::string AbiMark() {
  std::string abi = OpLibraryAbi();
  return abi.substr(0, abi.find(':') + 1);
}

// Reads for which programs the library was compiled, without running any of its code.
Status CheckAbi(const std::string& path) {
  TF_RETURN_IF_ERROR(CheckSharedLibrary(path));
  TF_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  const size_t begin = bytes.find(AbiMark());
  if (begin == std::string::npos) {
    return InvalidArgument("it is not a library of custom ops: it has no TENSORBRAID_OP_LIBRARY");
  }
  const std::string abi = bytes.substr(begin, bytes.find('\0', begin) - begin);
  if (abi == OpLibraryAbi()) return OkStatus();
  return InvalidArgument("it was compiled for another version of Tensorbraid or with other options: it needs '", abi,
                         "', but this program has '", OpLibraryAbi(), "'");
}

// Lets libraries that are loaded later see the functions of Tensorbraid. Programs that are linked with Tensorbraid do
// not need this; but an interpreter such as Python loads it for its own module alone.
void ShowTensorbraid() {
  Dl_info info;
  if (dladdr(internal::InstanceOfTensorbraid(), &info) == 0 || info.dli_fname == nullptr) return;
  dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

void* Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  ShowTensorbraid();
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

struct LoadedLibraries {
  Mutex mu;
  std::map<void*, std::vector<std::string>> ops TB_GUARDED_BY(mu);  // by the handle of the library
};

LoadedLibraries& Loaded() {
  static LoadedLibraries* const loaded = new LoadedLibraries;
  return *loaded;
}

}  // namespace

namespace internal {
const void* InstanceOfTensorbraid() {
  static const char instance = 0;
  return &instance;
}
}  // namespace internal

std::string OpLibraryAbi() { return TB_OP_LIBRARY_ABI; }

StatusOr<std::vector<std::string>> LoadOpLibrary(const std::string& path) {
  const std::string context = StrCat("op library '", path, "'");
  // Without a directory, dlopen would look for the file where the system's libraries are.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (const Status fits = CheckAbi(file); !fits.ok()) return Annotate(fits, context);

  LoadedLibraries& loaded = Loaded();
  MutexLock lock(loaded.mu);
  OpenLibrary library(Open(file));
  if (library.get() == nullptr) return InvalidArgument(context, ": cannot be loaded: ", LastError());
  if (const auto it = loaded.ops.find(library.get()); it != loaded.ops.end()) return it->second;
  const auto* entry = static_cast<const internal::OpLibraryEntry*>(dlsym(library.get(), kEntry));
  if (entry == nullptr) return InvalidArgument(context, ": it has no TENSORBRAID_OP_LIBRARY");
  if (entry->abi != OpLibraryAbi()) {
    return InvalidArgument(context, ": it needs '", std::string_view(entry->abi), "', but this program has '",
                           OpLibraryAbi(), "'");
  }
  if (entry->instance() != internal::InstanceOfTensorbraid()) {
    return InvalidArgument(context, ": it is linked with another copy of Tensorbraid than this program");
  }
  std::vector<std::string> names;
  {
    OpLibrary ops;
    const Status added = WithoutExceptions("the function of TENSORBRAID_OP_LIBRARY", [&] {
      entry->add_ops(ops);
      return OkStatus();
    });
    if (!added.ok()) return Annotate(added, context);
    for (const CustomOp& op : ops.ops_) names.push_back(CustomOps::name(op));
    if (const Status registered = RegisterOps(std::move(ops.ops_)); !registered.ok()) {
      return Annotate(registered, context);
    }
  }
  loaded.ops.emplace(library.get(), names);
  library.Keep();
  return names;
}

}  // namespace tensorbraid
