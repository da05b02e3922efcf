// The dataset that computes elements ahead of time, and copies them to an accelerator ahead of the steps that need
// them.
#include <deque>
#include <optional>
#include <type_traits>

#include "kernels/cpu/dataset/util.h"
#include "kernels/cpu/dataset/wait.h"
#include "runtime/dataset/element_target.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Bytes that the elements of one buffer may take on a device. One element is copied ahead whatever its size.
constexpr int64_t kMaxBytesAhead = int64_t{256} << 20;

// A buffer that is filled in the background until it is full. No thread waits for space in the buffer: filling stops
// when it is full, and Next starts it again. T is Element or, if all elements are scalar strings, std::string.
//
// If steps need the elements on a device, further background work copies those of the buffer there, in their order. The
// buffer keeps the elements in host memory, too, for a checkpoint and for a step that needs them elsewhere. If a copy
// fails, Next returns the element in host memory, and the step copies it and gets the error.
template <typename T>
class Prefetcher : public std::enable_shared_from_this<Prefetcher<T>> {
 public:
  Prefetcher(DataEnvironment* env, Iterator pull, size_t size, int depth)
      : env_(env), pull_(std::move(pull)), size_(size), depth_(depth) {}
  // Cancels the background work and waits until it has ended.
  void Stop() {
    cancellation_->Cancel(Cancelled("the iterator has been deleted"));
    MutexLock lock(*mu_);
    cv_->Wait(*mu_, [this] { return !filling_ && !copying_; });
  }

  // See Iterator::PrepareFor. If elements go to several devices in turn, none is copied ahead, since the device
  // of the next one is not known.
  void PrepareFor(const std::shared_ptr<const ElementTarget>& target) {
    MutexLock lock(*mu_);
    wanted_ = target;
    if (target == nullptr) return;
    if (target_ != nullptr && !(*target_ == *target)) has_several_targets_ = true;
    target_ = target;
  }

  // Returns the first element of the buffer, and waits until there is one, and until a copy of it that has begun ends.
  StatusOr<bool> Next(const IteratorContext& ctx, T* out) {
    {
      MutexLock lock(*mu_);
      FillInBackground();
    }
    const auto ready = [this] {
      if (buffer_.empty()) return !filling_;
      return wanted_ == nullptr || copies_.empty() || copies_.front()->ended;
    };
    for (;;) {
      if (!WaitOrCancelled(mu_, cv_, ctx.cancellation, ready)) return ctx.cancellation->status();
      MutexLock lock(*mu_);
      if (ready()) return Take(out);  // if not, a copy of the first element has begun since the wait
    }
  }

  // Waits until the background work pauses, and visits the buffer and the input.
  void Visit(IteratorState& state) {
    {
      MutexLock lock(*mu_);
      pauses_ = true;
    }
    CancellationManager* const cancellation = state.context().cancellation;
    if (WaitOrCancelled(mu_, cv_, cancellation, [this] { return !filling_ && !copying_; })) {
      state(pull_, buffer_, ended_);
      if (state.restores()) copies_.clear();
    } else {
      state.Fail(cancellation->status());
    }
    MutexLock lock(*mu_);
    pauses_ = false;
  }

 private:
  // The copy of an element of the buffer.
  struct Copy {
    std::shared_ptr<const ElementTarget> target;  // null: the element is not copied
    int64_t bytes = 0;
    bool ended = false;
    std::optional<Element> element;  // nothing if the copy has failed
  };

  // Takes the first element of the buffer, or says why there is none. REQUIRES: mu_ is held.
  StatusOr<bool> Take(T* out) {
    if (buffer_.empty()) {
      if (ended_) return false;
      // The filling could not start, or was cancelled.
      return env_->cancellation()->status().ok() ? Cancelled("the iterator is being deleted")
                                                 : env_->cancellation()->status();
    }
    StatusOr<T> first = std::move(buffer_.front());
    buffer_.pop_front();
    if (!copies_.empty()) {
      UseCopy(*copies_.front(), first);
      copies_.pop_front();
    }
    FillInBackground();
    CopyInBackground();
    TF_ASSIGN_OR_RETURN(*out, std::move(first));
    return true;
  }

