#include "launch/bring/python_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/bring/fake_ssh_testutil.h"
#include "launch/bring/python_environment.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(IsPythonTest, KnowsItByItsName) {
  for (const char* name : {"python", "python3", "env/bin/python3.12", "/usr/bin/python3.13t", "./python3.11d"}) {
    EXPECT_TRUE(IsPython(name)) << name;
  }
  for (const char* name : {"train.py", "./train", "python-config", "pythonic", "bash", ""}) {
    EXPECT_FALSE(IsPython(name)) << name;
  }
}

TEST(PlacePythonTest, UsesPackagesWhereTheyAreBroughtAndCopiesOthers) {
  const PythonEnvironment environment{.program = "python",
                                      .version = "3.11",
                                      .abi = "cpython-311-x86_64-linux-gnu",
                                      .interpreter = "/usr/bin/python3.11",
                                      .packages = {"/job/env/lib/python3.11/site-packages"}};
  const PythonPlace in_place = PlacePython(environment, {"/data", "/job"}, "/job/src");
  EXPECT_EQ(in_place.interpreter, "/job/.tensorbraid-python/bin/python");
  EXPECT_EQ(in_place.packages, "/job/.tensorbraid-python/lib/python3.11/site-packages");
  EXPECT_EQ(in_place.origin, "/job/env/lib/python3.11/site-packages");
  EXPECT_FALSE(in_place.is_copied);
  EXPECT_EQ(in_place.agent, "");

  const PythonPlace copied = PlacePython(environment, {"/data", "/jo"}, "/job/src");
  EXPECT_EQ(copied.interpreter, "/data/.tensorbraid-python/bin/python");
  EXPECT_EQ(copied.origin, "/data/.tensorbraid-python/packages");
  EXPECT_TRUE(copied.is_copied);
}

// A virtual environment here, and machines that are this one.
class BringPythonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ssh_ = WriteFakeSsh(dir_);
    for (const char* name : {"job", "env"}) fs::create_directory(Path(name));
    ASSERT_TRUE(RunCommand({"python3", "-m", "venv", "--without-pip", Path("env")}).ok());
    auto environment = ReadPythonEnvironment(Path("env/bin/python"));
    ASSERT_TRUE(environment.ok()) << environment.status();
    environment_ = *environment;
    ASSERT_THAT(environment_.packages, ::testing::SizeIs(1));
  }
  std::string Path(const std::string& name) const { return fs::canonical(dir_.path()).string() + "/" + name; }
  // Writes a module of the environment.
  void WriteModule(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(environment_.packages[0]) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  PythonPlace Place() const { return PlacePython(environment_, {Path("job")}, Path("job")); }
  Status Bring(const std::vector<AgentNode>& nodes = {{"alpha", "", 0}}) const {
    return BringPython({.nodes = nodes, .ssh = {ssh_}, .err_fd = -1}, environment_, Place());
  }
  // What a program prints that runs with the Python of the machine.
  StatusOr<std::string> Run(const std::string& program) const {
    return RunCommand({Place().interpreter, "-c", program});
  }
  TempDir dir_;
  std::string ssh_;
  PythonEnvironment environment_;
};

TEST_F(BringPythonTest, AMachineGetsAnEnvironmentWithThePackages) {
  WriteModule("greeting/__init__.py", "TEXT = 'hello'\n");
  // As packages that are installed to be edited have it.
  fs::create_directory(Path("src"));
  dir_.Write("src/edited.py", "NUMBER = 7\n");
  WriteModule("edited.pth", Path("src") + "\n");
  const Status status = Bring({{"alpha", "", 0}, {"beta", "", 0}});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(*Run("import edited, greeting, sys; print(greeting.TEXT, edited.NUMBER, sys.prefix)"),
            StrCat("hello 7 ", Path("job/.tensorbraid-python"), "\n"));
  EXPECT_EQ(*Run("import greeting; print(greeting.__file__.startswith('" + Path("job/") + "'))"), "True\n");
}

