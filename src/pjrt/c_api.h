// The part of PJRT's C interface that this library uses, declared anew. PJRT is how OpenXLA's compilers for
// accelerators are called: a plugin is a shared library with one function, which returns a table of functions (Api).
// Each function takes a struct of arguments that begins with its own size, and most return an error, or null.
//
// The layout follows version 0.81. Structs and the table only grow at their ends, so a plugin of another version
// works: a caller tells by struct_size which fields it knows, and the table tells by struct_size which functions the
// plugin has. c_api_test.cc compares each offset and size with the header of the project.
#ifndef TENSORBRAID_PJRT_C_API_H_
#define TENSORBRAID_PJRT_C_API_H_

#include <cstddef>
#include <cstdint>

namespace tensorbraid::pjrt::c_api {

// Objects of the plugin.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Buffer;
struct Executable;
struct LoadedExecutable;
struct SerializedExecutable;
struct MemoryLayout;
struct Topology;

// The fields with which a struct begins. `last` is its last field: the size does not count padding after it.
#define TB_PJRT_STRUCT(type, last)                                    \
  size_t struct_size = offsetof(type, last) + sizeof(decltype(last)); \
  void* extensions = nullptr

enum class ErrorCode : int {};  // as in absl::StatusCode

struct ErrorDestroyArgs {
  TB_PJRT_STRUCT(ErrorDestroyArgs, error);
  Error* error = nullptr;
};
struct ErrorMessageArgs {
  TB_PJRT_STRUCT(ErrorMessageArgs, message_size);
  const Error* error = nullptr;
  const char* message = nullptr;  // out; belongs to the error
  size_t message_size = 0;        // out
};
struct ErrorGetCodeArgs {
  TB_PJRT_STRUCT(ErrorGetCodeArgs, code);
  const Error* error = nullptr;
  ErrorCode code = {};  // out
};

enum class ValueType : int { kString = 0, kInt64 = 1, kInt64List = 2, kFloat = 3, kBool = 4 };

// An option, or a property.
struct NamedValue {
  TB_PJRT_STRUCT(NamedValue, value_size);
  const char* name = nullptr;
  size_t name_size = 0;
  ValueType type = ValueType::kString;
  union {
    const char* string_value = nullptr;
    int64_t int64_value;
    const int64_t* int64_list_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size = 0;  // characters of a string, elements of a list, otherwise 1
};

struct PluginInitializeArgs {
  size_t struct_size = 2 * sizeof(void*);
  void* extensions = nullptr;
};
struct PluginAttributesArgs {
  TB_PJRT_STRUCT(PluginAttributesArgs, num_attributes);
  const NamedValue* attributes = nullptr;  // out; belongs to the plugin
  size_t num_attributes = 0;               // out
};

// An event happens once, with success or with an error.
struct EventDestroyArgs {
  TB_PJRT_STRUCT(EventDestroyArgs, event);
  Event* event = nullptr;
};
struct EventIsReadyArgs {
  TB_PJRT_STRUCT(EventIsReadyArgs, is_ready);
  Event* event = nullptr;
  bool is_ready = false;  // out
};
struct EventAwaitArgs {
  TB_PJRT_STRUCT(EventAwaitArgs, event);
  Event* event = nullptr;
};
struct EventOnReadyArgs {
  TB_PJRT_STRUCT(EventOnReadyArgs, user_arg);
  Event* event = nullptr;
  void (*callback)(Error* error, void* user_arg) = nullptr;  // takes over the error
  void* user_arg = nullptr;
};

struct ClientCreateArgs {
  TB_PJRT_STRUCT(ClientCreateArgs, kv_try_get_user_arg);
  const NamedValue* create_options = nullptr;
  size_t num_options = 0;
  // How the processes of one program find each other, which this library does not use.
  void* kv_get_callback = nullptr;
  void* kv_get_user_arg = nullptr;
  void* kv_put_callback = nullptr;
  void* kv_put_user_arg = nullptr;
  Client* client = nullptr;  // out
  void* kv_try_get_callback = nullptr;
  void* kv_try_get_user_arg = nullptr;
};
struct ClientDestroyArgs {
  TB_PJRT_STRUCT(ClientDestroyArgs, client);
  Client* client = nullptr;
};
struct ClientPlatformNameArgs {
  TB_PJRT_STRUCT(ClientPlatformNameArgs, platform_name_size);
  Client* client = nullptr;
  const char* platform_name = nullptr;  // out; belongs to the client
  size_t platform_name_size = 0;        // out
};
struct ClientPlatformVersionArgs {
  TB_PJRT_STRUCT(ClientPlatformVersionArgs, platform_version_size);
  Client* client = nullptr;
  const char* platform_version = nullptr;  // out; belongs to the client
  size_t platform_version_size = 0;        // out
};
struct ClientAddressableDevicesArgs {
  TB_PJRT_STRUCT(ClientAddressableDevicesArgs, num_addressable_devices);
  Client* client = nullptr;
  Device* const* addressable_devices = nullptr;  // out; belongs to the client
  size_t num_addressable_devices = 0;            // out
};

struct Program {
  TB_PJRT_STRUCT(Program, format_size);
  char* code = nullptr;
  size_t code_size = 0;
  const char* format = nullptr;  // "mlir": StableHLO as text or bytecode
  size_t format_size = 0;
};
struct ClientCompileArgs {
  TB_PJRT_STRUCT(ClientCompileArgs, executable);
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;  // a serialized CompileOptionsProto
  size_t compile_options_size = 0;
  LoadedExecutable* executable = nullptr;  // out
};

enum class ElementType : int {
  kInvalid = 0,
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 13,
  kC64 = 14,
  kC128 = 15,
};

// What a plugin may do with the memory from which it makes a buffer.
enum class HostBufferSemantics : int {
  kImmutableOnlyDuringCall = 0,          // the memory is copied during the call
  kImmutableUntilTransferCompletes = 1,  // the caller keeps the memory until done_with_host_buffer
  kImmutableZeroCopy = 2,                // the buffer may be this memory
  kMutableZeroCopy = 3,                  // and may be written
};
struct ClientBufferFromHostBufferArgs {
  TB_PJRT_STRUCT(ClientBufferFromHostBufferArgs, buffer);
  Client* client = nullptr;
  const void* data = nullptr;
  ElementType type = ElementType::kInvalid;
  const int64_t* dims = nullptr;
  size_t num_dims = 0;
  const int64_t* byte_strides = nullptr;  // null: row-major
  size_t num_byte_strides = 0;
  HostBufferSemantics host_buffer_semantics = HostBufferSemantics::kImmutableOnlyDuringCall;
  Device* device = nullptr;
  Memory* memory = nullptr;
  MemoryLayout* device_layout = nullptr;
  Event* done_with_host_buffer = nullptr;  // out
  Buffer* buffer = nullptr;                // out
};

// Pins host memory, so that the device copies from it and to it directly.
struct ClientDmaMapArgs {
  TB_PJRT_STRUCT(ClientDmaMapArgs, size);
  Client* client = nullptr;
  void* data = nullptr;
  size_t size = 0;
};
struct ClientDmaUnmapArgs {
  TB_PJRT_STRUCT(ClientDmaUnmapArgs, data);
  Client* client = nullptr;
  void* data = nullptr;
};

struct DeviceDescriptionIdArgs {
  TB_PJRT_STRUCT(DeviceDescriptionIdArgs, id);
  DeviceDescription* device_description = nullptr;
  int id = 0;  // out
};
struct DeviceDescriptionKindArgs {
  TB_PJRT_STRUCT(DeviceDescriptionKindArgs, device_kind_size);
  DeviceDescription* device_description = nullptr;
  const char* device_kind = nullptr;  // out: the model, such as "NVIDIA H100 80GB HBM3"; belongs to the description
  size_t device_kind_size = 0;        // out
};
struct DeviceDescriptionAttributesArgs {
  TB_PJRT_STRUCT(DeviceDescriptionAttributesArgs, attributes);
  DeviceDescription* device_description = nullptr;
  size_t num_attributes = 0;               // out
  const NamedValue* attributes = nullptr;  // out; belongs to the description
};
struct DeviceGetDescriptionArgs {
  TB_PJRT_STRUCT(DeviceGetDescriptionArgs, device_description);
  Device* device = nullptr;
  DeviceDescription* device_description = nullptr;  // out; belongs to the device
};
struct DeviceMemoryStatsArgs {
  TB_PJRT_STRUCT(DeviceMemoryStatsArgs, peak_pool_bytes_is_set);
  Device* device = nullptr;
  int64_t bytes_in_use = 0;  // out, as all fields below
  int64_t peak_bytes_in_use = 0;
  bool peak_bytes_in_use_is_set = false;
  int64_t num_allocs = 0;
  bool num_allocs_is_set = false;
  int64_t largest_alloc_size = 0;
  bool largest_alloc_size_is_set = false;
  int64_t bytes_limit = 0;
  bool bytes_limit_is_set = false;
  int64_t bytes_reserved = 0;
  bool bytes_reserved_is_set = false;
  int64_t peak_bytes_reserved = 0;
  bool peak_bytes_reserved_is_set = false;
  int64_t bytes_reservable_limit = 0;
  bool bytes_reservable_limit_is_set = false;
  int64_t largest_free_block_bytes = 0;
  bool largest_free_block_bytes_is_set = false;
  int64_t pool_bytes = 0;
  bool pool_bytes_is_set = false;
  int64_t peak_pool_bytes = 0;
  bool peak_pool_bytes_is_set = false;
};

// A Topology describes devices that need not be there, so that programs can be compiled for them.
struct TopologyDescriptionCreateArgs {
  TB_PJRT_STRUCT(TopologyDescriptionCreateArgs, topology);
  const char* topology_name = nullptr;
  size_t topology_name_size = 0;
  const NamedValue* create_options = nullptr;
  size_t num_options = 0;
  Topology* topology = nullptr;  // out
};
struct TopologyDescriptionDestroyArgs {
  TB_PJRT_STRUCT(TopologyDescriptionDestroyArgs, topology);
  Topology* topology = nullptr;
};
struct CompileArgs {
  TB_PJRT_STRUCT(CompileArgs, executable);
  const Topology* topology = nullptr;
  const Program* program = nullptr;
  const char* compile_options = nullptr;  // as in ClientCompileArgs
  size_t compile_options_size = 0;
  Client* client = nullptr;          // whose devices may be tried; null: none
  Executable* executable = nullptr;  // out; the caller destroys it
};

// An Executable describes a program; a LoadedExecutable is one that can run.
struct ExecutableDestroyArgs {
  TB_PJRT_STRUCT(ExecutableDestroyArgs, executable);
  Executable* executable = nullptr;
};
struct ExecutableNumOutputsArgs {
  TB_PJRT_STRUCT(ExecutableNumOutputsArgs, num_outputs);
  Executable* executable = nullptr;
  size_t num_outputs = 0;  // out
};
struct ExecutableOutputElementTypesArgs {
  TB_PJRT_STRUCT(ExecutableOutputElementTypesArgs, num_output_types);
  Executable* executable = nullptr;
  ElementType* output_types = nullptr;  // out; belongs to the executable
  size_t num_output_types = 0;          // out
};
struct ExecutableOutputDimensionsArgs {
  TB_PJRT_STRUCT(ExecutableOutputDimensionsArgs, dim_sizes);
  Executable* executable = nullptr;
  size_t num_outputs = 0;
  const int64_t* dims = nullptr;      // out: those of all outputs, one after the other; belongs to the executable
  const size_t* dim_sizes = nullptr;  // out: the rank of each output
};
struct ExecutableGetCompiledMemoryStatsArgs {
  TB_PJRT_STRUCT(ExecutableGetCompiledMemoryStatsArgs, peak_memory_in_bytes);
  Executable* executable = nullptr;
  int64_t generated_code_size_in_bytes = 0;  // out, as all fields below
  int64_t argument_size_in_bytes = 0;
  int64_t output_size_in_bytes = 0;
  int64_t alias_size_in_bytes = 0;
  int64_t temp_size_in_bytes = 0;
  int64_t host_generated_code_size_in_bytes = 0;
  int64_t host_argument_size_in_bytes = 0;
  int64_t host_output_size_in_bytes = 0;
  int64_t host_alias_size_in_bytes = 0;
  int64_t host_temp_size_in_bytes = 0;
  int64_t peak_memory_in_bytes = 0;
};
struct ExecutableSerializeArgs {
  TB_PJRT_STRUCT(ExecutableSerializeArgs, serialized_executable_deleter);
  const Executable* executable = nullptr;
  const char* serialized_bytes = nullptr;                                       // out; belongs to the object below
  size_t serialized_bytes_size = 0;                                             // out
  SerializedExecutable* serialized_executable = nullptr;                        // out
  void (*serialized_executable_deleter)(SerializedExecutable* exec) = nullptr;  // out
};
struct ExecutableDeserializeAndLoadArgs {
  TB_PJRT_STRUCT(ExecutableDeserializeAndLoadArgs, overridden_serialized_compile_options_size);
  Client* client = nullptr;
  const char* serialized_executable = nullptr;
  size_t serialized_executable_size = 0;
  LoadedExecutable* loaded_executable = nullptr;  // out
  const char* overridden_serialized_compile_options = nullptr;
  size_t overridden_serialized_compile_options_size = 0;
};
struct LoadedExecutableDestroyArgs {
  TB_PJRT_STRUCT(LoadedExecutableDestroyArgs, executable);
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableGetExecutableArgs {
  TB_PJRT_STRUCT(LoadedExecutableGetExecutableArgs, executable);
  LoadedExecutable* loaded_executable = nullptr;
  Executable* executable = nullptr;  // out; the caller destroys it
};

struct ExecuteOptions {
  TB_PJRT_STRUCT(ExecuteOptions, incarnation_ids);
  void* send_callbacks = nullptr;
  void* recv_callbacks = nullptr;
  size_t num_send_ops = 0;
  size_t num_recv_ops = 0;
  int launch_id = 0;
  const int64_t* non_donatable_input_indices = nullptr;
  size_t num_non_donatable_input_indices = 0;
  void* context = nullptr;
  const char* call_location = nullptr;
  size_t num_tasks = 0;
  int* task_ids = nullptr;
  int64_t* incarnation_ids = nullptr;
};
struct LoadedExecutableExecuteArgs {
  TB_PJRT_STRUCT(LoadedExecutableExecuteArgs, execute_device);
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* argument_lists = nullptr;  // a list for each device
  size_t num_devices = 0;
  size_t num_args = 0;
  Buffer** const* output_lists = nullptr;    // out: the caller provides the lists and destroys the buffers
  Event** device_complete_events = nullptr;  // out: the caller provides the list and destroys the events
  Device* execute_device = nullptr;          // where a portable program runs
};

struct BufferDestroyArgs {
  TB_PJRT_STRUCT(BufferDestroyArgs, buffer);
  Buffer* buffer = nullptr;
};
struct BufferIsDeletedArgs {
  TB_PJRT_STRUCT(BufferIsDeletedArgs, is_deleted);
  Buffer* buffer = nullptr;
  bool is_deleted = false;  // out
};
struct BufferCopyToDeviceArgs {
  TB_PJRT_STRUCT(BufferCopyToDeviceArgs, dst_buffer);
  Buffer* buffer = nullptr;
  Device* dst_device = nullptr;
  Buffer* dst_buffer = nullptr;  // out
};
struct BufferToHostBufferArgs {
  TB_PJRT_STRUCT(BufferToHostBufferArgs, event);
  Buffer* src = nullptr;
  MemoryLayout* host_layout = nullptr;
  void* dst = nullptr;
  size_t dst_size = 0;
  Event* event = nullptr;  // out
};
struct BufferReadyEventArgs {
  TB_PJRT_STRUCT(BufferReadyEventArgs, event);
  Buffer* buffer = nullptr;
  Event* event = nullptr;  // out
};
struct BufferUnsafePointerArgs {
  TB_PJRT_STRUCT(BufferUnsafePointerArgs, buffer_pointer);
  Buffer* buffer = nullptr;
  uintptr_t buffer_pointer = 0;  // out
};

template <typename Args>
using Function = Error* (*)(Args*);
using Unused = void (*)();

struct ApiVersion {
  size_t struct_size = 0;
  void* extensions = nullptr;
  int major = 0;
  int minor = 0;
};

// The table. The names are PJRT's.
struct Api {
  size_t struct_size = 0;
  void* extensions = nullptr;
  ApiVersion version;

