#include "planner/simulation/shared_cores.h"

#include <algorithm>
#include <utility>

namespace tensorbraid::planner {

void SharedCores::Run(double ns, double threads, std::function<void()> done) {
  if (ns <= 0) return done();
  Advance();
  jobs_.push({progress_ + ns, next_++, threads, std::move(done)});
  threads_ += threads;
  ScheduleNext();
}

double SharedCores::busy_ns() {
  Advance();
  return busy_ns_;
}

void SharedCores::Advance() {
  const double passed = events_->now_ns() - advanced_ns_;
  advanced_ns_ = events_->now_ns();
  progress_ += passed * Speed();
  busy_ns_ += passed * std::min(threads_, cores_);
}

void SharedCores::ScheduleNext() {
  if (jobs_.empty()) return;
  const uint64_t change = ++change_;
  const double left = std::max(0.0, jobs_.top().end - progress_) / Speed();
  events_->After(left, [this, change] {
    if (change != change_) return;
    Advance();
    Job job = std::move(const_cast<Job&>(jobs_.top()));
    jobs_.pop();
    // Exact, so that rounding does not add up over a long simulation.
    progress_ = job.end;
    threads_ = jobs_.empty() ? 0 : threads_ - job.threads;
    ++change_;
    ScheduleNext();
    job.done();
  });
}

void SerialJobs::Run(double ns, double threads, std::function<void()> done) {
  if (ns <= 0 && !running_) return done();
  waiting_.push_back({ns, threads, std::move(done)});
  if (!running_) StartNext();
}

void SerialJobs::StartNext() {
  running_ = true;
  Job job = std::move(waiting_.front());
  waiting_.pop_front();
  started_ns_ = events_->now_ns();
  auto end = [this, done = std::move(job.done)] {
    busy_ns_ += events_->now_ns() - started_ns_;
    running_ = false;
    if (!waiting_.empty()) StartNext();
    done();
  };
  if (cores_ != nullptr) {
    cores_->Run(job.ns, job.threads, std::move(end));
  } else {
    events_->After(job.ns, std::move(end));
  }
}

}  // namespace tensorbraid::planner
