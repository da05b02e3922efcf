#include "runtime/resources/queue_resource.h"

#include <algorithm>

#include "core/errors/interruption.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "runtime/kernel/cancellable_wait.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid {
namespace {

using QueueKind = QueueOptions::Kind;

const char* KindName(QueueKind kind) {
  switch (kind) {
    case QueueKind::kFifo:
      return "FIFO queue";
    case QueueKind::kPadding:
      return "padding FIFO queue";
    case QueueKind::kRandomShuffle:
      return "random shuffle queue";
    case QueueKind::kPriority:
      return "priority queue";
  }
  return "queue";
}

std::unique_ptr<QueueStore> MakeStore(const QueueOptions& options) {
  if (options.kind == QueueKind::kRandomShuffle) return MakeShuffleStore(options.random);
  if (options.kind == QueueKind::kPriority) return MakePriorityStore();
  return MakeFifoStore();
}

template <typename T>
std::string Joined(const std::vector<T>& values) {
  std::vector<std::string> names;
  for (const T& v : values) names.push_back(StrCat(v));
  return StrCat("[", StrJoin(names, ", "), "]");
}

Status ShapeMismatch(size_t component, const Shape& want, const Shape& got) {
  return InvalidArgument("Shape mismatch in tuple component ", component, ". Expected ", want, ", got ", got);
}

// Copies `from` into slot `i` of `to`, at the beginning of each dimension.
void CopyPadded(const Tensor& from, int64_t i, Tensor* to) {
  const int rank = from.shape().rank();
  if (from.num_elements() == 0) return;
  if (rank == 0) return CopyElementRange(from, 0, 1, to, i);
  const int64_t row = from.shape().dim(rank - 1);
  std::vector<int64_t> at(rank, 0);  // the position of a row in `from`
  for (int64_t begin = 0; begin < from.num_elements(); begin += row) {
    int64_t to_begin = i;
    for (int d = 0; d < rank; ++d) to_begin = to_begin * to->shape().dim(d + 1) + at[d];
    CopyElementRange(from, begin, row, to, to_begin);
    for (int d = rank - 2; d >= 0 && ++at[d] == from.shape().dim(d); --d) at[d] = 0;
  }
}

}  // namespace

// A call that could not be served at once.
struct QueueResource::Waiter {
  // The fields of an enqueue or a close. An enqueue adds the slices of `batch` from `next` on or, if `is_row`, `batch`
  // itself as one element. A close has `closes` and no batch. Both have `added`.
  Tuple batch;
  bool is_row = false;
  bool closes = false;
  int64_t next = 0, end = 0;
  Done added;
  // The fields of a dequeue.
  int64_t wanted = 1;
  bool stacked = false;
  bool up_to = false;
  std::vector<Tuple> taken;
  DequeueDone dequeued;
  CancellableWait wait;
  bool finished = false;  // guarded by the queue's lock

  bool is_adder() const { return added != nullptr; }
  void Fail(const Status& why) {
    if (is_adder()) {
      added(why);
    } else {
      dequeued(why);
    }
  }
};

QueueResource::QueueResource(std::string name, QueueOptions options)
    : name_(std::move(name)), options_(std::move(options)), store_(MakeStore(options_)) {}

Status QueueResource::CheckOptions(const QueueOptions& o) {
  if (!o.shapes.empty() && o.shapes.size() != o.types.size()) {
    return InvalidArgument("there are ", o.types.size(), " components, but ", o.shapes.size(), " shapes");
  }
  const bool needs_shapes = o.kind == QueueKind::kPadding || o.kind == QueueKind::kPriority;
  if (needs_shapes && o.shapes.size() != o.types.size()) {
    return InvalidArgument("a ", KindName(o.kind), " needs the shapes of its components");
  }
  for (const Shape& s : o.shapes) {
    if (!s.has_rank()) return InvalidArgument("the shape ", s, " of a component must have a known rank");
    if (o.kind != QueueKind::kPadding && !s.is_fully_defined()) {
      return InvalidArgument("the shape ", s, " of a component must be fully known");
    }
  }
  if (o.kind == QueueKind::kRandomShuffle) {
    if (o.min_after_dequeue < 0) return InvalidArgument("min_after_dequeue ", o.min_after_dequeue, " must be >= 0");
    if (o.capacity >= 0 && o.min_after_dequeue >= o.capacity) {
      return InvalidArgument("min_after_dequeue ", o.min_after_dequeue, " must be < capacity ", o.capacity);
    }
  }
  return OkStatus();
}