  // Puts the copy in the place of the element if the step needs it where it is. REQUIRES: mu_ is held.
  void UseCopy(Copy& copy, StatusOr<T>& element) const {
    if constexpr (std::is_same_v<T, Element>) {
      if (wanted_ == nullptr || !copy.element || !(*copy.target == *wanted_)) return;
      element = *std::move(copy.element);
    }
  }

  // REQUIRES: mu_ is held.
  void FillInBackground() {
    if (filling_ || ended_ || buffer_.size() >= size_) return;
    filling_ = env_->RunInBackground([self = this->shared_from_this()] { self->Fill(); });
  }

  // REQUIRES: mu_ is held.
  void CopyInBackground() {
    if (copying_ || !MayCopy()) return;
    copying_ = env_->RunInBackground([self = this->shared_from_this()] { self->CopyAhead(); });
  }

  // Whether the first element without a copy may be copied now. REQUIRES: mu_ is held.
  bool MayCopy() const {
    if constexpr (!std::is_same_v<T, Element>) return false;
    if (target_ == nullptr || has_several_targets_ || pauses_ || copies_.size() >= buffer_.size()) return false;
    int64_t ahead = 0;
    for (const auto& copy : copies_) ahead += copy->bytes;
    return ahead == 0 || ahead + BytesOf(buffer_[copies_.size()]) <= kMaxBytesAhead;
  }
  int64_t BytesOf(const StatusOr<T>& element) const {
    if constexpr (std::is_same_v<T, Element>) {
      if (element.ok()) return target_->BytesOf(*element);
    }
    return 0;
  }

  // Calls `work` with a cancellation that ends with the iterator and with its environment.
  template <typename Work>
  void WithCancellation(const Work& work) {
    CancellationManager::Token token = 0;
    CancellationManager* const outer = env_->cancellation();
    const bool registered = outer->Register([own = cancellation_](const Status& why) { own->Cancel(why); }, &token);
    if (!registered) cancellation_->Cancel(outer->status());
    work();
    if (registered) outer->TryDeregister(token);
  }

  void Fill() {
    WithCancellation([this] {
      const IteratorContext ctx{.env = env_, .cancellation = cancellation_.get(), .depth = depth_};
      while (FillOne(ctx)) {
      }
    });
  }

  // Returns whether the filling goes on. If not, it has ended.
  bool FillOne(const IteratorContext& ctx) {
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
    CopyInBackground();
    // After an error, continues only when Next is called again.
    filling_ = more.ok() && *more && buffer_.size() < size_ && !pauses_ && !cancellation_->IsCancelled();
    cv_->NotifyAll();
    return filling_;
  }

  void CopyAhead() {
    if constexpr (std::is_same_v<T, Element>) {
      WithCancellation([this] {
        while (CopyOne()) {
        }
      });
    }
  }

  // Returns whether the copying goes on. If not, it has ended.
  bool CopyOne() {
    std::shared_ptr<Copy> copy;
    Element element;
    {
      MutexLock lock(*mu_);
      copying_ = MayCopy() && !cancellation_->IsCancelled();
      if (!copying_) {
        cv_->NotifyAll();
        return false;
      }
      const StatusOr<T>& next = buffer_[copies_.size()];
      copy = std::make_shared<Copy>();
      copy->target = target_;
      copy->bytes = BytesOf(next);
      copies_.push_back(copy);
      copy->ended = !next.ok();  // there is nothing to copy of an error
      if (copy->ended) return true;
      if constexpr (std::is_same_v<T, Element>) element = *next;
    }
    auto copied = CopyToDevice(element, *copy->target, cancellation_.get());
    MutexLock lock(*mu_);
    if (copied.ok()) copy->element = *std::move(copied);
    copy->ended = true;
    cv_->NotifyAll();
    return true;
  }

