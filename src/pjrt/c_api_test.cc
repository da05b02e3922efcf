// Compares c_api.h with the header of PJRT, version 0.81, when it is compiled; it is never run. `make
// test_accelerators` has the header, in the wheel of a plugin.
#include "pjrt/c_api.h"

#include <cstddef>

#include "pjrt_c_api.h"

namespace tensorbraid::pjrt::c_api {
namespace {

// Structs have the same size, and fields the same place and size.
#define SAME_STRUCT(ours, theirs) static_assert(ours{}.struct_size == size_t{theirs##_STRUCT_SIZE})
#define SAME_NAMES(ours, theirs, our_field, their_field)                      \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field) && \
                sizeof(ours::our_field) == sizeof(theirs::their_field))
#define SAME(ours, theirs, field) SAME_NAMES(ours, theirs, field, field)

SAME_STRUCT(ErrorDestroyArgs, PJRT_Error_Destroy_Args);
SAME(ErrorDestroyArgs, PJRT_Error_Destroy_Args, error);

SAME_STRUCT(ErrorMessageArgs, PJRT_Error_Message_Args);
SAME(ErrorMessageArgs, PJRT_Error_Message_Args, error);
SAME(ErrorMessageArgs, PJRT_Error_Message_Args, message);
SAME(ErrorMessageArgs, PJRT_Error_Message_Args, message_size);

SAME_STRUCT(ErrorGetCodeArgs, PJRT_Error_GetCode_Args);
SAME(ErrorGetCodeArgs, PJRT_Error_GetCode_Args, error);
SAME(ErrorGetCodeArgs, PJRT_Error_GetCode_Args, code);

SAME_STRUCT(NamedValue, PJRT_NamedValue);
SAME(NamedValue, PJRT_NamedValue, name);
SAME(NamedValue, PJRT_NamedValue, name_size);
SAME(NamedValue, PJRT_NamedValue, type);
SAME(NamedValue, PJRT_NamedValue, string_value);
SAME(NamedValue, PJRT_NamedValue, int64_value);
SAME_NAMES(NamedValue, PJRT_NamedValue, int64_list_value, int64_array_value);
SAME(NamedValue, PJRT_NamedValue, float_value);
SAME(NamedValue, PJRT_NamedValue, bool_value);
SAME(NamedValue, PJRT_NamedValue, value_size);

SAME_STRUCT(PluginInitializeArgs, PJRT_Plugin_Initialize_Args);

SAME_STRUCT(PluginAttributesArgs, PJRT_Plugin_Attributes_Args);
SAME(PluginAttributesArgs, PJRT_Plugin_Attributes_Args, attributes);
SAME(PluginAttributesArgs, PJRT_Plugin_Attributes_Args, num_attributes);

SAME_STRUCT(EventDestroyArgs, PJRT_Event_Destroy_Args);
SAME(EventDestroyArgs, PJRT_Event_Destroy_Args, event);

SAME_STRUCT(EventIsReadyArgs, PJRT_Event_IsReady_Args);
SAME(EventIsReadyArgs, PJRT_Event_IsReady_Args, event);
SAME(EventIsReadyArgs, PJRT_Event_IsReady_Args, is_ready);

SAME_STRUCT(EventAwaitArgs, PJRT_Event_Await_Args);
SAME(EventAwaitArgs, PJRT_Event_Await_Args, event);

SAME_STRUCT(EventOnReadyArgs, PJRT_Event_OnReady_Args);
SAME(EventOnReadyArgs, PJRT_Event_OnReady_Args, event);
SAME(EventOnReadyArgs, PJRT_Event_OnReady_Args, callback);
SAME(EventOnReadyArgs, PJRT_Event_OnReady_Args, user_arg);

SAME_STRUCT(ClientCreateArgs, PJRT_Client_Create_Args);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, create_options);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, num_options);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_get_callback);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_get_user_arg);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_put_callback);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_put_user_arg);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, client);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_try_get_callback);
SAME(ClientCreateArgs, PJRT_Client_Create_Args, kv_try_get_user_arg);

SAME_STRUCT(ClientDestroyArgs, PJRT_Client_Destroy_Args);
SAME(ClientDestroyArgs, PJRT_Client_Destroy_Args, client);

SAME_STRUCT(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args);
SAME(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args, client);
SAME(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args, platform_name);
SAME(ClientPlatformNameArgs, PJRT_Client_PlatformName_Args, platform_name_size);

