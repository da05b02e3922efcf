#include "launch/engines/kubernetes/manifests.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "cluster/status/report_file.h"
#include "core/text/json.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kSecretPath = "/etc/tensorbraid/job";
constexpr int kSecretMode = 0440;
constexpr int kPort = 2222;
constexpr size_t kMaxLabel = 63;  // of a name in DNS
// How long Kubernetes waits for a node that is not there any more. Its default is 300 s.
constexpr int kLostNodeSeconds = 30;

bool IsDnsLabel(const std::string& name) {
  const auto is_plain = [](unsigned char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-'; };
  return !name.empty() && name.size() <= kMaxLabel && std::all_of(name.begin(), name.end(), is_plain) &&
         name.front() != '-' && name.back() != '-';
}

// "worker/0" -> "worker-0"
std::string Dashed(const std::string& task) { return absl::StrReplaceAll(task, {{"/", "-"}}); }
std::string JobOf(const std::string& task) { return task.substr(0, task.find('/')); }

// Kubernetes replaces $(NAME) in commands and variables, and $$ by $.
std::string Escaped(const std::string& text) { return absl::StrReplaceAll(text, {{"$", "$$"}}); }

OrderedJson Metadata(const KubernetesJob& job, const std::string& name, const std::string& component = "") {
  OrderedJson labels = {{"app.kubernetes.io/name", "tensorbraid"},
                        {"app.kubernetes.io/instance", job.name},
                        {"app.kubernetes.io/managed-by", "tensorbraid-launch"},
                        {"tensorbraid/run", job.run}};
  if (!component.empty()) labels["app.kubernetes.io/component"] = component;
  OrderedJson metadata = {{"name", name}, {"namespace", job.name_space}, {"labels", labels}};
  if (!job.owner_uid.empty()) {
    const OrderedJson owner = {{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", job.name}, {"uid", job.owner_uid}};
    metadata["ownerReferences"] = OrderedJson::array({owner});
  }
  return metadata;
}

std::string Text(const OrderedJson& json) { return JsonText(json, 2) + "\n"; }

OrderedJson Resources(const KubernetesJob& job, const std::string& task) {
  OrderedJson requests = OrderedJson::object();
  OrderedJson limits = OrderedJson::object();
  // There is no limit of processor time, because it would slow steps down without need.
  if (job.cpus > 0) requests["cpu"] = StrCat(static_cast<int64_t>(job.cpus * 1000 + 0.5), "m");
  if (!job.memory.empty()) requests["memory"] = limits["memory"] = job.memory;
  if (job.gpus > 0 && JobOf(task) != "ps") limits["nvidia.com/gpu"] = std::to_string(job.gpus);
  return {{"requests", requests}, {"limits", limits}};
}

OrderedJson ContainerSecurity() { return {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}; }
OrderedJson PodSecurity(const KubernetesJob& job) {
  return {{"runAsNonRoot", job.user != 0},
          {"runAsUser", job.user},
          {"runAsGroup", job.user},
          {"fsGroup", job.user},
          {"fsGroupChangePolicy", "OnRootMismatch"},
          {"seccompProfile", {{"type", "RuntimeDefault"}}}};
}

OrderedJson Container(const KubernetesJob& job, const std::string& task, ProgramCall call, bool knows_flags) {
  for (const auto& [flag, content] : job.files) AddFile(flag, StrCat(kSecretPath, "/", flag), knows_flags, &call);
  OrderedJson command = OrderedJson::array();
  for (const std::string& word : call.command) command.push_back(Escaped(word));
  OrderedJson env = OrderedJson::array();
  for (const auto& [name, value] : call.environment) {
    if (!value.empty()) env.push_back({{"name", name}, {"value", Escaped(value)}});
  }
  env.push_back({{"name", ReportFile::kVariable}, {"value", kLastMessagePath}});
  OrderedJson mounts = OrderedJson::array();
  if (!job.files.empty()) mounts.push_back({{"name", "job"}, {"mountPath", kSecretPath}, {"readOnly", true}});
  for (size_t i = 0; i < job.volumes.size(); ++i) {
    mounts.push_back({{"name", StrCat("volume-", i)}, {"mountPath", job.volumes[i].path}});
  }
  OrderedJson container = {{"name", kTaskContainer}, {"image", job.image}, {"command", command}, {"env", env}};
  if (!job.directory.empty()) container["workingDir"] = job.directory;
  // Programs write to a terminal line by line, and to a pipe in blocks.
  container["tty"] = true;
  container["terminationMessagePath"] = kLastMessagePath;
  container["ports"] = {{{"name", "tensorbraid"}, {"containerPort", kPort}}};
  container["resources"] = Resources(job, task);
  container["securityContext"] = ContainerSecurity();
  container["volumeMounts"] = mounts;
  return container;
}

}  // namespace

StatusOr<ClaimedVolume> ParseVolume(const std::string& text) {
  const size_t colon = text.find(':');
  ClaimedVolume volume{.claim = text.substr(0, colon), .path = colon == text.npos ? "" : text.substr(colon + 1)};
  if (volume.claim.empty() || !volume.path.starts_with('/') || volume.path.find(':') != text.npos) {
    return InvalidArgument("--volume=", text,
                           ": write CLAIM:PATH, the name of a PersistentVolumeClaim and an absolute path in the "
                           "container, as in train-data:/data");
  }
  return volume;
}

Status CheckJob(const KubernetesJob& job, const std::vector<std::string>& tasks) {
  if (job.image.empty()) {
    return InvalidArgument(
        "no image: --image names one that the cluster can pull, with your program in it (deploy/Containerfile makes "
        "such an image)");
  }
  size_t longest = job.name.size();
  for (const std::string& task : tasks) longest = std::max(longest, PodName(job, task).size());
  if (!IsDnsLabel(job.name) || !absl::ascii_islower(static_cast<unsigned char>(job.name.front()))) {
    return InvalidArgument("--name=", job.name,
                           ": a name is made of small letters, digits and '-', and begins with a letter");
  }
  if (longest > kMaxLabel) {
    return InvalidArgument("--name=", job.name, ": the names of the pods would have ", longest,
                           " characters, and may have ", kMaxLabel);
  }
  if (!IsDnsLabel(job.name_space)) {
    return InvalidArgument("--namespace=", job.name_space, ": a namespace is made of small letters, digits and '-'");
  }
  return OkStatus();
}

std::string JobNameFor(const std::string& program, const std::string& suffix) {
  constexpr size_t kMaxStem = 30;
  std::string stem;
  for (const char c : std::filesystem::path(program).stem().string()) {
    const auto letter = static_cast<unsigned char>(absl::ascii_tolower(static_cast<unsigned char>(c)));
    const bool is_plain = absl::ascii_isalnum(letter);
    if (stem.empty() && !absl::ascii_isalpha(letter)) continue;
    if (is_plain || stem.back() != '-') stem.push_back(is_plain ? static_cast<char>(letter) : '-');
    if (stem.size() == kMaxStem) break;
  }
  while (stem.ends_with('-')) stem.pop_back();
  return StrCat(stem.empty() ? "job" : stem, "-", suffix);
}

std::string PodName(const KubernetesJob& job, const std::string& task) { return StrCat(job.name, "-", Dashed(task)); }

std::string PodAddress(const KubernetesJob& job, const std::string& task) {
  return StrCat(PodName(job, task), ".", job.name, ".", job.name_space, ".svc:", kPort);
}

std::string WildcardHost(const KubernetesJob& job) { return StrCat("*.", job.name, ".", job.name_space, ".svc"); }

std::string RunSelector(const KubernetesJob& job) { return StrCat("tensorbraid/run=", job.run); }

std::string KindsOf(const KubernetesJob& job) {
  return StrCat("pods,services,secrets", job.lost_launcher_s > 0 ? ",jobs.batch" : "");
}

std::string LifelineManifest(const KubernetesJob& job) {
  const OrderedJson container = {{"name", "none"}, {"image", job.image}, {"securityContext", ContainerSecurity()}};
  return Text({{"apiVersion", "batch/v1"},
               {"kind", "Job"},
               {"metadata", Metadata(job, job.name)},
               {"spec",
                {{"parallelism", 0},  // no pod is ever started
                 {"completions", 1},
                 {"activeDeadlineSeconds", job.lost_launcher_s},
                 {"ttlSecondsAfterFinished", 0},
                 {"template",
                  {{"spec",
                    {{"restartPolicy", "Never"},
                     {"securityContext", PodSecurity(job)},
                     {"containers", OrderedJson::array({container})}}}}}}}});
}

std::string ServiceManifest(const KubernetesJob& job) {
  return Text({{"apiVersion", "v1"},
               {"kind", "Service"},
               {"metadata", Metadata(job, job.name)},
               {"spec",
                {{"clusterIP", "None"},
                 // A task must be found before it is ready, or none would become ready.
                 {"publishNotReadyAddresses", true},
                 {"selector", {{"tensorbraid/run", job.run}}},
                 {"ports", {{{"name", "tensorbraid"}, {"port", kPort}}}}}}});
}

std::string SecretManifest(const KubernetesJob& job, bool secret_values) {
  OrderedJson data = OrderedJson::object();
  for (const auto& [flag, content] : job.files) data[flag] = secret_values ? absl::Base64Escape(content) : "";
  return Text({{"apiVersion", "v1"},
               {"kind", "Secret"},
               {"metadata", Metadata(job, job.name)},
               {"type", "Opaque"},
               {"immutable", true},
               {"data", data}});
}

std::string PodManifest(const KubernetesJob& job, const std::string& task, const ProgramCall& call, bool knows_flags) {
  OrderedJson volumes = OrderedJson::array();
  if (!job.files.empty()) {
    volumes.push_back({{"name", "job"}, {"secret", {{"secretName", job.name}, {"defaultMode", kSecretMode}}}});
  }
  for (size_t i = 0; i < job.volumes.size(); ++i) {
    volumes.push_back(
        {{"name", StrCat("volume-", i)}, {"persistentVolumeClaim", {{"claimName", job.volumes[i].claim}}}});
  }
  OrderedJson tolerations = OrderedJson::array();
  for (const char* state : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    tolerations.push_back(
        {{"key", state}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kLostNodeSeconds}});
  }
  const OrderedJson spec = {{"hostname", PodName(job, task)},
                            {"subdomain", job.name},
                            {"restartPolicy", "Never"},  // the launcher restarts
                            {"automountServiceAccountToken", false},
                            {"enableServiceLinks", false},
                            {"terminationGracePeriodSeconds", job.grace_s},
                            {"tolerations", tolerations},
                            {"securityContext", PodSecurity(job)},
                            {"containers", OrderedJson::array({Container(job, task, call, knows_flags)})},
                            {"volumes", volumes}};
  return Text({{"apiVersion", "v1"},
               {"kind", "Pod"},
               {"metadata", Metadata(job, PodName(job, task), JobOf(task))},
               {"spec", spec}});
}

std::string ListManifest(const std::vector<std::string>& manifests) {
  return StrCat("{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n", StrJoin(manifests, ","), "]}\n");
}

}  // namespace tensorbraid
