// Tests variables from graph to kernel, by resource handle and by reference.
#include "tensorbraid/graph/variable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "core/memory/shared_memory.h"
#include "core/testing/memory_limit.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "core/threads/thread.h"
#include "executor/evaluate.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "runtime/variables/tensor_rows.h"
#include "runtime/variables/variable_resource.h"
#include "tensorbraid/ops/array.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

class VariableTest : public ::testing::Test {
 protected:
  Status RunOps(const std::vector<Operation>& targets) { return Evaluate({}, {}, Options(targets)).status(); }
  Tensor Get(const Output& output) {
    auto result = Evaluate({output}, {}, Options({}));
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? (*result)[0] : Tensor();
  }
  std::vector<float> Floats(const Output& output) {
    const Tensor t = Get(output);
    if (t.dtype() != kFloat32) return {};
    return {t.data<float>().begin(), t.data<float>().end()};
  }
  EvaluateOptions Options(const std::vector<Operation>& targets) {
    return {.targets = targets, .resources = &resources_, .pool = &pool_};
  }

  Graph g_;
  ResourceManager resources_;
  ThreadPool pool_{"test", 2};
};

TEST_F(VariableTest, NodesAreNamedAsTensorFlowNamesThem) {
  Variable w(g_, {2, 3}, Zeros(), {.name = "weights"});
  Variable again(g_, {2, 3}, Ones(), {.name = "weights"});
  ASSERT_TRUE(g_.status().ok()) << g_.status();
  for (const char* name :
       {"weights", "weights/Initializer/zeros", "weights/Assign", "weights/IsInitialized/VarIsInitializedOp",
        "weights/Read/ReadVariableOp", "weights_1", "weights_1/Initializer/ones"}) {
    EXPECT_TRUE(g_.FindOperation(name).ok()) << name;
  }
  EXPECT_EQ(w.name(), "weights");
  EXPECT_EQ(again.name(), "weights_1");
  EXPECT_EQ(NodeOf(again.handle())->attr<std::string>("shared_name"), "weights_1");
  EXPECT_EQ(w.value().shape(), Shape({2, 3}));
}

TEST_F(VariableTest, AllNodesOfAVariableHaveTheDeviceOfItsHandle) {
  auto device =
      g_.Device([](const Operation& op) { return op.type() == "VarHandleOp" ? "/job:ps/task:1" : "/job:worker"; });
  Variable w(g_, {2}, Zeros(), {.name = "w"});
  for (const Operation& op : g_.operations()) EXPECT_EQ(op.device(), w.handle().op().device()) << op.name();
  EXPECT_THAT(w.handle().op().device(), HasSubstr("ps"));
  EXPECT_THAT(w.AssignAdd(Tensor::Vector<float>({1, 2})).device(), HasSubstr("ps"));
}

TEST_F(VariableTest, InitialisersIgnoreSurroundingControlDependencies) {
  const Operation before = NoOp(g_, "before");
  auto control = g_.ControlDependencies(std::vector<Operation>{before});
  Variable w(g_, {2}, Zeros(), {.name = "w"});
  EXPECT_TRUE(NodeOf(w.initializer())->control_inputs().empty());
  EXPECT_TRUE(NodeOf(w.initial_value())->control_inputs().empty());
  EXPECT_EQ(NodeOf(w.value())->control_inputs().size(), 1U);
}

TEST_F(VariableTest, ReadsOutsideOfControlDependenciesAreShared) {
  Variable w(g_, {2}, Zeros(), {.name = "w"});
  EXPECT_EQ(w.value(), w.value());
  EXPECT_FALSE(w.Read() == w.value());
}

TEST_F(VariableTest, InitialisesReadsAndUpdates) {
  Variable w(g_, {3}, Constant(2.0), {.name = "w"});
  EXPECT_FALSE(Get(w.is_initialized()).scalar<bool>());
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  EXPECT_TRUE(Get(w.is_initialized()).scalar<bool>());
  ASSERT_TRUE(RunOps({w.AssignAdd(Tensor::Vector<float>({1, 2, 3}))}).ok());
  ASSERT_TRUE(RunOps({w.AssignSub(Tensor::Vector<float>({0, 0, 10}))}).ok());
  EXPECT_EQ(Floats(w.value()), (std::vector<float>{3, 4, -5}));
  ASSERT_TRUE(RunOps({w.Assign(Tensor::Vector<float>({7, 8, 9}))}).ok());
  EXPECT_EQ(Floats(w.value()), (std::vector<float>{7, 8, 9}));
}

