#include "planner/simulation/sync_updates.h"

#include <algorithm>
#include <utility>

namespace tensorbraid::planner {

SyncUpdates::SyncUpdates(const StepProgram& program, SimulatedMachines* machines, EventQueue* events, int workers,
                         int needed, std::function<void(int worker)> got_token)
    : program_(program),
      machines_(machines),
      events_(events),
      needed_(needed),
      got_token_(std::move(got_token)),
      gathered_(program.activities.size(), 0),
      armed_(program.servers, true),
      workers_(workers) {
  for (const Activity& a : program.activities) accumulators_ += a.accumulates;
}

double SyncUpdates::AccumulateNs(int activity) const {
  const Activity& a = program_.activities[activity];
  if (!a.by_rows) return a.accumulate_ns;
  return gathered_[activity] == 0 ? 0 : a.accumulate_ns * (gathered_[activity] + 1);
}

void SyncUpdates::AddGradient(int activity) {
  if (++gathered_[activity] == needed_ && ++complete_ == accumulators_) MaybeApply();
}

// The chief's operation waits on the servers until all accumulators have enough gradients.
void SyncUpdates::MaybeApply() {
  if (complete_ < accumulators_ || applying_ || std::count(armed_.begin(), armed_.end(), false) > 0) return;
  applying_ = true;
  gathered_.assign(gathered_.size(), 0);
  complete_ = 0;
  for (const int w : waiting_) {
    Worker& worker = workers_[w];
    if (worker.waits_since_ns >= 0) worker.straggler_ns += events_->now_ns() - worker.waits_since_ns;
    worker.waits_since_ns = -1;
  }
  ++updates_;  // from now on gradients for the old values are late
  servers_applying_ = program_.servers;
  for (int s = 0; s < program_.servers; ++s) Apply(s);
}

void SyncUpdates::Apply(int server) {
  armed_[server] = false;
  double ns = 0, variables = 0;
  for (const Activity& a : program_.activities) {
    if (a.task != server + 1 || !a.after_gradients) continue;
    ns += a.ns * (a.by_rows ? needed_ : 1);
    variables += a.ns > 0;
  }
  SharedCores& cores = machines_->CoresOf(machines_->ServerTask(server));
  const double threads = std::max(1.0, std::min(variables, cores.cores()));
  cores.Run(ns / threads, threads, [this, server] {
    // Server 0 has the global step and the tokens. It hears from the others.
    if (server == 0) return OnApplied();
    machines_->SendMessage(machines_->ServerTask(server), machines_->ServerTask(0), kControlBytes,
                           [this] { OnApplied(); });
  });
}

void SyncUpdates::OnApplied() {
  if (--servers_applying_ > 0) return;
  applying_ = false;
  for (size_t i = 0; i < workers_.size(); ++i) tokens_.push_back(updates_);
  GiveTokens();
  // The chief learns from each server that its operation has ended, and starts it again.
  const int chief = machines_->WorkerTask(0);
  answers_left_ = program_.servers;
  for (int s = 0; s < program_.servers; ++s) {
    machines_->SendMessage(machines_->ServerTask(s), chief, kControlBytes, [this] {
      if (--answers_left_ == 0) Arm();
    });
  }
}

void SyncUpdates::Arm() {
  const int chief = machines_->WorkerTask(0);
  for (int s = 0; s < program_.servers; ++s) {
    machines_->SendMessage(chief, machines_->ServerTask(s), kControlBytes, [this, s] {
      armed_[s] = true;
      MaybeApply();
    });
  }
}

void SyncUpdates::AwaitToken(int worker) {
  workers_[worker].waits_since_ns = events_->now_ns();
  waiting_.push_back(worker);
  GiveTokens();
}

void SyncUpdates::GiveTokens() {
  while (!tokens_.empty() && !waiting_.empty()) {
    const int w = waiting_.front();
    waiting_.pop_front();
    const int64_t stamp = tokens_.front();
    tokens_.pop_front();
    machines_->SendMessage(machines_->ServerTask(0), machines_->WorkerTask(w), kControlBytes, [this, w, stamp] {
      workers_[w].stamp = stamp;
      got_token_(w);
    });
  }
}

double SyncUpdates::TakeStragglerNs(int worker) { return std::exchange(workers_[worker].straggler_ns, 0); }

}  // namespace tensorbraid::planner
