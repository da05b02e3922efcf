#include "launch/engines/kubernetes/lifeline.h"

#include <algorithm>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// How often the deadline is moved on while the patience lasts, and how often it is tried when that fails.
constexpr int kRenewals = 4;
constexpr int kTries = 20;

}  // namespace

Lifeline::Lifeline(const Kubectl& kubectl, std::string job, std::chrono::seconds patience,
                   std::function<void(const std::string&)> tell)
    : kubectl_(kubectl),
      job_(std::move(job)),
      patience_(patience),
      tell_(std::move(tell)),
      began_(MonotonicClock::now()),
      began_wall_(WallClock::now()),
      next_(began_ + patience_ / kRenewals) {}

std::chrono::seconds Lifeline::Age() const {
  return std::max(std::chrono::ceil<std::chrono::seconds>(MonotonicClock::now() - began_),
                  std::chrono::ceil<std::chrono::seconds>(WallClock::now() - began_wall_));
}

void Lifeline::StartCalls() {
  if (call_ != nullptr || MonotonicClock::now() < next_) return;
  next_ = MonotonicClock::now() + patience_ / kRenewals;
  // Kubernetes counts from the moment when it first saw the Job, which is later than the beginning of this object.
  const std::string patch = StrCat(R"({"spec": {"activeDeadlineSeconds": )", (Age() + patience_).count(), "}}");
  auto call = KubectlCall::Start(kubectl_.Command(
      {"patch", "jobs.batch", job_, "--type=merge", "--patch=" + patch, "--output=name", "--request-timeout=20s"}));
  if (!call.ok()) return Retry(call.status());
  call_ = *std::move(call);
}

void Lifeline::AddEvents(std::vector<pollfd>* events) {
  if (call_ != nullptr) call_->AddEvents(events);
}

Status Lifeline::Handle() {
  if (call_ == nullptr || !call_->Handle()) return OkStatus();
  const Status status = call_->status();
  call_.reset();
  if (absl::IsNotFound(status)) {
    return absl::FailedPreconditionError(
        StrCat("the job ", job_, " is gone, and Kubernetes ends its tasks: it was deleted, or this launcher  ",
               "could not reach the cluster for ", patience_.count(), " s (--lost_launcher_s)"));
  }
  if (!status.ok()) Retry(status);
  return OkStatus();
}

void Lifeline::Retry(const Status& why) {
  tell_(StrCat("the deadline of job ", job_, " cannot be moved on, trying again; if that goes on for ",
               patience_.count(), " s, Kubernetes ends the tasks: ", std::string(kubectl_.Explained(why).message())));
  next_ = MonotonicClock::now() + patience_ / kTries;
}

}  // namespace tensorbraid
