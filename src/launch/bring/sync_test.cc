#include "launch/bring/sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "cluster/registry/digest.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/bring/fake_ssh_testutil.h"
#include "launch/bring/remote_shell.h"
#include "launch/bring/sync_manifest.h"
#include "launch/bring/sync_plan.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Brings files from folders of a directory to another folder of it.
class SyncTest : public ::testing::Test {
 protected:
  void SetUp() override { ssh_ = WriteFakeSsh(dir_); }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    dir_.Write(name, text);
  }
  // Puts another program in the place of ssh.
  void WriteSsh(const std::string& text) const {
    dir_.Write("ssh", text);
    ::chmod(ssh_.c_str(), 0700);
  }
  std::string Path(const std::string& name) const { return fs::canonical(dir_.path()).string() + "/" + name; }
  SyncSource Read(const std::string& folder) const {
    const auto source = ReadSyncSource(
        Path(folder), [](const std::string& path, bool is_directory) { return is_directory && path == "left out"; });
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() ? *source : SyncSource{};
  }
  Status Bring(const std::vector<SyncSource>& sources, const std::vector<AgentNode>& nodes = {{"alpha", "", 0}}) const {
    return BringFiles({.nodes = nodes, .ssh = {ssh_}, .err_fd = -1}, sources, Path("there"));
  }
  TempDir dir_;
  std::string ssh_;
};

TEST_F(SyncTest, FilesOfAllSourcesComeUnderAnyName) {
  const std::string odd = "a 'b'/#1; \"x\"*\n-n\xff\\t%20";
  Write("here/" + odd, "odd");
  Write("here/#first", "comment");
  Write("here/-rf", "option");
  Write("here/left out/file", "");
  Write("more/a 'b'/second", "two");
  fs::create_symlink("second", Path("more/a 'b'/link"));
  ASSERT_TRUE(Bring({Read("here"), Read("more")}, {{"alpha", "", 0}, {"beta", "", 0}}).ok());
  EXPECT_EQ(TextOf(Path("there/" + odd)), "odd");
  EXPECT_EQ(TextOf(Path("there/#first")), "comment");
  EXPECT_EQ(TextOf(Path("there/-rf")), "option");
  EXPECT_EQ(TextOf(Path("there/a 'b'/link")), "two");
  EXPECT_TRUE(fs::is_symlink(Path("there/a 'b'/link")));
  EXPECT_FALSE(fs::exists(Path("there/left out")));
  // They are changed and removed under these names, too.
  Write("here/" + odd, "even");
  fs::remove(Path("here/-rf"));
  ASSERT_EQ(Bring({Read("here"), Read("more")}), OkStatus());
  EXPECT_EQ(TextOf(Path("there/" + odd)), "even");
  EXPECT_FALSE(fs::exists(Path("there/-rf")));
}

TEST_F(SyncTest, OnlyWhatWasBroughtIsRemoved) {
  Write("here/#old", "");
  Write("here/stays", "1");
  ASSERT_TRUE(Bring({Read("here")}).ok());
  Write("there/theirs", "");
  fs::remove(Path("here/#old"));
  Write("here/stays", "2");  // of the same size
  ASSERT_TRUE(Bring({Read("here")}).ok());
  EXPECT_THAT(ReadSyncSource(Path("there"), [](const std::string&, bool) { return false; })->files,
              ElementsAre("stays", "theirs"));
  EXPECT_EQ(TextOf(Path("there/stays")), "2");
}

TEST_F(SyncTest, MistakesAreNamed) {
  Write("here/file", "");
  EXPECT_THAT(Bring({Read("here")}, {{"gamma", "", 0}}).message(), HasSubstr("--sync: gamma: "));
  Write("more/file", "");
  EXPECT_THAT(Bring({Read("here"), Read("more")}).message(), HasSubstr("'file' is in two of the directories"));
  fs::remove(Path("more/file"));
  Write("more/file/in", "");
  EXPECT_THAT(Bring({Read("here"), Read("more")}).message(), HasSubstr("'file' is a file in one directory, and a dir"));
  EXPECT_THAT(SyncedDirectory(Path("none")).status().message(), HasSubstr("there is no such directory"));
  EXPECT_THAT(SyncedDirectory("/").status().message(), HasSubstr("the whole system"));
}