TEST_F(VariableTest, UpdatesOfIntegersWrapAround) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  Variable w(g_, {2}, Constant(Tensor::Vector<int64_t>({kMost, 5})), {.name = "w", .dtype = kInt64});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  ASSERT_TRUE(RunOps({w.AssignAdd(Tensor::Vector<int64_t>({1, -7}))}).ok());
  EXPECT_THAT(Get(w.value()).data<int64_t>(), ::testing::ElementsAre(kLeast, -2));
  ASSERT_TRUE(RunOps({w.AssignSub(Tensor::Vector<int64_t>({1, 0}))}).ok());
  EXPECT_THAT(Get(w.value()).data<int64_t>(), ::testing::ElementsAre(kMost, -2));
}

TEST_F(VariableTest, TheErrorOfAnUninitialisedReadNamesTheVariableAndItsInitializer) {
  Variable w(g_, {3}, Zeros(), {.name = "w"});
  const Status status = Evaluate({w.value()}, {}, Options({})).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("Attempting to use uninitialized value w"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the one of all global variables"));
}

TEST_F(VariableTest, ASnapshotKeepsItsValue) {
  Variable w(g_, {3}, Ones(), {.name = "w"});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  const Tensor snapshot = Get(w.value());
  ASSERT_TRUE(RunOps({w.AssignAdd(Tensor::Vector<float>({1, 1, 1}))}).ok());
  EXPECT_EQ(snapshot.data<float>()[0], 1);
  EXPECT_EQ(Floats(w.value())[0], 2);
}

TEST_F(VariableTest, UpdatesWithoutSnapshotsStayInOneBuffer) {
  Variable w(g_, {1000}, Ones(), {.name = "w"});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  const void* before = Get(w.value()).raw_data();
  const Output one = Fill(g_, {1000}, 1.0F);
  ASSERT_TRUE(RunOps({w.AssignAdd(one)}).ok());
  EXPECT_EQ(Get(w.value()).raw_data(), before);
  EXPECT_EQ(Floats(w.value())[999], 2);
}

TEST_F(VariableTest, AnAssignedTensorIsKeptWithoutCopy) {
  Variable w(g_, {1000}, Ones(), {.name = "w"});
  const Output value = Placeholder(g_, kFloat32, {1000});
  Tensor fed(kFloat32, {1000});
  const void* bytes = fed.raw_data();
  ASSERT_TRUE(Evaluate({}, {{value, std::move(fed)}}, Options({w.Assign(value)})).ok());
  EXPECT_EQ(Get(w.value()).raw_data(), bytes);
}

TEST_F(VariableTest, NoConcurrentUpdateIsLost) {
  Variable w(g_, {100}, Zeros(), {.name = "w"});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  const Operation add = w.AssignAdd(Fill(g_, {100}, 1.0F));
  const Operation subtract = NodeBuilder(g_, "ResourceApplyGradientDescent")
                                 .Input(w.handle())
                                 .Input(Const(g_, Tensor::Scalar(0.5F)))
                                 .Input(Fill(g_, {100}, 1.0F))
                                 .Finish();
  constexpr int kTimes = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; ++i) {
        if (!RunOps({t % 2 == 0 ? add : subtract}).ok()) ADD_FAILURE();
        const Tensor seen = Get(w.value());  // a snapshot prevents some updates in place
        for (float v : seen.data<float>()) {
          if (v != seen.data<float>()[0]) ADD_FAILURE() << "a torn value";
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  // Two threads have added 1, and two have subtracted 0.5.
  EXPECT_EQ(Floats(w.value())[0], 2 * kTimes - 0.5F * 2 * kTimes);
}

TEST_F(VariableTest, AnUpdateOfAnotherShapeIsRefusedWhileBuildingTheGraph) {
  Variable w(g_, {3}, Zeros(), {.name = "w"});
  EXPECT_FALSE(w.AssignAdd(Tensor::Vector<float>({1, 2})).valid());
  EXPECT_EQ(g_.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(g_.status().message()), HasSubstr("[3]"));
}

TEST_F(VariableTest, AnInitialiserOfAnotherShapeIsRefused) {
  Variable w(g_, {3}, Constant(Tensor::Vector<float>({1, 2})), {.name = "w"});
  EXPECT_FALSE(w.valid());
  EXPECT_THAT(std::string(g_.status().message()), HasSubstr("Variable 'w'"));
  EXPECT_FALSE(w.value().valid());  // must not crash
  EXPECT_FALSE(w.AssignAdd(1.0F).valid());
}

TEST_F(VariableTest, TheGlobalStepIsFoundAgain) {
  EXPECT_FALSE(GetGlobalStep(g_).valid());
  auto scope = g_.NameScope("model");
  const Variable step = GetOrCreateGlobalStep(g_);
  EXPECT_EQ(step.name(), "global_step");
  EXPECT_EQ(step.dtype(), kInt64);
  EXPECT_TRUE(GetOrCreateGlobalStep(g_) == step);
  EXPECT_TRUE(GetGlobalStep(g_) == step);
  EXPECT_TRUE(g_.trainable_variables().empty());
}

TEST_F(VariableTest, TheGlobalInitialiserSkipsLocalVariables) {
  Variable w(g_, {3}, Zeros(), {.name = "w"});
  Variable mine(g_, {}, Ones(), {.name = "mine", .trainable = false, .local = true});
  ASSERT_TRUE(RunOps({GlobalVariablesInitializer(g_)}).ok());
  EXPECT_TRUE(Get(w.is_initialized()).scalar<bool>());
  EXPECT_FALSE(Get(mine.is_initialized()).scalar<bool>());
  ASSERT_TRUE(RunOps({LocalVariablesInitializer(g_)}).ok());
  EXPECT_TRUE(Get(mine.is_initialized()).scalar<bool>());
}

TEST_F(VariableTest, ADestroyedVariableIsUninitialised) {
  Variable w(g_, {3}, Zeros(), {.name = "w"});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  ASSERT_TRUE(RunOps({NodeBuilder(g_, "DestroyResourceOp").Input(w.handle()).Finish()}).ok());
  EXPECT_FALSE(Get(w.is_initialized()).scalar<bool>());
}

TEST_F(VariableTest, AReferenceIsReadWhenItsConsumerStarts) {
  const Output v = NodeBuilder(g_, "VariableV2").Name("v").Attr("shape", Shape({2})).Attr("dtype", kFloat32).Output();
  const Output initial = Const(g_, Tensor::Vector<float>({1, 2}));
  const Output assign = NodeBuilder(g_, "Assign").Input(v).Input(initial).Output();
  ASSERT_TRUE(g_.status().ok()) << g_.status();
  ASSERT_TRUE(RunOps({assign.op()}).ok());
  const Output add = NodeBuilder(g_, "AssignAdd").Input(v).Input(initial).Output();
  // Sees the addition, although the reference was created before it.
  auto control = g_.ControlDependencies(std::vector<Output>{add});
  const Output after = Identity(v);
  EXPECT_EQ(Floats(after), (std::vector<float>{2, 4}));
  const Output set = NodeBuilder(g_, "IsVariableInitialized").Input(v).Output();
  EXPECT_TRUE(Get(set).scalar<bool>());
}

TEST_F(VariableTest, RowsAreScattered) {
  Variable w(g_, {4, 2}, Zeros(), {.name = "w"});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  const auto scatter = [&](const char* op, const std::vector<int32_t>& rows, const std::vector<float>& updates) {
    return RunOps({NodeBuilder(g_, op)
                       .Input(w.handle())
                       .Input(Const(g_, Tensor::Vector(rows)))
                       .Input(Const(g_, Tensor::Of<float>({static_cast<int64_t>(rows.size()), 2}, updates)))
                       .Finish()});
  };
  ASSERT_TRUE(scatter("ResourceScatterAdd", {1, 3, 1}, {1, 2, 3, 4, 5, 6}).ok());
  EXPECT_EQ(Floats(w.value()), (std::vector<float>{0, 0, 6, 8, 0, 0, 3, 4}));
  ASSERT_TRUE(scatter("ResourceScatterUpdate", {0}, {9, 9}).ok());
  ASSERT_TRUE(scatter("ResourceScatterSub", {0}, {1, 2}).ok());
  EXPECT_EQ(Floats(w.value()), (std::vector<float>{8, 7, 6, 8, 0, 0, 3, 4}));
  EXPECT_EQ(scatter("ResourceScatterAdd", {0, 4}, {1, 1, 1, 1}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Floats(w.value())[0], 8) << "a refused update must change nothing";
}

// Host memory that did not come from an allocator.
class ForeignBuffer final : public Buffer {
 public:
  explicit ForeignBuffer(std::vector<float>* values) : Buffer(values->data(), values->size() * sizeof(float)) {}
};

TEST_F(VariableTest, AnAssignmentTakesOverOnlyBuffersOfTheVariablesAllocator) {
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape({2}));
  const Tensor own = Tensor::Vector<float>({1, 2});
  ASSERT_TRUE(v->Assign(own).ok());
  EXPECT_TRUE(v->Read()->SharesBufferWith(own));
  std::vector<float> values = {3, 4};
  ASSERT_TRUE(v->Assign(Tensor::FromBuffer(MakeRef<ForeignBuffer>(&values), 0, kFloat32, {2}).value()).ok());
  values = {5, 6};  // its owner may use it again
  EXPECT_EQ(v->Read()->ToString(), "float32[2] [3 4]");
  EXPECT_EQ(v->Read()->buffer()->allocator(), &HostAllocator());
}

TEST_F(VariableTest, AnUpdateDoesNotTakeOverASpareBufferOfAnotherOwner) {
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape({2}));
  ASSERT_TRUE(v->Assign(Tensor::Vector<float>({1, 2})).ok());
  const Tensor snapshot = *v->Read();
  std::vector<float> values = {3, 4};
  const Tensor spare = Tensor::FromBuffer(MakeRef<ForeignBuffer>(&values), 0, kFloat32, {2}).value();
  const auto add = [&spare](const Tensor& old, Tensor* out) {
    for (int i = 0; i < 2; ++i) out->inplace_data<float>()[i] = old.data<float>()[i] + spare.data<float>()[i];
    return OkStatus();
  };
  ASSERT_TRUE(v->Update(add, &spare).ok());
  EXPECT_EQ(v->Read()->ToString(), "float32[2] [4 6]");
  EXPECT_EQ(values, (std::vector<float>{3, 4}));
  EXPECT_EQ(snapshot.ToString(), "float32[2] [1 2]");
}

TEST_F(VariableTest, AVariableThatNeighboursReadMovesToSharedMemoryOnce) {
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape({2000}));
  ASSERT_TRUE(v->Assign(Tensor::Of<float>({2000}, std::vector<float>(2000, 1.0F))).ok());
  const Tensor first = v->ReadFrom(SharedAllocator()).value();
  EXPECT_EQ(first.buffer()->allocator(), &SharedAllocator());
  EXPECT_EQ(first.data<float>()[1999], 1.0F);
  EXPECT_TRUE(v->ReadFrom(SharedAllocator())->SharesBufferWith(first));
  EXPECT_TRUE(v->Read()->SharesBufferWith(first));
  // New values are in shared memory too: while a neighbour reads the old one, and after an assignment.
  const auto twice = [](const Tensor& old, Tensor* out) {
    for (int i = 0; i < 2000; ++i) out->inplace_data<float>()[i] = 2 * old.data<float>()[i];
    return OkStatus();
  };
  ASSERT_TRUE(v->Update(twice).ok());
  EXPECT_EQ(first.data<float>()[0], 1.0F);
  const Tensor second = v->ReadFrom(SharedAllocator()).value();
  EXPECT_EQ(second.buffer()->allocator(), &SharedAllocator());
  EXPECT_EQ(second.data<float>()[0], 2.0F);
  ASSERT_TRUE(v->Assign(Tensor::Of<float>({2000}, std::vector<float>(2000, 5.0F))).ok());
  EXPECT_EQ(v->Read()->buffer()->allocator(), &SharedAllocator());
}

