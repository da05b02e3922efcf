#include "transport/side_lane/lane_opening.h"

#include <utility>

#include "core/text/strings.h"
#include "transport/link_messages.h"

namespace tensorbraid {

void LaneOpening::SendNote(std::string note) {
  base_->SendLaneMessage({.kind = LaneMessage::Kind::kNote, .text = std::move(note)});
}

StatusOr<std::string> LaneOpening::NextNote(MonotonicClock::time_point deadline) {
  MutexLock lock(mu_);
  cv_.WaitUntil(mu_, deadline, [this]() TB_REQUIRES(mu_) { return !status_.ok() || !notes_.empty(); });
  TF_RETURN_IF_ERROR(status_);
  if (notes_.empty()) return absl::DeadlineExceededError("the other task did not answer in time");
  std::string note = std::move(notes_.front());
  notes_.pop_front();
  return note;
}

Status LaneOpening::WaitUntil(const std::function<bool()>& done) {
  MutexLock lock(mu_);
  bool is_done = false;
  cv_.Wait(mu_, [&]() TB_REQUIRES(mu_) { return (is_done = done()) || !status_.ok(); });
  return is_done ? OkStatus() : status_;
}

void LaneOpening::Wake() {
  MutexLock lock(mu_);
  cv_.NotifyAll();
}

Status LaneOpening::status() {
  MutexLock lock(mu_);
  return status_;
}

Status LaneOpening::OnNote(std::string note) {
  constexpr size_t kMaxNotes = 16;
  MutexLock lock(mu_);
  if (notes_.size() >= kMaxNotes) return InvalidArgument("it has sent too many notes about a side lane");
  notes_.push_back(std::move(note));
  cv_.NotifyAll();
  return OkStatus();
}

void LaneOpening::Stop(const Status& why) {
  MutexLock lock(mu_);
  if (status_.ok()) status_ = why;
  cv_.NotifyAll();
}

}  // namespace tensorbraid
