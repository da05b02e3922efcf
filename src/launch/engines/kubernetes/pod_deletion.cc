#include "launch/engines/kubernetes/pod_deletion.h"

#include <chrono>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kBetweenTries{2};

}  // namespace

PodDeletion::PodDeletion(const Kubectl& kubectl, std::vector<std::string> options,
                         std::function<void(const std::string&)> tell)
    : kubectl_(kubectl), options_(std::move(options)), tell_(std::move(tell)) {}

void PodDeletion::StartCalls() {
  if (call_ != nullptr || pods_.empty() || MonotonicClock::now() < not_before_) return;
  std::vector<std::string> arguments = {"delete", "pods", "--ignore-not-found", "--wait=false",
                                        "--request-timeout=20s"};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  arguments.insert(arguments.end(), pods_.begin(), pods_.end());
  in_call_ = std::exchange(pods_, {});
  auto call = KubectlCall::Start(kubectl_.Command(arguments));
  if (!call.ok()) return Retry(call.status());
  call_ = *std::move(call);
}

void PodDeletion::AddEvents(std::vector<pollfd>* events) {
  if (call_ != nullptr) call_->AddEvents(events);
}

bool PodDeletion::Handle() {
  if (call_ == nullptr || !call_->Handle()) return false;
  const Status status = call_->status();
  call_.reset();
  if (!status.ok()) Retry(status);
  return true;
}

void PodDeletion::Retry(const Status& why) {
  tell_(StrCat("pods cannot be deleted, trying again: ", std::string(kubectl_.Explained(why).message())));
  pods_.insert(in_call_.begin(), in_call_.end());
  not_before_ = MonotonicClock::now() + kBetweenTries;
}

}  // namespace tensorbraid
