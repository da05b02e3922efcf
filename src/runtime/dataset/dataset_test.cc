#include "runtime/dataset/dataset.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/threads/thread_pool.h"
#include "runtime/dataset/iterator_state.h"

namespace tensorbraid {
namespace {

// The states of functions as a checkpoint has them: by function, and by node of its body.
using FunctionStates = std::map<std::string, std::map<std::string, std::vector<Tensor>>>;

TEST(DataEnvironmentTest, StatesOfAFailedRestoreAreNotKept) {
  ThreadPool pool("test", 1);
  DataEnvironment env(/*functions=*/nullptr, {.device = "", .pool = &pool});
  const IteratorContext context = {.env = &env};
  FunctionStates damaged = {{"function", {{"node", {}}}}};  // the state of a node must be one tensor
  IteratorState writer(context);
  writer(damaged);
  const std::string bytes = writer.TakeBytes();
  IteratorState restore(context, bytes);
  env.VisitFunctions(restore);
  EXPECT_EQ(restore.status().code(), absl::StatusCode::kDataLoss);

  FunctionStates none;
  IteratorState expected(context), saved(context);
  expected(none);
  env.VisitFunctions(saved);
  EXPECT_EQ(saved.TakeBytes(), expected.TakeBytes());
}

// Returns the elements of a list.
class ListIterator final : public Iterator::Impl {
 public:
  explicit ListIterator(std::vector<Element> elements) : elements_(std::move(elements)) {}
  StatusOr<bool> Next(const IteratorContext&, Element* out) override {
    if (next_ == elements_.size()) return false;
    *out = elements_[next_++];
    return true;
  }
  void Visit(IteratorState&) override {}

 private:
  std::vector<Element> elements_;
  size_t next_ = 0;
};

TEST(IteratorTest, StringsAreTakenOutOfScalarsAndOtherElementsRefused) {
  const Tensor shared = Tensor::Scalar(std::string("also used elsewhere"));
  Iterator pull(std::make_shared<ListIterator>(std::vector<Element>{
      {Tensor::Scalar(std::string("first"))}, {shared}, {Tensor::Vector<std::string>({"a", "b"})}, {}}));
  pull.SetName("ListDataset");
  std::string text;
  EXPECT_TRUE(pull({}, &text).value());
  EXPECT_EQ(text, "first");
  EXPECT_TRUE(pull({}, &text).value());
  EXPECT_EQ(text, "also used elsewhere");
  EXPECT_EQ(shared.scalar<std::string>(), "also used elsewhere");
  for (const char* what : {"1 components, first string[2]", "0 components"}) {
    const Status refused = pull({}, &text).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.message(), StrCat("ListDataset should return scalar strings, but has returned ", what));
  }
  EXPECT_FALSE(pull({}, &text).value());
}

}  // namespace
}  // namespace tensorbraid
