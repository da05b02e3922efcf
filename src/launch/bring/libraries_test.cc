#include "launch/bring/libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/bring/fake_ssh_testutil.h"
#include "launch/bring/remote_shell.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ParseLddTest, FindsPathsAndWhatIsMissing) {
  EXPECT_THAT(ParseLdd("\tlinux-vdso.so.1 (0x00007ffd)\n"
                       "\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f3c)\n"
                       "\tlibodd.so => /opt/a b/libodd.so (0x00007f3c)\n"
                       "\tlibgone.so.2 => not found\n"
                       "\t/lib64/ld-linux-x86-64.so.2 (0x00007f3d)\n"
                       "./train: /lib/libm.so.6: version `GLIBC_2.38' not found (required by ./train)\n"),
              ::testing::ElementsAre(Pair("libgone.so.2", ""), Pair("libodd.so", "/opt/a b/libodd.so"),
                                     Pair("libz.so.1", "/lib/x86_64-linux-gnu/libz.so.1")));
  EXPECT_TRUE(ParseLdd("\tnot a dynamic executable\n").empty());
}

TEST(IsOfGlibcTest, KnowsItsLibraries) {
  for (const char* name : {"libc.so.6", "libm.so.6", "libnss_files.so.2", "ld-linux-x86-64.so.2", "libpthread.so.0"}) {
    EXPECT_TRUE(IsOfGlibc(name)) << name;
  }
  for (const char* name : {"libcrypto.so.3", "libmvec2.so.1", "libstdc++.so.6", "libmkl.so"}) {
    EXPECT_FALSE(IsOfGlibc(name)) << name;
  }
}

TEST(ForEachMachineTest, ReturnsTheFirstErrorAndWaitsForAll) {
  std::atomic<int> calls{0};
  EXPECT_TRUE(ForEachMachine(50, [&calls](size_t) -> Status {
                ++calls;
                return OkStatus();
              }).ok());
  EXPECT_EQ(calls, 50);
  const Status status = ForEachMachine(2, [](size_t i) -> Status { return InvalidArgument("machine ", i); });
  EXPECT_TRUE(absl::IsInvalidArgument(status));
}

// A machine with an ldd that lacks some libraries. They are found in LD_LIBRARY_PATH.
class BringLibrariesTest : public ::testing::Test {
 protected:
  void MakeMachine(const std::string& lacks) {
    ssh_ = WriteFakeSsh(dir_);
    std::filesystem::create_directory(dir_.path() + "/job");
    dir_.Write("bin/ldd",
               "#!/bin/sh\n"
               "/usr/bin/ldd \"$1\" | while read -r name rest; do\n"
               "  case \" " +
                   lacks +
                   " \" in *\" $name \"*)\n"
                   "    [ -n \"$LD_LIBRARY_PATH\" ] && [ -e \"$LD_LIBRARY_PATH/$name\" ] || rest='=> not found';;\n"
                   "  esac\n"
                   "  printf '\\t%s %s\\n' \"$name\" \"$rest\"\n"
                   "done\n");
    ::chmod((dir_.path() + "/bin/ldd").c_str(), 0700);
    std::filesystem::copy_file("/bin/bash", dir_.path() + "/job/train");  // its library is libtinfo
  }
  StatusOr<std::string> Bring(const std::vector<AgentNode>& nodes) {
    return BringLibraries(nodes, {ssh_}, dir_.path() + "/job/train", /*err_fd=*/-1);
  }
  TempDir dir_;
  std::string ssh_;
};

TEST_F(BringLibrariesTest, BringsWhatIsMissing) {
  MakeMachine("libtinfo.so.6");
  const auto folder = Bring({{"alpha", "", 0}});
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(*folder, dir_.path() + "/job/.tensorbraid-lib");
  EXPECT_TRUE(std::filesystem::is_regular_file(*folder + "/libtinfo.so.6"));
  // The second time they are there, and the tasks still need the folder.
  EXPECT_EQ(*Bring({{"alpha", "", 0}}), *folder);
}

TEST_F(BringLibrariesTest, BringsNothingIfAllIsThere) {
  MakeMachine("");
  EXPECT_EQ(*Bring({{"alpha", "", 0}, {"beta", "", 0}}), "");
  EXPECT_FALSE(std::filesystem::exists(dir_.path() + "/job/.tensorbraid-lib"));
}

TEST_F(BringLibrariesTest, NamesWhatCannotBeBrought) {
  MakeMachine("libc.so.6");
  EXPECT_THAT(Bring({{"alpha", "", 0}}).status().message(),
              ::testing::AllOf(HasSubstr("--sync: alpha: "), HasSubstr("libc.so.6"), HasSubstr("install its package")));
  EXPECT_THAT(Bring({{"gamma", "", 0}}).status().message(), HasSubstr("no route"));
}

TEST_F(BringLibrariesTest, WritesThroughNoLinkAndOverwritesNothing) {
  MakeMachine("libtinfo.so.6");
  const std::string folder = dir_.path() + "/job/.tensorbraid-lib";
  std::filesystem::create_directory(dir_.path() + "/theirs");
  std::filesystem::create_directory_symlink(dir_.path() + "/theirs", folder);
  EXPECT_THAT(Bring({{"alpha", "", 0}}).status().message(),
              HasSubstr("' is a link there, so nothing is written to it"));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/theirs"));
  // A file of that name there that the loader does not take.
  std::filesystem::remove(folder);
  std::filesystem::create_directory(folder);
  std::filesystem::create_symlink(dir_.path() + "/nowhere", folder + "/libtinfo.so.6");
  EXPECT_THAT(Bring({{"alpha", "", 0}}).status().message(), HasSubstr("does not take libtinfo.so.6"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/libtinfo.so.6"));
}

TEST_F(BringLibrariesTest, LeavesScriptsAlone) {
  MakeMachine("libtinfo.so.6");
  dir_.Write("job/train", "#!/bin/sh\n");
  EXPECT_EQ(*Bring({{"gamma", "", 0}}), "");
}

}  // namespace
}  // namespace tensorbraid