TEST_F(VariableTest, ASmallVariableDoesNotMoveToSharedMemory) {
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape({2}));
  ASSERT_TRUE(v->Assign(Tensor::Vector<float>({1, 2})).ok());
  EXPECT_EQ(v->ReadFrom(SharedAllocator())->buffer()->allocator(), &HostAllocator());
}

TEST_F(VariableTest, RowsAreReadAndUpdatedWithoutCopies) {
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape({100, 2}));
  ASSERT_TRUE(v->Assign(Tensor(kFloat32, {100, 2})).ok());
  const auto bytes = [&] {
    const void* at = nullptr;
    EXPECT_TRUE(v->ReadInPlace([&](const Tensor& t) {
                   at = t.raw_data();
                   return OkStatus();
                 }).ok());
    return at;
  };
  const auto write = [&](float value) {
    EXPECT_TRUE(v->UpdateInPlace([&](Tensor* t) {
                   t->inplace_data<float>()[3] = value;
                   return OkStatus();
                 }).ok());
  };
  const void* before = bytes();
  write(1);
  EXPECT_EQ(bytes(), before);
  EXPECT_FALSE(v->copies_on_read());
  // The first update while there is a snapshot copies the variable; from then on reads copy instead.
  const Tensor snapshot = *v->Read();
  write(2);
  EXPECT_EQ(snapshot.data<float>()[3], 1);
  EXPECT_TRUE(v->copies_on_read());
  const void* moved = bytes();
  const Tensor copy = *v->Read();
  EXPECT_NE(copy.raw_data(), moved);
  EXPECT_EQ(copy.data<float>()[3], 2);
  write(3);
  EXPECT_EQ(bytes(), moved);
  EXPECT_EQ(copy.data<float>()[3], 2);
  v->DisableCopyOnRead();
  EXPECT_EQ(v->Read()->raw_data(), moved);
}

