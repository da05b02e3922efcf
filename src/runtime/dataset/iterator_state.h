// Saves the states of iterators for checkpoints, and restores them.
#ifndef TENSORBRAID_RUNTIME_DATASET_ITERATOR_STATE_H_
#define TENSORBRAID_RUNTIME_DATASET_ITERATOR_STATE_H_

#include <concepts>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/dataset/dataset.h"

namespace tensorbraid {

// Saves or restores the state of an iterator and of the iterators below it: their positions, and the elements that they
// have buffered. Both directions run the same code, so that they agree:
//
//   state(next, ended, buffer);
//
// appends the values to the saved state, or sets them to the saved values. Numbers, bools, strings, elements, open
// iterators, containers of them, and classes with a member `template <typename S> void Fields(S& state)` are visited.
// After an error nothing more is visited. Not thread-safe; may block, as iterators may.
class IteratorState {
 public:
  // Makes an object that saves.
  explicit IteratorState(const IteratorContext& context) : context_(context) {}
  // Makes an object that restores `bytes`, which must outlive it, into iterators that have not been used yet.
  IteratorState(const IteratorContext& context, std::string_view bytes)
      : context_(context), restores_(true), rest_(bytes) {}
  IteratorState(const IteratorState&) = delete;
  IteratorState& operator=(const IteratorState&) = delete;

  const IteratorContext& context() const { return context_; }
  bool restores() const { return restores_; }

  template <typename... T>
  void operator()(T&... values) {
    (Visit(values), ...);
  }
  // Visits an iterator that may be closed (null). When it was open, a restore first sets it to the result of `open`,
  // which returns StatusOr<Iterator>.
  template <typename Open>
  void Reopen(Iterator& iterator, Open open) {
    bool is_open = iterator != nullptr;
    Visit(is_open);
    if (!status_.ok()) return;
    if (!is_open) {
      iterator = nullptr;
      return;
    }
    if (restores_) {
      StatusOr<Iterator> opened = open();
      if (!opened.ok()) return Fail(opened.status());
      iterator = *std::move(opened);
    }
    Visit(iterator);
  }
  // Saves `name`. A restore fails with InvalidArgument if the saved state has another name here.
  void CheckName(const std::string& name);
  // Sets the depth of nested datasets (IteratorContext::depth) for what is visited from now on. Returns the previous
  // depth.
  int SetDepth(int depth) { return std::exchange(context_.depth, depth); }

  void Fail(const Status& why) {
    if (status_.ok()) status_ = why;
  }
  const Status& status() const { return status_; }
  // The saved bytes.
  std::string TakeBytes() { return std::move(saved_); }
  // Whether all saved bytes have been restored.
  bool at_end() const { return rest_.empty(); }

 private:
  void Number(int64_t& value);
  // Visits the size of a container. A restore fails if the size is too large for the bytes that are left.
  size_t Size(size_t size);

  template <typename T>
  requires std::integral<T> || std::is_enum_v<T>
  void Visit(T& value) {
    auto number = static_cast<int64_t>(value);
    Number(number);
    if (restores_) value = static_cast<T>(number);
  }
  void Visit(std::string& value);
  void Visit(Element& value);
  template <typename T>
  void Visit(StatusOr<T>& value) {
    auto code = static_cast<int64_t>(value.status().code());
    std::string message(value.status().message());
    Number(code);
    Visit(message);
    if (!status_.ok()) return;
    if (code != 0) {
      if (restores_) value = Status(static_cast<absl::StatusCode>(code), message);
      return;
    }
    if (restores_) value = T();
    Visit(*value);
  }
  void Visit(Iterator& value);
  // Visits iterators that are never closed. Their number is not saved, because it does not change.
  void Visit(std::vector<Iterator>& values) {
    for (Iterator& iterator : values) Visit(iterator);
  }
  template <typename T>
  void Visit(std::vector<T>& values) {
    Sequence(values);
  }
  template <typename T>
  void Visit(std::deque<T>& values) {
    Sequence(values);
  }
  template <typename K, typename V>
  void Visit(std::map<K, V>& values) {
    Associations(values, [this](auto& entry) {
      K key = entry.first;
      V value = entry.second;
      Visit(key);
      Visit(value);
      return std::pair<const K, V>(std::move(key), std::move(value));
    });
  }
  template <typename K>
  void Visit(std::set<K>& values) {
    Associations(values, [this](const K& entry) {
      K key = entry;
      Visit(key);
      return key;
    });
  }
  template <typename T>
  requires requires(T& value, IteratorState& state) { value.Fields(state); }
  void Visit(T& value) { value.Fields(*this); }

  template <typename T>
  void Sequence(T& values) {
    const size_t size = Size(values.size());
    if (restores_) {
      values.clear();
      values.resize(size);
    }
    for (auto& value : values) {
      if (!status_.ok()) return;
      Visit(value);
    }
  }
  template <typename T, typename VisitEntry>
  void Associations(T& values, VisitEntry visit) {
    const size_t size = Size(values.size());
    if (!restores_) {
      for (auto& entry : values) visit(entry);
      return;
    }
    values.clear();
    for (size_t i = 0; i < size && status_.ok(); ++i) {
      typename T::value_type entry{};
      values.insert(visit(entry));
    }
  }

  IteratorContext context_;
  const bool restores_ = false;
  std::string saved_;
  std::string_view rest_;
  Status status_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_RUNTIME_DATASET_ITERATOR_STATE_H_