  void (*Error_Destroy)(ErrorDestroyArgs*) = nullptr;
  void (*Error_Message)(ErrorMessageArgs*) = nullptr;
  Function<ErrorGetCodeArgs> Error_GetCode = nullptr;

  Function<PluginInitializeArgs> Plugin_Initialize = nullptr;
  Function<PluginAttributesArgs> Plugin_Attributes = nullptr;

  Function<EventDestroyArgs> Event_Destroy = nullptr;
  Function<EventIsReadyArgs> Event_IsReady = nullptr;
  Unused Event_Error = nullptr;
  Function<EventAwaitArgs> Event_Await = nullptr;
  Function<EventOnReadyArgs> Event_OnReady = nullptr;

  Function<ClientCreateArgs> Client_Create = nullptr;
  Function<ClientDestroyArgs> Client_Destroy = nullptr;
  Function<ClientPlatformNameArgs> Client_PlatformName = nullptr;
  Unused Client_ProcessIndex = nullptr;
  Function<ClientPlatformVersionArgs> Client_PlatformVersion = nullptr;
  Unused Client_Devices = nullptr;
  Function<ClientAddressableDevicesArgs> Client_AddressableDevices = nullptr;
  Unused Client_LookupDevice = nullptr;
  Unused Client_LookupAddressableDevice = nullptr;
  Unused Client_AddressableMemories = nullptr;
  Function<ClientCompileArgs> Client_Compile = nullptr;
  Unused Client_DefaultDeviceAssignment = nullptr;
  Function<ClientBufferFromHostBufferArgs> Client_BufferFromHostBuffer = nullptr;