Status QueueResource::CheckSame(const QueueOptions& wanted) const {
  const auto differ = [&](const char* what, const auto& have, const auto& want) {
    return InvalidArgument("queue '", name_, "' already exists with ", what, " ", have, ", but this op requests ",
                           want);
  };
  if (wanted.kind != options_.kind) return differ("kind", KindName(options_.kind), KindName(wanted.kind));
  if (std::max<int64_t>(wanted.capacity, -1) != std::max<int64_t>(options_.capacity, -1)) {
    return differ("capacity", options_.capacity, wanted.capacity);
  }
  if (wanted.types != types()) return differ("component types", Joined(types()), Joined(wanted.types));
  if (wanted.shapes != options_.shapes)
    return differ("component shapes", Joined(options_.shapes), Joined(wanted.shapes));
  if (wanted.min_after_dequeue != options_.min_after_dequeue) {
    return differ("min_after_dequeue", options_.min_after_dequeue, wanted.min_after_dequeue);
  }
  const bool any_seed = wanted.seed == 0 && wanted.seed2 == 0;
  if (!any_seed && (wanted.seed != options_.seed || wanted.seed2 != options_.seed2)) {
    return differ("random seeds", StrCat(options_.seed, ", ", options_.seed2), StrCat(wanted.seed, ", ", wanted.seed2));
  }
  return OkStatus();
}

Status QueueResource::CheckComponents(const Tuple& tuple) const {
  if (tuple.size() != types().size()) {
    return InvalidArgument("wrong number of components for queue '", name_, "': expected ", types().size(), ", got ",
                           tuple.size());
  }
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i].dtype() != types()[i]) {
      return InvalidArgument("component ", i, " of queue '", name_, "' is ", types()[i], ", got ", tuple[i].dtype());
    }
  }
  return OkStatus();
}

Status QueueResource::CheckElement(const Tuple& element) const {
  TF_RETURN_IF_ERROR(CheckComponents(element));
  for (size_t i = 0; i < options_.shapes.size(); ++i) {
    if (!options_.shapes[i].IsCompatibleWith(element[i].shape())) {
      return ShapeMismatch(i, options_.shapes[i], element[i].shape());
    }
  }
  return OkStatus();
}

