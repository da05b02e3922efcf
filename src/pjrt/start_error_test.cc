#include "pjrt/start_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StartErrorTest : public testing::Test {
 protected:
  StartErrorTest() { machine_.driver_folder = dir_.path(); }
  // The line for what the plugin says.
  std::string LineOf(absl::StatusCode code, const std::string& said) const {
    const Status status = StartError(Status(code, said), "/jax_plugins/xla_cuda13/xla_cuda_plugin.so", machine_);
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
    return std::string(status.message());
  }
  void SetDriver(const std::string& version) { EXPECT_TRUE(WriteFile(JoinPath(dir_.path(), "version"), version).ok()); }

  const TempDir dir_;
  Machine machine_;
};

TEST_F(StartErrorTest, ADriverThatIsTooOldMustBeReplaced) {
  SetDriver("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\nGCC version:\n");
  EXPECT_EQ(LineOf(absl::StatusCode::kFailedPrecondition, "No visible GPU devices."),
            "No visible GPU devices: the driver of NVIDIA has version 535.129.03, but CUDA 13 needs 580 or later: "
            "install a newer one");
  EXPECT_THAT(LineOf(absl::StatusCode::kInternal, "something else"), EndsWith("install a newer one"));
}

TEST_F(StartErrorTest, OtherErrorsAreThoseOfADriverThatIsNewEnough) {
  SetDriver("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (builder)\n");
  EXPECT_THAT(LineOf(absl::StatusCode::kFailedPrecondition, "No visible GPU devices."),
              AllOf(StartsWith("No visible GPU devices: the driver of NVIDIA does not start"),
                    HasSubstr("'nvidia-smi' shows the GPUs to the same user and container")));
}

TEST_F(StartErrorTest, ThePluginMayTellThatTheDriverIsTooOld) {
  for (const char* said : {"CUDA driver version is insufficient for CUDA runtime version",
                           "CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported "
                           "toolchain.",
                           "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: forward compatibility was attempted on non "
                           "supported HW"}) {
    EXPECT_THAT(LineOf(absl::StatusCode::kInternal, said), HasSubstr("install a newer driver")) << said;
  }
  EXPECT_THAT(LineOf(absl::StatusCode::kInternal,
                     "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver "
                     "combination"),
              HasSubstr("restart the machine after an update"));
}

TEST_F(StartErrorTest, TheMemoryOfAFullCardIsTaken) {
  constexpr char kCure[] =
      "the memory of the GPU is taken: end another process (nvidia-smi shows them), choose another";
  EXPECT_THAT(LineOf(absl::StatusCode::kInternal,
                     "failed initializing StreamExecutor for CUDA device ordinal 0: INTERNAL: CUDA error: : "
                     "CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
              HasSubstr(kCure));
  EXPECT_THAT(LineOf(absl::StatusCode::kResourceExhausted, "no more"), HasSubstr(kCure));
  EXPECT_THAT(LineOf(absl::StatusCode::kUnknown, "Failed to allocate request for 176.00MiB (184549376B) on device 0"),
              HasSubstr(kCure));
}

TEST_F(StartErrorTest, ATakenCardHasAnotherProcess) {
  EXPECT_THAT(LineOf(absl::StatusCode::kInternal,
                     "CUDA_ERROR_DEVICE_UNAVAILABLE: CUDA-capable device(s) is/are busy or unavailable"),
              HasSubstr("another process has the GPU for itself: end it, allow several with 'nvidia-smi -c DEFAULT'"));
}

// OpenXLA keeps the reasons of the driver to itself.
TEST_F(StartErrorTest, WithoutAReasonTheUsualOnesAreNamed) {
  EXPECT_THAT(
      LineOf(absl::StatusCode::kInternal, "no supported devices found for platform CUDA"),
      AllOf(HasSubstr("standard error has the driver's reason"), HasSubstr("end them (nvidia-smi shows them)")));
}

TEST_F(StartErrorTest, AMissingNumberIsOneOfTheOptions) {
  EXPECT_THAT(LineOf(absl::StatusCode::kNotFound, "PJRT plugin '/a.so' has 1 devices, and no device 1"),
              HasSubstr("and no device 1: gpu_options.visible_device_list names a device that is not there"));
}

TEST_F(StartErrorTest, APluginForTheCpuHasNoGpu) {
  const Status status =
      StartError(absl::ResourceExhaustedError("out of memory"), "/cuda/lib/xla_cpu_pjrt.so", machine_);
  EXPECT_EQ(status.message(), "out of memory");
}

TEST_F(StartErrorTest, AnUnknownErrorStaysAsItIs) {
  EXPECT_EQ(LineOf(absl::StatusCode::kInternal, "the moon is full.\nIt is late.\n"), "the moon is full. It is late");
}

}  // namespace
}  // namespace tensorbraid::pjrt
