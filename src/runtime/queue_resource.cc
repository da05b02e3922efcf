#include "runtime/queue_resource.h"

#include <algorithm>
#include <cstring>

#include "core/strings.h"

namespace tensorbraid {

// A call that could not be served at once.
struct QueueResource::Waiter {
  // Enqueue: what is still to be added. Dequeue: empty.
  std::deque<Tuple> pending;
  EnqueueDone enqueue_done;
  // Dequeue.
  int64_t wanted = 1;
  bool stacked = false;
  bool up_to = false;
  DequeueDone dequeue_done;
  // Of the registration that cancels the waiting; null: none. Deregistered before the callback is called.
  CancellationManager* cancellation = nullptr;
  CancellationManager::Token token = 0;
  bool finished = false;  // guarded by the queue's lock

  bool is_enqueue() const { return enqueue_done != nullptr; }
  void Fail(const Status& why) {
    if (is_enqueue()) {
      enqueue_done(why);
    } else {
      dequeue_done(why);
    }
  }
};

QueueResource::QueueResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes, int64_t capacity)
    : name_(std::move(name)), types_(std::move(types)), shapes_(std::move(shapes)), capacity_(capacity) {}

Status QueueResource::CheckElement(const Tuple& element) const {
  if (element.size() != types_.size()) {
    return InvalidArgument("queue '", name_, "' holds ", types_.size(), " components, got ", element.size());
  }
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].dtype() != types_[i]) {
      return InvalidArgument("component ", i, " of queue '", name_, "' is ", types_[i], ", got ", element[i].dtype());
    }
    if (!shapes_.empty() && !shapes_[i].IsCompatibleWith(element[i].shape())) {
      return InvalidArgument("component ", i, " of queue '", name_, "' has shape ", shapes_[i], ", got ",
                             element[i].shape());
    }
  }
  return OkStatus();
}

