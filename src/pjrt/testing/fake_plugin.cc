// The table of functions of the fake plugin.
#include "pjrt/testing/fake_plugin.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/c_api.h"
#include "pjrt/testing/fake_code.h"
#include "pjrt/testing/fake_objects.h"
#include "pjrt/testing/fake_work.h"

namespace tensorbraid::pjrt::fake {
namespace {

using namespace c_api;  // NOLINT: the objects of the interface

// The functions of the table.

void ErrorDestroy(ErrorDestroyArgs* args) { delete args->error; }
void ErrorMessage(ErrorMessageArgs* args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
}
Error* ErrorGetCode(ErrorGetCodeArgs* args) {
  args->code = static_cast<ErrorCode>(args->error->code);
  return nullptr;
}

Error* PluginInitialize(PluginInitializeArgs*) {
  FAKE_MAY_FAIL("Plugin_Initialize");
  return nullptr;
}
Error* PluginAttributes(PluginAttributesArgs* args) {
  FAKE_MAY_FAIL("Plugin_Attributes");
  static constexpr int64_t kVersion[] = {1, 13, 3};
  static const NamedValue attributes[] = {[] {
    NamedValue value;
    value.name = "stablehlo_current_version";
    value.name_size = std::strlen(value.name);
    value.type = ValueType::kInt64List;
    value.int64_list_value = kVersion;
    value.value_size = 3;
    return value;
  }()};
  args->attributes = attributes;
  args->num_attributes = 1;
  return nullptr;
}

Error* EventDestroy(EventDestroyArgs* args) {
  delete args->event;
  return Fail("Event_Destroy");
}
Error* EventIsReady(EventIsReadyArgs* args) {
  FAKE_MAY_FAIL("Event_IsReady");
  args->is_ready = args->event->moment->happened();
  return nullptr;
}
Error* EventAwait(EventAwaitArgs* args) {
  const ErrorValue error = args->event->moment->Wait();
  FAKE_MAY_FAIL("Event_Await");
  return Copy(error);
}
Error* EventOnReady(EventOnReadyArgs* args) {
  FAKE_MAY_FAIL("Event_OnReady");
  const std::shared_ptr<Moment> moment = args->event->moment;
  moment->Then([callback = args->callback, arg = args->user_arg](const ErrorValue& e) { callback(Copy(e), arg); });
  return nullptr;
}

Error* ClientCreate(ClientCreateArgs* args) {
  FAKE_MAY_FAIL("Client_Create");
  std::set<int> devices = {0, 1};
  control.preallocates = true;
  control.memory_fraction = 0.75F;
  for (size_t i = 0; i < args->num_options; ++i) {
    const NamedValue& option = args->create_options[i];
    const std::string name(option.name, option.name_size);
    if (name == "cpu_device_count" && option.type == ValueType::kInt64) {
      devices.clear();
      for (int id = 0; id < option.int64_value; ++id) devices.insert(id);
    } else if (name == "visible_devices" && option.type == ValueType::kInt64List) {
      devices = {option.int64_list_value, option.int64_list_value + option.value_size};
    } else if (name == "preallocate" && option.type == ValueType::kBool) {
      control.preallocates = option.bool_value;
    } else if (name == "memory_fraction" && option.type == ValueType::kFloat) {
      control.memory_fraction = option.float_value;
    } else {
      return Invalid("wrong option " + name);
    }
  }
  args->client = new Client(devices);
  return nullptr;
}
Error* ClientDestroy(ClientDestroyArgs* args) {
  delete args->client;
  return Fail("Client_Destroy");
}
Error* ClientPlatformName(ClientPlatformNameArgs* args) {
  FAKE_MAY_FAIL("Client_PlatformName");
  args->platform_name = "fake";
  args->platform_name_size = 4;
  return nullptr;
}
Error* ClientPlatformVersion(ClientPlatformVersionArgs* args) {
  FAKE_MAY_FAIL("Client_PlatformVersion");
  args->platform_version = "1";
  args->platform_version_size = 1;
  return nullptr;
}
Error* ClientAddressableDevices(ClientAddressableDevicesArgs* args) {
  FAKE_MAY_FAIL("Client_AddressableDevices");
  args->addressable_devices = args->client->list.data();
  args->num_addressable_devices = args->client->list.size();
  return nullptr;
}
Error* ClientCompile(ClientCompileArgs* args) {
  ++control.compiles;
  WaitForCompiles();
  FAKE_MAY_FAIL("Client_Compile");
  auto code = std::make_shared<Code>();
  const std::string wrong = ParseCode(std::string_view(args->program->code, args->program->code_size), code.get());
  if (!wrong.empty()) return Invalid(wrong);
  args->executable = new LoadedExecutable(args->client, std::move(code));
  return nullptr;
}
Error* ClientBufferFromHostBuffer(ClientBufferFromHostBufferArgs* args) {
  FAKE_MAY_FAIL("Client_BufferFromHostBuffer");
  ArrayType type{args->type, {args->dims, args->dims + args->num_dims}};
  const size_t size = type.num_elements() * SizeOf(type.type);
  auto* const buffer = new Buffer(args->client, args->device, std::move(type), std::make_shared<Block>(size));
  auto copied = std::make_shared<Moment>();
  Enqueue(
      "work of Client_BufferFromHostBuffer", {}, [to = buffer->memory, from = args->data] { to->Write(from); },
      [copied, ready = buffer->ready](const ErrorValue& error) {
        ready->Happen(error);
        copied->Happen(error);
      });
  ++control.copies_to_device;
  args->buffer = buffer;
  args->done_with_host_buffer = new Event(std::move(copied));
  return nullptr;
}

Error* DescriptionId(DeviceDescriptionIdArgs* args) {
  FAKE_MAY_FAIL("DeviceDescription_Id");
  args->id = args->device_description->id;
  return nullptr;
}
Error* DescriptionKind(DeviceDescriptionKindArgs* args) {
  FAKE_MAY_FAIL("DeviceDescription_Kind");
  args->device_kind = "fake";
  args->device_kind_size = 4;
  return nullptr;
}
Error* DeviceGetDescription(DeviceGetDescriptionArgs* args) {
  FAKE_MAY_FAIL("Device_GetDescription");
  args->device_description = &args->device->description;
  return nullptr;
}
Error* DeviceMemoryStats(DeviceMemoryStatsArgs* args) {
  FAKE_MAY_FAIL("Device_MemoryStats");
  args->bytes_limit = int64_t{1} << 30;
  args->bytes_limit_is_set = true;
  return nullptr;
}

Error* ExecutableDestroy(ExecutableDestroyArgs* args) {
  delete args->executable;
  return Fail("Executable_Destroy");
}
Error* ExecutableNumOutputs(ExecutableNumOutputsArgs* args) {
  FAKE_MAY_FAIL("Executable_NumOutputs");
  args->num_outputs = args->executable->types.size();
  return nullptr;
}
Error* ExecutableOutputElementTypes(ExecutableOutputElementTypesArgs* args) {
  FAKE_MAY_FAIL("Executable_OutputElementTypes");
  args->output_types = args->executable->types.data();
  args->num_output_types = args->executable->types.size();
  return nullptr;
}
Error* ExecutableOutputDimensions(ExecutableOutputDimensionsArgs* args) {
  FAKE_MAY_FAIL("Executable_OutputDimensions");
  args->num_outputs = args->executable->ranks.size();
  args->dims = args->executable->dims.data();
  args->dim_sizes = args->executable->ranks.data();
  return nullptr;
}
Error* ExecutableGetCompiledMemoryStats(ExecutableGetCompiledMemoryStatsArgs* args) {
  FAKE_MAY_FAIL("Executable_GetCompiledMemoryStats");
  for (const ArrayType& argument : args->executable->code->arguments) {
    args->argument_size_in_bytes += static_cast<int64_t>(argument.num_elements() * SizeOf(argument.type));
  }
  return nullptr;
}
Error* ExecutableSerialize(ExecutableSerializeArgs* args) {
  FAKE_MAY_FAIL("Executable_Serialize");
  args->serialized_executable = new SerializedExecutable{args->executable->code->text};
  args->serialized_bytes = args->serialized_executable->bytes.data();
  args->serialized_bytes_size = args->serialized_executable->bytes.size();
  args->serialized_executable_deleter = [](SerializedExecutable* bytes) { delete bytes; };
  return nullptr;
}
Error* DeserializeAndLoad(ExecutableDeserializeAndLoadArgs* args) {
  FAKE_MAY_FAIL("Executable_DeserializeAndLoad");
  auto code = std::make_shared<Code>();
  const std::string wrong =
      ParseCode(std::string_view(args->serialized_executable, args->serialized_executable_size), code.get());
  if (!wrong.empty()) return Invalid(wrong);
  args->loaded_executable = new LoadedExecutable(args->client, std::move(code));
  return nullptr;
}
Error* LoadedExecutableDestroy(LoadedExecutableDestroyArgs* args) {
  delete args->executable;
  return Fail("LoadedExecutable_Destroy");
}
Error* GetExecutable(LoadedExecutableGetExecutableArgs* args) {
  FAKE_MAY_FAIL("LoadedExecutable_GetExecutable");
  args->executable = new Executable(args->loaded_executable->code);
  return nullptr;
}

Error* Execute(LoadedExecutableExecuteArgs* args) {
  Client* const client = args->executable->client;
  const std::shared_ptr<const Code> code = args->executable->code;
  if (args->num_args != code->arguments.size()) return Invalid("wrong number of arguments");
  Buffer* const* const inputs = args->argument_lists[0];
  const ExecuteOptions& options = *args->options;
  const auto donated = [&](size_t i) {
    const int64_t* kept = options.non_donatable_input_indices;
    return code->donated_to[i] >= 0 &&
           std::find(kept, kept + options.num_non_donatable_input_indices, static_cast<int64_t>(i)) ==
               kept + options.num_non_donatable_input_indices;
  };
  std::vector<std::shared_ptr<Moment>> ready;
  std::vector<std::shared_ptr<Block>> memory;
  for (size_t i = 0; i < args->num_args; ++i) {
    const ArrayType& type = code->arguments[i];
    if (inputs[i]->memory == nullptr) return Invalid("an argument has been consumed");
    if (inputs[i]->memory->size != type.num_elements() * SizeOf(type.type)) return Invalid("a wrong size");
    if (inputs[i]->device != args->execute_device) return Invalid("an argument of another device");
    for (size_t j = 0; j < args->num_args; ++j) {
      if (j != i && inputs[i] == inputs[j] && donated(i)) return Invalid("a donated argument is given twice");
    }
    ready.push_back(inputs[i]->ready);
    memory.push_back(inputs[i]->memory);
  }
  Error* const made = Fail("LoadedExecutable_Execute");
  std::vector<std::shared_ptr<Block>> results(code->outputs.size());
  for (size_t i = 0; i < args->num_args; ++i) {
    if (!donated(i) || (made != nullptr && !control.consumes_when_failing)) continue;
    results[code->donated_to[i]] = std::move(inputs[i]->memory);
  }
  if (made != nullptr) return made;
  std::vector<std::shared_ptr<Moment>> made_ready;
  for (size_t i = 0; i < results.size(); ++i) {
    const ArrayType& type = code->types[code->outputs[i]];
    if (results[i] == nullptr) results[i] = std::make_shared<Block>(type.num_elements() * SizeOf(type.type));
    auto* const output = new Buffer(client, args->execute_device, type, results[i]);
    made_ready.push_back(output->ready);
    args->output_lists[0][i] = output;
  }
  auto done = std::make_shared<Moment>();
  Enqueue(
      "work of LoadedExecutable_Execute", std::move(ready),
      [code, memory, results] {
        const auto bytes = Interpret(*code, memory);
        for (size_t i = 0; i < results.size(); ++i) results[i]->Write(bytes[i].data());
      },
      [made_ready, done](const ErrorValue& error) {
        for (const auto& output : made_ready) output->Happen(error);
        done->Happen(error);
      });
  ++control.runs;
  if (args->device_complete_events != nullptr) args->device_complete_events[0] = new Event(std::move(done));
  return nullptr;
}

// Needs a description of a card, and does not read it.
Error* TopologyCreate(TopologyDescriptionCreateArgs* args) {
  FAKE_MAY_FAIL("TopologyDescription_Create");
  for (size_t i = 0; i < args->num_options; ++i) {
    const NamedValue& option = args->create_options[i];
    if (std::string_view(option.name, option.name_size) != "target_config" || option.value_size == 0) continue;
    args->topology = new Topology;
    return nullptr;
  }
  return Invalid("no target_config");
}
Error* TopologyDestroy(TopologyDescriptionDestroyArgs* args) {
  delete args->topology;
  return Fail("TopologyDescription_Destroy");
}
Error* Compile(CompileArgs* args) {
  FAKE_MAY_FAIL("Compile");
  if (args->compile_options_size == 0) return Invalid("no options");
  auto code = std::make_shared<Code>();
  const std::string wrong = ParseCode(std::string_view(args->program->code, args->program->code_size), code.get());
  if (!wrong.empty()) return Invalid(wrong);
  args->executable = new Executable(std::move(code));
  return nullptr;
}

Error* DmaMap(ClientDmaMapArgs* args) {
  FAKE_MAY_FAIL("Client_DmaMap");
  std::lock_guard lock(args->client->mu);
  if (!args->client->pinned.emplace(args->data, args->size).second) return Invalid("the memory is pinned already");
  control.bytes_pinned += static_cast<int64_t>(args->size);
  return nullptr;
}
Error* DmaUnmap(ClientDmaUnmapArgs* args) {
  {
    std::lock_guard lock(args->client->mu);
    const auto at = args->client->pinned.find(args->data);
    if (at == args->client->pinned.end()) return Invalid("the memory is not pinned");
    control.bytes_pinned -= static_cast<int64_t>(at->second);
    args->client->pinned.erase(at);
  }
  return Fail("Client_DmaUnmap");
}

Error* BufferDestroy(BufferDestroyArgs* args) {
  delete args->buffer;
  return Fail("Buffer_Destroy");
}
Error* BufferIsDeleted(BufferIsDeletedArgs* args) {
  FAKE_MAY_FAIL("Buffer_IsDeleted");
  args->is_deleted = args->buffer->memory == nullptr;
  return nullptr;
}
Error* BufferCopyToDevice(BufferCopyToDeviceArgs* args) {
  FAKE_MAY_FAIL("Buffer_CopyToDevice");
  const Buffer& from = *args->buffer;
  if (from.memory == nullptr) return Invalid("the buffer has been consumed");
  auto* const to = new Buffer(from.client, args->dst_device, from.type, std::make_shared<Block>(from.memory->size));
  Enqueue(
      "work of Buffer_CopyToDevice", {from.ready},
      [memory = from.memory, copy = to->memory] { copy->Write(memory->bytes.get()); },
      [ready = to->ready](const ErrorValue& error) { ready->Happen(error); });
  args->dst_buffer = to;
  return nullptr;
}
Error* BufferToHostBuffer(BufferToHostBufferArgs* args) {
  FAKE_MAY_FAIL("Buffer_ToHostBuffer");
  const Buffer& from = *args->src;
  if (from.memory == nullptr) return Invalid("the buffer has been consumed");
  if (args->dst_size < from.memory->size) return Invalid("the memory is too small");
  auto copied = std::make_shared<Moment>();
  Enqueue(
      "work of Buffer_ToHostBuffer", {from.ready},
      [memory = from.memory, to = args->dst] {
        if (memory->size > 0) std::memcpy(to, memory->bytes.get(), memory->size);
      },
      [copied](const ErrorValue& error) { copied->Happen(error); });
  ++control.copies_to_host;
  args->event = new Event(std::move(copied));
  return nullptr;
}
Error* BufferReadyEvent(BufferReadyEventArgs* args) {
  FAKE_MAY_FAIL("Buffer_ReadyEvent");
  args->event = new Event(args->buffer->ready);
  return nullptr;
}
Error* BufferUnsafePointer(BufferUnsafePointerArgs* args) {
  FAKE_MAY_FAIL("Buffer_UnsafePointer");
  if (args->buffer->memory == nullptr) return Invalid("the buffer has been consumed");
  args->buffer_pointer = reinterpret_cast<uintptr_t>(args->buffer->memory->bytes.get());
  return nullptr;
}

}  // namespace

Api MakeApi() {
  Api api;
  api.struct_size = sizeof(Api);
  api.version = {.struct_size = sizeof(ApiVersion), .extensions = nullptr, .major = 0, .minor = 81};
  api.Error_Destroy = ErrorDestroy;
  api.Error_Message = ErrorMessage;
  api.Error_GetCode = ErrorGetCode;
  api.Plugin_Initialize = PluginInitialize;
  api.Plugin_Attributes = PluginAttributes;
  api.Event_Destroy = EventDestroy;
  api.Event_IsReady = EventIsReady;
  api.Event_Await = EventAwait;
  api.Event_OnReady = EventOnReady;
  api.Client_Create = ClientCreate;
  api.Client_Destroy = ClientDestroy;
  api.Client_PlatformName = ClientPlatformName;
  api.Client_PlatformVersion = ClientPlatformVersion;
  api.Client_AddressableDevices = ClientAddressableDevices;
  api.Client_Compile = ClientCompile;
  api.Client_BufferFromHostBuffer = ClientBufferFromHostBuffer;
  api.DeviceDescription_Id = DescriptionId;
  api.DeviceDescription_Kind = DescriptionKind;
  api.Device_GetDescription = DeviceGetDescription;
  api.Device_MemoryStats = DeviceMemoryStats;
  api.Executable_Destroy = ExecutableDestroy;
  api.Executable_NumOutputs = ExecutableNumOutputs;
  api.Executable_OutputElementTypes = ExecutableOutputElementTypes;
  api.Executable_OutputDimensions = ExecutableOutputDimensions;
  api.Executable_GetCompiledMemoryStats = ExecutableGetCompiledMemoryStats;
  api.Executable_Serialize = ExecutableSerialize;
  api.Executable_DeserializeAndLoad = DeserializeAndLoad;
  api.LoadedExecutable_Destroy = LoadedExecutableDestroy;
  api.LoadedExecutable_GetExecutable = GetExecutable;
  api.LoadedExecutable_Execute = Execute;
  api.Buffer_Destroy = BufferDestroy;
  api.Buffer_IsDeleted = BufferIsDeleted;
  api.Buffer_CopyToDevice = BufferCopyToDevice;
  api.Buffer_ToHostBuffer = BufferToHostBuffer;
  api.Buffer_ReadyEvent = BufferReadyEvent;
  api.Buffer_UnsafePointer = BufferUnsafePointer;
  api.TopologyDescription_Create = TopologyCreate;
  api.TopologyDescription_Destroy = TopologyDestroy;
  api.Compile = Compile;
  api.Client_DmaMap = DmaMap;
  api.Client_DmaUnmap = DmaUnmap;
  return api;
}

}  // namespace tensorbraid::pjrt::fake

extern "C" __attribute__((visibility("default"))) const tensorbraid::pjrt::c_api::Api* GetPjrtApi() {
  static const tensorbraid::pjrt::c_api::Api api = [] {
    tensorbraid::pjrt::c_api::Api made = tensorbraid::pjrt::fake::MakeApi();
    if (const char* minor = std::getenv("FAKE_PLUGIN_MINOR_VERSION"); minor != nullptr) {
      made.version.minor = std::atoi(minor);
      made.struct_size = offsetof(tensorbraid::pjrt::c_api::Api, Compile);
    }
    return made;
  }();
  return &api;
}

extern "C" __attribute__((visibility("default"))) tensorbraid::pjrt::FakePluginControl* GetFakePluginControl() {
  return &tensorbraid::pjrt::fake::control;
}
