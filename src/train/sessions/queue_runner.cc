// QueueRunner (see tensorbraid/train/coordinator.h).
#include <atomic>

#include "core/text/logging.h"
#include "tensorbraid/train/coordinator.h"

namespace tensorbraid {
namespace {

// Timeout for closing or cancelling a queue, whose task may be gone.
constexpr std::chrono::seconds kQueueCloseTimeout{5};

void RunAtEnd(Session& session, const Operation& op) {
  if (!op.valid()) return;
  const Status status = session.Run({op}, {}, {.timeout = kQueueCloseTimeout}).status();
  if (!status.ok()) {
    TB_LOG(Debug, "train") << "cannot run '" << op.name() << "' at the end: " << ToString(status);
  }
}

}  // namespace

Status QueueRunner::Start(Session& session, Coordinator& coordinator) const {
  std::vector<Session::Prepared> prepared;
  for (const Operation& op : enqueue_) {
    TF_ASSIGN_OR_RETURN(Session::Prepared p, session.Prepare({op}));
    prepared.push_back(std::move(p));
  }
  if (cancel_.valid()) {
    coordinator.OnStop([&session, cancel = cancel_] { RunAtEnd(session, cancel); });
  }
  auto running = std::make_shared<std::atomic<size_t>>(prepared.size());
  for (Session::Prepared& p : prepared) {
    coordinator.StartThread([&session, &coordinator, running, close = close_, p = std::move(p)]() -> Status {
      Status status;
      while (status.ok() && !coordinator.ShouldStop()) status = p.Run().status();
      // The end of the input does not stop the other threads, which still consume the queued elements.
      if (absl::IsOutOfRange(status)) status = OkStatus();
      // Stops the coordinator before the queue is closed: if its readers find a closed queue and no error, they take
      // this as the end of the input.
      if (!status.ok()) coordinator.RequestStop(status);
      // The last thread closes the queue, unless a stop was requested without an error.
      const bool wakes_readers = !coordinator.ShouldStop() || !coordinator.status().ok();
      if (running->fetch_sub(1) == 1 && wakes_readers) RunAtEnd(session, close);
      return status;
    });
  }
  return OkStatus();
}

}  // namespace tensorbraid
