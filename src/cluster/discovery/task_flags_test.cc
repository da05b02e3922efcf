#include "tensorbraid/cluster/task_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tensorbraid/cluster/server.h"
#include "tensorbraid/core/flags.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TaskFlagsTest : public ::testing::Test {
 protected:
  // The variables of an engine that runs the tests are not for these programs.
  TaskFlagsTest() {
    ::unsetenv("TF_CONFIG");
    ::setenv("TENSORBRAID_DISCOVERY", "kubernetes", 1);
  }
  ~TaskFlagsTest() override {
    ::unsetenv("TF_CONFIG");
    ::unsetenv("TENSORBRAID_DISCOVERY");
  }

  Status Parse(std::vector<const char*> args) {
    args.insert(args.begin(), "program");
    return flags_.Parse(static_cast<int>(args.size()), args.data());
  }

  Flags flags_{"A program."};
  TaskFlags& task_ = flags_.DefineTask();
};

TEST_F(TaskFlagsTest, FlagsMakeTheCluster) {
  const Status status =
      Parse({"--ps_hosts=p:1", "--worker_hosts=a:1,b:1", "--job_name=worker", "--task_index=1", "--issync=1"});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(task_.cluster(), ClusterSpec({{"ps", {"p:1"}}, {"worker", {"a:1", "b:1"}}}));
  EXPECT_EQ(task_.device(), "/job:worker/task:1");
  EXPECT_FALSE(task_.is_chief());
  EXPECT_TRUE(task_.issync);
}

TEST_F(TaskFlagsTest, FlagsOfAcceleratorsSetTheirVariables) {
  const Status status = Parse({"--worker_hosts=a:1", "--job_name=worker", "--task_index=0",
                               "--accelerator_plugin=GPU=/opt/a.so", "--compile_cache=/tmp/programs"});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_STREQ(::getenv("TENSORBRAID_ACCELERATOR_PLUGIN"), "GPU=/opt/a.so");
  EXPECT_STREQ(::getenv("TENSORBRAID_COMPILE_CACHE"), "/tmp/programs");
  ::unsetenv("TENSORBRAID_ACCELERATOR_PLUGIN");
  ::unsetenv("TENSORBRAID_COMPILE_CACHE");
}

TEST_F(TaskFlagsTest, ServerOptionsHaveTheTaskAndItsProtection) {
  const Status status = Parse({"--worker_hosts=a:1,b:1", "--job_name=worker", "--task_index=1", "--tls_cert=c.pem",
                               "--tls_key=k.pem", "--tls_ca=ca.pem", "--token_file=t", "--client_token_file=c",
                               "--allow_path=/a,/b", "--load=/lib/a.so,/lib/b.so"});
  ASSERT_TRUE(status.ok()) << status;
  const ServerOptions options = task_.server_options();
  EXPECT_EQ(options.job_name, "worker");
  EXPECT_EQ(options.task_index, 1);
  EXPECT_EQ(options.tls.cert, "c.pem");
  EXPECT_EQ(options.tls.key, "k.pem");
  EXPECT_EQ(options.tls.ca, "ca.pem");
  EXPECT_EQ(options.token_file, "t");
  EXPECT_EQ(options.client_token_file, "c");
  EXPECT_EQ(options.allow_paths, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(options.op_libraries, (std::vector<std::string>{"/lib/a.so", "/lib/b.so"}));
  EXPECT_FALSE(options.insecure);
}

TEST_F(TaskFlagsTest, MetricsPortAndProtocolComeFromFlags) {
  ASSERT_TRUE(Parse({"--worker_hosts=a:1", "--job_name=worker", "--metrics_port=9090"}).ok());
  EXPECT_EQ(task_.server_options().metrics_port, 9090);
  EXPECT_EQ(ServerOptions().metrics_port, -1);
  EXPECT_EQ(task_.server_options().protocol, "");
  ASSERT_TRUE(Parse({"--worker_hosts=a:1", "--job_name=worker", "--protocol=grpc+ucx"}).ok());
  EXPECT_EQ(task_.server_options().protocol, "grpc+ucx");
}

TEST_F(TaskFlagsTest, WireTypesAreSetPerJob) {
  const auto parse = [&](const char* wire) {
    return Parse({"--ps_hosts=p:1", "--worker_hosts=a:1", "--job_name=worker", wire});
  };
  ASSERT_TRUE(parse("--wire=ps:parameters=bfloat16,ps:gradients=int8").ok());
  EXPECT_EQ(task_.server_options().wire.at("ps"), WireTypes(Wire::kBFloat16, Wire::kInt8));
  const Status wrong = parse("--wire=ps:int4");
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wrong.message()), AllOf(HasSubstr("--wire"), HasSubstr("int4"), HasSubstr("bfloat16")));
}