SAME_STRUCT(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args);
SAME(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args, client);
SAME(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args, platform_version);
SAME(ClientPlatformVersionArgs, PJRT_Client_PlatformVersion_Args, platform_version_size);

SAME_STRUCT(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args);
SAME(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args, client);
SAME(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args, addressable_devices);
SAME(ClientAddressableDevicesArgs, PJRT_Client_AddressableDevices_Args, num_addressable_devices);

SAME_STRUCT(Program, PJRT_Program);
SAME(Program, PJRT_Program, code);
SAME(Program, PJRT_Program, code_size);
SAME(Program, PJRT_Program, format);
SAME(Program, PJRT_Program, format_size);

SAME_STRUCT(ClientCompileArgs, PJRT_Client_Compile_Args);
SAME(ClientCompileArgs, PJRT_Client_Compile_Args, client);
SAME(ClientCompileArgs, PJRT_Client_Compile_Args, program);
SAME(ClientCompileArgs, PJRT_Client_Compile_Args, compile_options);
SAME(ClientCompileArgs, PJRT_Client_Compile_Args, compile_options_size);
SAME(ClientCompileArgs, PJRT_Client_Compile_Args, executable);

SAME_STRUCT(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, client);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, data);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, type);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, dims);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, num_dims);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, byte_strides);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, num_byte_strides);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, host_buffer_semantics);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, device);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, memory);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, device_layout);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, done_with_host_buffer);
SAME(ClientBufferFromHostBufferArgs, PJRT_Client_BufferFromHostBuffer_Args, buffer);

SAME_STRUCT(ClientDmaMapArgs, PJRT_Client_DmaMap_Args);
SAME(ClientDmaMapArgs, PJRT_Client_DmaMap_Args, client);
SAME(ClientDmaMapArgs, PJRT_Client_DmaMap_Args, data);
SAME(ClientDmaMapArgs, PJRT_Client_DmaMap_Args, size);

SAME_STRUCT(ClientDmaUnmapArgs, PJRT_Client_DmaUnmap_Args);
SAME(ClientDmaUnmapArgs, PJRT_Client_DmaUnmap_Args, client);
SAME(ClientDmaUnmapArgs, PJRT_Client_DmaUnmap_Args, data);

SAME_STRUCT(DeviceDescriptionIdArgs, PJRT_DeviceDescription_Id_Args);
SAME(DeviceDescriptionIdArgs, PJRT_DeviceDescription_Id_Args, device_description);
SAME(DeviceDescriptionIdArgs, PJRT_DeviceDescription_Id_Args, id);

SAME_STRUCT(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args);
SAME(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args, device_description);
SAME(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args, device_kind);
SAME(DeviceDescriptionKindArgs, PJRT_DeviceDescription_Kind_Args, device_kind_size);

SAME_STRUCT(DeviceDescriptionAttributesArgs, PJRT_DeviceDescription_Attributes_Args);
SAME(DeviceDescriptionAttributesArgs, PJRT_DeviceDescription_Attributes_Args, device_description);
SAME(DeviceDescriptionAttributesArgs, PJRT_DeviceDescription_Attributes_Args, num_attributes);
SAME(DeviceDescriptionAttributesArgs, PJRT_DeviceDescription_Attributes_Args, attributes);

SAME_STRUCT(DeviceGetDescriptionArgs, PJRT_Device_GetDescription_Args);
SAME(DeviceGetDescriptionArgs, PJRT_Device_GetDescription_Args, device);
SAME(DeviceGetDescriptionArgs, PJRT_Device_GetDescription_Args, device_description);

SAME_STRUCT(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, device);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_in_use);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, peak_bytes_in_use);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, peak_bytes_in_use_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, num_allocs);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, num_allocs_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, largest_alloc_size);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, largest_alloc_size_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_limit);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_limit_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_reserved);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_reserved_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, peak_bytes_reserved);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, peak_bytes_reserved_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_reservable_limit);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, bytes_reservable_limit_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, largest_free_block_bytes);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, largest_free_block_bytes_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, pool_bytes);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, pool_bytes_is_set);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, peak_pool_bytes);
SAME(DeviceMemoryStatsArgs, PJRT_Device_MemoryStats_Args, peak_pool_bytes_is_set);

