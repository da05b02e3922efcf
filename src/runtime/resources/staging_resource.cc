#include "runtime/resources/staging_resource.h"

#include <algorithm>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

int64_t BytesOf(const Tensor& t) {
  auto bytes = static_cast<int64_t>(t.num_bytes());
  if (t.dtype() == kString) {
    for (const std::string& s : t.data<std::string>()) bytes += static_cast<int64_t>(s.size());
  }
  return bytes;
}

int64_t BytesOf(const std::vector<Tensor>& tuple) {
  int64_t bytes = 0;
  for (const Tensor& t : tuple) bytes += t.is_valid() ? BytesOf(t) : 0;
  return bytes;
}

Status CheckMemory(const std::string& name, int64_t bytes, int64_t limit) {
  if (limit <= 0 || bytes <= limit) return OkStatus();
  return absl::ResourceExhaustedError(
      StrCat("a tuple of ", bytes, " bytes exceeds the memory_limit of '", name, "', which is ", limit, " bytes"));
}

Status CheckTypes(const std::string& name, const std::vector<Tensor>& tuple, const std::vector<DType>& types) {
  if (tuple.size() != types.size()) {
    return InvalidArgument("'", name, "' returns ", tuple.size(), " tensors, but the op expects ", types.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (tuple[i].dtype() != types[i]) {
      return InvalidArgument("'", name, "' returns ", tuple[i].dtype(), " as component ", i, ", but the op expects ",
                             types[i]);
    }
  }
  return OkStatus();
}

// The callback that an attempt returns to complete the call with `result`.
std::function<void()> Give(const WaitingResource::TakeDone& done, StatusOr<std::vector<Tensor>> result) {
  return [done, result = std::move(result)]() mutable { done(std::move(result)); };
}

}  // namespace

void StagingArea::Put(Tuple tuple, CancellationManager* cancellation, Done done) {
  const int64_t bytes = BytesOf(tuple);
  if (const Status fits = CheckMemory(name_, bytes, limits_.memory); !fits.ok()) return done(fits);
  Attempt attempt = [this, tuple = std::move(tuple), bytes, done]() TB_REQUIRES(mu_) mutable -> std::function<void()> {
    if (limits_.capacity > 0 && static_cast<int64_t>(tuples_.size()) >= limits_.capacity) return nullptr;
    if (limits_.memory > 0 && bytes_ + bytes > limits_.memory) return nullptr;
    tuples_.push_back(std::move(tuple));
    bytes_ += bytes;
    return [done] { done(OkStatus()); };
  };
  Await(std::move(attempt), cancellation, done);
}

void StagingArea::Get(const std::vector<DType>& types, CancellationManager* cancellation, TakeDone done) {
  Attempt attempt = [this, types, done]() TB_REQUIRES(mu_) -> std::function<void()> {
    if (tuples_.empty()) return nullptr;
    if (const Status fits = CheckTypes(name_, tuples_.front(), types); !fits.ok()) return Give(done, fits);
    Tuple tuple = std::move(tuples_.front());
    tuples_.pop_front();
    bytes_ -= BytesOf(tuple);
    return Give(done, std::move(tuple));
  };
  Await(std::move(attempt), cancellation, [done](const Status& why) { done(why); });
}

void StagingArea::Peek(int64_t index, const std::vector<DType>& types, CancellationManager* cancellation,
                       TakeDone done) {
  if (index < 0) return done(InvalidArgument("'", name_, "': the index of a tuple must be >= 0, got ", index));
  Attempt attempt = [this, index, types, done]() TB_REQUIRES(mu_) -> std::function<void()> {
    if (static_cast<int64_t>(tuples_.size()) <= index) return nullptr;
    const Tuple& tuple = tuples_[static_cast<size_t>(index)];
    if (const Status fits = CheckTypes(name_, tuple, types); !fits.ok()) return Give(done, fits);
    return Give(done, tuple);
  };
  Await(std::move(attempt), cancellation, [done](const Status& why) { done(why); });
}

int64_t StagingArea::size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(tuples_.size());
}

void StagingArea::Clear() {
  {
    MutexLock lock(mu_);
    tuples_.clear();
    bytes_ = 0;
  }
  Changed();
}

std::string StagingArea::DebugString() const { return StrCat("staging area '", name_, "'"); }

Status StagingMap::CheckIndices(const Tensor& indices) const {
  if (indices.dtype() != kInt32) return InvalidArgument("indices must be int32, got ", indices.dtype());
  const auto values = indices.data<int32_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && values[i] <= values[i - 1])
      return InvalidArgument("indices must be strictly increasing, but ", values[i], " follows ", values[i - 1]);
    if (values[i] < 0 || values[i] >= static_cast<int64_t>(types_.size())) {
      return InvalidArgument("index ", values[i], " is out of bounds for ", types_.size(), " components");
    }
  }
  return OkStatus();
}

bool StagingMap::HasRoom(int64_t bytes, bool whole) const {
  if (limits_.memory > 0 && bytes_ + bytes > limits_.memory) return false;
  return !whole || limits_.capacity <= 0 || static_cast<int64_t>(whole_.size()) < limits_.capacity;
}