// What is in a folder: a line for each file, link and directory, without the files of --sync.
std::map<std::string, std::string> TreeOf(const std::string& folder) {
  std::map<std::string, std::string> tree;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
    const std::string path = entry->path().lexically_relative(folder);
    if (path.starts_with(kManifestName)) continue;
    if (entry->is_symlink()) {
      tree[path] = "link " + fs::read_symlink(entry->path()).string();
    } else if (entry->is_directory()) {
      tree[path] = "directory";
    } else {
      const auto mode = static_cast<unsigned>(entry->status().permissions());
      tree[path] = StrCat("file ", mode, " ", TextOf(entry->path()));
    }
  }
  return tree;
}

// The same without directories in which no file is.
std::map<std::string, std::string> FilesOf(const std::string& folder) {
  auto tree = TreeOf(folder);
  std::erase_if(tree, [](const auto& entry) { return entry.second == "directory"; });
  return tree;
}

// Each way in which a path can be, by number.
constexpr int kStates = 12;
void MakeState(int state, const std::string& path, const std::string& outside) {
  const auto write = [](const std::string& file, const std::string& text) { std::ofstream(file) << text; };
  switch (state) {
    case 0:
      return;
    case 1:
      return write(path, "one");
    case 2:
      return write(path, "two");
    case 3:
      write(path, "one");
      return fs::permissions(path, fs::perms::owner_all);
    case 4:
      write(path, "read only");
      return fs::permissions(path, fs::perms::owner_read);
    case 5:
      return fs::create_symlink("nowhere", path);
    case 6:
      return fs::create_symlink("../neighbour", path);
    case 7:
      return fs::create_directory_symlink(outside, path);
    case 8:
      return fs::create_symlink(outside + "/part-1", path);
    case 9:
      fs::create_directory(path);
      write(path + "/part-1", "part 1");
      return write(path + "/part-2", "part 2");
    case 10:
      fs::create_directories(path + "/part-1/deep");
      write(path + "/part-1/deep/file", "deep");
      return fs::create_directory_symlink("part-1", path + "/part-2");
    default:
      fs::create_directory(path);
      write(path + "/part-1", "part 1");
      return fs::permissions(path, fs::perms::owner_read | fs::perms::owner_exec);
  }
}

// A directory of this machine, one of another machine, and a folder outside of both that has the only copy of
// something.
class SyncChangesTest : public SyncTest {
 protected:
  void SetUp() override {
    SyncTest::SetUp();
    for (const char* file : {"outside/part-1", "outside/part-2", "outside/file"}) Write(file, "the only copy");
    fs::create_directories(Path("here"));
    outside_ = TreeOf(Path("outside"));
  }
  void CheckOutside() const { EXPECT_EQ(TreeOf(Path("outside")), outside_); }
  Status BringHere() const { return Bring({Read("here")}); }
  std::map<std::string, std::string> outside_;
};

TEST_F(SyncChangesTest, AFolderThatBecomesALinkLosesNothingBehindIt) {
  for (const char* file : {"here/data/part-1", "here/data/part-2"}) Write(file, "the only copy");
  ASSERT_EQ(BringHere(), OkStatus());
  fs::remove_all(Path("here/data"));
  fs::create_directory_symlink(Path("outside"), Path("here/data"));
  ASSERT_EQ(BringHere(), OkStatus());
  CheckOutside();
  EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here")));
  // The machine's user does the same with another folder, which goes here.
  Write("here/set/part-1", "the only copy");
  ASSERT_EQ(BringHere(), OkStatus());
  fs::remove_all(Path("there/set"));
  fs::create_directory_symlink(Path("outside"), Path("there/set"));
  fs::remove_all(Path("here/set"));
  ASSERT_EQ(BringHere(), OkStatus());
  CheckOutside();
  EXPECT_TRUE(fs::is_symlink(Path("there/set")));
}

// From each state to each other one, and back.
TEST_F(SyncChangesTest, APathMayBecomeAnythingElse) {
  const auto make = [this](bool is_first) {
    for (int a = 0; a < kStates; ++a) {
      for (int b = 0; b < kStates; ++b) {
        const std::string folder = Path(StrCat("here/", a, "-", b));
        fs::remove_all(folder);
        fs::create_directory(folder);
        std::ofstream(folder + "/neighbour") << "stays";
        MakeState(is_first ? a : b, folder + "/x", Path("outside"));
      }
    }
  };
  for (const bool is_first : {true, false, true}) {
    make(is_first);
    ASSERT_EQ(BringHere(), OkStatus());
    EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here")));
    CheckOutside();
  }
}