void QueueResource::Enqueue(Tuple element, CancellationManager* cancellation, Done done) {
  if (const Status status = CheckElement(element); !status.ok()) return done(status);
  auto waiter = std::make_shared<Waiter>();
  waiter->batch = std::move(element);
  waiter->is_row = true;
  waiter->end = 1;
  waiter->added = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::EnqueueMany(Tuple batch, CancellationManager* cancellation, Done done) {
  if (const Status status = CheckComponents(batch); !status.ok()) return done(status);
  const int64_t n = batch.empty() || batch[0].shape().rank() < 1 ? -1 : batch[0].shape().dim(0);
  for (size_t i = 0; i < batch.size(); ++i) {
    const Shape& shape = batch[i].shape();
    if (n < 0 || shape.rank() < 1 || shape.dim(0) != n) {
      return done(InvalidArgument("queue '", name_, "': all components of a batch must have the same first dimension; ",
                                  "component 0 has shape ", batch[0].shape(), ", component ", i, " ", shape));
    }
    const Shape row(shape.dims().subspan(1));
    if (!options_.shapes.empty() && !options_.shapes[i].IsCompatibleWith(row)) {
      Shape declared({n});
      for (const int64_t dim : options_.shapes[i].dims()) declared.AddDim(dim);
      return done(ShapeMismatch(i, declared, shape));
    }
  }
  if (n <= 0) return done(OkStatus());
  auto waiter = std::make_shared<Waiter>();
  waiter->batch = std::move(batch);
  waiter->end = n;
  waiter->added = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::Dequeue(CancellationManager* cancellation, DequeueDone done) {
  auto waiter = std::make_shared<Waiter>();
  waiter->dequeued = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::DequeueMany(int64_t n, bool up_to, CancellationManager* cancellation, DequeueDone done) {
  if (n < 0) return done(InvalidArgument("queue '", name_, "': cannot dequeue ", n, " elements"));
  if (options_.shapes.size() != types().size()) {
    return done(InvalidArgument("queue '", name_,
                                "': dequeues of many elements require the components to have specified shapes; "
                                "create the queue with shapes"));
  }
  if (n == 0) return done(Stack({}));
  auto waiter = std::make_shared<Waiter>();
  waiter->wanted = n;
  waiter->stacked = true;
  waiter->up_to = up_to;
  waiter->dequeued = std::move(done);
  Start(std::move(waiter), cancellation);
}

void QueueResource::Start(std::shared_ptr<Waiter> waiter, CancellationManager* cancellation) {
  Actions actions;
  {
    MutexLock lock(mu_);
    auto& waiters = waiter->is_adder() ? adders_ : takers_;
    waiters.push_back(waiter);
    Serve(&actions);
    if (!waiter->finished) {
      const bool registered =
          waiter->wait.Begin(cancellation, [self = RefPtr<QueueResource>::Share(this), waiter](const Status& why) {
            if (!self->Abandon(*waiter)) return;
            const bool cancelled = absl::IsCancelled(why) || why.ok();
            waiter->Fail(
                Interrupted(StrCat("queue '", self->name_, "'"),
                            cancelled ? std::string(kCancelledInWait) : StrCat("the step ended: ", why.message())));
          });
      if (!registered) {
        waiters.remove(waiter);
        waiter->finished = true;
        actions.emplace_back(
            [waiter, this] { waiter->Fail(Interrupted(StrCat("queue '", name_, "'"), kCancelledBeforeWait)); });
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
    adders_.remove_if(is_w);
    takers_.remove_if(is_w);
    Serve(&actions);  // the removed call may have been the first, and it may be possible to serve the next one
  }
  for (const auto& action : actions) action();
  return true;
}

QueueResource::Outcome QueueResource::ServeAdder(Waiter& w, Actions* actions) {
  if (closed_) {
    actions->emplace_back(
        [&w, this] { w.added(Cancelled("queue '", name_, "' is ", w.closes ? "already closed" : "closed")); });
    return Outcome::kFinished;
  }
  if (w.closes) {
    closed_ = true;
    actions->emplace_back([&w] { w.added(OkStatus()); });
    return Outcome::kFinished;
  }
  Outcome outcome = Outcome::kNothing;
  for (; w.next < w.end && !IsFull(); ++w.next) {
    outcome = Outcome::kProgress;
    if (w.is_row) {
      store_->Put(std::move(w.batch));
      continue;
    }
    Tuple element;
    for (const Tensor& t : w.batch) {
      auto row = CopyOfRow(t, w.next);
      if (!row.ok()) {
        actions->emplace_back([&w, error = row.status()] { w.added(error); });
        return Outcome::kFinished;
      }
      element.push_back(*std::move(row));
    }
    store_->Put(std::move(element));
  }
  if (w.next < w.end) return outcome;
  actions->emplace_back([&w] { w.added(OkStatus()); });
  return Outcome::kFinished;
}

QueueResource::Outcome QueueResource::ServeTaker(Waiter& w, Actions* actions) {
  if (closed_ && store_->size() + static_cast<int64_t>(w.taken.size()) < w.wanted) {
    store_->PutBack(std::exchange(w.taken, {}));
    if (!w.up_to || store_->size() == 0) {
      actions->emplace_back([&w, wanted = w.wanted, size = store_->size(), this] {
        w.dequeued(OutOfRange("queue '", name_, "' is closed and has insufficient elements (requested ", wanted,
                              ", current size ", size, ")"));
      });
      return Outcome::kFinished;
    }
    w.wanted = store_->size();
  }
  const int64_t available = store_->size() + static_cast<int64_t>(w.taken.size());
  if (w.up_to && accepts_fewer_ && available > 0) w.wanted = std::min(w.wanted, available);
  // Wait until there are enough elements. Taking them one by one as they arrive would not give the smallest ones, nor
  // in order.
  if (options_.kind == QueueKind::kPriority && store_->size() < w.wanted) return Outcome::kNothing;
  const int64_t kept = closed_ ? 0 : options_.min_after_dequeue;
  Outcome outcome = Outcome::kNothing;
  while (static_cast<int64_t>(w.taken.size()) < w.wanted && store_->size() > kept) {
    w.taken.push_back(store_->Take());
    outcome = Outcome::kProgress;
  }
  if (static_cast<int64_t>(w.taken.size()) < w.wanted) return outcome;
  actions->emplace_back([&w, this] {
    if (w.stacked) {
      w.dequeued(Stack(w.taken));
    } else {
      w.dequeued(std::move(w.taken[0]));
    }
  });
  return Outcome::kFinished;
}

StatusOr<QueueResource::Tuple> QueueResource::Stack(const std::vector<Tuple>& elements) const {
  Tuple result;
  const auto n = static_cast<int64_t>(elements.size());
  for (size_t c = 0; c < types().size(); ++c) {
    const Shape& declared = options_.shapes[c];
    Shape shape({n});
    for (int d = 0; d < declared.rank(); ++d) {
      int64_t size = declared.dim(d);
      if (size == Shape::kUnknownDim) {
        size = 0;
        for (const Tuple& element : elements) size = std::max(size, element[c].shape().dim(d));
      }
      shape.AddDim(size);
    }
    const bool padded = !declared.is_fully_defined();
    TF_ASSIGN_OR_RETURN(Tensor stacked, padded ? ZeroTensor(types()[c], shape) : Tensor::Create(types()[c], shape));
    for (int64_t i = 0; i < n; ++i) {
      const Tensor& row = elements[i][c];
      if (padded) {
        CopyPadded(row, i, &stacked);
      } else {
        CopyElementRange(row, 0, row.num_elements(), &stacked, i * row.num_elements());
      }
    }
    result.push_back(std::move(stacked));
  }
  return result;
}

void QueueResource::Serve(Actions* actions) {
  // After an enqueue, a waiting dequeue may be possible, and vice versa.
  bool progress = true;
  while (progress) {
    progress = false;
    for (auto* waiters : {&adders_, &takers_}) {
      while (!waiters->empty()) {
        const std::shared_ptr<Waiter> w = waiters->front();
        Actions own;
        const Outcome outcome = waiters == &adders_ ? ServeAdder(*w, &own) : ServeTaker(*w, &own);
        progress = progress || outcome != Outcome::kNothing;
        if (outcome != Outcome::kFinished) break;
        waiters->pop_front();
        w->finished = true;
        actions->emplace_back([self = RefPtr<QueueResource>::Share(this), w, own = std::move(own)] {
          w->wait.End();
          for (const auto& action : own) action();
        });
      }
    }
  }
}

void QueueResource::Close(bool cancel_pending, CancellationManager* cancellation, Done done) {
  if (!cancel_pending) {
    auto waiter = std::make_shared<Waiter>();
    waiter->closes = true;
    waiter->added = std::move(done);
    return Start(std::move(waiter), cancellation);
  }
  Actions actions;
  {
    MutexLock lock(mu_);
    closed_ = true;
    for (const auto& w : std::exchange(adders_, {})) {
      w->finished = true;
      actions.emplace_back([w, self = RefPtr<QueueResource>::Share(this)] {
        w->wait.End();
        w->added(Cancelled("queue '", self->name_, "': the enqueue was cancelled because the queue was closed"));
      });
    }
    Serve(&actions);
  }
  for (const auto& action : actions) action();
  done(OkStatus());
}

void QueueResource::AcceptFewer() {
  Actions actions;
  {
    MutexLock lock(mu_);
    accepts_fewer_ = true;
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
  return store_->size();
}

std::string QueueResource::DebugString() const {
  return StrCat(KindName(options_.kind), " of ", types().size(), " components");
}

}  // namespace tensorbraid
