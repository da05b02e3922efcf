// The commands `task` and `registry`, as processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using Variables = std::vector<std::pair<std::string, std::string>>;

std::string ReadAll(const Fd& fd) {
  std::string text;
  char bytes[4096];
  pollfd event = {fd.get(), POLLIN, 0};
  while (::poll(&event, 1, 60000) == 1) {
    const ssize_t count = ::read(fd.get(), bytes, sizeof bytes);
    if (count <= 0) break;
    text.append(bytes, static_cast<size_t>(count));
  }
  return text;
}

struct Ended {
  int exit_code = -1;
  std::string out, err;
};

Ended RunTask(std::vector<std::string> arguments, Variables variables) {
  arguments.insert(arguments.begin(), {TENSORBRAID_PROGRAM, "task"});
  // Without what the tests themselves may be started with.
  for (const char* name : {"TF_CONFIG", "SLURM_JOB_ID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    variables.insert(variables.begin(), {name, ""});
  }
  auto process = ChildProcess::Start(arguments, variables, ChildProcess::Stdout::kPipe);
  EXPECT_TRUE(process.ok()) << process.status();
  Ended ended;
  ended.out = ReadAll(process->out());
  ended.err = ReadAll(process->err());
  EXPECT_TRUE(Ends(process->pid()));
  ended.exit_code = process->Reap().exit_code;
  return ended;
}

TEST(TaskCommandTest, TheTaskIsPrintedForScripts) {
  const Ended ended = RunTask({}, {{"TF_CONFIG",
                                    R"({"cluster": {"ps": ["p:1"], "worker": ["a:1", "b:1"]},
                                        "task": {"type": "worker", "index": 1}})"}});
  EXPECT_EQ(ended.out, "job=worker\nindex=1\naddress=b:1\nsource=tf_config\nps_hosts=p:1\nworker_hosts=a:1,b:1\n");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

TEST(TaskCommandTest, AProcessWithoutATaskEndsWithOne) {
  const Ended ended = RunTask({"--json"}, {});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "null\n");
  EXPECT_THAT(ended.err, HasSubstr("--explain"));
}

TEST(TaskCommandTest, TheExplanationHasEachSource) {
  const Ended ended = RunTask({"--explain", "--json"}, {{"TENSORBRAID_SERVICE", "svc"}});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("TENSORBRAID_PS is missing"));
  const auto json = nlohmann::json::parse(ended.out);
  ASSERT_EQ(json["sources"].size(), 6);
  EXPECT_EQ(json["sources"][0]["name"], "flags");
  EXPECT_EQ(json["sources"][3]["name"], "kubernetes");
  EXPECT_EQ(json["sources"][3]["responsible"], true);
  EXPECT_EQ(json["sources"][3]["read"]["TENSORBRAID_SERVICE"], "svc");
  EXPECT_EQ(json["sources"][4]["asked"], false);
  EXPECT_THAT(json["error"].get<std::string>(), HasSubstr("TENSORBRAID_PS is missing"));
  EXPECT_TRUE(json["task"].is_null());
}

TEST(RegistryCommandTest, TasksFindEachOtherThroughTheRegistry) {
  const TempDir dir;
  const std::string token = dir.Write("token", "0123456789abcdef\n");
  auto registry =
      ChildProcess::Start({TENSORBRAID_PROGRAM, "registry", "--ps=1", "--workers=2", "--token_file=" + token}, {},
                          ChildProcess::Stdout::kPipe);
  ASSERT_TRUE(registry.ok()) << registry.status();
  const std::string address = AwaitLine(registry->out(), "registry of 1 ps and 2 worker tasks at ");
  ASSERT_THAT(address, HasSubstr("localhost:"));
  const std::vector<std::string> names = {"ps/0", "worker/0", "worker/1"};
  std::vector<Ended> ended(names.size());
  std::vector<std::thread> tasks;
  for (size_t i = 0; i < names.size(); ++i) {
    tasks.emplace_back([&, i] {
      ended[i] = RunTask({"--json"}, {{"TENSORBRAID_REGISTRY", address},
                                      {"TENSORBRAID_TASK", names[i]},
                                      {"TENSORBRAID_TOKEN_FILE", token},
                                      {"TENSORBRAID_DISCOVERY_TIMEOUT", "60"}});
    });
  }
  for (std::thread& task : tasks) task.join();
  for (size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(ended[i].exit_code, 0) << ended[i].err;
    const auto json = nlohmann::json::parse(ended[i].out);
    EXPECT_EQ(StrCat(json["job"].get<std::string>(), "/", json["index"].get<int>()), names[i]);
    EXPECT_EQ(json["cluster"], nlohmann::json::parse(ended[0].out)["cluster"]);
    EXPECT_EQ(json["source"], "registry");
  }
  registry->Signal(SIGTERM);
  EXPECT_TRUE(Ends(registry->pid()));
  EXPECT_EQ(registry->Reap().exit_code, 0);
}

}  // namespace
}  // namespace tensorbraid