  Function<DeviceDescriptionIdArgs> DeviceDescription_Id = nullptr;
  Unused DeviceDescription_ProcessIndex = nullptr;
  Function<DeviceDescriptionAttributesArgs> DeviceDescription_Attributes = nullptr;
  Function<DeviceDescriptionKindArgs> DeviceDescription_Kind = nullptr;
  Unused DeviceDescription_DebugString = nullptr;
  Unused DeviceDescription_ToString = nullptr;

  Function<DeviceGetDescriptionArgs> Device_GetDescription = nullptr;
  Unused Device_IsAddressable = nullptr;
  Unused Device_LocalHardwareId = nullptr;
  Unused Device_AddressableMemories = nullptr;
  Unused Device_DefaultMemory = nullptr;
  Function<DeviceMemoryStatsArgs> Device_MemoryStats = nullptr;

  Unused Memory_Id = nullptr;
  Unused Memory_Kind = nullptr;
  Unused Memory_DebugString = nullptr;
  Unused Memory_ToString = nullptr;
  Unused Memory_AddressableByDevices = nullptr;

  Function<ExecutableDestroyArgs> Executable_Destroy = nullptr;
  Unused Executable_Name = nullptr;
  Unused Executable_NumReplicas = nullptr;
  Unused Executable_NumPartitions = nullptr;
  Function<ExecutableNumOutputsArgs> Executable_NumOutputs = nullptr;
  Unused Executable_SizeOfGeneratedCodeInBytes = nullptr;
  Unused Executable_GetCostAnalysis = nullptr;
  Unused Executable_OutputMemoryKinds = nullptr;
  Unused Executable_OptimizedProgram = nullptr;
  Function<ExecutableSerializeArgs> Executable_Serialize = nullptr;

