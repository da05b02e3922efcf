// Datasets that compute elements ahead of time (parallel maps, prefetching) or after a delay (sleep).
#include <deque>
#include <optional>

#include "core/text/strings.h"
#include "kernels/cpu/dataset/util.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Waits on `cv` until pred() is true, or until the deadline. Returns pred(), or false if `cancellation` was already
// cancelled.
template <typename Pred>
bool WaitOrCancelled(const std::shared_ptr<Mutex>& mu, const std::shared_ptr<CondVar>& cv,
                     CancellationManager* cancellation, Pred pred,
                     MonotonicClock::time_point deadline = MonotonicClock::time_point::max()) {
  auto cancelled = std::make_shared<bool>(false);
  CancellationManager::Token token = 0;
  const bool registered = cancellation->Register(
      [mu, cv, cancelled](const Status&) {
        MutexLock lock(*mu);
        *cancelled = true;
        cv->NotifyAll();
      },
      &token);
  if (!registered) return false;
  bool held;
  {
    MutexLock lock(*mu);
    cv->WaitUntil(*mu, deadline, [&] { return *cancelled || pred(); });
    held = pred();
  }
  cancellation->TryDeregister(token);
  return held;
}

// Runs a function on several elements of an input in parallel and returns the results in the order of the input. Only
// one thread at a time may call Next.
class Runs {
 public:
  Runs(DataEnvironment* env, CapturedFunction f, Iterator pull, int64_t parallel)
      : f_(std::move(f)), pull_(std::move(pull)), parallel_(static_cast<size_t>(parallel)), env_(env) {}
  ~Runs() {
    cancellation_->Cancel(Cancelled("the iterator has been deleted"));
    MutexLock lock(*mu_);
    cv_->Wait(*mu_, [this] { return *running_ == 0; });
  }

  // The result for the next element, or nothing at the end of the input. Blocks until the result is ready.
  StatusOr<std::optional<Element>> Next(const IteratorContext& ctx) {
    while (!ended_ && runs_.size() < parallel_) {
      TF_RETURN_IF_ERROR(ctx.cancellation->status());
      Element e;
      auto more = pull_(ctx, &e);
      if (!more.ok() || !*more) {
        ended_ = true;
        // Queues the error behind the results for earlier elements.
        if (!more.ok()) runs_.push_back(std::make_shared<Run>(more.status()));
        break;
      }
      Start(std::move(e));
    }
    if (runs_.empty()) return std::optional<Element>();
    const auto first = runs_.front();
    if (!WaitOrCancelled(mu_, cv_, ctx.cancellation, [&] { return first->result.has_value(); })) {
      return ctx.cancellation->status();
    }
    runs_.pop_front();
    if (ended_with_error(*first)) ended_ = false;
    TF_ASSIGN_OR_RETURN(Element result, *std::move(first->result));
    return std::optional<Element>(std::move(result));
  }

  // Waits until all runs have ended, and visits their results.
  void Visit(IteratorState& state) {
    CancellationManager* const cancellation = state.context().cancellation;
    if (!WaitOrCancelled(mu_, cv_, cancellation, [this] { return *running_ == 0; })) {
      return state.Fail(cancellation->status());
    }
    size_t count = runs_.size();
    state(pull_, ended_, count);
    for (size_t i = 0; i < count && state.status().ok(); ++i) {
      if (state.restores()) runs_.push_back(std::make_shared<Run>(StatusOr<Element>(Element())));
      state(runs_[i]->of_input, *runs_[i]->result);
    }
  }

 private:
  struct Run {
    Run() = default;
    explicit Run(StatusOr<Element> known) : result(std::move(known)), of_input(!result->ok()) {}
    CancellationManager cancellation;
    std::optional<StatusOr<Element>> result;  // guarded by mu_
    bool of_input = false;                    // the result is an error of the input, not of the function
  };
  // The input may have more elements after an error, for example if the graph ignores errors.
  static bool ended_with_error(const Run& run) { return run.of_input; }

