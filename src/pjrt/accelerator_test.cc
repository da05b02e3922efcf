#include "pjrt/accelerator.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "pjrt/client.h"
#include "pjrt/testing/fake_plugin.h"
#include "pjrt/testing/test_plugins.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The number that the plugin gives a device of the client.
int NumberOf(const Client& client, int device) {
  c_api::DeviceGetDescriptionArgs description{.device = client.device(device)};
  EXPECT_TRUE(client.Call(&c_api::Api::Device_GetDescription, description).ok());
  c_api::DeviceDescriptionIdArgs id{.device_description = description.device_description};
  EXPECT_TRUE(client.Call(&c_api::Api::DeviceDescription_Id, id).ok());
  return id.id;
}

class AcceleratorOptionsTest : public testing::TestWithParam<std::string> {
 protected:
  // Uses the options, which are valid, and returns what is logged.
  std::string LogOf(const GpuOptions& options) {
    testing::internal::CaptureStderr();
    const Status status = accelerator_.Use(options);
    EXPECT_TRUE(status.ok()) << status;
    return testing::internal::GetCapturedStderr();
  }
  Accelerator accelerator_{"XLA_CPU", [] { return StatusOr<std::string>(GetParam()); }};
};
INSTANTIATE_TEST_SUITE_P(All, AcceleratorOptionsTest, testing::ValuesIn(TestPlugins()), PluginName);

TEST_P(AcceleratorOptionsTest, TheFirstHoldAndLaterOnesWarn) {
  EXPECT_THAT(LogOf({}), IsEmpty());
  EXPECT_THAT(LogOf({.visible_device_list = "1,0"}), IsEmpty());
  EXPECT_THAT(LogOf({.visible_device_list = "1,0"}), IsEmpty());
  const auto warning =
      AllOf(HasSubstr("gpu_options with per_process_gpu_memory_fraction: 0, allow_growth: false, "
                      "visible_device_list: '1' have no effect"),
            HasSubstr("visible_device_list: '1,0' already"), HasSubstr("give these options to its first session"));
  EXPECT_THAT(LogOf({.visible_device_list = "1"}), warning);
  EXPECT_EQ(accelerator_.num_visible(), 2);
  const Client* const client = accelerator_.GetClient().value();
  ASSERT_EQ(client->num_devices(), 2);
  EXPECT_EQ(NumberOf(*client, 0), 1);
  EXPECT_EQ(NumberOf(*client, 1), 0);
  EXPECT_THAT(LogOf({.visible_device_list = "1"}), warning);
  EXPECT_THAT(LogOf({.visible_device_list = "1,0"}), IsEmpty());
  EXPECT_THAT(LogOf({}), IsEmpty()) << "a session without options asks for nothing";
}

TEST_P(AcceleratorOptionsTest, ComeTooLateForAClientThatExists) {
  ASSERT_TRUE(accelerator_.GetClient().ok());
  EXPECT_THAT(LogOf({.visible_device_list = "1"}), HasSubstr("visible_device_list: '1' have no effect"));
  EXPECT_EQ(accelerator_.num_visible(), 0);
}