  Function<LoadedExecutableDestroyArgs> LoadedExecutable_Destroy = nullptr;
  Function<LoadedExecutableGetExecutableArgs> LoadedExecutable_GetExecutable = nullptr;
  Unused LoadedExecutable_AddressableDevices = nullptr;
  Unused LoadedExecutable_Delete = nullptr;
  Unused LoadedExecutable_IsDeleted = nullptr;
  Function<LoadedExecutableExecuteArgs> LoadedExecutable_Execute = nullptr;
  Function<ExecutableDeserializeAndLoadArgs> Executable_DeserializeAndLoad = nullptr;
  Unused LoadedExecutable_Fingerprint = nullptr;

  Function<BufferDestroyArgs> Buffer_Destroy = nullptr;
  Unused Buffer_ElementType = nullptr;
  Unused Buffer_Dimensions = nullptr;
  Unused Buffer_UnpaddedDimensions = nullptr;
  Unused Buffer_DynamicDimensionIndices = nullptr;
  Unused Buffer_GetMemoryLayout = nullptr;
  Unused Buffer_OnDeviceSizeInBytes = nullptr;
  Unused Buffer_Device = nullptr;
  Unused Buffer_Memory = nullptr;
  Unused Buffer_Delete = nullptr;
  Function<BufferIsDeletedArgs> Buffer_IsDeleted = nullptr;
  Function<BufferCopyToDeviceArgs> Buffer_CopyToDevice = nullptr;
  Function<BufferToHostBufferArgs> Buffer_ToHostBuffer = nullptr;
  Unused Buffer_IsOnCpu = nullptr;
  Function<BufferReadyEventArgs> Buffer_ReadyEvent = nullptr;
  Function<BufferUnsafePointerArgs> Buffer_UnsafePointer = nullptr;
  Unused Buffer_IncreaseExternalReferenceCount = nullptr;
  Unused Buffer_DecreaseExternalReferenceCount = nullptr;
  Unused Buffer_OpaqueDeviceMemoryDataPointer = nullptr;