  void Start(Element e) {
    auto run = std::make_shared<Run>();
    runs_.push_back(run);
    {
      MutexLock lock(*mu_);
      ++*running_;
    }
    CancellationManager::Token token = 0;
    const bool registered =
        cancellation_->Register([run](const Status& why) { run->cancellation.Cancel(why); }, &token);
    if (!registered) run->cancellation.Cancel(cancellation_->status());
    auto finish = [run, mu = mu_, cv = cv_, running = running_, all = cancellation_, token](StatusOr<Element> result) {
      all->TryDeregister(token);
      MutexLock lock(*mu);
      run->result = std::move(result);
      --*running;
      cv->NotifyAll();
    };
    env_->place().pool->Schedule([env = env_, f = f_, e = std::move(e), run, finish = std::move(finish)]() mutable {
      f.Start(env, std::move(e), &run->cancellation, std::move(finish));
    });
  }

  const CapturedFunction f_;
  Iterator pull_;
  const size_t parallel_;
  DataEnvironment* const env_;
  std::deque<std::shared_ptr<Run>> runs_;
  bool ended_ = false;  // Next starts no more runs
  const std::shared_ptr<CancellationManager> cancellation_ = std::make_shared<CancellationManager>();
  const std::shared_ptr<Mutex> mu_ = std::make_shared<Mutex>();
  const std::shared_ptr<CondVar> cv_ = std::make_shared<CondVar>();
  const std::shared_ptr<int> running_ = std::make_shared<int>(0);  // guarded by mu_
};

StatusOr<std::optional<Element>> NextOrEnd(Runs& runs, const IteratorContext& ctx, bool preserve_cardinality) {
  auto next = runs.Next(ctx);
  if (next.ok() || !absl::IsOutOfRange(next.status())) return next;
  if (preserve_cardinality) {
    return InvalidArgument("a function produced OutOfRange: ", std::string(next.status().message()));
  }
  return std::optional<Element>();
}

Status ParallelMapDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const int calls_input = ctx.num_inputs() - 1;
  TF_ASSIGN_OR_RETURN(const int64_t calls, NumberInput(ctx, calls_input, "num_parallel_calls"));
  if (calls < 1 && calls != -1)
    return InvalidArgument("num_parallel_calls must be positive, or -1 for a default; got ", calls);
  const bool preserve = ctx.node().attr<bool>("preserve_cardinality");
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, calls_input);
  const int64_t parallel = ParallelCalls(calls);
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        auto runs = std::make_shared<Runs>(c.env, f, std::move(pull), parallel);
        using RunsPtr = std::shared_ptr<Runs>;
        return MakeStateful(
            std::move(runs),
            [preserve](RunsPtr& runs, const IteratorContext& c, Element* out) -> StatusOr<bool> {
              TF_ASSIGN_OR_RETURN(auto next, NextOrEnd(*runs, c, preserve));
              if (!next) return false;
              *out = *std::move(next);
              return true;
            },
            [](RunsPtr& runs, IteratorState& state) { runs->Visit(state); });
      },
      input->cardinality());
}