// Each thread adds 1 to whole rows, or to the whole variable. So all elements of a row are always the same number.
TEST_F(VariableTest, EachRowChangesAtomicallyAndNoUpdateIsLost) {
  constexpr int64_t kRows = 100, kDim = 16;
  constexpr int kTimes = 500;
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape({kRows, kDim}));
  ASSERT_TRUE(v->Assign(ZeroTensor(kFloat32, {kRows, kDim}).value()).ok());
  const auto add_one = [](float* row, int64_t n) { std::for_each_n(row, n, [](float& x) { x += 1; }); };
  const auto is_one_number = [](const float* row) {
    return std::all_of(row, row + kDim, [&](float x) { return x == *row; });
  };
  std::atomic<int> mixed{0};
  const auto update_rows = [&](int64_t first) {
    for (int i = 0; i < kTimes; ++i) {
      EXPECT_TRUE(v->UpdateRows([&](Tensor* value, RowLocks& locks) {
                     for (int64_t row = first; row < kRows; row += 7) {
                       MutexLock lock(locks.stripe(locks.StripeOf(row)));
                       add_one(value->inplace_data<float>().data() + row * kDim, kDim);
                     }
                     return OkStatus();
                   }).ok());
    }
  };
  const auto update_all = [&] {
    for (int i = 0; i < kTimes; ++i) {
      EXPECT_TRUE(v->Update([&](const Tensor& old, Tensor* out) {
                     std::copy_n(old.data<float>().data(), kRows * kDim, out->inplace_data<float>().data());
                     add_one(out->inplace_data<float>().data(), kRows * kDim);
                     return OkStatus();
                   }).ok());
    }
  };
  const auto read_rows = [&] {
    for (int i = 0; i < kTimes; ++i) {
      EXPECT_TRUE(v->ReadRows([&](const Tensor& value, RowLocks* locks) {
                     for (int64_t row = 0; row < kRows && locks != nullptr; ++row) {
                       MutexLock lock(locks->stripe(locks->StripeOf(row)));
                       mixed += !is_one_number(value.data<float>().data() + row * kDim);
                     }
                     return OkStatus();
                   }).ok());
    }
  };
  const auto read_all = [&] {
    for (int i = 0; i < kTimes; ++i) {
      if (i % 10 == 0) v->DisableCopyOnRead();  // so that Read takes snapshots again
      const Tensor value = *v->Read();
      const std::vector<float> before(value.data<float>().begin(), value.data<float>().end());
      for (int64_t row = 0; row < kRows; ++row) mixed += !is_one_number(value.data<float>().data() + row * kDim);
      EXPECT_TRUE(std::ranges::equal(before, value.data<float>()));
    }
  };
  {
    Thread a("a", [&] { update_rows(0); }), b("b", [&] { update_rows(0); }), c("c", [&] { update_rows(3); });
    Thread d("d", update_all), e("e", read_rows), f("f", read_all);
    for (Thread* t : {&a, &b, &c, &d, &e, &f}) t->Join();
  }
  EXPECT_EQ(mixed, 0);
  // Thread d has changed all rows; a and b every seventh row from row 0 on, and c every seventh row from row 3 on.
  const Tensor last = *v->Read();
  for (int64_t row = 0; row < kRows; ++row) {
    EXPECT_EQ(last.data<float>()[row * kDim], kTimes * (1 + 2 * (row % 7 == 0) + (row % 7 == 3))) << row;
  }
}

