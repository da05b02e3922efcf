// The plugins that tests run with, and helpers for them.
//
// TENSORBRAID_TEST_PLUGINS names plugins that compute on the CPU, separated by ':'. Without it, tests run with the fake
// plugin (fake_plugin.h).
#ifndef TENSORBRAID_PJRT_TESTING_TEST_PLUGINS_H_
#define TENSORBRAID_PJRT_TESTING_TEST_PLUGINS_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/plugin.h"
#include "pjrt/program.h"

namespace tensorbraid::pjrt {

// Those of TENSORBRAID_TEST_PLUGINS.
inline std::vector<std::string> CpuPlugins() {
  const char* const paths = std::getenv("TENSORBRAID_TEST_PLUGINS");
  return paths == nullptr ? std::vector<std::string>() : StrSplit(paths, ':');
}
inline std::vector<std::string> TestPlugins() {
  const std::vector<std::string> paths = CpuPlugins();
  return paths.empty() ? std::vector<std::string>{TB_FAKE_PLUGIN} : paths;
}
// A name for the instance of a test.
inline std::string PluginName(const testing::TestParamInfo<std::string>& info) {
  for (const char* name : {"fake", "xla", "lammps"}) {
    if (info.param.find(name) != std::string::npos) return name;
  }
  return StrCat("plugin", info.index);
}

// The client of a plugin, for all tests of this process. A plugin that computes on the CPU gets two devices.
inline Client& ClientOf(const std::string& path) {
  static auto* const clients = new std::map<std::string, Client*>;
  Client*& client = (*clients)[path];
  if (client == nullptr) {
    const ClientOptions options = path.find("cuda") == std::string::npos
                                      ? ClientOptions{{"cpu_device_count", int64_t{2}}}
                                      : ClientOptions{{"preallocate", false}};
    client = Client::Create(*Plugin::Load(path).value(), options).value();
  }
  return *client;
}

// A device tensor with this array.
inline Tensor DeviceTensor(RefPtr<Array> array, DType dtype, const Shape& shape) {
  static auto* const count = new std::shared_ptr<MemoryCount>(std::make_shared<MemoryCount>());
  const size_t size = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
  auto buffer = MakeRef<DeviceBuffer>(size, nullptr, *count);
  buffer->Set(std::move(array));
  return Tensor::FromBuffer(std::move(buffer), 0, dtype, shape).value();
}
// A copy of a tensor on a device.
inline StatusOr<Tensor> ToDevice(Client& client, const Tensor& tensor, int device = 0) {
  Event copied;
  TF_ASSIGN_OR_RETURN(RefPtr<Array> array, client.ToDevice(tensor, device, &copied));
  TF_RETURN_IF_ERROR(copied.Await());
  return DeviceTensor(std::move(array), tensor.dtype(), tensor.shape());
}
// A copy of a device tensor in host memory.
inline StatusOr<Tensor> ToHost(const Array& array, DType dtype, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(dtype, shape));
  TF_ASSIGN_OR_RETURN(Event copied, array.ToHost(tensor.inplace_raw_data(), tensor.num_bytes()));
  TF_RETURN_IF_ERROR(copied.Await());
  return tensor;
}
inline StatusOr<Tensor> ToHost(const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(const Array* array, ArrayOf(tensor));
  return ToHost(*array, tensor.dtype(), tensor.shape());
}
inline std::vector<float> Floats(const StatusOr<Tensor>& tensor) {
  if (!tensor.ok()) {
    ADD_FAILURE() << tensor.status();
    return {};
  }
  const auto values = tensor->data<float>();
  return {values.begin(), values.end()};
}
inline uintptr_t AddressOf(const Client& client, const Array& array) {
  c_api::BufferUnsafePointerArgs args{.buffer = array.get()};
  EXPECT_TRUE(client.Call(&c_api::Api::Buffer_UnsafePointer, args).ok());
  return args.buffer_pointer;
}

// Two programs of four numbers: a + b, and a - b, which consumes a.
inline constexpr const char* kAdd = R"(
module @add {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";
inline constexpr const char* kUpdate = R"(
module @update {
  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.subtract"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
})";
inline CompileOptions AddOptions() {
  return {.name = "the program 'add'", .arguments = {{kFloat32, {4}}, {kFloat32, {4}}}, .donated = {}};
}
inline CompileOptions UpdateOptions() {
  return {.name = "the program 'update'", .arguments = {{kFloat32, {4}}, {kFloat32, {4}}}, .donated = {0}};
}

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_TESTING_TEST_PLUGINS_H_
