#include "runtime/resources/accumulator_resource.h"

#include <algorithm>

#include "core/errors/interruption.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "runtime/kernel/cancellable_wait.h"

namespace tensorbraid {

struct AccumulatorResource::Waiter {
  int64_t required = 0;
  TakeDone done;
  CancellableWait wait;
  bool finished = false;  // guarded by the accumulator's lock
};

StatusOr<bool> AccumulatorResource::Apply(int64_t local_step, Gradient gradient, ThreadPool& pool) {
  std::function<void(ThreadPool&)> serve;
  {
    MutexLock lock(mu_);
    if (local_step < step_) return false;
    TF_RETURN_IF_ERROR(count_ == 0 ? Begin(std::move(gradient)) : Add(std::move(gradient), pool));
    ++count_;
    serve = Serve();
  }
  if (serve) serve(pool);
  return true;
}

StatusOr<GradientOutcome> AccumulatorResource::ApplySum(int64_t local_step, const std::vector<int64_t>& replicas,
                                                        Gradient sum, ThreadPool& pool) {
  const std::set<int64_t> workers(replicas.begin(), replicas.end());
  if (workers.empty() || workers.size() != replicas.size()) {
    return InvalidArgument("accumulator '", name_, "': a sum must be of the gradients of different workers, got ",
                           replicas.size(), " of ", workers.size(), " workers");
  }
  std::function<void(ThreadPool&)> serve;
  {
    MutexLock lock(mu_);
    if (local_step < step_) return GradientOutcome::kDropped;
    const auto known =
        std::ranges::count_if(workers, [this](int64_t worker) TB_REQUIRES(mu_) { return counted_.contains(worker); });
    if (known > 0) {
      return known == std::ssize(workers) ? GradientOutcome::kCounted : GradientOutcome::kRefused;
    }
    TF_RETURN_IF_ERROR(count_ == 0 ? Begin(std::move(sum)) : Add(std::move(sum), pool));
    count_ += std::ssize(workers);
    counted_.insert(workers.begin(), workers.end());
    serve = Serve();
  }
  if (serve) serve(pool);
  return GradientOutcome::kCounted;
}

std::function<void(ThreadPool&)> AccumulatorResource::Serve() {
  if (waiters_.empty() || count_ == 0 || count_ < waiters_.front()->required) return nullptr;
  const std::shared_ptr<Waiter> waiter = waiters_.front();
  waiters_.pop_front();
  waiter->finished = true;
  ++step_;
  counted_.clear();
  // Dividing happens outside of the lock, so that gradients of the next round need not wait for it.
  return [waiter, finish = End(std::exchange(count_, 0))](ThreadPool& pool) {
    waiter->wait.End();
    waiter->done(finish(pool));
  };
}

void AccumulatorResource::Take(int64_t num_required, CancellationManager* cancellation, ThreadPool& pool,
                               TakeDone done) {
  if (num_required < 1) {
    return done(InvalidArgument("accumulator '", name_, "': the number of required gradients must be >= 1, got ",
                                num_required));
  }
  auto waiter = std::make_shared<Waiter>();
  waiter->required = num_required;
  waiter->done = std::move(done);
  std::function<void(ThreadPool&)> serve;
  bool cancelled = false;
  {
    MutexLock lock(mu_);
    waiters_.push_back(waiter);
    serve = Serve();
    if (!waiter->finished) {
      const bool registered =
          waiter->wait.Begin(cancellation, [self = RefPtr<AccumulatorResource>::Share(this), waiter](const Status&) {
            {
              MutexLock inner(self->mu_);
              if (waiter->finished) return;
              waiter->finished = true;
              self->waiters_.remove(waiter);
            }
            waiter->done(
                Interrupted(StrCat("accumulator '", self->name_, "'"),
                            StrCat("the step was cancelled while it waited for ", waiter->required, " gradients")));
          });
      if (!registered) {
        cancelled = true;
        waiter->finished = true;
        waiters_.remove(waiter);
      }
    }
  }
  if (serve) serve(pool);
  if (cancelled) waiter->done(Interrupted(StrCat("accumulator '", name_, "'"), kCancelledBeforeWait));
}

void AccumulatorResource::SetGlobalStep(int64_t step) {
  MutexLock lock(mu_);
  if (step < step_) {
    TB_LOG(Warning, "runtime") << "accumulator '" << name_ << "' goes back from step " << step_ << " to " << step;
  }
  step_ = step;
}

void AccumulatorResource::Restart(int64_t step) {
  std::list<std::shared_ptr<Waiter>> waiters;
  {
    MutexLock lock(mu_);
    if (count_ > 0) End(std::exchange(count_, 0));
    counted_.clear();
    step_ = step;
    waiters.swap(waiters_);
    for (const auto& waiter : waiters) waiter->finished = true;
  }
  for (const auto& waiter : waiters) {
    waiter->wait.End();
    waiter->done(Aborted("accumulator '", name_, "': a later chief has begun to take the gradients"));
  }
}

int64_t AccumulatorResource::num_accumulated() const {
  MutexLock lock(mu_);
  return count_;
}

std::string AccumulatorResource::DebugString() const {
  return StrCat(is_sparse() ? "sparse" : "dense", " accumulator of ", dtype_, shape_);
}

Status DenseAccumulator::Check(const Gradient& gradient) const {
  if (gradient.size() == 1 && gradient[0].dtype() == dtype() && shape().IsCompatibleWith(gradient[0].shape())) {
    return OkStatus();
  }
  return InvalidArgument("accumulator '", name(), "' of ", dtype(), ": Shape mismatch: expected ", shape(), ", got ",
                         gradient.size() == 1 ? StrCat(gradient[0].shape(), " of ", gradient[0].dtype())
                                              : StrCat(gradient.size(), " tensors"));
}

Status DenseAccumulator::Begin(Gradient gradient) {
  TF_RETURN_IF_ERROR(Check(gradient));
  sum_ = std::move(gradient[0]);
  return OkStatus();
}

Status DenseAccumulator::Add(Gradient gradient, ThreadPool& pool) {
  TF_RETURN_IF_ERROR(Check(gradient));
  Tensor& added = gradient[0];
  if (added.shape() != sum_.shape()) {
    return InvalidArgument("accumulator '", name(), "': Shape mismatch: expected ", sum_.shape(), ", got ",
                           added.shape());
  }
  if (sum_.IsWritable()) {
    arithmetic_.add(pool, sum_, added, &sum_);
  } else if (added.IsWritable()) {
    arithmetic_.add(pool, sum_, added, &added);
    sum_ = std::move(added);
  } else {
    TF_ASSIGN_OR_RETURN(Tensor fresh, Tensor::Create(dtype(), sum_.shape()));
    arithmetic_.add(pool, sum_, added, &fresh);
    sum_ = std::move(fresh);
  }
  return OkStatus();
}

AccumulatorResource::Finish DenseAccumulator::End(int64_t count) {
  const int64_t divisor = reduction() == Reduction::kMean ? count : 1;
  // A shared_ptr, because std::function copies its captures, and a copy of the tensor would be a second reference to
  // the buffer: division in place would be impossible.
  auto sum = std::make_shared<Tensor>(std::exchange(sum_, Tensor()));
  return [sum, divisor, divide = arithmetic_.divide](ThreadPool& pool) -> StatusOr<Gradient> {
    if (divisor == 1) return Gradient{std::move(*sum)};
    if (sum->IsWritable()) {
      divide(pool, *sum, divisor, sum.get());
      return Gradient{std::move(*sum)};
    }
    TF_ASSIGN_OR_RETURN(Tensor mean, Tensor::Create(sum->dtype(), sum->shape()));
    divide(pool, *sum, divisor, &mean);
    return Gradient{std::move(mean)};
  };
}

}  // namespace tensorbraid