TEST_F(TaskFlagsTest, ServerIsInsecureOnlyIfAFlagSaysSo) {
  ASSERT_TRUE(Parse({"--worker_hosts=a:1", "--job_name=worker", "--insecure"}).ok());
  EXPECT_TRUE(task_.server_options().insecure);
}

TEST_F(TaskFlagsTest, TheServersProtectionComesFromVariablesWhereAFlagIsNotGiven) {
  const std::map<std::string, std::string> variables = {
      {"TENSORBRAID_TLS_CERT", "c"},   {"TENSORBRAID_TLS_KEY", "k"},           {"TENSORBRAID_TLS_CA", "a"},
      {"TENSORBRAID_TOKEN_FILE", "t"}, {"TENSORBRAID_CLIENT_TOKEN_FILE", "u"}, {"TENSORBRAID_INSECURE", "1"}};
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  const Status status = Parse({"--worker_hosts=a:1", "--job_name=worker", "--tls_cert=given", "--noinsecure"});
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  ASSERT_TRUE(status.ok()) << status;
  const ServerOptions options = task_.server_options();
  EXPECT_EQ(options.tls.cert, "given");
  EXPECT_EQ(options.tls.key, "k");
  EXPECT_EQ(options.tls.ca, "a");
  EXPECT_EQ(options.token_file, "t");
  EXPECT_EQ(options.client_token_file, "u");
  EXPECT_FALSE(options.insecure);
}

TEST_F(TaskFlagsTest, KubernetesMakesTheCluster) {
  const std::map<std::string, std::string> variables = {{"TENSORBRAID_SERVICE", "{job}-{index}.svc:99"},
                                                        {"TENSORBRAID_JOB", "worker"},
                                                        {"JOB_COMPLETION_INDEX", "1"},
                                                        {"TENSORBRAID_PS", "1"},
                                                        {"TENSORBRAID_WORKERS", "2"}};
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  const Status status = Parse({});
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(task_.ps_hosts, ElementsAre("ps-0.svc:99"));
  EXPECT_THAT(task_.worker_hosts, ElementsAre("worker-0.svc:99", "worker-1.svc:99"));
  EXPECT_EQ(task_.device(), "/job:worker/task:1");
}

TEST_F(TaskFlagsTest, WorkerZeroIsChief) {
  ASSERT_TRUE(Parse({"--ps_hosts=p:1", "--worker_hosts=a:1", "--job_name=worker"}).ok());
  EXPECT_TRUE(task_.is_chief());
}

TEST_F(TaskFlagsTest, ParameterServerIsNoChief) {
  ASSERT_TRUE(Parse({"--ps_hosts=p:1", "--worker_hosts=a:1", "--job_name=ps", "--task_index=0"}).ok());
  EXPECT_FALSE(task_.is_chief());
}

TEST_F(TaskFlagsTest, AClusterMayConsistOfWorkersOnly) {
  ASSERT_TRUE(Parse({"--worker_hosts=a:1", "--job_name=worker"}).ok());
  EXPECT_THAT(task_.cluster().jobs(), ElementsAre("worker"));
  EXPECT_THAT(task_.ps_hosts, IsEmpty());
}

TEST_F(TaskFlagsTest, TfConfigMakesTheCluster) {
  ::setenv("TF_CONFIG",
           R"({"cluster": {"ps": ["p:1"], "worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})", 1);
  const Status status = Parse({"--issync"});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(task_.worker_hosts, ElementsAre("a:1", "b:1"));
  EXPECT_THAT(task_.ps_hosts, ElementsAre("p:1"));
  EXPECT_TRUE(task_.is_chief());
}

TEST_F(TaskFlagsTest, AChiefInTfConfigIsOneOfTheReplicas) {
  for (const std::string chief : {"chief", "master"}) {
    const std::string cluster =
        R"({"cluster": {"ps": ["p:1"], ")" + chief + R"(": ["c:1"], "worker": ["a:1"]}, "task": )";
    for (const std::string& type : {chief, std::string("worker")}) {
      ::setenv("TF_CONFIG", (cluster + R"({"type": ")" + type + R"(", "index": 0}})").c_str(), 1);
      Flags flags("A program.");
      TaskFlags& task = flags.DefineTask();
      const char* args[] = {"program"};
      ASSERT_TRUE(flags.Parse(1, args).ok());
      EXPECT_THAT(task.worker_hosts, ElementsAre("c:1", "a:1"));
      EXPECT_EQ(task.is_chief(), type == chief);
      EXPECT_EQ(task.device(), "/job:" + type + "/task:0");
    }
  }
}

