#include "runtime/resources/barrier_resource.h"

#include <algorithm>
#include <limits>

#include "core/text/strings.h"
#include "runtime/variables/tensor_rows.h"

namespace tensorbraid {
namespace {

// Options of the queue of complete tuples: its elements are index (the priority), key and components.
QueueOptions ReadyOptions(const std::vector<DType>& types, const std::vector<Shape>& shapes) {
  QueueOptions options;
  options.kind = QueueOptions::Kind::kPriority;
  options.types = {kInt64, kString};
  options.shapes = {Shape(), Shape()};
  options.types.insert(options.types.end(), types.begin(), types.end());
  options.shapes.insert(options.shapes.end(), shapes.begin(), shapes.end());
  return options;
}

}  // namespace

BarrierResource::BarrierResource(std::string name, std::vector<DType> types, std::vector<Shape> shapes)
    : name_(std::move(name)),
      types_(std::move(types)),
      shapes_(std::move(shapes)),
      ready_(MakeRef<QueueResource>(name_ + "_queue", ReadyOptions(types_, shapes_))),
      next_index_(std::numeric_limits<int64_t>::min()) {}

Status BarrierResource::CheckOptions(const std::vector<DType>& types, const std::vector<Shape>& shapes) {
  if (types.size() != shapes.size()) {
    return InvalidArgument("a barrier needs a shape for each of its ", types.size(), " components, got ",
                           shapes.size());
  }
  return QueueResource::CheckOptions(ReadyOptions(types, shapes));
}

Status BarrierResource::Insert(const Tensor& keys, int64_t component, const Tensor& values) {
  if (component < 0 || component >= static_cast<int64_t>(types_.size())) {
    return InvalidArgument("component ", component, " is out of range: barrier '", name_, "' has ", types_.size(),
                           " components");
  }
  const auto c = static_cast<size_t>(component);
  if (keys.shape().rank() > 1) return InvalidArgument("keys must be a vector, got shape ", keys.shape());
  const int64_t n = keys.num_elements();
  if (values.dtype() != types_[c] || values.shape().rank() < 1 || values.shape().dim(0) != n) {
    return InvalidArgument("barrier '", name_, "' takes ", types_[c], " values for ", n, " keys, got ", values.dtype(),
                           values.shape());
  }
  if (n == 0) {
    MutexLock lock(mu_);
    return cancelled_ ? Cancelled("barrier '", name_, "' is closed") : OkStatus();
  }
  if (values.num_elements() == 0) {
    return InvalidArgument("barrier '", name_, "': Tensors with no elements are not supported, got shape ",
                           values.shape());
  }
  if (Shape(values.shape().dims().subspan(1)) != shapes_[c]) {
    return InvalidArgument("component ", component, " of barrier '", name_, "' has shape ", shapes_[c],
                           ", got rows of ", values.shape());
  }
  std::vector<QueueResource::Tuple> whole;
  Status status;
  {
    MutexLock lock(mu_);
    if (cancelled_ || (closed_ && incomplete_.empty())) {
      return Cancelled("barrier '", name_, "' is closed: nothing more can be inserted");
    }
    const int64_t index = next_index_;  // shared by all keys that are new in this call
    for (int64_t i = 0; i < n; ++i) {
      const std::string& key = keys.data<std::string>()[i];
      auto it = incomplete_.find(key);
      if (it == incomplete_.end()) {
        if (closed_) {
          status = Cancelled("barrier '", name_, "' is closed: it accepts only its incomplete keys, and '", key,
                             "' is not one of them");
          break;
        }
        Incomplete fresh;
        fresh.index = index;
        fresh.components.resize(types_.size());
        fresh.missing = types_.size();
        it = incomplete_.emplace(key, std::move(fresh)).first;
        next_index_ = index + 1;
      }
      Tensor& slot = it->second.components[c];
      if (slot.is_valid()) {
        status =
            InvalidArgument("barrier '", name_, "': key '", key, "' already has a value for component ", component);
        break;
      }
      auto row = CopyOfRow(values, i);
      status = row.status();
      if (!status.ok()) break;
      slot = *std::move(row);
      if (--it->second.missing > 0) continue;
      QueueResource::Tuple tuple{Tensor::Scalar(it->second.index), Tensor::Scalar(key)};
      for (Tensor& t : it->second.components) tuple.push_back(std::move(t));
      whole.push_back(std::move(tuple));
      incomplete_.erase(it);
    }
    ++moving_;
  }
  // Without the lock, because an enqueue may call the callbacks of waiting Take() calls.
  for (auto& tuple : whole) ready_->Enqueue(std::move(tuple), nullptr, [](const Status&) {});
  {
    MutexLock lock(mu_);
    --moving_;
  }
  CloseReadyIfDone();
  return status;
}

void BarrierResource::CloseReadyIfDone() {
  {
    MutexLock lock(mu_);
    if (!closed_ || !incomplete_.empty() || moving_ > 0) return;
  }
  ready_->Close(/*cancel_pending=*/true, nullptr, [](const Status&) {});
}

void BarrierResource::Take(int64_t n, bool allow_small_batch, CancellationManager* cancellation,
                           QueueResource::DequeueDone done) {
  Status status;
  {
    MutexLock lock(mu_);
    if (closed_) {
      int64_t available = ready_->size();
      if (allow_small_batch) {
        n = std::min(n, available);
      } else {
        available += static_cast<int64_t>(incomplete_.size()) + moving_;
      }
      if (available < std::max<int64_t>(n, 1)) {
        status = OutOfRange("barrier '", name_, "' is closed and has insufficient elements (requested ", n,
                            ", total size ", available, ")");
      }
    }
  }
  if (!status.ok()) return done(status);
  ready_->DequeueMany(n, allow_small_batch, cancellation, std::move(done));
}

Status BarrierResource::Close(bool cancel_pending) {
  {
    MutexLock lock(mu_);
    if (closed_ && (cancelled_ || !cancel_pending))
      return Cancelled("barrier '", name_, "' is closed and cannot be closed again");
    closed_ = true;
    cancelled_ = cancel_pending;
    if (cancel_pending) incomplete_.clear();
  }
  ready_->AcceptFewer();  // also for Take() calls that have been waiting
  CloseReadyIfDone();
  return OkStatus();
}

int64_t BarrierResource::incomplete_size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(incomplete_.size());
}

std::string BarrierResource::DebugString() const { return StrCat("barrier of ", types_.size(), " components"); }

}  // namespace tensorbraid
