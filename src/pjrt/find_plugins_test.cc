#include "pjrt/find_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FindPluginsTest : public testing::Test {
 protected:
  FindPluginsTest() {
    machine_.variable = [this](const char* name) { return variables_[name]; };
    machine_.package_folders = {folder_ + "/empty", folder_ + "/packages"};
    machine_.driver_folder = folder_ + "/driver";
  }
  void AddFile(const std::string& name) {
    const std::string path = JoinPath(folder_, name);
    ASSERT_TRUE(WriteFile(path, "").ok());
  }
  void AddCudaPlugin() { AddFile("packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so"); }
  void AddCards(int n) {
    for (int i = 0; i < n; ++i) AddFile(StrCat("driver/gpus/0000:0", i, ":00.0/information"));
  }

  const TempDir dir_;
  const std::string folder_ = dir_.path();
  std::map<std::string, std::string> variables_;
  Machine machine_;
};

TEST_F(FindPluginsTest, SaysHowToInstallOne) {
  FoundPlugin found = FindPlugin(machine_, "GPU");
  EXPECT_EQ(found.path, "");
  EXPECT_THAT(found.problem, AllOf(HasSubstr("there is no PJRT plugin"), HasSubstr("pip install 'tensorbraid[cuda13]'"),
                                   HasSubstr("TENSORBRAID_ACCELERATOR_PLUGIN")));
  AddCards(2);
  EXPECT_THAT(FindPlugin(machine_, "GPU").problem, HasSubstr("this machine has 2 GPUs, but no PJRT plugin for them"));
  EXPECT_THAT(FindPlugin(machine_, "XLA_CPU").problem, HasSubstr("pip install xla-cpu-pjrt"));
}

TEST_F(FindPluginsTest, KnowsWhichDriverIsTooOld) {
  const auto old_driver = [this](const std::string& version, const std::string& wheel) {
    const std::string text = StrCat("NVRM version: NVIDIA UNIX x86_64 Kernel Module  ", version,
                                    "  Thu Oct 19 18:56:32 UTC 2023\nGCC version:  gcc 12.2.0\n");
    EXPECT_TRUE(WriteFile(folder_ + "/driver/version", text).ok());
    return OldDriver(machine_, "/packages/jax_plugins/" + wheel + "/xla_cuda_plugin.so");
  };
  EXPECT_EQ(OldDriver(machine_, "/packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so"), "") << "without a driver";
  EXPECT_EQ(old_driver("535.129.03", "xla_cuda13"),
            "the driver of NVIDIA has version 535.129.03, but CUDA 13 needs 580 or later: install a newer one");
  EXPECT_EQ(old_driver("535.129.03", "xla_cuda12"), "");
  EXPECT_THAT(old_driver("470.82.01", "xla_cuda12"), HasSubstr("470.82.01, but CUDA 12 needs 525"));
  EXPECT_EQ(old_driver("580.65.06", "xla_cuda13"), "");
  EXPECT_EQ(old_driver("470.82.01", "xla_rocm"), "");
}

TEST_F(FindPluginsTest, APluginForTheCpuMayBeInAFolderNamedAfterCuda) {
  AddFile("cuda/xla_cpu_pjrt.so");
  variables_[kPluginVariable] = "GPU:2=" + folder_ + "/cuda/xla_cpu_pjrt.so";
  const FoundPlugin found = FindPlugin(machine_, "GPU");
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.devices, 2);
}

