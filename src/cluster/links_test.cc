// What Server::Join logs.
#include "cluster/links.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "cluster/task.h"
#include "core/logging.h"
#include "transport/inproc/inproc_transport.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// While it exists, what this process writes to standard error can be read here.
class StderrReader {
 public:
  StderrReader() : stderr_(::dup(STDERR_FILENO)) {
    TB_CHECK(::pipe2(pipe_, O_CLOEXEC) == 0);
    ::dup2(pipe_[1], STDERR_FILENO);
    ::close(pipe_[1]);
  }
  ~StderrReader() {
    ::dup2(stderr_, STDERR_FILENO);
    ::close(stderr_);
    ::close(pipe_[0]);
  }
  // Blocks until a line contains `part`, and returns the line.
  std::string WaitForLine(const std::string& part) {
    std::string line;
    char c;
    while (::read(pipe_[0], &c, 1) == 1) {
      if (c != '\n') {
        line += c;
      } else if (line.find(part) != std::string::npos) {
        return line;
      } else {
        line.clear();
      }
    }
    return "standard error was closed";
  }

 private:
  const int stderr_;
  int pipe_[2];
};

std::shared_ptr<Task> StartPs(const ClusterSpec& cluster, const std::shared_ptr<InprocNetwork>& network) {
  TaskOptions options{.job = "ps", .index = 0};
  options.links.join_log_after = std::chrono::milliseconds(1);
  auto task = Task::Create(cluster, options, NewInprocTransport(network)).value();
  TB_CHECK_OK(task->Start(*cluster.task_address("ps", 0)).status());
  return task;
}

TEST(JoinTest, LogsTheTasksThatNeverConnectedAgainAndAgain) {
  const ClusterSpec cluster(
      {{"ps", {"localhost:1000", "localhost:1001"}}, {"worker", {"localhost:2000", "localhost:2001"}}});
  const auto network = std::make_shared<InprocNetwork>();
  const auto ps = StartPs(cluster, network);
  const auto worker = Task::Create(cluster, {.job = "worker", .index = 1}, NewInprocTransport(network)).value();
  ASSERT_TRUE(worker->Start("localhost:2001").ok());
  ASSERT_TRUE(
      worker->links()->WaitFor("/job:ps/replica:0/task:0", std::chrono::steady_clock::time_point::max(), nullptr).ok());
  StderrReader log;
  std::thread join([&] { EXPECT_TRUE(ps->links()->Join().ok()); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(log.WaitForLine("waiting for"),
                AllOf(HasSubstr("worker/0 (localhost:2000)"), Not(HasSubstr("worker/1")), Not(HasSubstr("ps/1"))));
  }
  ps->Stop(OkStatus());
  join.join();
}

TEST(JoinTest, SaysThatAClusterOfParameterServersAloneIsNeverOver) {
  const ClusterSpec cluster({{"ps", {"localhost:1000"}}});
  const auto ps = StartPs(cluster, std::make_shared<InprocNetwork>());
  StderrReader log;
  std::thread join([&] { EXPECT_TRUE(ps->links()->Join().ok()); });
  EXPECT_THAT(log.WaitForLine("only parameter servers"), HasSubstr("ps/0 serves until it is stopped"));
  ps->Stop(OkStatus());
  join.join();
}

}  // namespace
}  // namespace tensorbraid