// Inputs: input_dataset, other_arguments, batch_size, num_parallel_calls, drop_remainder.
Status MapAndBatchDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  const int n = ctx.num_inputs();
  TF_ASSIGN_OR_RETURN(const int64_t size, NumberInput(ctx, n - 3, "batch_size"));
  TF_ASSIGN_OR_RETURN(const int64_t calls, NumberInput(ctx, n - 2, "num_parallel_calls"));
  TF_ASSIGN_OR_RETURN(const bool drop_remainder, BoolInput(ctx, n - 1, "drop_remainder"));
  if (size <= 0) return InvalidArgument("batch_size must be greater than zero, got ", size);
  if (calls < 1 && calls != -1)
    return InvalidArgument("num_parallel_calls must be positive, or -1 for a default; got ", calls);
  const bool preserve = ctx.node().attr<bool>("preserve_cardinality");
  const auto f = CapturedFunction::FromNode(ctx, "f", 1, n - 3);
  const int64_t parallel = ParallelCalls(calls);
  return EmitDataset(ctx, {input}, [=](const IteratorContext& c) -> StatusOr<Iterator> {
    TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
    auto runs = std::make_shared<Runs>(c.env, f, std::move(pull), parallel);
    using RunsPtr = std::shared_ptr<Runs>;
    const auto next_batch = [=](RunsPtr& runs, const IteratorContext& c, Element* out) -> StatusOr<bool> {
      std::vector<Element> batch;
      while (static_cast<int64_t>(batch.size()) < size) {
        TF_ASSIGN_OR_RETURN(auto next, NextOrEnd(*runs, c, preserve));
        if (!next) break;
        batch.push_back(*std::move(next));
      }
      if (batch.empty() || (drop_remainder && static_cast<int64_t>(batch.size()) < size)) return false;
      TF_ASSIGN_OR_RETURN(*out, StackElements(std::move(batch)));
      return true;
    };
    return MakeStateful(std::move(runs), next_batch, [](RunsPtr& runs, IteratorState& state) { runs->Visit(state); });
  });
}

// A buffer that is filled in the background until it is full. No thread waits for space in the buffer: filling stops
// when it is full, and Next starts it again. T is Element or, if all elements are scalar strings, std::string.
template <typename T>
class Prefetcher : public std::enable_shared_from_this<Prefetcher<T>> {
 public:
  Prefetcher(DataEnvironment* env, Iterator pull, size_t size, int depth)
      : env_(env), pull_(std::move(pull)), size_(size), depth_(depth) {}
  // Cancels the filling and waits until it has ended.
  void Stop() {
    cancellation_->Cancel(Cancelled("the iterator has been deleted"));
    MutexLock lock(*mu_);
    cv_->Wait(*mu_, [this] { return !filling_; });
  }

  // Returns the first element of the buffer, and waits until there is one.
  StatusOr<bool> Next(const IteratorContext& ctx, T* out) {
    {
      MutexLock lock(*mu_);
      FillInBackground();
    }
    const auto ready = [this] { return !buffer_.empty() || !filling_; };
    if (!WaitOrCancelled(mu_, cv_, ctx.cancellation, ready)) return ctx.cancellation->status();
    MutexLock lock(*mu_);
    if (buffer_.empty()) {
      if (ended_) return false;
      // The filling could not start, or was cancelled.
      return env_->cancellation()->status().ok() ? Cancelled("the iterator is being deleted")
                                                 : env_->cancellation()->status();
    }
    StatusOr<T> first = std::move(buffer_.front());
    buffer_.pop_front();
    FillInBackground();
    TF_ASSIGN_OR_RETURN(*out, std::move(first));
    return true;
  }

  // Waits until the filling pauses, and visits the buffer and the input.
  void Visit(IteratorState& state) {
    {
      MutexLock lock(*mu_);
      pauses_ = true;
    }
    CancellationManager* const cancellation = state.context().cancellation;
    if (WaitOrCancelled(mu_, cv_, cancellation, [this] { return !filling_; })) {
      state(pull_, buffer_, ended_);
    } else {
      state.Fail(cancellation->status());
    }
    MutexLock lock(*mu_);
    pauses_ = false;
  }

 private:
  // REQUIRES: mu_ is held.
  void FillInBackground() {
    if (filling_ || ended_ || buffer_.size() >= size_) return;
    filling_ = env_->RunInBackground([self = this->shared_from_this()] { self->Fill(); });
  }

  void Fill() {
    CancellationManager::Token token = 0;
    CancellationManager* const outer = env_->cancellation();
    const bool registered = outer->Register([own = cancellation_](const Status& why) { own->Cancel(why); }, &token);
    if (!registered) cancellation_->Cancel(outer->status());
    const IteratorContext ctx{.env = env_, .cancellation = cancellation_.get(), .depth = depth_};
    while (true) {
      T e;
      const auto more = pull_(ctx, &e);
      MutexLock lock(*mu_);
      if (!more.ok()) {
        buffer_.push_back(more.status());
      } else if (*more) {
        buffer_.push_back(std::move(e));
      } else {
        ended_ = true;
      }
      // After an error, continues only when Next is called again.
      const bool stop = !more.ok() || !*more || buffer_.size() >= size_ || pauses_ || cancellation_->IsCancelled();
      if (stop) {
        if (registered) outer->TryDeregister(token);
        filling_ = false;
      }
      cv_->NotifyAll();
      if (stop) return;
    }
  }