SAME_STRUCT(TopologyDescriptionCreateArgs, PJRT_TopologyDescription_Create_Args);
SAME(TopologyDescriptionCreateArgs, PJRT_TopologyDescription_Create_Args, topology_name);
SAME(TopologyDescriptionCreateArgs, PJRT_TopologyDescription_Create_Args, topology_name_size);
SAME(TopologyDescriptionCreateArgs, PJRT_TopologyDescription_Create_Args, create_options);
SAME(TopologyDescriptionCreateArgs, PJRT_TopologyDescription_Create_Args, num_options);
SAME(TopologyDescriptionCreateArgs, PJRT_TopologyDescription_Create_Args, topology);

SAME_STRUCT(TopologyDescriptionDestroyArgs, PJRT_TopologyDescription_Destroy_Args);
SAME(TopologyDescriptionDestroyArgs, PJRT_TopologyDescription_Destroy_Args, topology);

SAME_STRUCT(CompileArgs, PJRT_Compile_Args);
SAME(CompileArgs, PJRT_Compile_Args, topology);
SAME(CompileArgs, PJRT_Compile_Args, program);
SAME(CompileArgs, PJRT_Compile_Args, compile_options);
SAME(CompileArgs, PJRT_Compile_Args, compile_options_size);
SAME(CompileArgs, PJRT_Compile_Args, client);
SAME(CompileArgs, PJRT_Compile_Args, executable);

SAME_STRUCT(ExecutableDestroyArgs, PJRT_Executable_Destroy_Args);
SAME(ExecutableDestroyArgs, PJRT_Executable_Destroy_Args, executable);

SAME_STRUCT(ExecutableNumOutputsArgs, PJRT_Executable_NumOutputs_Args);
SAME(ExecutableNumOutputsArgs, PJRT_Executable_NumOutputs_Args, executable);
SAME(ExecutableNumOutputsArgs, PJRT_Executable_NumOutputs_Args, num_outputs);

SAME_STRUCT(ExecutableOutputElementTypesArgs, PJRT_Executable_OutputElementTypes_Args);
SAME(ExecutableOutputElementTypesArgs, PJRT_Executable_OutputElementTypes_Args, executable);
SAME(ExecutableOutputElementTypesArgs, PJRT_Executable_OutputElementTypes_Args, output_types);
SAME(ExecutableOutputElementTypesArgs, PJRT_Executable_OutputElementTypes_Args, num_output_types);

SAME_STRUCT(ExecutableOutputDimensionsArgs, PJRT_Executable_OutputDimensions_Args);
SAME(ExecutableOutputDimensionsArgs, PJRT_Executable_OutputDimensions_Args, executable);
SAME(ExecutableOutputDimensionsArgs, PJRT_Executable_OutputDimensions_Args, num_outputs);
SAME(ExecutableOutputDimensionsArgs, PJRT_Executable_OutputDimensions_Args, dims);
SAME(ExecutableOutputDimensionsArgs, PJRT_Executable_OutputDimensions_Args, dim_sizes);

SAME_STRUCT(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, executable);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, argument_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, output_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, alias_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, temp_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args,
     host_generated_code_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, host_argument_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, host_output_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, host_alias_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, host_temp_size_in_bytes);
SAME(ExecutableGetCompiledMemoryStatsArgs, PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes);

SAME_STRUCT(ExecutableSerializeArgs, PJRT_Executable_Serialize_Args);
SAME(ExecutableSerializeArgs, PJRT_Executable_Serialize_Args, executable);
SAME(ExecutableSerializeArgs, PJRT_Executable_Serialize_Args, serialized_bytes);
SAME(ExecutableSerializeArgs, PJRT_Executable_Serialize_Args, serialized_bytes_size);
SAME(ExecutableSerializeArgs, PJRT_Executable_Serialize_Args, serialized_executable);
SAME(ExecutableSerializeArgs, PJRT_Executable_Serialize_Args, serialized_executable_deleter);

SAME_STRUCT(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args);
SAME(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args, client);
SAME(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args, serialized_executable);
SAME(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args, serialized_executable_size);
SAME(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args, loaded_executable);
SAME(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args, overridden_serialized_compile_options);
SAME(ExecutableDeserializeAndLoadArgs, PJRT_Executable_DeserializeAndLoad_Args,
     overridden_serialized_compile_options_size);

SAME_STRUCT(LoadedExecutableDestroyArgs, PJRT_LoadedExecutable_Destroy_Args);
SAME(LoadedExecutableDestroyArgs, PJRT_LoadedExecutable_Destroy_Args, executable);

