#include "launch/engines/kubernetes/pod_watch.h"

#include <chrono>
#include <utility>

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kBetweenWatches{2};
// After a watch that the user's role does not allow. The states of the pods are then only asked for.
constexpr std::chrono::hours kAfterRefusal{24 * 365};

}  // namespace

PodWatch::PodWatch(const Kubectl& kubectl, std::string selector, std::function<void(const PodEvent&)> on_event)
    : kubectl_(kubectl), selector_(std::move(selector)), on_event_(std::move(on_event)) {}

void PodWatch::StartCalls() {
  if (call_ != nullptr || MonotonicClock::now() < not_before_) return;
  not_before_ = MonotonicClock::now() + kBetweenWatches;
  auto call = KubectlCall::Start(kubectl_.Command({"get", "pods", "--selector=" + selector_, "--watch-only",
                                                   "--output-watch-events", "--output=json"}),
                                 "", [this](std::string_view line) { AddLine(line); });
  if (call.ok()) call_ = *std::move(call);
}

void PodWatch::AddEvents(std::vector<pollfd>* events) {
  if (call_ != nullptr) call_->AddEvents(events);
}

void PodWatch::Handle() {
  if (call_ == nullptr || !call_->Handle()) return;
  if (absl::IsPermissionDenied(call_->status())) not_before_ = MonotonicClock::now() + kAfterRefusal;
  call_.reset();
}

void PodWatch::AddLine(std::string_view line) {
  const auto event = ParsePodEvent(std::string(line));
  if (event.ok()) on_event_(*event);
}

}  // namespace tensorbraid
