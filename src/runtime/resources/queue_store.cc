#include "runtime/resources/queue_store.h"

#include <algorithm>
#include <deque>

namespace tensorbraid {
namespace {

class FifoStore final : public QueueStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple Take() override {
    Tuple element = std::move(elements_.front());
    elements_.pop_front();
    return element;
  }
  void PutBack(std::vector<Tuple> elements) override {
    for (auto it = elements.rbegin(); it != elements.rend(); ++it) elements_.push_front(std::move(*it));
  }

 private:
  std::deque<Tuple> elements_;
};

class ShuffleStore final : public QueueStore {
 public:
  explicit ShuffleStore(std::function<uint32_t()> random) : random_(std::move(random)) {}
  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple Take() override {
    std::swap(elements_[random_() % elements_.size()], elements_.back());
    Tuple element = std::move(elements_.back());
    elements_.pop_back();
    return element;
  }
  void PutBack(std::vector<Tuple> elements) override {
    for (Tuple& element : elements) elements_.push_back(std::move(element));
  }

 private:
  const std::function<uint32_t()> random_;
  std::vector<Tuple> elements_;
};

class PriorityStore final : public QueueStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(heap_.size()); }
  void Put(Tuple element) override {
    heap_.push_back(std::move(element));
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  Tuple Take() override {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    Tuple element = std::move(heap_.back());
    heap_.pop_back();
    return element;
  }
  void PutBack(std::vector<Tuple> elements) override {
    for (Tuple& element : elements) Put(std::move(element));
  }

 private:
  static bool Later(const Tuple& a, const Tuple& b) { return a[0].scalar<int64_t>() > b[0].scalar<int64_t>(); }
  std::vector<Tuple> heap_;
};

}  // namespace

std::unique_ptr<QueueStore> MakeFifoStore() { return std::make_unique<FifoStore>(); }
std::unique_ptr<QueueStore> MakeShuffleStore(std::function<uint32_t()> random) {
  return std::make_unique<ShuffleStore>(std::move(random));
}
std::unique_ptr<QueueStore> MakePriorityStore() { return std::make_unique<PriorityStore>(); }

}  // namespace tensorbraid
