#include "cli/devices_text.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "pjrt/testing/fake_plugin.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class DevicesTextTest : public testing::Test {
 protected:
  DevicesTextTest() {
    machine_.variable = [this](const char* name) { return variables_[name]; };
    machine_.driver_folder = "/nowhere/nvidia";
  }
  std::map<std::string, std::string> variables_;
  pjrt::Machine machine_;
};

TEST_F(DevicesTextTest, SaysWhatToDoForEachTypeInOneLine) {
  EXPECT_THAT(DevicesText(machine_, true),
              MatchesRegex("CPU: this machine, [0-9]+ cores?\n"
                           "GPU: none: there is no PJRT plugin: install one, [^\n]*pip install [^\n]*\n"
                           "XLA_CPU: none: there is no PJRT plugin that computes on the CPU: install one, [^\n]*\n"));
}

TEST_F(DevicesTextTest, ShowsThePlugin) {
  variables_[pjrt::kPluginVariable] = StrCat("GPU=", TB_FAKE_PLUGIN, ",XLA_CPU=/nowhere/cpu.so");
  const std::string text = DevicesText(machine_, false);
  EXPECT_THAT(text, HasSubstr(StrCat("GPU: 1 device, by the plugin '", TB_FAKE_PLUGIN,
                                     "' (PJRT 0.81, StableHLO 1.13.3), from the environment variable ")));
  EXPECT_THAT(text, HasSubstr("XLA_CPU: none: there is no file '/nowhere/cpu.so'"));
  EXPECT_THAT(DevicesText(machine_, true), HasSubstr("\n  GPU:0: fake, 1024 MiB\n"));
}

TEST_F(DevicesTextTest, SaysThatTheDriverIsTooOld) {
  const TempDir dir;
  const std::string plugin = JoinPath(dir.path(), "jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  ASSERT_TRUE(WriteFile(plugin, ReadFile(TB_FAKE_PLUGIN).value()).ok());
  machine_.driver_folder = JoinPath(dir.path(), "driver");
  ASSERT_TRUE(WriteFile(JoinPath(machine_.driver_folder, "gpus/0000:01:00.0/information"), "").ok());
  ASSERT_TRUE(WriteFile(JoinPath(machine_.driver_folder, "version"),
                        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n")
                  .ok());
  machine_.package_folders = {dir.path()};
  EXPECT_THAT(
      DevicesText(machine_, false),
      ContainsRegex("\nGPU: 1 device, by the plugin [^\n]*\n  It may not work: the driver of NVIDIA has version "
                    "535.129.03, but CUDA 13 needs 580 or later: install a newer one\n"));
}

TEST_F(DevicesTextTest, SaysWhatToDoAboutACardThatIsFull) {
  auto* const control = reinterpret_cast<pjrt::GetFakePluginControlFunction>(
      dlsym(dlopen(TB_FAKE_PLUGIN, RTLD_NOW), "GetFakePluginControl"))();
  variables_[pjrt::kPluginVariable] = StrCat("GPU=", TB_FAKE_PLUGIN);
  control->code = 8;
  control->text = "CUDA_ERROR_OUT_OF_MEMORY: out of memory";
  control->fail_next = "Client_Create";
  const std::string text = DevicesText(machine_, true);
  control->code = 13;
  control->text = nullptr;
  EXPECT_THAT(text,
              ContainsRegex("\nGPU: none: devices of type GPU: PJRT plugin [^\n]*CUDA_ERROR_OUT_OF_MEMORY: out of "
                            "memory: the memory of the GPU is taken: end another process [^\n]*\n"));
}

TEST_F(DevicesTextTest, SaysThatAPluginIsTooOld) {
  static int number = 0;  // a library that is loaded must not be overwritten
  const std::string old = StrCat(testing::TempDir(), "/old_", static_cast<int64_t>(getpid()), "_", ++number, ".so");
  ASSERT_TRUE(WriteFile(old, ReadFile(TB_FAKE_PLUGIN).value()).ok());
  variables_[pjrt::kPluginVariable] = old;
  setenv("FAKE_PLUGIN_MINOR_VERSION", "40", 1);
  const std::string text = DevicesText(machine_, false);
  unsetenv("FAKE_PLUGIN_MINOR_VERSION");
  EXPECT_THAT(text, AllOf(HasSubstr("GPU: none: PJRT plugin '"), HasSubstr("install a newer plugin")));
}

}  // namespace
}  // namespace tensorbraid
