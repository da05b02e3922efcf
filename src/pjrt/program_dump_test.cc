#include "pjrt/program_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "pjrt/program_cache.h"
#include "pjrt/testing/test_plugins.h"

namespace tensorbraid {
namespace {

using ::testing::StartsWith;

// A cache of programs is told to compile programs that it does not have yet.
class ProgramDumpTest : public testing::Test {
 protected:
  ~ProgramDumpTest() override { unsetenv(kDumpProgramsVariable); }

  static std::string NewProgram() {
    static int made = 0;
    return StrCat("// ", made++, " of the test of dumps", pjrt::kAdd);
  }
  static void Compile(const std::string& text) {
    const auto program = ProgramCache::Of(pjrt::ClientOf(TB_FAKE_PLUGIN)).Wait(text, pjrt::AddOptions());
    EXPECT_TRUE(program.ok()) << program.status();
  }

  TempDir dir_;
};

TEST_F(ProgramDumpTest, EachProgramThatIsCompiledIsWritten) {
  const std::string directory = dir_.path() + "/new/programs";
  Compile(NewProgram());
  setenv(kDumpProgramsVariable, directory.c_str(), 1);
  const std::vector<std::string> texts = {NewProgram(), NewProgram()};
  for (const std::string& text : {texts[0], texts[1], texts[0]}) Compile(text);
  std::vector<std::string> written;
  const auto paths = MatchingPaths(directory + "/program_*.mlir");
  ASSERT_TRUE(paths.ok()) << paths.status();
  for (const std::string& path : *paths) written.push_back(ReadFile(path).value());
  EXPECT_THAT(written, testing::UnorderedElementsAre(StrCat("// the program 'add'\n", texts[0]),
                                                     StrCat("// the program 'add'\n", texts[1])));
}

TEST_F(ProgramDumpTest, AnErrorDoesNotStopTheCompiler) {
  const std::string file = dir_.path() + "/file";
  ASSERT_TRUE(WriteFile(file, "no directory").ok());
  setenv(kDumpProgramsVariable, file.c_str(), 1);
  Compile(NewProgram());
  EXPECT_THAT(ReadFile(file).value(), StartsWith("no directory"));
}

}  // namespace
}  // namespace tensorbraid