SAME_STRUCT(LoadedExecutableGetExecutableArgs, PJRT_LoadedExecutable_GetExecutable_Args);
SAME(LoadedExecutableGetExecutableArgs, PJRT_LoadedExecutable_GetExecutable_Args, loaded_executable);
SAME(LoadedExecutableGetExecutableArgs, PJRT_LoadedExecutable_GetExecutable_Args, executable);

SAME_STRUCT(ExecuteOptions, PJRT_ExecuteOptions);
SAME(ExecuteOptions, PJRT_ExecuteOptions, send_callbacks);
SAME(ExecuteOptions, PJRT_ExecuteOptions, recv_callbacks);
SAME(ExecuteOptions, PJRT_ExecuteOptions, num_send_ops);
SAME(ExecuteOptions, PJRT_ExecuteOptions, num_recv_ops);
SAME(ExecuteOptions, PJRT_ExecuteOptions, launch_id);
SAME(ExecuteOptions, PJRT_ExecuteOptions, non_donatable_input_indices);
SAME(ExecuteOptions, PJRT_ExecuteOptions, num_non_donatable_input_indices);
SAME(ExecuteOptions, PJRT_ExecuteOptions, context);
SAME(ExecuteOptions, PJRT_ExecuteOptions, call_location);
SAME(ExecuteOptions, PJRT_ExecuteOptions, num_tasks);
SAME(ExecuteOptions, PJRT_ExecuteOptions, task_ids);
SAME(ExecuteOptions, PJRT_ExecuteOptions, incarnation_ids);

SAME_STRUCT(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, executable);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, options);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, argument_lists);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, num_devices);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, num_args);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, output_lists);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, device_complete_events);
SAME(LoadedExecutableExecuteArgs, PJRT_LoadedExecutable_Execute_Args, execute_device);

SAME_STRUCT(BufferDestroyArgs, PJRT_Buffer_Destroy_Args);
SAME(BufferDestroyArgs, PJRT_Buffer_Destroy_Args, buffer);

SAME_STRUCT(BufferIsDeletedArgs, PJRT_Buffer_IsDeleted_Args);
SAME(BufferIsDeletedArgs, PJRT_Buffer_IsDeleted_Args, buffer);
SAME(BufferIsDeletedArgs, PJRT_Buffer_IsDeleted_Args, is_deleted);

SAME_STRUCT(BufferCopyToDeviceArgs, PJRT_Buffer_CopyToDevice_Args);
SAME(BufferCopyToDeviceArgs, PJRT_Buffer_CopyToDevice_Args, buffer);
SAME(BufferCopyToDeviceArgs, PJRT_Buffer_CopyToDevice_Args, dst_device);
SAME(BufferCopyToDeviceArgs, PJRT_Buffer_CopyToDevice_Args, dst_buffer);

SAME_STRUCT(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args);
SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, src);
SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, host_layout);
SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, dst);
SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, dst_size);
SAME(BufferToHostBufferArgs, PJRT_Buffer_ToHostBuffer_Args, event);

SAME_STRUCT(BufferReadyEventArgs, PJRT_Buffer_ReadyEvent_Args);
SAME(BufferReadyEventArgs, PJRT_Buffer_ReadyEvent_Args, buffer);
SAME(BufferReadyEventArgs, PJRT_Buffer_ReadyEvent_Args, event);

SAME_STRUCT(BufferUnsafePointerArgs, PJRT_Buffer_UnsafePointer_Args);
SAME(BufferUnsafePointerArgs, PJRT_Buffer_UnsafePointer_Args, buffer);
SAME(BufferUnsafePointerArgs, PJRT_Buffer_UnsafePointer_Args, buffer_pointer);