  DataEnvironment* const env_;
  Iterator pull_;  // used only by Fill, and by Visit while Fill does not run
  const size_t size_;
  const int depth_;
  const std::shared_ptr<CancellationManager> cancellation_ = std::make_shared<CancellationManager>();
  const std::shared_ptr<Mutex> mu_ = std::make_shared<Mutex>();
  const std::shared_ptr<CondVar> cv_ = std::make_shared<CondVar>();
  std::deque<StatusOr<T>> buffer_;
  std::deque<std::shared_ptr<Copy>> copies_;     // of the first elements of buffer_, in its order
  std::shared_ptr<const ElementTarget> target_;  // what the last step with a device needs; null: none was there yet
  std::shared_ptr<const ElementTarget> wanted_;  // what the next call of Next needs; null: host memory
  bool has_several_targets_ = false;
  bool filling_ = false;
  bool copying_ = false;
  bool pauses_ = false;  // the background work ends after the next element
  bool ended_ = false;
};

// Its destructor stops the prefetcher.
template <typename T>
class PrefetchIterator final : public Iterator::Impl {
 public:
  PrefetchIterator(const IteratorContext& ctx, Iterator pull, size_t size)
      : prefetcher_(std::make_shared<Prefetcher<T>>(ctx.env, std::move(pull), size, ctx.depth)) {}
  ~PrefetchIterator() override { prefetcher_->Stop(); }
  StatusOr<bool> Next(const IteratorContext& ctx, Element* out) override {
    if constexpr (std::is_same_v<T, Element>) {
      return prefetcher_->Next(ctx, out);
    } else {
      std::string text;
      TF_ASSIGN_OR_RETURN(const bool more, prefetcher_->Next(ctx, &text));
      if (more) *out = {Tensor::Scalar(std::move(text))};
      return more;
    }
  }
  StatusOr<bool> Next(const IteratorContext& ctx, std::string* out) override {
    if constexpr (std::is_same_v<T, Element>) {
      return Impl::Next(ctx, out);
    } else {
      return prefetcher_->Next(ctx, out);
    }
  }
  void Visit(IteratorState& state) override { prefetcher_->Visit(state); }
  void PrepareFor(const std::shared_ptr<const ElementTarget>& target) override { prefetcher_->PrepareFor(target); }

 private:
  const std::shared_ptr<Prefetcher<T>> prefetcher_;
};

Status PrefetchDataset(KernelContext& ctx) {
  constexpr int64_t kDefaultSize = 8;
  TF_ASSIGN_OR_RETURN(const auto input, InputDataset(ctx, 0));
  TF_ASSIGN_OR_RETURN(const int64_t wanted, NumberInput(ctx, 1, "buffer_size"));
  if (wanted < -1) return InvalidArgument("buffer_size must be 0 or more, or -1 for a default; got ", wanted);
  const auto size = static_cast<size_t>(wanted == -1 ? kDefaultSize : wanted);
  return EmitDataset(
      ctx, {input},
      [=](const IteratorContext& c) -> StatusOr<Iterator> {
        TF_ASSIGN_OR_RETURN(Iterator pull, input->MakeIterator(c));
        if (size == 0) return pull;
        if (input->has_string_elements()) {
          return Iterator(std::make_shared<PrefetchIterator<std::string>>(c, std::move(pull), size));
        }
        return Iterator(std::make_shared<PrefetchIterator<Element>>(c, std::move(pull), size));
      },
      input->cardinality());
}

}  // namespace

void RegisterDatasetPrefetchKernels(KernelRegistry& r) { r.Add("PrefetchDataset", {}, PrefetchDataset); }

}  // namespace tensorbraid::cpu
