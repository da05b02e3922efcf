#include "runtime/variables/locked_variables.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "core/threads/thread.h"

namespace tensorbraid {
namespace {

RefPtr<VariableResource> VariableWith(int64_t value) {
  auto v = MakeRef<VariableResource>("v", kInt64, Shape());
  EXPECT_TRUE(v->Assign(Tensor::Scalar(value)).ok());
  return v;
}

int64_t Value(const VariableResource& v) { return v.Read()->data<int64_t>()[0]; }

TEST(LockedVariablesTest, ReadsAndReplacesValuesAndKeepsSnapshots) {
  const auto a = VariableWith(1), empty = MakeRef<VariableResource>("empty", kInt64, Shape());
  const Tensor snapshot = *a->Read();
  {
    LockedVariables locked({a.get(), empty.get(), a.get()});
    EXPECT_EQ(locked.value(0).data<int64_t>()[0], 1);
    EXPECT_FALSE(locked.value(1).is_valid());
    EXPECT_FALSE(locked.value(0).IsWritable()) << "there is a snapshot";
    locked.Replace(2, Tensor::Scalar(int64_t{5}));
    EXPECT_EQ(locked.value(0).data<int64_t>()[0], 5) << "the variable is twice in the list";
    locked.Replace(1, Tensor::Scalar(int64_t{7}));
  }
  EXPECT_EQ(snapshot.data<int64_t>()[0], 1);
  EXPECT_EQ(Value(*a), 5);
  EXPECT_EQ(Value(*empty), 7);
}

TEST(LockedVariablesTest, ThreadsThatNameVariablesInOtherOrdersDoNotWaitForEachOtherForEver) {
  const auto a = VariableWith(0), b = VariableWith(0);
  constexpr int kMoves = 2000;
  const auto move = [](VariableResource* from, VariableResource* to) {
    for (int i = 0; i < kMoves; ++i) {
      LockedVariables locked({from, to});
      const int64_t x = locked.value(0).data<int64_t>()[0], y = locked.value(1).data<int64_t>()[0];
      EXPECT_EQ(x + y, 0);
      locked.Replace(0, Tensor::Scalar(x - 1));
      locked.Replace(1, Tensor::Scalar(y + 1));
    }
  };
  Thread other("other", [&] { move(b.get(), a.get()); });
  move(a.get(), b.get());
  other.Join();
  EXPECT_EQ(Value(*a), 0);
  EXPECT_EQ(Value(*b), 0);
}

}  // namespace
}  // namespace tensorbraid
