#include "pjrt/client.h"

#include <utility>

#include "core/system/fork_count.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "pjrt/element_type.h"
#include "pjrt/math_switches.h"
#include "pjrt/program.h"
#include "pjrt/stablehlo_program.h"

namespace tensorbraid::pjrt {
namespace {

c_api::NamedValue OptionOf(const std::string& name, const ClientOption& value) {
  c_api::NamedValue option;
  option.name = name.data();
  option.name_size = name.size();
  option.value_size = 1;
  if (const auto* text = std::get_if<std::string>(&value)) {
    option.type = c_api::ValueType::kString;
    option.string_value = text->data();
    option.value_size = text->size();
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    option.type = c_api::ValueType::kInt64;
    option.int64_value = *integer;
  } else if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    option.type = c_api::ValueType::kInt64List;
    option.int64_list_value = list->data();
    option.value_size = list->size();
  } else if (const auto* number = std::get_if<float>(&value)) {
    option.type = c_api::ValueType::kFloat;
    option.float_value = *number;
  } else {
    option.type = c_api::ValueType::kBool;
    option.bool_value = std::get<bool>(value);
  }
  return option;
}

// Holds the clients for tools that look for lost memory.
struct ClientList {
  Mutex mu;
  std::vector<Client*> clients TB_GUARDED_BY(mu);
};

// What the plugin says about the generation of a GPU; "" if it says nothing.
std::string ComputeCapability(const Client& client, c_api::DeviceDescription* description) {
  c_api::DeviceDescriptionAttributesArgs args{.device_description = description};
  if (!client.Call(&c_api::Api::DeviceDescription_Attributes, args).ok()) return "";
  for (size_t i = 0; i < args.num_attributes; ++i) {
    const c_api::NamedValue& attribute = args.attributes[i];
    if (attribute.type == c_api::ValueType::kString &&
        std::string_view(attribute.name, attribute.name_size) == "compute_capability") {
      return std::string(attribute.string_value, attribute.value_size);
    }
  }
  return "";
}

std::string ContextOf(const Plugin& plugin) { return StrCat("PJRT plugin '", plugin.path(), "'"); }

}  // namespace

StatusOr<Client*> Client::Create(const Plugin& plugin, const ClientOptions& options, const std::vector<int>& devices) {
  CountForks();
  std::vector<c_api::NamedValue> values;
  for (const auto& [name, value] : options) values.push_back(OptionOf(name, value));
  c_api::ClientCreateArgs create{.create_options = values.data(), .num_options = values.size()};
  TF_RETURN_IF_ERROR(Annotate(plugin.Call(&c_api::Api::Client_Create, create), ContextOf(plugin)));
  auto client = std::unique_ptr<Client>(new Client(plugin, create.client));
  TF_RETURN_IF_ERROR(client->Describe(devices));
  static auto* const all = new ClientList;
  MutexLock lock(all->mu);
  all->clients.push_back(client.get());
  return client.release();
}

Client::Client(const Plugin& plugin, c_api::Client* client)
    : plugin_(plugin), client_(client), process_(ForkCount()), context_(ContextOf(plugin)) {}

Client::~Client() {
  c_api::ClientDestroyArgs destroy{.client = client_};
  Call(&c_api::Api::Client_Destroy, destroy).IgnoreError();
}

Status Client::Describe(const std::vector<int>& chosen) {
  c_api::ClientPlatformNameArgs name{.client = client_};
  TF_RETURN_IF_ERROR(Call(&c_api::Api::Client_PlatformName, name));
  platform_.assign(name.platform_name, name.platform_name_size);
  c_api::ClientPlatformVersionArgs version{.client = client_};
  TF_RETURN_IF_ERROR(Call(&c_api::Api::Client_PlatformVersion, version));
  platform_version_.assign(version.platform_version, version.platform_version_size);
  c_api::ClientAddressableDevicesArgs devices{.client = client_};
  TF_RETURN_IF_ERROR(Call(&c_api::Api::Client_AddressableDevices, devices));
  std::vector<int> indices = chosen;
  if (indices.empty()) {
    for (size_t i = 0; i < devices.num_addressable_devices; ++i) indices.push_back(static_cast<int>(i));
  }
  for (const int i : indices) {
    if (i < 0 || static_cast<size_t>(i) >= devices.num_addressable_devices) {
      return NotFound(context_, " has ", devices.num_addressable_devices, " devices, and no device ", i);
    }
    c_api::Device* const device = devices.addressable_devices[i];
    c_api::DeviceGetDescriptionArgs description{.device = device};
    TF_RETURN_IF_ERROR(Call(&c_api::Api::Device_GetDescription, description));
    c_api::DeviceDescriptionKindArgs kind{.device_description = description.device_description};
    TF_RETURN_IF_ERROR(Call(&c_api::Api::DeviceDescription_Kind, kind));
    devices_.push_back({.device = device,
                        .kind = std::string(kind.device_kind, kind.device_kind_size),
                        .compute_capability = ComputeCapability(*this, description.device_description)});
  }
  return OkStatus();
}