TEST_F(BringPythonTest, WhatIsGoneHereGoesThereAndNothingElse) {
  WriteModule("old.py", "");
  WriteModule("young.py", "");
  ASSERT_TRUE(Bring().ok());
  fs::remove(environment_.packages[0] + "/old.py");
  dir_.Write("job/.tensorbraid-python/packages/theirs.py", "");
  WriteModule("young.py", "NUMBER = 8\n");
  ASSERT_TRUE(Bring().ok());
  EXPECT_EQ(*Run("import theirs, young; print(young.NUMBER)"), "8\n");
  EXPECT_THAT(Run("import old").status().message(), HasSubstr("No module named 'old'"));
}

TEST_F(BringPythonTest, PackagesThatAreBroughtAlreadyAreNotCopied) {
  fs::rename(Path("env"), Path("job/env"));
  environment_.packages = {Path("job") + environment_.packages[0].substr(dir_.path().size())};
  WriteModule("greeting.py", "TEXT = 'hello'\n");
  ASSERT_TRUE(Bring().ok());
  EXPECT_EQ(*Run("import greeting; print(greeting.TEXT)"), "hello\n");
  EXPECT_FALSE(fs::exists(Path("job/.tensorbraid-python/packages")));
}

TEST_F(BringPythonTest, AnInterpreterAtAnotherPathWillDo) {
  fs::create_symlink(environment_.interpreter, Path("bin/python" + environment_.version));
  environment_.interpreter = "/nonexistent/python";
  EXPECT_TRUE(Bring().ok());
  EXPECT_TRUE(Run("print()").ok());
}

TEST_F(BringPythonTest, AMachineWithoutTheSameAbiIsNamed) {
  const std::string abi = environment_.abi;
  environment_.abi = "cpython-299-x86_64-linux-gnu";
  environment_.version = "2.99";
  EXPECT_THAT(Bring().message(),
              AllOf(HasSubstr("--sync: alpha: the packages of '"),
                    HasSubstr("need Python 2.99 (cpython-299-x86_64-linux-gnu), and it has /"), HasSubstr(abi),
                    HasSubstr("install python2.99 there, or use a version here that all machines have")));
  EXPECT_FALSE(fs::exists(Place().folder));
}

TEST_F(BringPythonTest, AnEnvironmentBehindALinkIsLeftAlone) {
  WriteModule("greeting.py", "");
  // The user's own environment, in the place of ours and in that of its parts.
  ASSERT_TRUE(RunCommand({"python3", "-m", "venv", "--without-pip", Path("own")}).ok());
  fs::create_directory(Path("own/packages"));
  const auto text = [this] { return RunCommand({"sh", "-c", "cd " + Path("own") + " && ls -lR && cat pyvenv.cfg"}); };
  const std::string before = *text();
  const std::string folder = Place().folder;
  for (const std::string part : {"", "/bin", "/lib", "/packages"}) {
    fs::remove_all(folder);
    if (!part.empty()) fs::create_directory(folder);
    fs::create_directory_symlink(Path("own") + part, folder + part);
    EXPECT_THAT(Bring().message(), HasSubstr(StrCat("--sync: alpha: '", folder, part, "' there is not what --sync")));
    EXPECT_EQ(*text(), before) << part;
  }
  fs::remove_all(folder);
  EXPECT_EQ(Bring(), OkStatus());
}

TEST_F(BringPythonTest, APackageThatCannotBeLoadedIsNamed) {
  WriteModule("tensorbraid/__init__.py", "raise ImportError('libodd.so.1: cannot open shared object file')\n");
  EXPECT_THAT(Bring().message(),
              AllOf(HasSubstr("--sync: alpha: 'import tensorbraid' fails there: ImportError: libodd"),
                    HasSubstr("a wheel of tensorbraid")));
}

TEST_F(BringPythonTest, TheAgentIsTheProgramAmongThePackages) {
  WriteModule("tensorbraid/bin/tensorbraid", "");
  EXPECT_EQ(Place().agent, Place().packages + "/tensorbraid/bin/tensorbraid");
}

TEST(ReadPythonEnvironmentTest, NamesWhatIsWrong) {
  TempDir dir;
  EXPECT_TRUE(absl::IsNotFound(ReadPythonEnvironment("/nonexistent/python").status()));
  const std::string program = dir.Write("python", "#!/bin/sh\necho 2.7\n");
  ::chmod(program.c_str(), 0700);
  EXPECT_THAT(ReadPythonEnvironment(program).status().message(), HasSubstr("CPython 3 does"));
}

}  // namespace
}  // namespace tensorbraid