// The table.
SAME_NAMES(Api, PJRT_Api, version, pjrt_api_version);
SAME_NAMES(ApiVersion, PJRT_Api_Version, major, major_version);
SAME_NAMES(ApiVersion, PJRT_Api_Version, minor, minor_version);
#define SAME_FUNCTION(name) SAME_NAMES(Api, PJRT_Api, name, PJRT_##name)
SAME_FUNCTION(Error_Destroy);
SAME_FUNCTION(Error_Message);
SAME_FUNCTION(Error_GetCode);
SAME_FUNCTION(Plugin_Initialize);
SAME_FUNCTION(Plugin_Attributes);
SAME_FUNCTION(Event_Destroy);
SAME_FUNCTION(Event_IsReady);
SAME_FUNCTION(Event_Error);
SAME_FUNCTION(Event_Await);
SAME_FUNCTION(Event_OnReady);
SAME_FUNCTION(Client_Create);
SAME_FUNCTION(Client_Destroy);
SAME_FUNCTION(Client_PlatformName);
SAME_FUNCTION(Client_ProcessIndex);
SAME_FUNCTION(Client_PlatformVersion);
SAME_FUNCTION(Client_Devices);
SAME_FUNCTION(Client_AddressableDevices);
SAME_FUNCTION(Client_LookupDevice);
SAME_FUNCTION(Client_LookupAddressableDevice);
SAME_FUNCTION(Client_AddressableMemories);
SAME_FUNCTION(Client_Compile);
SAME_FUNCTION(Client_DefaultDeviceAssignment);
SAME_FUNCTION(Client_BufferFromHostBuffer);
SAME_FUNCTION(DeviceDescription_Id);
SAME_FUNCTION(DeviceDescription_ProcessIndex);
SAME_FUNCTION(DeviceDescription_Attributes);
SAME_FUNCTION(DeviceDescription_Kind);
SAME_FUNCTION(DeviceDescription_DebugString);
SAME_FUNCTION(DeviceDescription_ToString);
SAME_FUNCTION(Device_GetDescription);
SAME_FUNCTION(Device_IsAddressable);
SAME_FUNCTION(Device_LocalHardwareId);
SAME_FUNCTION(Device_AddressableMemories);
SAME_FUNCTION(Device_DefaultMemory);
SAME_FUNCTION(Device_MemoryStats);
SAME_FUNCTION(Memory_Id);
SAME_FUNCTION(Memory_Kind);
SAME_FUNCTION(Memory_DebugString);
SAME_FUNCTION(Memory_ToString);
SAME_FUNCTION(Memory_AddressableByDevices);
SAME_FUNCTION(Executable_Destroy);
SAME_FUNCTION(Executable_Name);
SAME_FUNCTION(Executable_NumReplicas);
SAME_FUNCTION(Executable_NumPartitions);
SAME_FUNCTION(Executable_NumOutputs);
SAME_FUNCTION(Executable_SizeOfGeneratedCodeInBytes);
SAME_FUNCTION(Executable_GetCostAnalysis);
SAME_FUNCTION(Executable_OutputMemoryKinds);
SAME_FUNCTION(Executable_OptimizedProgram);
SAME_FUNCTION(Executable_Serialize);
SAME_FUNCTION(LoadedExecutable_Destroy);
SAME_FUNCTION(LoadedExecutable_GetExecutable);
SAME_FUNCTION(LoadedExecutable_AddressableDevices);
SAME_FUNCTION(LoadedExecutable_Delete);
SAME_FUNCTION(LoadedExecutable_IsDeleted);
SAME_FUNCTION(LoadedExecutable_Execute);
SAME_FUNCTION(Executable_DeserializeAndLoad);
SAME_FUNCTION(LoadedExecutable_Fingerprint);
SAME_FUNCTION(Buffer_Destroy);
SAME_FUNCTION(Buffer_ElementType);
SAME_FUNCTION(Buffer_Dimensions);
SAME_FUNCTION(Buffer_UnpaddedDimensions);
SAME_FUNCTION(Buffer_DynamicDimensionIndices);
SAME_FUNCTION(Buffer_GetMemoryLayout);
SAME_FUNCTION(Buffer_OnDeviceSizeInBytes);
SAME_FUNCTION(Buffer_Device);
SAME_FUNCTION(Buffer_Memory);
SAME_FUNCTION(Buffer_Delete);
SAME_FUNCTION(Buffer_IsDeleted);
SAME_FUNCTION(Buffer_CopyToDevice);
SAME_FUNCTION(Buffer_ToHostBuffer);
SAME_FUNCTION(Buffer_IsOnCpu);
SAME_FUNCTION(Buffer_ReadyEvent);
SAME_FUNCTION(Buffer_UnsafePointer);
SAME_FUNCTION(Buffer_IncreaseExternalReferenceCount);
SAME_FUNCTION(Buffer_DecreaseExternalReferenceCount);
SAME_FUNCTION(Buffer_OpaqueDeviceMemoryDataPointer);
SAME_FUNCTION(CopyToDeviceStream_Destroy);
SAME_FUNCTION(CopyToDeviceStream_AddChunk);
SAME_FUNCTION(CopyToDeviceStream_TotalBytes);
SAME_FUNCTION(CopyToDeviceStream_GranuleSize);
SAME_FUNCTION(CopyToDeviceStream_CurrentBytes);
SAME_FUNCTION(TopologyDescription_Create);
SAME_FUNCTION(TopologyDescription_Destroy);
SAME_FUNCTION(TopologyDescription_PlatformName);
SAME_FUNCTION(TopologyDescription_PlatformVersion);
SAME_FUNCTION(TopologyDescription_GetDeviceDescriptions);
SAME_FUNCTION(TopologyDescription_Serialize);
SAME_FUNCTION(TopologyDescription_Attributes);
SAME_FUNCTION(Compile);
SAME_FUNCTION(Executable_OutputElementTypes);
SAME_FUNCTION(Executable_OutputDimensions);
SAME_FUNCTION(Buffer_CopyToMemory);
SAME_FUNCTION(Client_CreateViewOfDeviceBuffer);
SAME_FUNCTION(Executable_Fingerprint);
SAME_FUNCTION(Client_TopologyDescription);
SAME_FUNCTION(Executable_GetCompiledMemoryStats);
SAME_FUNCTION(Memory_Kind_Id);
SAME_FUNCTION(ExecuteContext_Create);
SAME_FUNCTION(ExecuteContext_Destroy);
SAME_FUNCTION(Buffer_CopyRawToHost);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_Destroy);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_TransferData);
SAME_FUNCTION(Client_CreateBuffersForAsyncHostToDevice);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_RetrieveBuffer);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_Device);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_BufferCount);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_BufferSize);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_SetBufferError);
SAME_FUNCTION(AsyncHostToDeviceTransferManager_AddMetadata);
SAME_FUNCTION(Client_DmaMap);
SAME_FUNCTION(Client_DmaUnmap);