TEST_F(SyncChangesTest, AUserWithoutSpecialRightsChangesReadOnlyFolders) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, who can become somebody else";
  constexpr int kNobody = 65534;
  ::chmod(dir_.path().c_str(), 0755);
  fs::create_directory(Path("there"));
  ASSERT_EQ(::chown(Path("there").c_str(), kNobody, kNobody), 0);
  WriteSsh(StrCat("#!/bin/sh\nwhile [ \"$1\" = -o ]; do shift 2; done\nshift; [ \"$1\" = -- ] && shift\n",
                  "exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \"$*\"\n"));
  const fs::perms read_only = fs::perms::owner_read | fs::perms::owner_exec;
  Write("here/a/b/file", "1");
  Write("here/a/b/old", "1");
  fs::permissions(Path("here/a/b/file"), fs::perms::owner_read);
  for (const char* folder : {"here/a/b", "here/a"}) fs::permissions(Path(folder), read_only);
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here")));
  Write("here/a/b/file", "2");
  fs::remove(Path("here/a/b/old"));
  Write("here/a/new", "2");
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(FilesOf(Path("there")), FilesOf(Path("here")));
  fs::remove_all(Path("here/a"));
  Write("here/a", "a file");
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here")));
}

TEST_F(SyncChangesTest, ADifferingFileInTheWayStopsAllByName) {
  Write("here/brought", "1");
  Write("here/folder/brought", "1");
  ASSERT_EQ(BringHere(), OkStatus());
  const auto expect_obstacle = [this](const std::string& text) {
    const auto before = TreeOf(Path("there"));
    const Status status = BringHere();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.message(),
                ::testing::AllOf(HasSubstr("--sync: alpha: in "), HasSubstr(text), HasSubstr("Nothing was sent")));
    EXPECT_EQ(TreeOf(Path("there")), before);
    CheckOutside();
  };
  Write("here/a new file", "1");
  Write("there/brought", "theirs");
  expect_obstacle("'brought' was changed there");
  fs::remove(Path("there/brought"));
  Write("there/own", "theirs");
  Write("here/own", "mine");
  expect_obstacle("'own' differs, and was not brought by --sync");
  fs::remove(Path("there/own"));
  fs::remove_all(Path("there/folder"));
  fs::create_directory_symlink(Path("outside"), Path("there/folder"));
  expect_obstacle("'folder' is a link there, and a directory here");
  fs::remove(Path("there/folder"));
  Write("there/own/theirs", "");
  expect_obstacle("'own/theirs' was not brought by --sync, and 'own' is no directory here");
  fs::remove_all(Path("there/own"));
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here")));
}

TEST_F(SyncChangesTest, WhatIsTheSameThereStaysTheirs) {
  Write("here/same", "1");
  Write("there/same", "1");
  ASSERT_EQ(BringHere(), OkStatus());
  fs::remove(Path("here/same"));
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(TextOf(Path("there/same")), "1");
}

TEST_F(SyncChangesTest, AListOfAnOlderVersionGivesNoRights) {
  Write("there/same", "1");
  Write("there/other", "old");
  Write("there/gone", "old");
  Write(StrCat("there/", kManifestName), "gone\nother\nsame\n");
  Write("here/same", "1");
  Write("here/other", "new");
  EXPECT_THAT(BringHere().message(), HasSubstr("'other' differs, and an older version, which kept no checksums"));
  fs::remove(Path("there/other"));
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(TextOf(Path("there/gone")), "old");
  Write("here/same", "2");  // it is known by now
  ASSERT_EQ(BringHere(), OkStatus());
  EXPECT_EQ(TextOf(Path("there/same")), "2");
}

TEST_F(SyncChangesTest, AListCannotNameWhatIsOutside) {
  const std::string sum = Sha256("the only copy");
  fs::create_directory(Path("there"));
  Write(StrCat("there/", kManifestName),
        StrCat("tensorbraid-sync 2\nf ", sum, " ../outside/part-1\nf ", sum, " ", Path("outside/part-2"), "\n"));
  ASSERT_EQ(BringHere(), OkStatus());
  CheckOutside();
}

