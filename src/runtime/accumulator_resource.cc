#include "runtime/accumulator_resource.h"

#include "core/logging.h"
#include "core/strings.h"

namespace tensorbraid {

struct AccumulatorResource::Waiter {
  int64_t required = 0;
  TakeDone done;
  CancellationManager* cancellation = nullptr;  // of the registration `token`; null: none
  CancellationManager::Token token = 0;
  bool finished = false;  // guarded by the accumulator's lock
};

AccumulatorResource::AccumulatorResource(std::string name, DType dtype, Shape shape, Reduction reduction,
                                         Arithmetic arithmetic)
    : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), reduction_(reduction), arithmetic_(arithmetic) {}

Status AccumulatorResource::Apply(int64_t local_step, Tensor gradient, ThreadPool& pool) {
  if (gradient.dtype() != dtype_ || !shape_.IsCompatibleWith(gradient.shape())) {
    return InvalidArgument("accumulator '", name_, "' takes ", dtype_, shape_, ", got ", gradient.dtype(),
                           gradient.shape());
  }
  std::function<void(ThreadPool&)> serve;
  {
    MutexLock lock(mu_);
    if (local_step < step_) return OkStatus();
    if (count_ == 0) {
      sum_ = std::move(gradient);
    } else {
      if (gradient.shape() != sum_.shape()) {
        return InvalidArgument("accumulator '", name_, "' has gradients of shape ", sum_.shape(), ", got ",
                               gradient.shape());
      }
      if (sum_.IsUnique()) {
        arithmetic_.add(pool, sum_, gradient, &sum_);
      } else if (gradient.IsUnique()) {
        arithmetic_.add(pool, sum_, gradient, &gradient);
        sum_ = std::move(gradient);
      } else {
        TF_ASSIGN_OR_RETURN(Tensor fresh, Tensor::Create(dtype_, sum_.shape()));
        arithmetic_.add(pool, sum_, gradient, &fresh);
        sum_ = std::move(fresh);
      }
    }
    ++count_;
    serve = Serve();
  }
  if (serve) serve(pool);
  return OkStatus();
}

std::function<void(ThreadPool&)> AccumulatorResource::Serve() {
  if (waiters_.empty() || count_ == 0 || count_ < waiters_.front()->required) return nullptr;
  const std::shared_ptr<Waiter> waiter = waiters_.front();
  waiters_.pop_front();
  waiter->finished = true;
  const int64_t divisor = reduction_ == Reduction::kMean ? count_ : 1;
  count_ = 0;
  ++step_;
  // Divided outside of the lock: gradients of the next round need not wait.
  return [waiter, divisor, divide = arithmetic_.divide, dtype = dtype_,
          sum = std::exchange(sum_, Tensor())](ThreadPool& pool) mutable {
    if (waiter->cancellation != nullptr) waiter->cancellation->TryDeregister(waiter->token);
    if (divisor == 1) return waiter->done(std::move(sum));
    if (sum.IsUnique()) {
      divide(pool, sum, divisor, &sum);
      return waiter->done(std::move(sum));
    }
    StatusOr<Tensor> mean = Tensor::Create(dtype, sum.shape());
    if (mean.ok()) divide(pool, sum, divisor, &*mean);
    waiter->done(std::move(mean));
  };
}

void AccumulatorResource::Take(int64_t num_required, CancellationManager* cancellation, ThreadPool& pool,
                               TakeDone done) {
  if (num_required < 1) {
    return done(InvalidArgument("accumulator '", name_, "': cannot wait for ", num_required, " gradients"));
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
    if (!waiter->finished && cancellation != nullptr) {
      // Under the lock, so that nobody serves the waiter before it knows its token. The callback holds what it needs.
      CancellationManager::Token token;
      const bool registered = cancellation->Register(
          [self = RefPtr<AccumulatorResource>::Share(this), waiter](const Status&) {
            {
              MutexLock inner(self->mu_);
              if (waiter->finished) return;
              waiter->finished = true;
              self->waiters_.remove(waiter);
            }
            waiter->done(Cancelled("accumulator '", self->name_, "': the step was cancelled while it waited for ",
                                   waiter->required, " gradients"));
          },
          &token);
      if (registered) {
        waiter->cancellation = cancellation;
        waiter->token = token;
      } else {
        cancelled = true;
        waiter->finished = true;
        waiters_.remove(waiter);
      }
    }
  }
  if (serve) serve(pool);
  if (cancelled) waiter->done(Cancelled("accumulator '", name_, "': the step was cancelled before it could wait"));
}

void AccumulatorResource::SetGlobalStep(int64_t step) {
  MutexLock lock(mu_);
  if (step < step_) {
    TB_LOG(Warning, "runtime") << "accumulator '" << name_ << "' goes back from step " << step_ << " to " << step;
  }
  step_ = step;
}

int64_t AccumulatorResource::num_accumulated() const {
  MutexLock lock(mu_);
  return count_;
}

std::string AccumulatorResource::DebugString() const { return StrCat("accumulator of ", dtype_, shape_); }

}  // namespace tensorbraid