TEST_P(AcceleratorOptionsTest, WrongOnesAreErrors) {
  EXPECT_EQ(accelerator_.Use({.per_process_gpu_memory_fraction = 1.5}).code(), absl::StatusCode::kInvalidArgument);
  for (const char* wrong : {"one", "0,0", "-1", "0,"}) {
    EXPECT_EQ(accelerator_.Use({.visible_device_list = wrong}).code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(AcceleratorTest, APluginForTheCpuInAFolderNamedAfterCudaHasTheOptionsOfTheCpu) {
  const TempDir dir;
  const std::string path = JoinPath(dir.path(), "cuda/cpu_plugin.so");
  ASSERT_TRUE(WriteFile(path, ReadFile(TB_FAKE_PLUGIN).value()).ok());
  Accelerator accelerator("XLA_CPU", [&] { return StatusOr<std::string>(path); });
  accelerator.Expect(5);
  EXPECT_EQ(accelerator.GetClient().value()->num_devices(), 5);
}

TEST(AcceleratorTest, SaysWhyThereIsNoPlugin) {
  Accelerator accelerator("GPU", [] { return StatusOr<std::string>("/nowhere/plugin.so"); });
  const Status status = accelerator.GetClient().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("devices of type GPU"), HasSubstr("'/nowhere/plugin.so'")));
}

// A copy of the fake plugin, with the name of a plugin for CUDA.
class CudaAcceleratorTest : public testing::Test {
 protected:
  CudaAcceleratorTest() {
    EXPECT_TRUE(WriteFile(path_, ReadFile(TB_FAKE_PLUGIN).value()).ok());
    void* const library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    control_ = reinterpret_cast<GetFakePluginControlFunction>(dlsym(library, "GetFakePluginControl"))();
  }
  // The client of a process whose first session has these options.
  Client* ClientWithOptions(const GpuOptions& options) {
    EXPECT_TRUE(accelerator_.Use(options).ok());
    return accelerator_.GetClient().value();
  }

  const TempDir dir_;
  const std::string path_ = JoinPath(dir_.path(), "xla_cuda_plugin.so");
  Accelerator accelerator_{"GPU", [this] { return StatusOr<std::string>(path_); }};
  FakePluginControl* control_;
};

TEST_F(CudaAcceleratorTest, MemoryGrowsByDefault) {
  EXPECT_EQ(ClientWithOptions({})->num_devices(), 2);
  EXPECT_FALSE(control_->preallocates);
  EXPECT_EQ(control_->memory_fraction, 0.75F) << "no share was asked for";
}

TEST_F(CudaAcceleratorTest, MemoryThatMayGrowIsNotTakenAtTheStart) {
  ClientWithOptions({.allow_growth = true});
  EXPECT_FALSE(control_->preallocates);
}

TEST_F(CudaAcceleratorTest, AShareIsTakenAtTheStart) {
  ClientWithOptions({.per_process_gpu_memory_fraction = 0.5});
  EXPECT_TRUE(control_->preallocates);
  EXPECT_EQ(control_->memory_fraction, 0.5F);
}

TEST_F(CudaAcceleratorTest, AShareMayGrow) {
  ClientWithOptions({.per_process_gpu_memory_fraction = 0.25, .allow_growth = true});
  EXPECT_FALSE(control_->preallocates);
  EXPECT_EQ(control_->memory_fraction, 0.25F);
}

// A plugin for CUDA has its devices in the order of their numbers.
TEST_F(CudaAcceleratorTest, TheListOfDevicesGivesTheirOrder) {
  const Client* const client = ClientWithOptions({.visible_device_list = "5,2,3"});
  EXPECT_FALSE(control_->preallocates);
  ASSERT_EQ(client->num_devices(), 3);
  EXPECT_EQ(NumberOf(*client, 0), 5);
  EXPECT_EQ(NumberOf(*client, 1), 2);
  EXPECT_EQ(NumberOf(*client, 2), 3);
}

TEST_F(CudaAcceleratorTest, ACardThatCannotBeUsedHasACure) {
  control_->fail_next = "Client_Create";
  control_->text = "no supported devices found for platform CUDA";
  const Status status = accelerator_.GetClient().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(StrCat("devices of type GPU: PJRT plugin '", path_, "': no supported devices found")),
                    HasSubstr("nvidia-smi"), HasSubstr("CUDA_VISIBLE_DEVICES")));
  EXPECT_TRUE(accelerator_.GetClient().ok()) << "the next call tries again";
}

TEST_F(CudaAcceleratorTest, AMissingDeviceHasACure) {
  ASSERT_TRUE(accelerator_.ClientWith(1).ok());
  const Status status = accelerator_.ClientWith(2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), StrCat("there is no /device:GPU:2: the plugin '", path_,
                                     "' has 2 devices, numbered from 0: use a smaller number, or see with 'nvidia-smi' "
                                     "which process has taken the other GPUs"));
}

}  // namespace
}  // namespace tensorbraid::pjrt
