#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "io/file.h"
#include "pjrt/client.h"
#include "pjrt/testing/fake_plugin.h"
#include "pjrt/testing/test_plugins.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A new name, since a library that is loaded must not be overwritten.
std::string TemporaryPath(const std::string& name) {
  static int number = 0;
  return StrCat(testing::TempDir(), "/", name, "_", static_cast<int64_t>(getpid()), "_", ++number, ".so");
}

TEST(PluginTest, IsLoadedOnce) {
  const auto first = Plugin::Load(TB_FAKE_PLUGIN);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ((*first)->path(), TB_FAKE_PLUGIN);
  EXPECT_EQ((*first)->major_version(), 0);
  EXPECT_EQ((*first)->minor_version(), 81);
  EXPECT_EQ((*first)->attributes().at("stablehlo_current_version"), "1.13.3");
  EXPECT_EQ(Plugin::Load(TB_FAKE_PLUGIN).value(), *first);
  // Under another name of the same file, too.
  const std::string directory = DirectoryOf(TB_FAKE_PLUGIN);
  EXPECT_EQ(Plugin::Load(StrCat(directory, "/.", std::string(TB_FAKE_PLUGIN).substr(directory.size()))).value(),
            *first);
}

TEST(PluginTest, NamesTheFileThatIsNoPlugin) {
  const Status missing = Plugin::Load("/nowhere/plugin.so").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("PJRT plugin '/nowhere/plugin.so'"));

  const std::string text = TemporaryPath("text");
  ASSERT_TRUE(WriteFile(text, "no library").ok());
  const Status no_library = Plugin::Load(text).status();
  EXPECT_EQ(no_library.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(no_library.message(), AllOf(HasSubstr(text), HasSubstr("it is not a shared library")));

  const std::string half = TemporaryPath("half");
  const std::string whole = ReadFile(TB_FAKE_PLUGIN).value();
  ASSERT_TRUE(WriteFile(half, whole.substr(0, 5000)).ok());
  EXPECT_THAT(Plugin::Load(half).status().message(), AllOf(HasSubstr(half), HasSubstr("incomplete")));

  Dl_info libc;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&getpid), &libc), 0);
  const Status no_plugin = Plugin::Load(libc.dli_fname).status();
  EXPECT_EQ(no_plugin.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(no_plugin.message(), AllOf(HasSubstr(libc.dli_fname), HasSubstr("no function GetPjrtApi")));
}

// Loads a copy of the fake plugin that says it has this version.
StatusOr<const Plugin*> LoadVersion(const char* minor) {
  const std::string path = TemporaryPath(StrCat("version_", std::string(minor)));
  TF_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(TB_FAKE_PLUGIN));
  TF_RETURN_IF_ERROR(WriteFile(path, bytes));
  setenv("FAKE_PLUGIN_MINOR_VERSION", minor, 1);
  auto plugin = Plugin::Load(path);
  unsetenv("FAKE_PLUGIN_MINOR_VERSION");
  return plugin;
}

TEST(PluginTest, RefusesAnOldVersion) {
  const Status status = LoadVersion("40").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("version_40"), HasSubstr("has version 0.40"),
                                      HasSubstr("0.57 or later"), HasSubstr("install a newer plugin")));
}

TEST(PluginTest, SaysThatAFunctionIsMissing) {
  const auto plugin = LoadVersion("57");
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  const Status status = Client::Create(**plugin, {}).value()->Compile(kAdd, AddOptions()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the program 'add'"), HasSubstr("of version 0.57 lacks the function"),
                                      HasSubstr("install a newer plugin")));
}

// Plugin 0.81 of the CPU throws an exception here.
TEST(ClientTest, ReturnsTheErrorOfAWrongOption) {
  for (const std::string& path : TestPlugins()) {
    const Status status = Client::Create(*Plugin::Load(path).value(), {{"cpu_device_count", "three"}}).status();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), HasSubstr(path));
  }
}

TEST(ClientTest, DescribesItsDevices) {
  for (const std::string& path : TestPlugins()) {
    const Client& client = ClientOf(path);
    EXPECT_EQ(client.num_devices(), 2);
    EXPECT_THAT(client.platform(), testing::AnyOf("fake", "cpu"));
    EXPECT_NE(client.device_kind(1), "");
  }
}

}  // namespace
}  // namespace tensorbraid::pjrt