bool Client::usable() const { return ForkCount() == process_; }

Status Client::CheckUsable() const {
  if (usable()) return OkStatus();
  return FailedPrecondition(context_,
                            ": this process is a child (fork) of the one that uses the accelerator, and cannot use it: "
                            "fork before the first session that uses one, or start a new program");
}

StatusOr<DeviceMemory> Client::MemoryOf(int device) const {
  c_api::DeviceMemoryStatsArgs args{.device = this->device(device)};
  TF_RETURN_IF_ERROR(Call(&c_api::Api::Device_MemoryStats, args));
  DeviceMemory memory{.bytes_in_use = args.bytes_in_use};
  if (args.peak_bytes_in_use_is_set) memory.peak_bytes_in_use = args.peak_bytes_in_use;
  if (args.bytes_limit_is_set) memory.bytes_limit = args.bytes_limit;
  return memory;
}

StatusOr<RefPtr<Array>> Client::ToDevice(const Tensor& tensor, int device, Event* copied) {
  const c_api::ElementType type = ToElementType(tensor.dtype());
  if (type == c_api::ElementType::kInvalid) {
    return InvalidArgument(context_, ": a tensor of dtype ", tensor.dtype(), " cannot be in the memory of a device");
  }
  c_api::ClientBufferFromHostBufferArgs args{
      .client = client_,
      .data = tensor.raw_data(),
      .type = type,
      .dims = tensor.shape().dims().data(),
      .num_dims = tensor.shape().dims().size(),
      .host_buffer_semantics = c_api::HostBufferSemantics::kImmutableUntilTransferCompletes,
      .device = this->device(device),
  };
  TF_RETURN_IF_ERROR(Call(&c_api::Api::Client_BufferFromHostBuffer, args));
  *copied = Event(*this, args.done_with_host_buffer);
  return MakeRef<Array>(*this, args.buffer, device);
}

void Client::Pin(SharedSegment& segment) {
  {
    MutexLock lock(pin_mu_);
    if (!pinned_.insert(segment.id()).second) return;
  }
  c_api::ClientDmaMapArgs map{.client = client_, .data = segment.data(), .size = segment.size()};
  const Status status = Call(&c_api::Api::Client_DmaMap, map);
  if (!status.ok()) {
    TB_LOG(Debug, "pjrt") << segment.size() << " bytes of host memory are not pinned: " << status;
  }
  segment.AtEnd([this, id = segment.id(), data = segment.data(), is_mapped = status.ok()] {
    if (is_mapped) {
      c_api::ClientDmaUnmapArgs unmap{.client = client_, .data = data};
      Call(&c_api::Api::Client_DmaUnmap, unmap).IgnoreError();
    }
    MutexLock lock(pin_mu_);
    pinned_.erase(id);
  });
}

StatusOr<std::shared_ptr<Program>> Client::Compile(std::string_view text, CompileOptions options) {
  const c_api::Program program = StableHlo(text);
  const std::string compile_options = CompileOptionsProto(text);
  c_api::ClientCompileArgs args{.client = client_,
                                .program = &program,
                                .compile_options = compile_options.data(),
                                .compile_options_size = compile_options.size()};
  TF_RETURN_IF_ERROR(Annotate(Call(&c_api::Api::Client_Compile, args), StrCat("compiling ", options.name)));
  return Program::Create(*this, args.executable, std::move(options));
}

StatusOr<std::shared_ptr<Program>> Client::LoadProgram(std::string_view serialized, CompileOptions options) {
  c_api::ExecutableDeserializeAndLoadArgs args{
      .client = client_, .serialized_executable = serialized.data(), .serialized_executable_size = serialized.size()};
  TF_RETURN_IF_ERROR(
      Annotate(Call(&c_api::Api::Executable_DeserializeAndLoad, args), StrCat("loading ", options.name)));
  return Program::Create(*this, args.loaded_executable, std::move(options));
}

}  // namespace tensorbraid::pjrt