// The directory of the machine is that of the launcher, as on a shared file system or with one machine for both.
TEST_F(SyncChangesTest, ASharedDirectoryIsLeftAlone) {
  Write("here/data/part-1", "the only copy");
  Write("here/old", "");
  const auto bring = [this] {
    return BringDirectory({.nodes = {{"alpha", "", 0}, {"beta", "", 0}}, .ssh = {ssh_}, .err_fd = -1}, Path("here"));
  };
  const auto expect_unchanged = [&] {
    const auto before = TreeOf(Path("here"));
    EXPECT_EQ(bring(), OkStatus());
    EXPECT_EQ(TreeOf(Path("here")), before);
    CheckOutside();
  };
  expect_unchanged();
  // A list from a time when the directory was not shared.
  Write(StrCat("here/", kManifestName),
        StrCat("tensorbraid-sync 2\nf ", Sha256("the only copy"), " data/part-1\nf ", Sha256("x"), " old\n"));
  fs::rename(Path("here/data"), Path("here/Data"));
  fs::create_directory_symlink("Data", Path("here/data"));
  fs::remove(Path("here/old"));
  expect_unchanged();
}

TEST_F(SyncChangesTest, MachinesThatShareADirectoryGetTheFilesOnce) {
  const std::vector<AgentNode> nodes = {{"alpha", "", 0}, {"beta", "", 0}, {"delta", "", 0}};
  Write("here/old", "");
  ASSERT_EQ(Bring({Read("here")}, nodes), OkStatus());
  fs::remove(Path("here/old"));
  Write("here/new", "1");
  ASSERT_EQ(Bring({Read("here")}, nodes), OkStatus());
  EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here")));
  for (const auto& entry : fs::directory_iterator(Path("there"))) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "new" || name == kManifestName) << name;
  }
}

TEST_F(SyncChangesTest, ABreakInTheMiddleIsMadeGoodByTheNextCall) {
  Write("here/a", "1");
  Write("here/b", "1");
  ASSERT_EQ(BringHere(), OkStatus());
  // The connection breaks off at each step in turn.
  const std::string ssh = TextOf(ssh_);
  int breaks = 0;
  for (int step = 1;; ++step) {
    Write("here/a", StrCat("a", step));
    fs::remove(Path(StrCat("here/new", step - 1)));
    Write(StrCat("here/new", step), "");
    dir_.Write("step", "");
    WriteSsh(StrCat("#!/bin/sh\necho >> ", Path("step"), "\n[ $(wc -l < ", Path("step"), ") -eq ", step,
                    " ] && exit 255\n", ssh));
    if (BringHere().ok()) break;
    ++breaks;
    WriteSsh(ssh);
    Write("here/a", StrCat("another a", step));  // what was brought is old already
    ASSERT_EQ(BringHere(), OkStatus()) << step;
    EXPECT_EQ(TreeOf(Path("there")), TreeOf(Path("here"))) << step;
  }
  EXPECT_GE(breaks, 5);
}