  DataEnvironment* const env_;
  Iterator pull_;  // used only by Fill, and by Visit while Fill does not run
  const size_t size_;
  const int depth_;
  const std::shared_ptr<CancellationManager> cancellation_ = std::make_shared<CancellationManager>();
  const std::shared_ptr<Mutex> mu_ = std::make_shared<Mutex>();
  const std::shared_ptr<CondVar> cv_ = std::make_shared<CondVar>();
  std::deque<StatusOr<T>> buffer_;
  bool filling_ = false;
  bool pauses_ = false;  // the filling ends after the next element
  bool ended_ = false;
};

// Stops the prefetcher when the iterator is destroyed.
template <typename T>
struct PrefetchHandle {
  explicit PrefetchHandle(std::shared_ptr<Prefetcher<T>> p) : prefetcher(std::move(p)) {}
  ~PrefetchHandle() { prefetcher->Stop(); }
  const std::shared_ptr<Prefetcher<T>> prefetcher;
};

template <typename T>
Iterator MakePrefetch(const IteratorContext& ctx, Iterator pull, int64_t size) {
  using Handle = std::shared_ptr<PrefetchHandle<T>>;
  auto handle = std::make_shared<PrefetchHandle<T>>(
      std::make_shared<Prefetcher<T>>(ctx.env, std::move(pull), static_cast<size_t>(size), ctx.depth));
  return MakeStateful(
      std::move(handle), [](Handle& h, const IteratorContext& c, T* out) { return h->prefetcher->Next(c, out); },
      [](Handle& h, IteratorState& state) { h->prefetcher->Visit(state); });
}

Status PrefetchDataset(KernelContext& ctx) {
  constexpr int64_t kDefaultSize = 8;
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "buffer_size"));
  if (wanted < -1) return InvalidArgument("buffer_size must be 0 or more, or -1 for a default; got ", wanted);
  const int64_t size = wanted == -1 ? kDefaultSize : wanted;
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        if (size == 0) return pull;
        if (input->has_string_elements()) return MakePrefetch<std::string>(c, std::move(pull), size);
        return MakePrefetch<Element>(c, std::move(pull), size);
      },
      input->cardinality());
}

// Waits before each element.
Status SleepDataset(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t microseconds, NumberInput(ctx, 1, "sleep_microseconds"));
  if (microseconds < 0) return InvalidArgument("`sleep_microseconds` must be >= 0, got ", microseconds);
  const std::chrono::microseconds time(std::min<int64_t>(microseconds, int64_t{1} << 52));
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        return MakeStateful(std::move(pull),
                            [=](Iterator& pull, const IteratorContext& c, Element* out) -> StatusOr<bool> {
                              const auto mu = std::make_shared<Mutex>();
                              const auto cv = std::make_shared<CondVar>();
                              const auto deadline = MonotonicClock::now() + time;
                              const auto over = [&] { return MonotonicClock::now() >= deadline; };
                              if (!WaitOrCancelled(mu, cv, c.cancellation, over, deadline))
                                return c.cancellation->status();
                              return pull(c, out);
                            });
      },
      input->cardinality());
}

}  // namespace

void RegisterDatasetParallelKernels(KernelRegistry& r) {
  r.Add("SleepDataset", {}, SleepDataset);
  r.Add("ParallelMapDataset", {}, ParallelMapDataset);
  r.Add("ParallelMapDatasetV2", {}, ParallelMapDataset);
  r.Add("MapAndBatchDataset", {}, MapAndBatchDataset);
  r.Add("PrefetchDataset", {}, PrefetchDataset);
}

}  // namespace tensorbraid::cpu
