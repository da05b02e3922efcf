// Jobs with random tasks to which random things happen, from a seed, against what must hold in any case: no process and
// no file is left, and the exit code says how the job ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <random>
#include <set>

#include "absl/strings/numbers.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

class RandomJob {
 public:
  explicit RandomJob(unsigned seed) : random_(seed) { std::filesystem::create_directory(temporary()); }

  // Runs the job, and checks what must hold.
  void Run() {
    const int workers = 1 + Any(3);
    std::vector<std::string> command = {TENSORBRAID_PROGRAM,           "launch",      "--ps=0",
                                        StrCat("--workers=", workers), "--grace_s=0", "--stop_grace_s=1"};
    if (Any(2) == 0) command.push_back("--restart=on-failure:1");
    command.insert(command.end(), {"--", "sh", "-c", Script(workers), "program"});
    auto launch = ChildProcess::Start(command, {{"TMPDIR", temporary()}});
    ASSERT_TRUE(launch.ok()) << launch.status();
    // The first line of a task, if it has any, comes after its start.
    AwaitLine(launch->out(), "[worker/");
    const int event = Any(6);
    SCOPED_TRACE(StrCat("event ", event));
    bool was_killed = false;
    if (event == 1) Signal(*launch, {SIGTERM, SIGTERM});
    if (event == 2) Signal(*launch, {SIGINT, SIGHUP});
    if (event == 3) launch->out().Close();
    if (event == 4) {
      was_killed = true;
      Signal(*launch, {SIGKILL});
    }
    if (event == 5) Signal(*launch, {SIGTERM});  // and nobody reads
    if (event < 3) ReadAll(*launch);
    const ProcessEnd end = launch->Reap();
    for (const std::string& pid : StrSplit(TextOf(dir_.path() + "/pids"), '\n')) {
      int number = 0;
      EXPECT_TRUE(!absl::SimpleAtoi(pid, &number) || Ends(number)) << pid;
    }
    if (was_killed) {
      EXPECT_TRUE(end.signal == SIGKILL || codes_.contains(end.exit_code)) << end.ToString();
      std::error_code gone;  // while this looks
      for (std::filesystem::directory_iterator left(temporary()); left != std::filesystem::end(left);
           left.increment(gone)) {
        EXPECT_TRUE(IsRemoved(left->path())) << left->path();
      }
      return;
    }
    // A signal may also come when the launcher has done all of its work, and end it by itself.
    std::set<int> allowed = codes_;
    if (event == 1 || event == 5) allowed.insert(128 + SIGTERM);
    if (event == 2) allowed.insert({128 + SIGINT, 128 + SIGHUP});
    if (event == 3) allowed.insert(128 + SIGPIPE);
    EXPECT_TRUE(allowed.contains(end.ShellCode())) << end.ToString();
    EXPECT_TRUE(std::filesystem::is_empty(temporary()));
  }

 private:
  int Any(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string temporary() const { return dir_.path() + "/tmp"; }

  // Each task notes its pid and that of a child, writes, and ends in its own way.
  std::string Script(int workers) {
    const std::string note = " >> " + dir_.path() + "/pids; ";
    std::string script = "sleep 100 & echo $!" + note + "echo $$" + note + "echo started; case \"$*\" in ";
    bool all_end_well = true;
    for (int i = 0; i < workers; ++i) {
      static constexpr std::array<int, 4> kCodes = {0, 0, 2, 3};
      const int code = kCodes[static_cast<size_t>(Any(4))];
      script += StrCat("*task_index=", i, "*) ");
      if (Any(2) == 0) script += "trap '' INT TERM; ";
      if (Any(2) == 0) script += StrCat("seq ", 1 + Any(50000), "; ");
      if (Any(4) == 0) script += "kill -KILL $$; ";
      const bool is_killed = script.ends_with("kill -KILL $$; ");
      script += StrCat("exit ", code, ";; ");
      if (is_killed || code != 0) {
        all_end_well = false;
        codes_.insert(is_killed ? 128 + SIGKILL : code);
      }
    }
    if (all_end_well) codes_.insert(0);
    return script + "esac";
  }

  static void Signal(const ChildProcess& launch, const std::vector<int>& signals) {
    for (const int signal : signals) ::kill(launch.pid(), signal);
  }
  static void ReadAll(ChildProcess& launch) {
    while (!AwaitLine(launch.out(), "").empty()) {
    }
  }

  std::mt19937 random_;
  std::set<int> codes_;  // with which the job may end if nothing happens to it
  TempDir dir_;
};

TEST(LauncherRandomTest, LeavesNothingBehindAndSaysHowItEnded) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(StrCat("seed ", seed));
    RandomJob(seed).Run();
  }
}

}  // namespace
}  // namespace tensorbraid