// Changes here and there at random. What the user of the machine has put there or changed stays as it is.
TEST_F(SyncChangesTest, NothingForeignIsTouchedByChangesAtRandom) {
  std::mt19937 random(1);
  const auto draw = [&random](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  const std::vector<std::string> names = {"a", "A", "b c", "-n", "#x"};
  const auto draw_path = [&](const std::string& root) {
    std::string path = root;
    for (int depth = draw(3); depth >= 0; --depth) path += "/" + names[static_cast<size_t>(draw(5))];
    return path;
  };
  int texts = 0, brought = 0, stopped = 0;
  std::map<std::string, std::string> foreign;  // the files there that are not ours
  const auto change = [&](const std::string& root) {
    const std::string path = draw_path(root);
    for (fs::path folder = fs::path(path).parent_path(); folder != root; folder = folder.parent_path()) {
      if (fs::is_symlink(folder)) return;  // would change what is outside
    }
    std::error_code error;
    switch (draw(6)) {
      case 0:
        fs::remove_all(path, error);
        return;
      case 1:
        fs::remove_all(path, error);
        if (fs::is_directory(fs::path(path).parent_path())) fs::create_directory_symlink(Path("outside"), path);
        return;
      default:
        if (fs::is_symlink(path) || fs::is_directory(path)) fs::remove_all(path, error);
        fs::create_directories(fs::path(path).parent_path(), error);
        if (!error) std::ofstream(path) << "text " << ++texts;
    }
  };
  fs::create_directories(Path("there"));
  for (int round = 0; round < 40; ++round) {
    for (int i = draw(6); i >= 0; --i) change(Path("here"));
    // Changes there are told apart from what was brought by their texts.
    auto before = FilesOf(Path("there"));
    for (int i = draw(3); i > 0; --i) change(Path("there"));
    const auto all_there = TreeOf(Path("there"));
    for (const auto& [path, content] : FilesOf(Path("there"))) {
      const auto was = before.find(path);
      if (was == before.end() || was->second != content) foreign[path] = content;
    }
    std::erase_if(foreign, [&](const auto& file) {
      const auto there = all_there.find(file.first);
      return there == all_there.end() || there->second != file.second;
    });
    const Status status = BringHere();
    CheckOutside();
    const auto after = TreeOf(Path("there"));
    for (const auto& [path, content] : foreign) {
      const auto there = after.find(path);
      ASSERT_NE(there, after.end()) << path << " in round " << round;
      EXPECT_EQ(there->second, content) << path << " in round " << round;
    }
    if (status.ok()) {
      ++brought;
      for (const auto& [path, content] : FilesOf(Path("here"))) {
        ASSERT_TRUE(after.contains(path)) << path << " in round " << round;
        EXPECT_EQ(after.at(path), content) << path << " in round " << round;
      }
    } else {
      ++stopped;
      ASSERT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_EQ(after, all_there) << "in round " << round;
      // The user moves away what is in the way.
      for (const auto& [path, content] : foreign) fs::remove(Path("there/" + path));
      foreign.clear();
    }
  }
  EXPECT_GE(brought, 10);
  EXPECT_GE(stopped, 3);
}

TEST(PlanSyncTest, ANewCaseOfANameIsNoOtherFileWhereItsCaseDoesNotCount) {
  const FileContent content = {FileContent::Kind::kFile, Sha256("1")};
  SyncManifest manifest;
  manifest.Add("Data/File", content);
  const FoundFile folder = {.type = 'd', .id = "1:1"}, file = {.type = 'f', .id = "1:2", .content = content};
  const SyncPlan plan = PlanSync({{"data/file", {.content = content}}}, manifest,
                                 {{"Data", folder}, {"Data/File", file}, {"data", folder}, {"data/file", file}});
  EXPECT_THAT(plan.obstacles, ::testing::IsEmpty());
  // It is brought after its old name was removed.
  EXPECT_TRUE(plan.remove.contains("Data/File"));
  EXPECT_TRUE(plan.bring.contains("data/file"));
  EXPECT_TRUE(plan.after.Has("data/file", content));
}

TEST(SyncManifestTest, KeepsAllNamesAndContents) {
  SyncManifest manifest;
  for (const std::string name : {"a b", "%41", "-n", "two\nlines", "\xff\xfe", "d/f"}) {
    manifest.Add(name, {FileContent::Kind::kFile, Sha256(name)});
    manifest.Add(name, {FileContent::Kind::kLink, "to " + name});
  }
  const SyncManifest read = SyncManifest::Parse(manifest.ToText());
  EXPECT_EQ(read.contents(), manifest.contents());
  EXPECT_TRUE(SyncManifest::Parse("tensorbraid-sync 3\nf 1 a\n").contents().empty());
  EXPECT_TRUE(SyncManifest::Parse("../x\n/etc/passwd\na/../../b\n").contents().empty());
}

TEST(RemoteShellTest, NoticesThatAMachineSaysNothing) {
  TempDir dir;
  const std::string ssh = dir.Write("ssh", "#!/bin/sh\necho \"$@\"\n");
  ::chmod(ssh.c_str(), 0700);
  const RemoteShell shell({"alpha", "", 0}, {ssh});
  EXPECT_THAT(*shell.Run("true"), HasSubstr("-o ServerAliveInterval=5 -o ServerAliveCountMax=3 alpha"));
}

TEST(IsWrittenByJobsTest, KnowsCheckpointsAndEventFiles) {
  for (const char* name :
       {"checkpoint", "model.ckpt-7.index", "events.out.tfevents.1.alpha", "x.data-00000-of-00001"}) {
    EXPECT_TRUE(IsWrittenByJobs(name)) << name;
  }
  for (const char* name : {"checkpoint.py", "train.data", "model.pb"}) EXPECT_FALSE(IsWrittenByJobs(name)) << name;
}

}  // namespace
}  // namespace tensorbraid
