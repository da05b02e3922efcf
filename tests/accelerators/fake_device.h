// The device of the fake plugin (pjrt/testing/fake_plugin.h), as these tests name it, and what they check of it.
#ifndef TENSORBRAID_TESTS_ACCELERATORS_FAKE_DEVICE_H_
#define TENSORBRAID_TESTS_ACCELERATORS_FAKE_DEVICE_H_

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "pjrt/compile_log.h"
#include "pjrt/find_plugins.h"
#include "pjrt/testing/fake_plugin.h"

namespace tensorbraid {

inline constexpr const char* kDevice = "/device:XLA_CPU:0";

// Lets this process use the fake plugin. `XLA_CPU:2` stands for two devices of this type, as in the variable.
inline pjrt::FakePluginControl& UseFakePlugin(const std::string& devices) {
  setenv(pjrt::kPluginVariable, (devices + "=" TB_FAKE_PLUGIN).c_str(), 1);
  return *reinterpret_cast<pjrt::GetFakePluginControlFunction>(
      dlsym(dlopen(TB_FAKE_PLUGIN, RTLD_NOW), "GetFakePluginControl"))();
}

// REQUIRES: no session exists.
inline void ExpectNothingIsLeft(const pjrt::FakePluginControl& plugin) {
  // The compiler's threads may hold constants until then.
  while (!CompileLog::Global().running().empty()) std::this_thread::yield();
  plugin.wait_for_work();
  EXPECT_EQ(plugin.buffers, 0);
  EXPECT_EQ(plugin.events, 0);
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_ACCELERATORS_FAKE_DEVICE_H_