TEST_F(VariableTest, AnUpdateOfRowsFollowsAChangeOfShape) {
  auto v = MakeRef<VariableResource>("v", kFloat32, Shape());
  const auto count_stripes = [&] {
    int64_t rows = 0;
    EXPECT_TRUE(v->UpdateRows([&](Tensor*, RowLocks& locks) {
                   locks.ForEachStripe([&](int64_t, int64_t n) { rows += n; });
                   return OkStatus();
                 }).ok());
    return rows;
  };
  EXPECT_TRUE(absl::IsFailedPrecondition(v->UpdateRows([](Tensor*, RowLocks&) { return OkStatus(); })));
  ASSERT_TRUE(v->AssignAnyShape(Tensor(kFloat32, {5, 2})).ok());
  EXPECT_EQ(count_stripes(), 5);
  ASSERT_TRUE(v->AssignAnyShape(Tensor(kFloat32, {5000, 2})).ok());
  EXPECT_EQ(count_stripes(), 5000);
}

TEST_F(VariableTest, VariableV2AndVarHandleOpOfOneNameAreTwoVariables) {
  const auto named = [&](const char* op) {
    return NodeBuilder(g_, op)
        .Attr("shape", Shape({}))
        .Attr("dtype", kFloat32)
        .Attr("shared_name", "same")
        .Attr("container", "c")
        .Output();
  };
  const Output reference = named("VariableV2");
  const Output handle = named("VarHandleOp");
  ASSERT_TRUE(
      RunOps({NodeBuilder(g_, "Assign").Input(reference).Input(Const(g_, Tensor::Scalar(1.0f))).Finish()}).ok());
  EXPECT_FALSE(Get(NodeBuilder(g_, "VarIsInitializedOp").Input(handle).Output()).scalar<bool>());
  EXPECT_EQ(Get(Identity(named("VariableV2"))).scalar<float>(), 1)
      << "the variable must be shared by container and name";
}

