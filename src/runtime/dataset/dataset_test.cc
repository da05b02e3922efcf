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

}  // namespace
}  // namespace tensorbraid
