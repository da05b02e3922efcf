#include "pjrt/plugin.h"

#include <dlfcn.h>

#include <memory>
#include <utility>

#include "core/system/elf_file.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"

namespace tensorbraid::pjrt {
namespace {

// The last version that moved functions of the table is 0.57.
constexpr int kMajorVersion = 0;
constexpr int kOldestMinorVersion = 57;

struct LoadedPlugins {
  Mutex mu;
  std::map<void*, std::unique_ptr<Plugin>> plugins TB_GUARDED_BY(mu);  // by the handle of the library
};

LoadedPlugins& AllPlugins() {
  static auto* const plugins = new LoadedPlugins;
  return *plugins;
}

std::string LoaderError() {
  const char* error = dlerror();
  return error == nullptr ? "unknown error" : error;
}

std::string TextOf(const c_api::NamedValue& value) {
  switch (value.type) {
    case c_api::ValueType::kString:
      return std::string(value.string_value, value.value_size);
    case c_api::ValueType::kInt64:
      return StrCat(value.int64_value);
    case c_api::ValueType::kInt64List: {
      std::vector<std::string> numbers;
      for (size_t i = 0; i < value.value_size; ++i) numbers.push_back(StrCat(value.int64_list_value[i]));
      return StrJoin(numbers, ".");
    }
    case c_api::ValueType::kFloat:
      return StrCat(value.float_value);
    case c_api::ValueType::kBool:
      return value.bool_value ? "true" : "false";
  }
  return "";
}

Status CheckVersion(const c_api::Api& api) {
  const auto& version = api.version;
  const std::string has = StrCat("its PJRT interface has version ", version.major, ".", version.minor);
  if (version.major != kMajorVersion) {
    return FailedPrecondition(has, ", but this program needs ", kMajorVersion, ".", kOldestMinorVersion,
                              " or a later one of ", kMajorVersion, ".x");
  }
  // A table that ends before the functions of buffers is none of these versions, whatever it says.
  if (version.minor < kOldestMinorVersion || api.struct_size < offsetof(c_api::Api, CopyToDeviceStream_Destroy)) {
    return FailedPrecondition(has, ", but this program needs ", kMajorVersion, ".", kOldestMinorVersion,
                              " or later: install a newer plugin");
  }
  return OkStatus();
}

}  // namespace

StatusOr<const Plugin*> Plugin::Load(const std::string& path) {
  const std::string context = StrCat("PJRT plugin '", path, "'");
  // Without a directory, dlopen would look for the file where the system's libraries are.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  TF_RETURN_IF_ERROR(Annotate(CheckSharedLibrary(file), context));

  LoadedPlugins& loaded = AllPlugins();
  MutexLock lock(loaded.mu);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return InvalidArgument(context, ": cannot be loaded: ", LoaderError());
  if (const auto it = loaded.plugins.find(library); it != loaded.plugins.end()) return it->second.get();
  const auto get_api = reinterpret_cast<c_api::GetApi>(dlsym(library, c_api::kGetApi));
  if (get_api == nullptr) {
    dlclose(library);
    return InvalidArgument(context, ": it is no plugin: it has no function ", c_api::kGetApi);
  }
  const c_api::Api* const api = get_api();
  if (api == nullptr) return Internal(context, ": ", c_api::kGetApi, " returns nothing");
  TF_RETURN_IF_ERROR(Annotate(CheckVersion(*api), context));
  auto plugin = std::unique_ptr<Plugin>(new Plugin(path, *api));
  TF_RETURN_IF_ERROR(Annotate(plugin->Start(), context));
  return loaded.plugins.emplace(library, std::move(plugin)).first->second.get();
}

Status Plugin::Start() {
  c_api::PluginInitializeArgs initialize;
  TF_RETURN_IF_ERROR(Annotate(Call(&c_api::Api::Plugin_Initialize, initialize), "it does not start"));
  c_api::PluginAttributesArgs attributes;
  TF_RETURN_IF_ERROR(Annotate(Call(&c_api::Api::Plugin_Attributes, attributes), "it does not describe itself"));
  for (size_t i = 0; i < attributes.num_attributes; ++i) {
    const c_api::NamedValue& value = attributes.attributes[i];
    attributes_[std::string(value.name, value.name_size)] = TextOf(value);
  }
  return OkStatus();
}

Status Plugin::TakeError(c_api::Error* error) const {
  if (error == nullptr) return OkStatus();
  c_api::ErrorMessageArgs message{.error = error};
  api_.Error_Message(&message);
  c_api::ErrorGetCodeArgs code{.error = error};
  c_api::Error* const none = api_.Error_GetCode(&code);  // the code stays 0 if this fails
  const std::string text(message.message, message.message_size);
  for (c_api::Error* e : {none, error}) {
    c_api::ErrorDestroyArgs destroy{.error = e};
    if (e != nullptr) api_.Error_Destroy(&destroy);
  }
  const int number = static_cast<int>(code.code);
  if (number < 1 || number > 16) return absl::UnknownError(text);
  return Status(static_cast<absl::StatusCode>(number), text);
}

Status Plugin::Missing(size_t end) const {
  return Unimplemented("PJRT plugin '", path_, "' of version ", major_version(), ".", minor_version(),
                       " lacks the function at ", end - sizeof(void*), " of the interface: install a newer plugin");
}

Status Plugin::Threw(const std::exception& e) { return Internal("it has thrown an exception: ", e.what()); }

}  // namespace tensorbraid::pjrt