TEST_F(VariableTest, AnAnonymousVariableIsFoundOnlyByItsHandle) {
  const Output handle =
      NodeBuilder(g_, "VarHandleOp")
          .Attr("shape", Shape({}))
          .Attr("dtype", kFloat32)
          .Attr("shared_name", "cd2c89b7-88b7-44c8-ad83-06c2a9158347")  // TensorFlow's name for anonymous variables
          .Output();
  const Operation assign =
      NodeBuilder(g_, "AssignVariableOp").Input(handle).Input(Const(g_, Tensor::Scalar(2.0f))).Finish();
  auto after = g_.ControlDependencies(std::vector<Operation>{assign});
  const Output read = NodeBuilder(g_, "ReadVariableOp").Input(handle).Attr("dtype", kFloat32).Output();
  EXPECT_EQ(Get(read).scalar<float>(), 2);
  EXPECT_TRUE(resources_.Names("").empty());
}

TEST_F(VariableTest, ATemporaryVariableLivesForOneStep) {
  const auto sum = [&](const char* destroyed) {
    const Output v = NodeBuilder(g_, "TemporaryVariable")
                         .Attr("shape", Shape({2}))
                         .Attr("dtype", kFloat32)
                         .Attr("var_name", "sum")
                         .Output();
    const Output two = Const(g_, Tensor::Vector<float>({1, 2}));
    const Output assigned = NodeBuilder(g_, "Assign").Input(v).Input(two).Output();
    const Output added = NodeBuilder(g_, "AssignAdd").Input(assigned).Input(two).Output();
    return NodeBuilder(g_, "DestroyTemporaryVariable").Input(added).Attr("var_name", destroyed).Output();
  };
  const Output total = sum("sum");
  EXPECT_EQ(Floats(total), (std::vector<float>{2, 4}));
  EXPECT_EQ(Floats(total), (std::vector<float>{2, 4}));  // each step has a new variable
  EXPECT_EQ(Evaluate({sum("other")}, {}, Options({})).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(VariableTest, UsesOfAnUninitialisedVariableHaveOneCodeAndAnotherForTensorFlowsClients) {
  const Output one = Const(g_, Tensor::Scalar(1.0f));
  const Output handle =
      NodeBuilder(g_, "VarHandleOp").Attr("shape", Shape({})).Attr("dtype", kFloat32).Attr("shared_name", "v").Output();
  const Output reference = NodeBuilder(g_, "VariableV2").Attr("shape", Shape({})).Attr("dtype", kFloat32).Output();
  const auto code = [&](const Operation& op) { return RunOps({op}).code(); };
  using enum absl::StatusCode;
  const auto expect = [&](const Operation& op, const char* variable, absl::StatusCode tensorflow) {
    const Status status = RunOps({op});
    EXPECT_EQ(status.code(), kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(StrCat("Attempting to use uninitialized value ", variable)));
    EXPECT_EQ(TensorFlowCodeOf(status), tensorflow) << status;
  };
  expect(NodeBuilder(g_, "ReadVariableOp").Input(handle).Attr("dtype", kFloat32).Finish(), "v", kFailedPrecondition);
  expect(NodeBuilder(g_, "AssignAddVariableOp").Input(handle).Input(one).Finish(), "v", kNotFound);
  expect(NodeBuilder(g_, "AssignAdd").Input(reference).Input(one).Finish(), "VariableV2", kFailedPrecondition);
  expect(NodeBuilder(g_, "ResourceApplyGradientDescent").Input(handle).Input(one).Input(one).Finish(), "v", kInternal);
  expect(NodeBuilder(g_, "ApplyGradientDescent").Input(reference).Input(one).Input(one).Finish(), "VariableV2",
         kFailedPrecondition);
  const auto destroy = [&](bool ignore) {
    return NodeBuilder(g_, "DestroyResourceOp").Input(handle).Attr("ignore_lookup_error", ignore).Finish();
  };
  EXPECT_EQ(code(destroy(true)), kOk);
  EXPECT_EQ(code(destroy(false)), kNotFound);
}

TEST_F(VariableTest, IntegerDivisionByZeroIsRefused) {
  Variable w(g_, {2}, Ones(), {.name = "w", .dtype = kInt32});
  ASSERT_TRUE(RunOps({w.initializer()}).ok());
  const auto divide = [&](int32_t by) {
    return RunOps({NodeBuilder(g_, "ResourceScatterDiv")
                       .Input(w.handle())
                       .Input(Const(g_, Tensor::Vector<int32_t>({0})))
                       .Input(Const(g_, Tensor::Vector<int32_t>({by})))
                       .Finish()});
  };
  EXPECT_EQ(divide(0).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(RunOps({w.Assign(Tensor::Vector<int32_t>({std::numeric_limits<int32_t>::min(), 1}))}).ok());
  EXPECT_TRUE(divide(-1).ok());
}

TEST_F(VariableTest, ACopyThatDoesNotFitInMemoryFailsTheReadOrUpdateAndChangesNothing) {
  constexpr int64_t kBytes = int64_t{64} << 20;
  const MemoryLimit limit(5 * kBytes / 2);  // two values fit, but not three
  const auto v = MakeRef<VariableResource>("v", kFloat32, Shape({kBytes / 4}));
  ASSERT_TRUE(v->Assign(Tensor(kFloat32, {kBytes / 4})).ok());
  const auto write = [](Tensor* t) {
    t->inplace_data<float>()[0] = 7;
    return OkStatus();
  };
  Tensor other(kFloat32, {kBytes / 4});
  Tensor snapshot = *v->Read();
  EXPECT_TRUE(absl::IsResourceExhausted(v->UpdateInPlace(write)));
  EXPECT_FALSE(v->copies_on_read());
  EXPECT_TRUE(v->Read()->SharesBufferWith(snapshot));
  other = Tensor();
  ASSERT_TRUE(v->UpdateInPlace(write).ok());
  EXPECT_TRUE(v->copies_on_read());
  EXPECT_TRUE(absl::IsResourceExhausted(v->Read().status()));
  snapshot = Tensor();
  EXPECT_EQ(v->Read()->data<float>()[0], 7);
}

}  // namespace
}  // namespace tensorbraid