void QueueResource::Enqueue(Tuple element, CancellationManager* cancellation, EnqueueDone done) {
  if (const Status status = CheckElement(element); !status.ok()) return done(status);
  auto waiter = std::make_shared<Waiter>();
  waiter->pending.push_back(std::move(element));
  waiter->enqueue_done = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::EnqueueMany(const Tuple& batch, CancellationManager* cancellation, EnqueueDone done) {
  auto waiter = std::make_shared<Waiter>();
  const int64_t n = batch.empty() || batch[0].shape().rank() < 1 ? -1 : batch[0].shape().dim(0);
  for (const Tensor& t : batch) {
    if (n < 0 || t.shape().rank() < 1 || t.shape().dim(0) != n) {
      return done(InvalidArgument("queue '", name_, "': the components to be enqueued must have one first dimension"));
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    Tuple element;
    for (const Tensor& t : batch) {
      const Shape row(t.shape().dims().subspan(1));
      element.push_back(*t.Slice(i, i + 1).Reshaped(row));
    }
    if (const Status status = CheckElement(element); !status.ok()) return done(status);
    waiter->pending.push_back(std::move(element));
  }
  if (n == 0) return done(OkStatus());
  waiter->enqueue_done = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::Dequeue(CancellationManager* cancellation, DequeueDone done) {
  auto waiter = std::make_shared<Waiter>();
  waiter->dequeue_done = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::DequeueMany(int64_t n, bool up_to, CancellationManager* cancellation, DequeueDone done) {
  if (n < 0) return done(InvalidArgument("queue '", name_, "': cannot dequeue ", n, " elements"));
  bool known = !shapes_.empty();
  for (const Shape& s : shapes_) known = known && s.is_fully_defined();
  if (!known) {
    return done(FailedPrecondition("queue '", name_, "' has no fully known shapes: its elements cannot be stacked"));
  }
  auto waiter = std::make_shared<Waiter>();
  waiter->wanted = n;
  waiter->stacked = true;
  waiter->up_to = up_to;
  waiter->dequeue_done = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::Start(std::shared_ptr<Waiter> waiter, CancellationManager* cancellation) {
  Actions actions;
  {
    MutexLock lock(mu_);
    auto& line = waiter->is_enqueue() ? enqueues_ : dequeues_;
    if (waiter->is_enqueue() && closed_) {
      waiter->finished = true;
      actions.emplace_back([waiter, this] { waiter->Fail(Cancelled("queue '", name_, "' is closed")); });
    } else {
      line.push_back(waiter);
      Serve(&actions);
    }
    if (!waiter->finished && cancellation != nullptr) {
      // Registered under the lock, so that nobody can serve the waiter before it knows its token. Cancel() runs
      // callbacks without its own lock, so the order of the locks is always this one's first.
      CancellationManager::Token token;
      // The callback holds the queue and the waiter: either may otherwise be gone before the step.
      const bool registered = cancellation->Register(
          [self = RefPtr<QueueResource>::Share(this), waiter](const Status& why) {
            if (!self->Abandon(*waiter)) return;
            waiter->Fail(absl::IsCancelled(why) || why.ok()
                             ? Cancelled("queue '", self->name_, "': the step was cancelled while it waited")
                             : Cancelled("queue '", self->name_, "': the step ended: ", std::string(why.message())));
          },
          &token);
      if (registered) {
        waiter->cancellation = cancellation;
        waiter->token = token;
      } else {
        line.remove(waiter);
        waiter->finished = true;
        actions.emplace_back([waiter, this] {
          waiter->Fail(Cancelled("queue '", name_, "': the step was cancelled before it could wait"));
        });
      }
    }
  }
  for (const auto& action : actions) action();
}

bool QueueResource::Abandon(Waiter& w) {
  Actions actions;
  {
    MutexLock lock(mu_);
    if (w.finished) return false;
    w.finished = true;
    const auto is_w = [&](const std::shared_ptr<Waiter>& other) { return other.get() == &w; };
    enqueues_.remove_if(is_w);
    dequeues_.remove_if(is_w);
    Serve(&actions);  // those behind it may not have to wait
  }
  for (const auto& action : actions) action();
  return true;
}

bool QueueResource::ServeEnqueue(Waiter& w, Actions* actions) {
  if (closed_ && cancel_pending_) {
    actions->emplace_back(
        [&w, this] { w.enqueue_done(Cancelled("queue '", name_, "' was closed while an enqueue waited")); });
    return true;
  }
  while (!w.pending.empty() && (capacity_ < 0 || static_cast<int64_t>(elements_.size()) < capacity_)) {
    elements_.push_back(std::move(w.pending.front()));
    w.pending.pop_front();
  }
  if (!w.pending.empty()) return false;
  actions->emplace_back([&w] { w.enqueue_done(OkStatus()); });
  return true;
}

StatusOr<QueueResource::Tuple> QueueResource::TakeStacked(int64_t n) {
  Tuple result;
  for (size_t c = 0; c < types_.size(); ++c) {
    Shape shape({n});
    for (int64_t d : shapes_[c].dims()) shape.AddDim(d);
    TF_ASSIGN_OR_RETURN(Tensor stacked, Tensor::Create(types_[c], shape));
    const size_t bytes = n == 0 ? 0 : stacked.num_bytes() / static_cast<size_t>(n);
    for (int64_t i = 0; i < n; ++i) {
      const Tensor& row = elements_[i][c];
      if (types_[c] == kString) {
        std::copy_n(row.data<std::string>().begin(), row.num_elements(),
                    stacked.mutable_data<std::string>().begin() + i * row.num_elements());
      } else if (bytes > 0) {
        std::memcpy(static_cast<char*>(stacked.mutable_raw_data()) + static_cast<size_t>(i) * bytes, row.raw_data(),
                    bytes);
      }
    }
    result.push_back(std::move(stacked));
  }
  elements_.erase(elements_.begin(), elements_.begin() + n);
  return result;
}

bool QueueResource::ServeDequeue(Waiter& w, Actions* actions) {
  const auto available = static_cast<int64_t>(elements_.size());
  int64_t n = w.wanted;
  // Enqueues that still wait for room may bring more, even when closed.
  if (available < n) {
    if (!closed_ || !enqueues_.empty()) {
      // A batch larger than the capacity can never be there at once.
      if (capacity_ < 0 || n <= capacity_ || available < capacity_) return false;
      actions->emplace_back([&w, n, this] {
        w.dequeue_done(InvalidArgument("queue '", name_, "' holds at most ", capacity_, " elements; ", n,
                                       " cannot be dequeued at once"));
      });
      return true;
    }
    if (!w.up_to || available == 0) {
      actions->emplace_back([&w, n, available, this] {
        w.dequeue_done(
            OutOfRange("queue '", name_, "' is closed and has too few elements (wanted ", n, ", has ", available, ")"));
      });
      return true;
    }
    n = available;
  }
  StatusOr<Tuple> taken = Tuple();
  if (w.stacked) {
    taken = TakeStacked(n);
  } else {
    taken = std::move(elements_.front());
    elements_.pop_front();
  }
  auto result = std::make_shared<StatusOr<Tuple>>(std::move(taken));
  actions->emplace_back([&w, result] { w.dequeue_done(std::move(*result)); });
  return true;
}

void QueueResource::Serve(Actions* actions) {
  // Adding may make taking possible and the other way round.
  bool progress = true;
  while (progress) {
    progress = false;
    for (auto* line : {&enqueues_, &dequeues_}) {
      while (!line->empty()) {
        const std::shared_ptr<Waiter> w = line->front();
        const size_t before = elements_.size();
        Actions own;
        const bool served = line == &enqueues_ ? ServeEnqueue(*w, &own) : ServeDequeue(*w, &own);
        progress = progress || served || elements_.size() != before;
        if (!served) break;
        line->pop_front();
        w->finished = true;
        actions->emplace_back([w, own = std::move(own)] {
          // A cancellation that is running now, perhaps on this very thread, finds the waiter finished.
          if (w->cancellation != nullptr) w->cancellation->TryDeregister(w->token);
          for (const auto& action : own) action();
        });
      }
    }
  }
}

void QueueResource::Close(bool cancel_pending) {
  Actions actions;
  {
    MutexLock lock(mu_);
    closed_ = true;
    cancel_pending_ = cancel_pending_ || cancel_pending;
    Serve(&actions);
  }
  for (const auto& action : actions) action();
}

bool QueueResource::is_closed() const {
  MutexLock lock(mu_);
  return closed_;
}

int64_t QueueResource::size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(elements_.size());
}

std::string QueueResource::DebugString() const { return StrCat("queue of ", types_.size(), " components"); }

}  // namespace tensorbraid