void StagingMap::Put(int64_t key, const Tensor& indices, Tuple values, CancellationManager* cancellation, Done done) {
  if (const Status fits = CheckIndices(indices); !fits.ok()) return done(fits);
  const auto at = indices.data<int32_t>();
  if (at.size() != values.size()) {
    return done(InvalidArgument("there are ", at.size(), " indices, but ", values.size(), " values"));
  }
  for (size_t i = 0; i < at.size(); ++i) {
    if (values[i].dtype() != types_[at[i]]) {
      return done(InvalidArgument("component ", at[i], " is ", types_[at[i]], ", got ", values[i].dtype()));
    }
  }
  const int64_t bytes = BytesOf(values);
  if (const Status fits = CheckMemory(name_, bytes, limits_.memory); !fits.ok()) return done(fits);
  Attempt attempt = [this, key, indices, values = std::move(values), bytes, done]()
                        TB_REQUIRES(mu_) mutable -> std::function<void()> {
    const auto it = incomplete_.find(key);
    const auto at = indices.data<int32_t>();
    size_t there = at.size();
    if (it != incomplete_.end()) {
      for (const int32_t i : at) {
        if (!it->second[i].is_valid()) continue;
        return [done, why = InvalidArgument("component ", i, " of key ", key, " has already been put")] { done(why); };
      }
      for (const Tensor& t : it->second) there += t.is_valid() ? 1 : 0;
    }
    const bool whole = there == types_.size();
    if (!HasRoom(bytes, whole)) return nullptr;
    Tuple tuple(types_.size());
    if (it != incomplete_.end()) {
      tuple = std::move(it->second);
      incomplete_.erase(it);
      bytes_ -= BytesOf(tuple);
    }
    for (size_t i = 0; i < at.size(); ++i) tuple[at[i]] = std::move(values[i]);
    const int64_t total = BytesOf(tuple);
    // As in TensorFlow, a complete tuple is dropped if there is one with the same key.
    const bool added = (whole ? whole_ : incomplete_).try_emplace(key, std::move(tuple)).second;
    if (added) bytes_ += total;
    return [done] { done(OkStatus()); };
  };
  Await(std::move(attempt), cancellation, done);
}

StatusOr<StagingMap::Tuple> StagingMap::Take(std::map<int64_t, Tuple>::iterator it, const Tensor& indices,
                                             const std::vector<DType>& types, bool remove) {
  Tuple taken;
  for (const int32_t i : indices.data<int32_t>()) {
    if (!it->second[i].is_valid()) {
      return InvalidArgument("Tensor at index '", i, "' for key '", it->first, "' has already been removed.");
    }
    taken.push_back(it->second[i]);
  }
  TF_RETURN_IF_ERROR(CheckTypes(name_, taken, types));
  if (remove) {
    for (const int32_t i : indices.data<int32_t>()) it->second[i] = Tensor();
    bytes_ -= BytesOf(taken);
    if (std::none_of(it->second.begin(), it->second.end(), [](const Tensor& t) { return t.is_valid(); })) {
      whole_.erase(it);
    }
  }
  return taken;
}

void StagingMap::Get(int64_t key, const Tensor& indices, const std::vector<DType>& types, bool remove,
                     CancellationManager* cancellation, TakeDone done) {
  if (const Status fits = CheckIndices(indices); !fits.ok()) return done(fits);
  Attempt attempt = [this, key, indices, types, remove, done]() TB_REQUIRES(mu_) -> std::function<void()> {
    const auto it = whole_.find(key);
    if (it == whole_.end()) return nullptr;
    return Give(done, Take(it, indices, types, remove));
  };
  Await(std::move(attempt), cancellation, [done](const Status& why) { done(why); });
}

void StagingMap::GetAny(const Tensor& indices, const std::vector<DType>& types, CancellationManager* cancellation,
                        TakeDone done) {
  if (const Status fits = CheckIndices(indices); !fits.ok()) return done(fits);
  Attempt attempt = [this, indices, types, done]() TB_REQUIRES(mu_) -> std::function<void()> {
    const auto it = whole_.begin();
    if (it == whole_.end()) return nullptr;
    const int64_t key = it->first;
    StatusOr<Tuple> taken = Take(it, indices, types, /*remove=*/true);
    if (taken.ok()) taken->insert(taken->begin(), Tensor::Scalar(key));
    return Give(done, std::move(taken));
  };
  Await(std::move(attempt), cancellation, [done](const Status& why) { done(why); });
}

int64_t StagingMap::size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(whole_.size());
}

int64_t StagingMap::incomplete_size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(incomplete_.size());
}

void StagingMap::Clear() {
  {
    MutexLock lock(mu_);
    whole_.clear();
    incomplete_.clear();
    bytes_ = 0;
  }
  Changed();
}

std::string StagingMap::DebugString() const { return StrCat("staging map '", name_, "'"); }

}  // namespace tensorbraid
