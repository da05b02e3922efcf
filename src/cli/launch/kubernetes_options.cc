#include "cli/launch/kubernetes_options.h"

#include <cstdint>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "cli/at_least.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "launch/credentials/job_credentials.h"
#include "launch/engines/kubernetes/kubernetes_engine.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

// The namespace that kubectl uses when none is given. A context may name none, which means "default".
StatusOr<std::string> CurrentNamespace(const std::vector<std::string>& kubectl) {
  std::vector<std::string> command = kubectl;
  command.insert(command.end(), {"config", "view", "--minify", "--output=jsonpath={..namespace}"});
  auto text = RunCommand(command);
  if (absl::IsNotFound(text.status())) {
    return Annotate(text.status(), "--on=kubernetes works through kubectl, and --kubectl names another program for it");
  }
  if (!text.ok()) {
    return absl::FailedPreconditionError(StrCat(
        std::string(text.status().message()),
        "; choose a cluster by 'kubectl config use-context NAME' or --kubectl=\"kubectl --context=NAME\". Within "
        "a pod, which needs none, give --namespace"));
  }
  const std::string name(absl::StripAsciiWhitespace(*text));
  return name.empty() ? "default" : name;
}

// Eight hexadecimal digits.
std::string RandomDigits() {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", static_cast<uint32_t>(Env::Default().RandomSeed()));
  return text;
}

}  // namespace

void AddKubernetesOptions(CLI::App* launch, KubernetesOptions* options) {
  const std::string group = "With --on=kubernetes";
  KubernetesJob* job = &options->job;
  const auto add = [&](const char* names, auto& value, const char* text) {
    return launch->add_option(names, value, text)->group(group);
  };
  add("--image", job->image, "the image of the tasks, which has the program");
  add("--kubectl", options->kubectl, "the kubectl program and its options, separated by blanks")->capture_default_str();
  add("--namespace", job->name_space, "the namespace; default: that of kubectl's context")->type_name("NAME");
  add("--name", job->name, "the name of the job; default: that of the program and a random number")->type_name("NAME");
  add("--cpus", job->cpus, "cores that each task asks for, such as 4 or 0.5; default: what the cluster gives")
      ->check(AtLeast(0.001))
      ->type_name("NUMBER");
  add("--memory", job->memory,
      "memory that each task asks for and may use, such as 2Gi; default: what the cluster gives")
      ->type_name("SIZE");
  add("--volume", options->volumes, "mount a PersistentVolumeClaim: train-data:/data; may be given several times")
      ->type_name("CLAIM:PATH");
  add("--lost_launcher_s,--lost-launcher-s", job->lost_launcher_s,
      "seconds after which Kubernetes ends the tasks if the launcher was killed or cannot reach the cluster; 0: never")
      ->check(CLI::Range(0, 30 * 24 * 3600))
      ->capture_default_str();
  add("--user", job->user, "number of the user and the group that the tasks run as")
      ->check(CLI::Range(0, 65534))
      ->capture_default_str();
}

StatusOr<std::unique_ptr<Engine>> NewKubernetesEngine(const KubernetesOptions& options,
                                                      const KubernetesLaunch& launch) {
  std::vector<std::string> kubectl;
  for (const std::string& word : StrSplit(options.kubectl, ' ')) {
    if (!word.empty()) kubectl.push_back(word);
  }
  if (kubectl.empty()) return InvalidArgument("--kubectl is empty; it names the kubectl program");
  KubernetesJob job = options.job;
  job.run = RandomDigits();
  job.directory = launch.directory;
  job.gpus = launch.gpus_per_worker;
  if (job.name.empty()) job.name = JobNameFor(launch.program, job.run.substr(0, 5));
  for (const std::string& text : options.volumes) {
    TF_ASSIGN_OR_RETURN(ClaimedVolume volume, ParseVolume(text));
    job.volumes.push_back(std::move(volume));
  }
  // Kubernetes kills a pod only when the launcher would have killed its task.
  constexpr std::chrono::seconds kMargin{10};
  job.grace_s = static_cast<int>(std::chrono::ceil<std::chrono::seconds>(launch.stop_grace + kMargin).count());
  const bool asks = job.name_space.empty();
  // A mistake in the options is told before kubectl is asked, which may have mistakes of its own.
  if (asks) job.name_space = "default";
  TF_RETURN_IF_ERROR(CheckJob(job, {}));
  if (asks) {
    TF_ASSIGN_OR_RETURN(job.name_space, CurrentNamespace(kubectl));
  }
  if (launch.tls) {
    TF_ASSIGN_OR_RETURN(const JobCredentials credentials, JobCredentials::Make());
    TF_ASSIGN_OR_RETURN(job.files, credentials.FilesFor(WildcardHost(job)));
  }
  return std::make_unique<KubernetesEngine>(std::move(job), std::move(kubectl));
}

}  // namespace tensorbraid
