// Tests saving by a program whose process and working directory are not those of the server. Uses gRPC.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// A variable with a value, in a session.
struct OneVariable {
  explicit OneVariable(const std::string& target) : v(g, {2}, Zeros(), {.name = "v"}) {
    const Operation init = GlobalVariablesInitializer(g);
    session = Session::Create(g, {.target = target}).value();
    EXPECT_TRUE(session->Run({init}).ok());
  }
  Graph g;
  Variable v;
  std::unique_ptr<Session> session;
};

// Runs `body` on a thread with a working directory of its own, as if it were another process.
void InDirectory(const std::string& directory, const std::function<void()>& body) {
  std::thread([&] {
    ASSERT_EQ(unshare(CLONE_FS), 0);
    ASSERT_EQ(chdir(directory.c_str()), 0);
    body();
  }).join();
}

class RemoteSaverTest : public testing::Test {
 protected:
  void SetUp() override {
    InDirectory(server_dir_.path(), [this] {
      server_ = Server::Create(ClusterSpec({{"worker", {"localhost:0"}}}), {.job_name = "worker"}).value();
    });
    const std::string address = server_->address();
    // With this form of the address, the session does not notice that the server is in this process.
    target_ = StrCat("grpc://127.0.0.1", address.substr(address.rfind(':')));
  }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }

  TempDir dir_, server_dir_;
  std::unique_ptr<Server> server_;
  std::string target_;
};

TEST_F(RemoteSaverTest, ARelativePathBeginsAtTheDirectoryOfTheProgramNotOfTheServer) {
  InDirectory(dir_.path(), [this] {
    OneVariable m(target_);
    Saver saver(m.g);
    const auto path = saver.Save(*m.session, "logs/model", {.global_step = 3});
    ASSERT_TRUE(path.ok()) << path.status();
    EXPECT_EQ(*path, Path("logs/model-3"));
    EXPECT_EQ(LatestCheckpoint(Path("logs")).value(), *path);
    EXPECT_TRUE(std::filesystem::exists(*path + ".data-00000-of-00001"));
    EXPECT_TRUE(saver.Restore(*m.session, "logs/model-3").ok());
  });
}

TEST_F(RemoteSaverTest, ASaveWhoseFilesTheProgramCannotSeeIsAnError) {
  InDirectory(dir_.path(), [this] {
    OneVariable m(target_);
    Saver saver(m.g);
    // An absolute path that means different directories in the program and in the server.
    const auto path = saver.Save(*m.session, "/proc/thread-self/cwd/model");
    EXPECT_TRUE(absl::IsFailedPrecondition(path.status())) << path.status();
    EXPECT_NE(path.status().message().find("storage that all tasks share"), absl::string_view::npos) << path.status();
    EXPECT_FALSE(std::filesystem::exists(Path("checkpoint")));
  });
}

TEST_F(RemoteSaverTest, ATaskThatDoesNotSeeTheDirectorySaysWhatToDo) {
  InDirectory(dir_.path(), [this] {
    Graph g;
    auto device = g.Device("/job:worker/task:0");
    const Variable v(g, {2}, Zeros(), {.name = "v"});
    Saver saver(g);
    const Operation init = GlobalVariablesInitializer(g);
    auto session = Session::Create(g, {.target = target_}).value();
    ASSERT_TRUE(session->Run({init}).ok());
    // The directory "logs" exists for the program, which makes it, but not for the task.
    const Status status = saver.Save(*session, "/proc/thread-self/cwd/logs/model").status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    for (const char* part : {"storage that all tasks share", "sharded = false", "/logs/model"}) {
      EXPECT_NE(status.message().find(part), absl::string_view::npos) << status;
    }
  });
}

}  // namespace
}  // namespace tensorbraid