// Constants.
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME_VALUE(ValueType::kString, PJRT_NamedValue_kString);
SAME_VALUE(ValueType::kInt64, PJRT_NamedValue_kInt64);
SAME_VALUE(ValueType::kInt64List, PJRT_NamedValue_kInt64List);
SAME_VALUE(ValueType::kFloat, PJRT_NamedValue_kFloat);
SAME_VALUE(ValueType::kBool, PJRT_NamedValue_kBool);
SAME_VALUE(ElementType::kInvalid, PJRT_Buffer_Type_INVALID);
SAME_VALUE(ElementType::kPred, PJRT_Buffer_Type_PRED);
SAME_VALUE(ElementType::kS8, PJRT_Buffer_Type_S8);
SAME_VALUE(ElementType::kS16, PJRT_Buffer_Type_S16);
SAME_VALUE(ElementType::kS32, PJRT_Buffer_Type_S32);
SAME_VALUE(ElementType::kS64, PJRT_Buffer_Type_S64);
SAME_VALUE(ElementType::kU8, PJRT_Buffer_Type_U8);
SAME_VALUE(ElementType::kU16, PJRT_Buffer_Type_U16);
SAME_VALUE(ElementType::kU32, PJRT_Buffer_Type_U32);
SAME_VALUE(ElementType::kU64, PJRT_Buffer_Type_U64);
SAME_VALUE(ElementType::kF16, PJRT_Buffer_Type_F16);
SAME_VALUE(ElementType::kF32, PJRT_Buffer_Type_F32);
SAME_VALUE(ElementType::kF64, PJRT_Buffer_Type_F64);
SAME_VALUE(ElementType::kBF16, PJRT_Buffer_Type_BF16);
SAME_VALUE(ElementType::kC64, PJRT_Buffer_Type_C64);
SAME_VALUE(ElementType::kC128, PJRT_Buffer_Type_C128);
SAME_VALUE(HostBufferSemantics::kImmutableOnlyDuringCall, PJRT_HostBufferSemantics_kImmutableOnlyDuringCall);
SAME_VALUE(HostBufferSemantics::kImmutableUntilTransferCompletes,
           PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes);
SAME_VALUE(HostBufferSemantics::kImmutableZeroCopy, PJRT_HostBufferSemantics_kImmutableZeroCopy);
SAME_VALUE(HostBufferSemantics::kMutableZeroCopy, PJRT_HostBufferSemantics_kMutableZeroCopy);

}  // namespace
}  // namespace tensorbraid::pjrt::c_api
