// What each source makes of an environment. discover_test.cc tests which source wins, and exchanges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/discovery/discovery_testutil.h"
#include "cluster/discovery/source.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

using Look = StatusOr<Claim> (*)(const TaskArguments&, VariableReader&);

StatusOr<Claim> Ask(Look look, const Variables& variables, const std::string& host_name = "alpha",
                    const TaskArguments& arguments = {}) {
  const Surroundings around = MakeSurroundings(variables, host_name);
  VariableReader reader(around);
  return look(arguments, reader);
}

Variables With(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(SourcesTest, AnEmptyEnvironmentIsNobodys) {
  for (const Source& source : Sources()) {
    const auto claim = Ask(source.look, {});
    ASSERT_TRUE(claim.ok()) << source.name;
    EXPECT_FALSE(claim->responsible()) << source.name;
    EXPECT_FALSE(claim->why.empty()) << source.name;
  }
}

// Kubernetes.

struct PodCase {
  std::string host_name;
  Variables variables;
  std::string task;
  std::string second_worker;
};

class PodTest : public ::testing::TestWithParam<PodCase> {};

TEST_P(PodTest, APodKnowsItsTaskAndTheAddressesOfAll) {
  Variables variables = {{"TENSORBRAID_PS", "1"}, {"TENSORBRAID_WORKERS", "4"}};
  variables.insert(GetParam().variables.begin(), GetParam().variables.end());
  const auto claim = Ask(&LookAtKubernetes, variables, GetParam().host_name);
  ASSERT_TRUE(claim.ok()) << claim.status();
  ASSERT_TRUE(claim->known.has_value());
  EXPECT_EQ(StrCat(claim->known->task.job, "/", claim->known->task.index), GetParam().task);
  EXPECT_EQ(*claim->known->cluster.task_address("worker", 1), GetParam().second_worker);
  EXPECT_EQ(claim->known->cluster.num_tasks("ps"), 1);
  EXPECT_EQ(claim->known->cluster.num_tasks("worker"), 4);
}

INSTANTIATE_TEST_SUITE_P(
    All, PodTest,
    ::testing::Values(
        // StatefulSets "train-ps" and "train-worker" with the headless service "train".
        PodCase{"train-worker-3", {{"TENSORBRAID_SERVICE", "train"}}, "worker/3", "train-worker-1.train:2222"},
        PodCase{"train-ps-0", {{"TENSORBRAID_SERVICE", "train:7000"}}, "ps/0", "train-worker-1.train:7000"},
        // The host name may be a full name.
        PodCase{"ps-0.mnist.default.svc.cluster.local",
                {{"TENSORBRAID_SERVICE", "mnist.default.svc.cluster.local"}},
                "ps/0",
                "worker-1.mnist.default.svc.cluster.local:2222"},
        // A JobSet: the number of the job is between its name and the number of the pod.
        PodCase{"mnist-worker-0-2",
                {{"TENSORBRAID_SERVICE", "mnist"}, {"JOB_COMPLETION_INDEX", "2"}},
                "worker/2",
                "mnist-worker-0-1.mnist:2222"},
        // The name of the whole contains the name of a job.
        PodCase{"worker-bench-ps-0", {{"TENSORBRAID_SERVICE", "s"}}, "ps/0", "worker-bench-worker-1.s:2222"},
        // Names that say nothing: the job and the pattern are given.
        PodCase{"x7f2k",
                {{"TENSORBRAID_SERVICE", "t-{job}-{index}.svc:99"},
                 {"TENSORBRAID_JOB", "worker"},
                 {"JOB_COMPLETION_INDEX", "1"}},
                "worker/1",
                "t-worker-1.svc:99"}));

TEST(KubernetesSourceTest, ErrorsNameTheVariableTheValueAndTheFix) {
  const Variables good = {{"TENSORBRAID_SERVICE", "train"}, {"TENSORBRAID_PS", "1"}, {"TENSORBRAID_WORKERS", "2"}};
  const auto message = [](const Variables& variables, const std::string& host_name) {
    const auto claim = Ask(&LookAtKubernetes, variables, host_name);
    EXPECT_EQ(claim.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(claim.status().message());
  };
  EXPECT_THAT(message(With(good, "TENSORBRAID_PS", ""), "train-ps-0"),
              AllOf(HasSubstr("TENSORBRAID_PS"), HasSubstr("number of parameter servers")));
  EXPECT_THAT(message(With(good, "TENSORBRAID_WORKERS", "two"), "train-ps-0"), HasSubstr("TENSORBRAID_WORKERS='two'"));
  EXPECT_THAT(message(good, "train-worker-2"), AllOf(HasSubstr("worker/2"), HasSubstr("TENSORBRAID_WORKERS=2")));
  EXPECT_THAT(message(good, "train-ps-1"), AllOf(HasSubstr("ps/1"), HasSubstr("TENSORBRAID_PS=1")));
  EXPECT_THAT(message(good, "train-0"), AllOf(HasSubstr("'train-0'"), HasSubstr("{job}-{index}")));
  EXPECT_THAT(message(good, "train-worker-x7f2k"), AllOf(HasSubstr("'train-worker-x7f2k'"), HasSubstr("StatefulSet")));
  EXPECT_THAT(message(With(good, "TENSORBRAID_JOB", "cook"), "train-cook-0"), HasSubstr("TENSORBRAID_JOB='cook'"));
  EXPECT_THAT(message(With(good, "TENSORBRAID_SERVICE", "t-{index}.s"), "train-ps-0"), HasSubstr("{job}"));
  EXPECT_THAT(message(With(good, "TENSORBRAID_SERVICE", "train:http"), "train-ps-0"), HasSubstr("TENSORBRAID_SERVICE"));
  EXPECT_THAT(message(With(good, "JOB_COMPLETION_INDEX", "-1"), "train-ps-0"), HasSubstr("JOB_COMPLETION_INDEX='-1'"));
}

// The registry.

TEST(RegistrySourceTest, TheNameOfTheTaskAndTheSecretAreNeeded) {
  const Variables good = {{"TENSORBRAID_REGISTRY", "alpha:7000"}, {"TENSORBRAID_TASK", "worker/1"}};
  const auto message = [](const Variables& variables, const std::string& token_file) {
    const auto claim = Ask(&LookAtRegistry, variables, "alpha", {.token_file = token_file});
    EXPECT_EQ(claim.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(claim.status().message());
  };
  const auto claim = Ask(&LookAtRegistry, good, "alpha", {.token_file = "job.token"});
  ASSERT_TRUE(claim.ok()) << claim.status();
  ASSERT_TRUE(claim->participant.has_value());
  EXPECT_EQ(claim->participant->name, "worker/1");
  EXPECT_THAT(message(good, ""), HasSubstr("--token_file"));
  EXPECT_THAT(message(With(good, "TENSORBRAID_TASK", ""), "job.token"), HasSubstr("TENSORBRAID_TASK is missing"));
  EXPECT_THAT(message(With(good, "TENSORBRAID_TASK", "worker"), "t"), HasSubstr("TENSORBRAID_TASK: 'worker'"));
  EXPECT_THAT(message(With(good, "TENSORBRAID_REGISTRY", "alpha"), "t"), HasSubstr("TENSORBRAID_REGISTRY: "));
}

TEST(RegistrySourceTest, ATaskWithACertificateMayMove) {
  const Variables variables = {{"TENSORBRAID_REGISTRY", "alpha:7000"}, {"TENSORBRAID_TASK", "worker/1"}};
  const auto may_move = [&variables](const TaskArguments& arguments) {
    return Ask(&LookAtRegistry, variables, "alpha", arguments)->participant->may_move;
  };
  EXPECT_FALSE(may_move({.token_file = "job.token"}));
  EXPECT_TRUE(may_move({.tls = {.cert = "cert.pem", .key = "key.pem"}, .token_file = "job.token"}));
}

// MPI.

TEST(MpiSourceTest, PmiGivesRankAndSize) {
  const auto claim = Ask(&LookAtMpi, {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"PMI_FD", "9"}});
  ASSERT_TRUE(claim.ok()) << claim.status();
  ASSERT_TRUE(claim->participant.has_value());
  EXPECT_EQ(claim->participant->rank, 2);
  EXPECT_EQ(claim->participant->size, 4);
  EXPECT_THAT(claim->why, HasSubstr("rank 2 of 4"));
}

TEST(MpiSourceTest, ALauncherWithoutAnExchangeIsAnErrorOutsideOfSlurm) {
  const Variables variables = {{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  const auto claim = Ask(&LookAtMpi, variables);
  EXPECT_EQ(claim.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(claim.status().message()), AllOf(HasSubstr("PMIX_NAMESPACE"), HasSubstr("registry")));
  const auto in_slurm = Ask(&LookAtMpi, With(variables, "SLURM_STEP_ID", "0"));
  ASSERT_TRUE(in_slurm.ok());
  EXPECT_FALSE(in_slurm->responsible());
}

TEST(MpiSourceTest, ErrorsNameTheVariable) {
  const auto message = [](const Variables& variables) {
    return std::string(Ask(&LookAtMpi, variables).status().message());
  };
  EXPECT_THAT(message({{"OMPI_COMM_WORLD_RANK", "first"}}), HasSubstr("OMPI_COMM_WORLD_RANK='first'"));
  EXPECT_THAT(message({{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}), AllOf(HasSubstr("PMI_RANK=4"), HasSubstr("PMI_SIZE=4")));
  EXPECT_THAT(message({{"PMI_RANK", "0"}, {"PMI_FD", "9"}}), HasSubstr("PMI_SIZE is missing"));
  EXPECT_THAT(message({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMI_FD", "1"}}), HasSubstr("PMI_FD='1'"));
  EXPECT_THAT(message({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"PMI_FD", "9"}, {"TENSORBRAID_PS", "2"}}),
              AllOf(HasSubstr("TENSORBRAID_PS=2"), HasSubstr("only 2")));
}

// Slurm.

const Variables kStep = {{"SLURM_JOB_ID", "77"},       {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"},
                         {"SLURM_NTASKS", "8"},        {"SLURM_LOCALID", "1"}, {"SLURM_JOB_NODELIST", "node[01-04]"},
                         {"SLURMD_NODENAME", "node02"}};

TEST(SlurmSourceTest, AStepGivesRankSizeAndTheRegistryOfRankZero) {
  const auto claim = Ask(&LookAtSlurm, kStep);
  ASSERT_TRUE(claim.ok()) << claim.status();
  ASSERT_TRUE(claim->participant.has_value());
  EXPECT_EQ(claim->participant->rank, 3);
  EXPECT_EQ(claim->participant->size, 8);
  EXPECT_EQ(claim->participant->host, "node02");
  EXPECT_THAT(claim->why, HasSubstr("node01:2"));
}

TEST(SlurmSourceTest, AllRanksOfAStepComputeTheSamePortsAndOtherStepsOthers) {
  const auto why = [](const Variables& variables) {
    const std::string text = Ask(&LookAtSlurm, variables)->why;
    return text.substr(text.find("registry"));
  };
  EXPECT_EQ(why(kStep), why(With(With(kStep, "SLURM_PROCID", "0"), "SLURMD_NODENAME", "node01")));
  EXPECT_NE(why(kStep), why(With(kStep, "SLURM_STEP_ID", "1")));
  EXPECT_THAT(why(With(kStep, "SLURM_STEP_RESV_PORTS", "12000-12001")), HasSubstr("node01:12000 or node01:12001"));
  EXPECT_THAT(why(With(kStep, "SLURM_JOB_NODELIST", "node01")), HasSubstr("127.0.0.1:"));
}

TEST(SlurmSourceTest, NumbersOfTheStepGoBeforeThoseOfTheJob) {
  Variables variables = With(With(kStep, "SLURM_STEP_NUM_TASKS", "4"), "SLURM_STEP_NODELIST", "node03");
  const auto claim = Ask(&LookAtSlurm, variables);
  ASSERT_TRUE(claim.ok()) << claim.status();
  EXPECT_EQ(claim->participant->size, 4);
  EXPECT_THAT(claim->why, HasSubstr("127.0.0.1:"));
}

TEST(SlurmSourceTest, ABatchScriptIsNoTask) {
  Variables variables = kStep;
  variables.erase("SLURM_STEP_ID");
  for (const char* step : {"", "4294967291", "4294967294"}) {
    const auto claim = Ask(&LookAtSlurm, With(variables, "SLURM_STEP_ID", step));
    ASSERT_TRUE(claim.ok());
    EXPECT_FALSE(claim->responsible());
    EXPECT_THAT(claim->why, HasSubstr("srun"));
  }
}

TEST(SlurmSourceTest, ErrorsNameTheVariableTheValueAndTheFix) {
  const auto message = [](const std::string& name, const std::string& value) {
    return std::string(Ask(&LookAtSlurm, With(kStep, name, value)).status().message());
  };
  EXPECT_THAT(message("SLURM_PROCID", "x"), HasSubstr("SLURM_PROCID='x'"));
  EXPECT_THAT(message("SLURM_PROCID", ""), HasSubstr("SLURM_PROCID is missing"));
  EXPECT_THAT(message("SLURM_PROCID", "8"), AllOf(HasSubstr("SLURM_PROCID=8"), HasSubstr("SLURM_NTASKS")));
  EXPECT_THAT(message("SLURM_NTASKS", "0"), HasSubstr("SLURM_NTASKS='0'"));
  EXPECT_THAT(message("SLURM_NTASKS", ""), HasSubstr("SLURM_NTASKS is missing"));
  EXPECT_THAT(message("SLURM_JOB_NODELIST", "node[01-"), AllOf(HasSubstr("SLURM_JOB_NODELIST"), HasSubstr("node[01-")));
  EXPECT_THAT(message("SLURM_STEP_RESV_PORTS", "http"), HasSubstr("SLURM_STEP_RESV_PORTS='http'"));
  EXPECT_THAT(message("SLURM_STEP_RESV_PORTS", "0-1"), HasSubstr("SLURM_STEP_RESV_PORTS='0-1'"));
  EXPECT_THAT(message("TENSORBRAID_PS", "8"), AllOf(HasSubstr("TENSORBRAID_PS=8"), HasSubstr("start 9")));
  const auto elsewhere = Ask(&LookAtSlurm, With(kStep, "SLURM_PROCID", "0"));
  EXPECT_THAT(std::string(elsewhere.status().message()), AllOf(HasSubstr("node02"), HasSubstr("--mpi=pmix")));
}

}  // namespace
}  // namespace tensorbraid