TEST_F(TaskFlagsTest, FlagsWinOverTfConfig) {
  ::setenv("TF_CONFIG", "nonsense", 1);
  EXPECT_TRUE(Parse({"--worker_hosts=a:1", "--job_name=worker"}).ok());
}

TEST_F(TaskFlagsTest, TheErrorForAMissingClusterExplainsHowToGiveOne) {
  EXPECT_THAT(Parse({}).message(),
              AllOf(HasSubstr("--worker_hosts"), HasSubstr("TF_CONFIG"), HasSubstr("tensorbraid launch")));
}

TEST_F(TaskFlagsTest, AProgramThatRequiresNoClusterCanRunByItself) {
  for (const bool in_cluster : {false, true}) {
    Flags flags("A program.");
    TaskFlags& task = flags.DefineTask(/*required=*/false);
    const char* args[] = {"program", "--worker_hosts=a:1", "--job_name=worker"};
    ASSERT_TRUE(flags.Parse(in_cluster ? 3 : 1, args).ok());
    EXPECT_EQ(task.has_cluster(), in_cluster);
    EXPECT_EQ(task.device(), in_cluster ? "/job:worker/task:0" : "");
    EXPECT_TRUE(task.is_chief());
  }
}

TEST_F(TaskFlagsTest, HelpNeedsNoCluster) {
  EXPECT_TRUE(Parse({"--help"}).ok());
  EXPECT_THAT(flags_.Help(), AllOf(HasSubstr("--ps_hosts"), HasSubstr("TF_CONFIG")));
}

struct BadCase {
  std::vector<const char*> args;
  const char* tf_config;
  std::vector<const char*> messages;
};

class BadTaskFlagsTest : public TaskFlagsTest, public ::testing::WithParamInterface<BadCase> {};

TEST_P(BadTaskFlagsTest, TheErrorNamesTheBadFlagOrValue) {
  if (GetParam().tf_config != nullptr) ::setenv("TF_CONFIG", GetParam().tf_config, 1);
  const Status status = Parse(GetParam().args);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  for (const char* message : GetParam().messages) EXPECT_THAT(status.message(), HasSubstr(message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTaskFlagsTest,
    ::testing::Values(
        BadCase{{"--ps_hosts=p:1", "--worker_hosts=a:1", "--job_name=wroker"}, nullptr, {"'wroker'", "ps, worker"}},
        BadCase{{"--ps_hosts=p:1", "--worker_hosts=a:1", "--job_name=worker", "--task_index=1"},
                nullptr,
                {"task 1", "only 0"}},
        BadCase{{"--ps_hosts=p:1", "--worker_hosts=a:1,b:1", "--job_name=worker", "--task_index=-1"},
                nullptr,
                {"task -1", "0 to 1"}},
        BadCase{{"--ps_hosts=p:1", "--worker_hosts=a:1"}, nullptr, {"--job_name", "ps, worker"}},
        BadCase{{"--ps_hosts=p", "--worker_hosts=a:1", "--job_name=ps"}, nullptr, {"ps/0", "'p'", "host:port"}},
        BadCase{{"--ps_hosts=p:1", "--worker_hosts=a:1,,b:1", "--job_name=ps"}, nullptr, {"worker/1", "''"}},
        BadCase{{"--ps_hosts=", "--worker_hosts=", "--job_name=ps"}, nullptr, {"empty", "--worker_hosts"}},
        BadCase{{"--ps_hosts=p:1", "--job_name=ps"}, nullptr, {"no workers"}},
        BadCase{{"--ps_hosts=p:1", "--worker_hosts=a:1,p:1", "--job_name=ps"}, nullptr, {"ps/0", "worker/1", "p:1"}},
        BadCase{{}, "{", {"TF_CONFIG"}},
        BadCase{{},
                R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "evaluator", "index": 0}})",
                {"TF_CONFIG", "'evaluator'", "worker"}},
        BadCase{
            {}, R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 4}})", {"TF_CONFIG", "task 4"}},
        BadCase{
            {}, R"({"cluster": {"worker": ["a"]}, "task": {"type": "worker", "index": 0}})", {"TF_CONFIG", "worker/0"}},
        BadCase{{}, R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}})", {"TF_CONFIG", "neither"}}));

}  // namespace
}  // namespace tensorbraid
