#include "launch/engines/kubernetes/pod_state.h"

#include <set>
#include <stdexcept>
#include <string_view>

#include "core/text/json.h"
#include "core/text/strings.h"
#include "launch/engines/kubernetes/manifests.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

constexpr int kSignalBase = 128;  // a program that a signal has killed ends with this plus the signal
constexpr int kMaxSignal = 64;

// The member of an object, or null. Kubernetes leaves out what is empty.
const Json& Member(const Json& json, const char* name) {
  static const Json kNull;
  if (!json.is_object()) return kNull;
  const auto found = json.find(name);
  return found == json.end() ? kNull : *found;
}
std::string TextMember(const Json& json, const char* name) {
  const Json& member = Member(json, name);
  return member.is_null() ? "" : member.get<std::string>();
}
// "Evicted: The node was low on resource: memory."
std::string Reason(const Json& json) {
  const std::string reason = TextMember(json, "reason");
  const std::string message = TextMember(json, "message");
  return reason.empty() || message.empty() ? reason + message : StrCat(reason, ": ", message);
}

// What helps a container that cannot be started, by the reason that Kubernetes gives.
std::string FixFor(const std::string& reason) {
  if (reason == "ErrImagePull" || reason == "ImagePullBackOff") {
    return "; --image must name an image that the nodes can pull, and a private registry needs an imagePullSecret at "
           "the service account 'default'";
  }
  if (reason == "CreateContainerConfigError") return "; a secret of the job is missing, or the image needs --user=N";
  return "";
}

void ReadContainer(const Json& status, PodState* pod) {
  const Json& state = Member(status, "state");
  const Json& waiting = Member(state, "waiting");
  const Json& terminated = Member(state, "terminated");
  const std::string why = TextMember(waiting, "reason");
  if (!terminated.is_null()) {
    const int code = terminated.at("exitCode");
    const int signal = Member(terminated, "signal").is_null() ? 0 : terminated.at("signal").get<int>();
    const std::string reason = TextMember(terminated, "reason");
    pod->end.emplace();
    pod->end->exit_code = code;
    pod->end->signal = signal;
    if (signal == 0 && code > kSignalBase && code <= kSignalBase + kMaxSignal) pod->end->signal = code - kSignalBase;
    pod->last_message = TextMember(terminated, "message");
    // The node was started again, or has lost its memory of the container.
    if (reason == "ContainerStatusUnknown" || (reason == "Unknown" && code == 255))
      pod->disruption = Reason(terminated);
    pod->out_of_memory = reason == "OOMKilled";
    // The runtimes' words for a program that is not there or cannot be run.
    if (reason == "StartError" || reason == "ContainerCannotRun") pod->start_error = Reason(terminated);
  } else if (!Member(state, "running").is_null()) {
    pod->is_running = true;
  } else if (why == "InvalidImageName") {
    pod->start_error = Reason(waiting);
  } else if (why != "ContainerCreating" && why != "PodInitializing") {
    pod->waits_for = Reason(waiting) + FixFor(why);
  }
}

PodState ReadPod(const Json& item) {
  // Reasons of a pod that failed on a node, other than by its program.
  static const std::set<std::string, std::less<>> kNotTheProgram = {"Evicted",
                                                                    "NodeLost",
                                                                    "NodeShutdown",
                                                                    "Shutdown",
                                                                    "Terminated",
                                                                    "Preempting",
                                                                    "NodeAffinity",
                                                                    "OutOfcpu",
                                                                    "OutOfmemory",
                                                                    "OutOfpods",
                                                                    "UnexpectedAdmissionError"};
  PodState pod;
  const Json& metadata = item.at("metadata");
  const Json& status = Member(item, "status");
  pod.uid = TextMember(metadata, "uid");
  pod.node = TextMember(Member(item, "spec"), "nodeName");
  pod.is_being_deleted = !Member(metadata, "deletionTimestamp").is_null();
  const Json& grace = Member(metadata, "deletionGracePeriodSeconds");
  if (!grace.is_null()) pod.deletion_grace_s = grace;
  for (const Json& container : Member(status, "containerStatuses")) {
    // A cluster may add containers of its own, such as a proxy.
    if (TextMember(container, "name") == kTaskContainer) ReadContainer(container, &pod);
  }
  for (const Json& condition : Member(status, "conditions")) {
    const std::string type = TextMember(condition, "type");
    const std::string value = TextMember(condition, "status");
    if (type == "DisruptionTarget" && value == "True") pod.disruption = Reason(condition);
    if (type == "PodScheduled" && value == "False" && pod.waits_for.empty()) {
      pod.waits_for = TextMember(condition, "message");
    }
  }
  const std::string phase = TextMember(status, "phase");
  const std::string reason = TextMember(status, "reason");
  if (phase == "Failed" && (kNotTheProgram.contains(reason) || !pod.end.has_value()) && pod.disruption.empty()) {
    pod.disruption = reason.empty() ? "its pod failed, and Kubernetes gives no reason" : Reason(status);
  }
  // Kubernetes before 1.20 said so of a node that does not answer.
  if (reason == "NodeLost" && pod.disruption.empty()) pod.disruption = Reason(status);
  pod.has_failed = phase == "Failed";
  if (pod.has_failed) pod.is_running = false;
  return pod;
}

// Calls a function whose only exceptions are those of the JSON library.
template <typename Function>
auto WithoutExceptions(std::string_view text, std::string_view what, const Function& function)
    -> StatusOr<decltype(function())> {
  try {
    return function();
  } catch (const std::exception& error) {
    return InvalidArgument("kubectl has printed no ", what, " (", error.what(), "): ", text.substr(0, 200));
  }
}

}  // namespace

StatusOr<std::map<std::string, PodState>> ParsePods(const std::string& json) {
  return WithoutExceptions(json, "list of pods", [&json] {
    std::map<std::string, PodState> pods;
    const Json list = ParseJson(json);
    for (const Json& item : list.at("items")) {
      pods[item.at("metadata").at("name").get<std::string>()] = ReadPod(item);
    }
    return pods;
  });
}

StatusOr<PodEvent> ParsePodEvent(const std::string& json) {
  return WithoutExceptions(json, "change of a pod", [&json] {
    const Json event = ParseJson(json);
    const Json& item = event.at("object");
    return PodEvent{.pod = item.at("metadata").at("name").get<std::string>(),
                    .state = ReadPod(item),
                    .is_gone = event.at("type") == "DELETED"};
  });
}

}  // namespace tensorbraid