  Unused CopyToDeviceStream_Destroy = nullptr;
  Unused CopyToDeviceStream_AddChunk = nullptr;
  Unused CopyToDeviceStream_TotalBytes = nullptr;
  Unused CopyToDeviceStream_GranuleSize = nullptr;
  Unused CopyToDeviceStream_CurrentBytes = nullptr;

  Function<TopologyDescriptionCreateArgs> TopologyDescription_Create = nullptr;
  Function<TopologyDescriptionDestroyArgs> TopologyDescription_Destroy = nullptr;
  Unused TopologyDescription_PlatformName = nullptr;
  Unused TopologyDescription_PlatformVersion = nullptr;
  Unused TopologyDescription_GetDeviceDescriptions = nullptr;
  Unused TopologyDescription_Serialize = nullptr;
  Unused TopologyDescription_Attributes = nullptr;

  Function<CompileArgs> Compile = nullptr;

  Function<ExecutableOutputElementTypesArgs> Executable_OutputElementTypes = nullptr;
  Function<ExecutableOutputDimensionsArgs> Executable_OutputDimensions = nullptr;
  Unused Buffer_CopyToMemory = nullptr;
  Unused Client_CreateViewOfDeviceBuffer = nullptr;
  Unused Executable_Fingerprint = nullptr;
  Unused Client_TopologyDescription = nullptr;
  Function<ExecutableGetCompiledMemoryStatsArgs> Executable_GetCompiledMemoryStats = nullptr;
  Unused Memory_Kind_Id = nullptr;
  Unused ExecuteContext_Create = nullptr;
  Unused ExecuteContext_Destroy = nullptr;
  Unused Buffer_CopyRawToHost = nullptr;
  Unused AsyncHostToDeviceTransferManager_Destroy = nullptr;
  Unused AsyncHostToDeviceTransferManager_TransferData = nullptr;
  Unused Client_CreateBuffersForAsyncHostToDevice = nullptr;
  Unused AsyncHostToDeviceTransferManager_RetrieveBuffer = nullptr;
  Unused AsyncHostToDeviceTransferManager_Device = nullptr;
  Unused AsyncHostToDeviceTransferManager_BufferCount = nullptr;
  Unused AsyncHostToDeviceTransferManager_BufferSize = nullptr;
  Unused AsyncHostToDeviceTransferManager_SetBufferError = nullptr;
  Unused AsyncHostToDeviceTransferManager_AddMetadata = nullptr;
  Function<ClientDmaMapArgs> Client_DmaMap = nullptr;
  Function<ClientDmaUnmapArgs> Client_DmaUnmap = nullptr;
};
#undef TB_PJRT_STRUCT

// The one function that a plugin exports.
using GetApi = const Api* (*)();
inline constexpr const char* kGetApi = "GetPjrtApi";

}  // namespace tensorbraid::pjrt::c_api

#endif  // TENSORBRAID_PJRT_C_API_H_