TEST_F(FindPluginsTest, FindsWheelsOfPython) {
  AddCudaPlugin();
  AddFile("packages/jax_plugins/xla_cuda12/xla_cuda_plugin.so");
  AddFile("packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");
  AddCards(2);
  const FoundPlugin gpu = FindPlugin(machine_, "GPU");
  EXPECT_EQ(gpu.path, folder_ + "/packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  EXPECT_EQ(gpu.source, "the packages in " + folder_ + "/packages");
  EXPECT_EQ(gpu.devices, 2);
  EXPECT_EQ(gpu.problem, "");
  EXPECT_FALSE(gpu.is_named);
  const FoundPlugin cpu = FindPlugin(machine_, "XLA_CPU");
  EXPECT_EQ(cpu.path, folder_ + "/packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");
  EXPECT_EQ(cpu.devices, 1);
}

TEST_F(FindPluginsTest, SaysThatThereIsNoDriverAndNoCard) {
  AddCudaPlugin();
  FoundPlugin found = FindPlugin(machine_, "GPU");
  EXPECT_EQ(found.devices, 0);
  EXPECT_THAT(found.problem, AllOf(HasSubstr("no driver of NVIDIA"), HasSubstr("driver does not exist"),
                                   HasSubstr("give the container access")));
  AddFile("driver/version");
  EXPECT_THAT(FindPlugin(machine_, "GPU").problem, HasSubstr("shows no GPU"));
}

TEST_F(FindPluginsTest, CountsTheVisibleCards) {
  AddCudaPlugin();
  AddCards(3);
  for (const auto& [visible, devices] :
       std::map<std::string, int>{{"", 3}, {"1", 1}, {"2,0", 2}, {"0,7,1", 1}, {"GPU-8932f937,GPU-12", 2}}) {
    variables_["CUDA_VISIBLE_DEVICES"] = visible;
    EXPECT_EQ(FindPlugin(machine_, "GPU").devices, devices) << visible;
  }
  variables_["CUDA_VISIBLE_DEVICES"] = "-1";
  const FoundPlugin none = FindPlugin(machine_, "GPU");
  EXPECT_EQ(none.devices, 0);
  EXPECT_THAT(none.problem, AllOf(HasSubstr("CUDA_VISIBLE_DEVICES is '-1'"), HasSubstr("none of the 3 GPUs")));
}

TEST_F(FindPluginsTest, NamesTheVisibleGpus) {
  EXPECT_THAT(VisibleGpus(machine_).status().message(), HasSubstr("no driver of NVIDIA"));
  variables_["CUDA_VISIBLE_DEVICES"] = "5,GPU-1";  // only the driver knows whether there are such GPUs
  EXPECT_THAT(VisibleGpus(machine_).value(), ElementsAre("5", "GPU-1"));
  AddCards(3);
  EXPECT_THAT(VisibleGpus(machine_).status().message(), HasSubstr("none of the 3 GPUs"));
  variables_["CUDA_VISIBLE_DEVICES"] = "2,0,3,1";
  EXPECT_THAT(VisibleGpus(machine_).value(), ElementsAre("2", "0"));
  variables_.clear();
  EXPECT_THAT(VisibleGpus(machine_).value(), ElementsAre("0", "1", "2"));
}

TEST_F(FindPluginsTest, SaysWhyADeviceIsMissing) {
  EXPECT_THAT(WhyNoDevice(machine_, "GPU", 0, 0),
              AllOf(HasSubstr("pip install"), HasSubstr("with allow_soft_placement, the CPU computes instead")));
  AddCudaPlugin();
  AddCards(1);
  EXPECT_THAT(WhyNoDevice(machine_, "GPU", 3, 1),
              AllOf(HasSubstr("has 1 device of type GPU"), HasSubstr("a smaller number than 3")));
  EXPECT_THAT(WhyNoDevice(machine_, "GPU", 0, 0), HasSubstr("give device_count a number for GPU"));
}

TEST_F(FindPluginsTest, TakesWhatTheVariableNames) {
  AddCudaPlugin();
  AddFile("a/my_cpu_plugin.so");
  AddFile("a/other.so");
  const std::string cpu = folder_ + "/a/my_cpu_plugin.so", other = folder_ + "/a/other.so";
  variables_[kPluginVariable] = cpu;
  EXPECT_EQ(FindPlugin(machine_, "XLA_CPU").path, cpu);
  EXPECT_TRUE(FindPlugin(machine_, "XLA_CPU").is_named);
  EXPECT_FALSE(FindPlugin(machine_, "GPU").is_named);
  variables_[kPluginVariable] = StrCat("GPU=", cpu, ",", other);
  EXPECT_EQ(FindPlugin(machine_, "GPU").path, cpu);
  EXPECT_EQ(FindPlugin(machine_, "GPU").devices, 1);
  variables_[kPluginVariable] = other;
  EXPECT_EQ(FindPlugin(machine_, "GPU").path, other);

  variables_[kPluginVariable] = StrCat("GPU:4=", cpu);
  EXPECT_EQ(FindPlugin(machine_, "GPU").devices, 4);
  EXPECT_FALSE(FindPlugin(machine_, "GPU").is_open);
  variables_[kPluginVariable] = StrCat("GPU:many=", cpu);
  EXPECT_THAT(FindPlugin(machine_, "GPU").problem, HasSubstr("the number of devices must be 1 to 1024"));

  variables_[kPluginVariable] = "/nowhere/cpu.so";
  EXPECT_THAT(FindPlugin(machine_, "XLA_CPU").problem,
              AllOf(HasSubstr("there is no file '/nowhere/cpu.so'"), HasSubstr("correct the variable")));
}

}  // namespace
}  // namespace tensorbraid::pjrt
