#include "runtime/dataset/iterator_resource.h"

#include <algorithm>

#include "core/system/file_access.h"
#include "runtime/kernel/cancellable_wait.h"

namespace tensorbraid {

struct IteratorResource::Request {
  CancellationManager* cancellation = nullptr;
  CancellableWait wait;
  Done done;
  // Limits the files that the iterator opens for this request, which may be served by the thread of another one.
  const FileAccess* const files = CurrentFileAccess();
};

IteratorResource::~IteratorResource() = default;

Status IteratorResource::Start(const RefPtr<Dataset>& dataset, const FunctionRuntime* functions,
                               FunctionRuntime::Place place) {
  TF_RETURN_IF_ERROR(CheckSignature(dataset->types(), dataset->shapes(), types_, shapes_));
  ThreadPool* const pool = place.pool;
  auto state = std::make_shared<State>();
  state->env = std::make_unique<DataEnvironment>(functions, std::move(place));
  state->dataset = dataset;
  TF_ASSIGN_OR_RETURN(
      state->pull,
      dataset->MakeIterator({.env = state->env.get(), .cancellation = state->env->cancellation(), .depth = 0}));
  {
    MutexLock lock(mu_);
    std::swap(state, state_);
  }
  // Destroying the old state waits for its background work, so it happens on a thread that may block.
  if (state != nullptr) pool->ScheduleBlocking([old = std::move(state)]() mutable { old.reset(); });
  return OkStatus();
}

void IteratorResource::Next(ThreadPool* pool, CancellationManager* cancellation, Done done) {
  auto request = std::make_shared<Request>();
  request->cancellation = cancellation;
  request->done = std::move(done);
  bool serve = false;
  bool cancelled = false;
  {
    MutexLock lock(mu_);
    // A request that is still in the queue can be cancelled at once. The request that is being served is not in the
    // queue: its call of the iterator observes the cancellation.
    const bool registered = request->wait.Begin(
        cancellation,
        [self = RefPtr<IteratorResource>::Share(this), weak = std::weak_ptr<Request>(request)](const Status& why) {
          const auto request = weak.lock();
          if (request == nullptr) return;
          {
            MutexLock lock(self->mu_);
            const auto it = std::find(self->requests_.begin(), self->requests_.end(), request);
            if (it == self->requests_.end()) return;
            self->requests_.erase(it);
          }
          request->done(why);
        });
    if (registered) {
      requests_.push_back(request);
      serve = !std::exchange(serving_, true);
    } else {
      cancelled = true;
    }
  }
  if (cancelled) return request->done(cancellation->status());
  if (serve) {
    pool->ScheduleBlocking([self = RefPtr<IteratorResource>::Share(this), pool] { self->ServeOne(pool); });
  }
}

void IteratorResource::ServeOne(ThreadPool* pool) {
  std::shared_ptr<Request> request;
  std::shared_ptr<State> state;
  {
    MutexLock lock(mu_);
    if (requests_.empty()) {
      serving_ = false;
      return;
    }
    request = std::move(requests_.front());
    requests_.pop_front();
    state = state_;
  }
  StatusOr<std::optional<Element>> result = std::optional<Element>();
  if (state == nullptr) {
    result = FailedPrecondition("iterator '", name_, "' has not been initialized: run its initializer first");
  } else {
    const IteratorContext ctx{.env = state->env.get(), .cancellation = request->cancellation, .depth = 0};
    Element element;
    const ScopedFileAccess scope(request->files != nullptr ? request->files : state->env->files());
    const auto more = state->pull(ctx, &element);
    if (!more.ok()) {
      result = more.status();
    } else if (*more) {
      const Status fits = CheckElement(element, types_, shapes_);
      if (fits.ok()) {
        result = std::optional<Element>(std::move(element));
      } else {
        result = fits;
      }
    }
  }
  state.reset();
  request->wait.End();
  // `done` continues the step on this thread, so the next request is served on another one.
  bool again;
  {
    MutexLock lock(mu_);
    again = !requests_.empty();
    serving_ = again;
  }
  if (again) pool->ScheduleBlocking([self = RefPtr<IteratorResource>::Share(this), pool] { self->ServeOne(pool); });
  request->done(std::move(result));
}

}  // namespace tensorbraid
