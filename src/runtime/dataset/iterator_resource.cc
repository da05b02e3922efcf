#include "runtime/dataset/iterator_resource.h"

#include <algorithm>

#include "core/system/file_access.h"
#include "runtime/dataset/element_target.h"
#include "runtime/dataset/iterator_state.h"
#include "runtime/kernel/cancellable_wait.h"

namespace tensorbraid {
namespace {

// A saved state begins with this name (IteratorState::CheckName).
constexpr const char* kStateFormat = "Tensorbraid iterator 1";

}  // namespace

struct IteratorResource::Request {
  CancellationManager* cancellation = nullptr;
  CancellableWait wait;
  Serve serve;
  std::function<void(const Status&)> fail;
  // Limits the files that the iterator opens for this request, which may be served by the thread of another request.
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

void IteratorResource::Next(ThreadPool* pool, CancellationManager* cancellation, Done done,
                            std::shared_ptr<const ElementTarget> target) {
  Enqueue(
      pool, cancellation,
      [this, done, target](State* state, const IteratorContext& context) {
        Element element;
        state->pull.PrepareFor(target);
        const StatusOr<bool> more = state->pull(context, &element);
        const Status status = !more.ok() ? more.status() : *more ? CheckElement(element, types_, shapes_) : OkStatus();
        StatusOr<std::optional<Element>> result = std::optional<Element>();
        if (!status.ok()) {
          result = status;
        } else if (*more) {
          result = std::optional<Element>(std::move(element));
        }
        // What the iterator has not copied ahead is copied while the next request is served.
        return [done, target, cancellation = context.cancellation, result = std::move(result)]() mutable {
          if (target != nullptr && result.ok() && *result && target->Copies(**result)) {
            auto copied = CopyToDevice(**result, *target, cancellation);
            if (!copied.ok()) return done(copied.status());
            result = std::optional<Element>(*std::move(copied));
          }
          done(std::move(result));
        };
      },
      done);
}

void IteratorResource::Save(ThreadPool* pool, CancellationManager* cancellation,
                            std::function<void(StatusOr<std::string>)> done) {
  Enqueue(
      pool, cancellation,
      [done](State* state, const IteratorContext& context) {
        IteratorState saved(context);
        saved.CheckName(kStateFormat);
        saved(state->pull);
        state->env->VisitFunctions(saved);
        StatusOr<std::string> result = saved.TakeBytes();
        if (!saved.status().ok()) result = saved.status();
        return [done, result = std::move(result)]() mutable { done(std::move(result)); };
      },
      done);
}

void IteratorResource::Restore(ThreadPool* pool, CancellationManager* cancellation, std::string saved,
                               std::function<void(const Status&)> done) {
  Enqueue(
      pool, cancellation,
      [done, saved = std::move(saved)](State* state, const IteratorContext& context) {
        const Status status = [&]() -> Status {
          TF_ASSIGN_OR_RETURN(Iterator pull, state->dataset->MakeIterator(context));
          IteratorState restored(context, saved);
          restored.CheckName(kStateFormat);
          restored(pull);
          state->env->VisitFunctions(restored);
          TF_RETURN_IF_ERROR(restored.status());
          if (!restored.at_end()) return DataLoss("the saved state of an iterator has bytes left over");
          state->pull = std::move(pull);
          return OkStatus();
        }();
        return [done, status] { done(status); };
      },
      done);
}

void IteratorResource::Enqueue(ThreadPool* pool, CancellationManager* cancellation, Serve serve_request,
                               std::function<void(const Status&)> fail) {
  auto request = std::make_shared<Request>();
  request->cancellation = cancellation;
  request->serve = std::move(serve_request);
  request->fail = std::move(fail);
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
          request->fail(why);
        });
    if (registered) {
      requests_.push_back(request);
      serve = !std::exchange(serving_, true);
    } else {
      cancelled = true;
    }
  }
  if (cancelled) return request->fail(cancellation->status());
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
  std::function<void()> finish;
  if (state == nullptr) {
    finish = [request, status = FailedPrecondition("iterator '", name_,
                                                   "' has not been initialized: run its initializer first")] {
      request->fail(status);
    };
  } else {
    const ScopedFileAccess scope(request->files != nullptr ? request->files : state->env->files());
    finish = request->serve(state.get(), {.env = state->env.get(), .cancellation = request->cancellation, .depth = 0});
  }
  state.reset();
  request->wait.End();
  // `finish` continues the step on this thread, so the next request is served on another one.
  bool again;
  {
    MutexLock lock(mu_);
    again = !requests_.empty();
    serving_ = again;
  }
  if (again) pool->ScheduleBlocking([self = RefPtr<IteratorResource>::Share(this), pool] { self->ServeOne(pool); });
  finish();
}

}  // namespace tensorbraid
