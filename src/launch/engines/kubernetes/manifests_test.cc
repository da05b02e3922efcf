#include "launch/engines/kubernetes/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

KubernetesJob SmallJob() {
  KubernetesJob job;
  job.name = "train";
  job.name_space = "lab";
  job.run = "0123abcd";
  job.image = "registry.example/train:1";
  return job;
}

TEST(KubernetesManifestsTest, APodIsFoundByTheNameOfItsAddress) {
  const KubernetesJob job = SmallJob();
  EXPECT_EQ(PodAddress(job, "worker/3"), "train-worker-3.train.lab.svc:2222");
  EXPECT_EQ(WildcardHost(job), "*.train.lab.svc");
  const auto pod = nlohmann::json::parse(PodManifest(job, "worker/3", {.command = {"train"}}, true));
  EXPECT_EQ(pod["metadata"]["name"], "train-worker-3");
  EXPECT_EQ(pod["spec"]["hostname"], "train-worker-3");
  EXPECT_EQ(pod["spec"]["subdomain"], "train");
  const auto service = nlohmann::json::parse(ServiceManifest(job));
  EXPECT_EQ(service["metadata"]["name"], pod["spec"]["subdomain"]);
  EXPECT_EQ(service["spec"]["selector"]["tensorbraid/run"], pod["metadata"]["labels"]["tensorbraid/run"]);
  EXPECT_EQ(RunSelector(job), "tensorbraid/run=0123abcd");
}

TEST(KubernetesManifestsTest, EverythingBelongsToTheLifeline) {
  KubernetesJob job = SmallJob();
  job.lost_launcher_s = 300;
  const auto lifeline = nlohmann::json::parse(LifelineManifest(job));
  EXPECT_EQ(lifeline["kind"], "Job");
  EXPECT_EQ(lifeline["metadata"]["name"], "train");
  EXPECT_FALSE(lifeline["metadata"].contains("ownerReferences"));
  EXPECT_EQ(lifeline["spec"]["parallelism"], 0);
  EXPECT_EQ(lifeline["spec"]["activeDeadlineSeconds"], 300);
  EXPECT_EQ(KindsOf(job), "pods,services,secrets,jobs.batch");
  job.owner_uid = "1-2-3";
  for (const std::string& text :
       {ServiceManifest(job), SecretManifest(job), PodManifest(job, "worker/0", {.command = {"train"}}, true)}) {
    EXPECT_EQ(nlohmann::json::parse(text)["metadata"]["ownerReferences"],
              nlohmann::json::parse(R"([{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1-2-3"}])"));
  }
  job.lost_launcher_s = 0;
  EXPECT_EQ(KindsOf(job), "pods,services,secrets");
}

TEST(KubernetesManifestsTest, TheProgramGetsItsArgumentsUnchanged) {
  // Kubernetes makes "$" of "$$", and a value of "$(NAME)".
  const ProgramCall call{.command = {"sh", "-c", "echo $(date) $$ $HOME"}, .environment = {{"A", "$(B)"}, {"C", ""}}};
  const auto pod = nlohmann::json::parse(PodManifest(SmallJob(), "worker/0", call, true));
  const auto container = pod["spec"]["containers"][0];
  EXPECT_EQ(container["command"], nlohmann::json::parse(R"json(["sh", "-c", "echo $$(date) $$$$ $$HOME"])json"));
  EXPECT_EQ(container["terminationMessagePath"], "/dev/tensorbraid-report");
  EXPECT_EQ(container["env"], nlohmann::json::parse(R"json([{"name": "A", "value": "$$(B)"},
                                  {"name": "TENSORBRAID_REPORT_FILE", "value": "/dev/tensorbraid-report"}])json"));
}

TEST(KubernetesManifestsTest, KeysAreInTheSecretAlone) {
  KubernetesJob job = SmallJob();
  job.files = {{"tls_key", "the key"}};
  const std::string pod = PodManifest(job, "ps/0", {.command = {"train"}}, true);
  EXPECT_THAT(pod, HasSubstr("\"--tls_key=/etc/tensorbraid/job/tls_key\""));
  EXPECT_THAT(pod, HasSubstr("\"TENSORBRAID_TLS_KEY\""));
  EXPECT_THAT(pod, Not(HasSubstr("the key")));
  EXPECT_THAT(PodManifest(job, "ps/0", {.command = {"train"}}, false), Not(HasSubstr("--tls_key")));
  const auto secret = nlohmann::json::parse(SecretManifest(job));
  EXPECT_EQ(secret["data"]["tls_key"], "dGhlIGtleQ==");
  EXPECT_EQ(nlohmann::json::parse(SecretManifest(job, /*secret_values=*/false))["data"]["tls_key"], "");
}

TEST(KubernetesManifestsTest, WorkersGetGpusAndAllTasksTheRest) {
  KubernetesJob job = SmallJob();
  job.cpus = 0.5;
  job.memory = "2Gi";
  job.gpus = 2;
  job.volumes = {{"data", "/data"}};
  const auto resources = [&job](const char* task) {
    const auto pod = nlohmann::json::parse(PodManifest(job, task, {.command = {"train"}}, true));
    EXPECT_EQ(pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"], "data");
    EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"][0]["mountPath"], "/data");
    return pod["spec"]["containers"][0]["resources"];
  };
  EXPECT_EQ(resources("worker/0"), nlohmann::json::parse(R"({"requests": {"cpu": "500m", "memory": "2Gi"},
                                                             "limits": {"memory": "2Gi", "nvidia.com/gpu": "2"}})"));
  EXPECT_EQ(resources("ps/0")["limits"], nlohmann::json::parse(R"({"memory": "2Gi"})"));
}

TEST(KubernetesManifestsTest, MistakesInOptionsAreNamed) {
  const auto check = [](const char* name, const char* name_space, const char* image) {
    KubernetesJob job = SmallJob();
    job.name = name;
    job.name_space = name_space;
    job.image = image;
    return std::string(CheckJob(job, {"worker/0"}).message());
  };
  EXPECT_EQ(check("train", "lab", "i"), "");
  EXPECT_THAT(check("train", "lab", ""), HasSubstr("--image"));
  for (const char* name : {"", "Train", "-a", "a-", "1a", "a.b"}) {
    EXPECT_THAT(check(name, "lab", "i"), HasSubstr("begins with a letter")) << name;
  }
  EXPECT_THAT(check(std::string(55, 'a').c_str(), "lab", "i"), HasSubstr("would have 64 characters, and may have 63"));
  EXPECT_THAT(check("train", "La b", "i"), HasSubstr("--namespace=La b"));

  const auto volume = ParseVolume("data:/data");
  ASSERT_TRUE(volume.ok());
  EXPECT_EQ(volume->claim + " " + volume->path, "data /data");
  for (const char* wrong : {"data", "data:", "data:data", ":/data", "data:/data:ro", ""}) {
    EXPECT_THAT(std::string(ParseVolume(wrong).status().message()), HasSubstr("CLAIM:PATH")) << wrong;
  }
}

TEST(KubernetesManifestsTest, AJobIsNamedAfterItsProgram) {
  EXPECT_EQ(JobNameFor("build/mnist_softmax", "x1"), "mnist-softmax-x1");
  EXPECT_EQ(JobNameFor("/a/3_Train__It.py", "x1"), "train-it-x1");
  EXPECT_EQ(JobNameFor("", "x1"), "job-x1");
  EXPECT_EQ(JobNameFor(std::string(100, 'a'), "x1"), std::string(30, 'a') + "-x1");
}

}  // namespace
}  // namespace tensorbraid
