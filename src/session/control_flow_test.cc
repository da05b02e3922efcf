// Tests loops and conditionals in local sessions and across the tasks of a cluster.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "graph/model/graph_impl.h"
#include "session/testing/loops.h"

namespace tensorbraid {
namespace {

constexpr const char* kPs = "/job:ps/task:0";
constexpr const char* kWorker = "/job:worker/task:0";

Output Number(Graph& g, float value) { return Operand(value).ToOutput(g); }

StatusOr<float> RunOne(Session& session, Output fetch, const std::vector<Feed>& feeds = {}) {
  TF_ASSIGN_OR_RETURN(const auto values, session.Run({fetch}, feeds));
  return values[0].scalar<float>();
}

// Runs a step in a new local session.
StatusOr<float> RunOne(Graph& g, Output fetch, const std::vector<Feed>& feeds = {}) {
  TF_ASSIGN_OR_RETURN(const auto session, Session::Create(g));
  return RunOne(*session, fetch, feeds);
}

Output On(Graph& g, const std::string& device, const std::function<Output()>& f) {
  auto scope = g.Device(device);
  return f();
}

TEST(ControlFlowTest, ACondReturnsTheValueOfTheTakenBranch) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Output r = Cond(
      g, pred, Number(g, 5), [](Output x) { return x * 2.0f; }, [](Output x) { return x - 1.0f; });
  EXPECT_EQ(*RunOne(g, r, {{pred, Tensor::Scalar(true)}}), 10);
  EXPECT_EQ(*RunOne(g, r, {{pred, Tensor::Scalar(false)}}), 4);
}

TEST(ControlFlowTest, TheBranchThatIsNotTakenHasNoEffect) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  const Output pred = Placeholder(g, DType::kBool, {});
  const auto assign = [&](float by) {
    return [&v, &g, by](Output x) {
      auto scope = g.ControlDependencies({v.AssignAdd(by)});
      return Identity(x);
    };
  };
  const Output r = Cond(g, pred, Number(g, 0), assign(1), assign(100));
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  for (const bool side : {true, false, true}) ASSERT_TRUE(RunOne(*session, r, {{pred, Tensor::Scalar(side)}}).ok());
  EXPECT_EQ(*RunOne(*session, v.value()), 102);  // 1 + 100 + 1
}

TEST(ControlFlowTest, ShapesKnownBeforehandStayDeadInADeadBranch) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Output x = Placeholder(g, kFloat32, {3});
  const auto size = [](Output v) { return Cast(Size(v), kFloat32); };
  const Output r = Cond(g, pred, x, size, [&](Output v) { return size(v) + 100.0f; });
  const Feed feed(x, Tensor::Vector<float>({1, 2, 3}));
  EXPECT_EQ(*RunOne(g, r, {{pred, Tensor::Scalar(true)}, feed}), 3);
  EXPECT_EQ(*RunOne(g, r, {{pred, Tensor::Scalar(false)}, feed}), 103);
}

TEST(ControlFlowTest, ADeadFetchIsAnErrorAndADeadTargetIsNot) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Operation sides = NodeBuilder(g, "Switch").Input(Number(g, 1)).Input(pred).Finish();
  auto session = Session::Create(g).value();
  const Status s = session->Run({sides.output(1)}, {{pred, Tensor::Scalar(false)}}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("Retval[0] does not have value"), absl::string_view::npos) << s;
  const Output dead = Exp(sides.output(1));
  EXPECT_TRUE(session->Run({dead.op()}, {{pred, Tensor::Scalar(false)}}).ok());
}

TEST(ControlFlowTest, AMergeReturnsTheIndexOfItsLiveInput) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Operation sides = NodeBuilder(g, "Switch").Input(Number(g, 1)).Input(pred).Finish();
  const Operation merge = NodeBuilder(g, "Merge").InputList({sides.output(0), sides.output(1)}).Finish();
  auto session = Session::Create(g).value();
  for (const bool side : {false, true}) {
    auto r = session->Run({merge.output(1)}, {{pred, Tensor::Scalar(side)}});
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ((*r)[0].scalar<int32_t>(), side ? 1 : 0);
  }
}

TEST(ControlFlowTest, AControlTriggerRunsAfterDeadNodes) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Operation sides = NodeBuilder(g, "Switch").Input(Number(g, 1)).Input(pred).Finish();
  const Operation trigger = NodeBuilder(g, "ControlTrigger").Control(Exp(sides.output(1)).op()).Finish();
  auto scope = g.ControlDependencies({trigger});
  EXPECT_EQ(*RunOne(g, Identity(Number(g, 7)), {{pred, Tensor::Scalar(false)}}), 7);
}

// Builds a loop that counts from 0 to `n`, and returns the last count.
Output CountTo(Graph& g, Output n, const std::string& frame = "loop", int64_t parallel = 10) {
  const Output limit = EnterConstant(n, frame, parallel);
  return While(
      g, frame, {Number(g, 0)}, [&](const LoopVars& v) { return Less(v[0], limit); },
      [](const LoopVars& v) { return LoopVars{v[0] + 1.0f}; }, parallel)[0];
}

TEST(ControlFlowTest, AWhileLoopRunsAsLongAsItsConditionHolds) {
  for (const int64_t parallel : {1, 2, 32}) {
    Graph g;
    const Output n = Placeholder(g, kFloat32, {});
    const Output r = CountTo(g, n, "loop", parallel);
    auto session = Session::Create(g).value();
    for (const float to : {0.0f, 1.0f, 100.0f}) EXPECT_EQ(*RunOne(*session, r, {{n, Tensor::Scalar(to)}}), to);
  }
}

// The sum of i * j for 0 <= j <= i < n, by two nested loops. The inner body applies `step` to each partial sum.
Output SumOfProducts(
    Graph& g, Output n, int64_t parallel, const std::string& device = "",
    const std::function<Output(Output)>& step = [](Output x) { return x; }) {
  const Output limit = EnterConstant(n, "outer", parallel);
  return While(
      g, "outer", {Number(g, 0), Number(g, 0)}, [&](const LoopVars& v) { return Less(v[0], limit); },
      [&](const LoopVars& v) {
        const Output i = EnterConstant(v[0], "inner", parallel);
        const Output zero = v[0] - v[0];
        const LoopVars inner = While(
            g, "inner", {zero, v[1]}, [&](const LoopVars& w) { return LessEqual(w[0], i); },
            [&](const LoopVars& w) {
              return LoopVars{w[0] + 1.0f, step(w[1] + w[0] * i)};
            },
            parallel, device);
        return LoopVars{v[0] + 1.0f, inner[1]};
      },
      parallel, device)[1];
}

float ExpectedSumOfProducts(int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) sum += static_cast<float>(i * j);
  }
  return sum;
}

TEST(ControlFlowTest, LoopsNest) {
  for (const int64_t parallel : {1, 10}) {
    Graph g;
    EXPECT_EQ(*RunOne(g, SumOfProducts(g, Number(g, 7), parallel)), ExpectedSumOfProducts(7));
  }
}

TEST(ControlFlowTest, ALoopInABranchThatIsNotTakenIsDead) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Output r = Cond(
      g, pred, Number(g, 9), [&](Output n) { return CountTo(g, n) * 2.0f; }, [](Output n) { return n + 1.0f; });
  EXPECT_EQ(*RunOne(g, r, {{pred, Tensor::Scalar(true)}}), 18);
  EXPECT_EQ(*RunOne(g, r, {{pred, Tensor::Scalar(false)}}), 10);
}

TEST(ControlFlowTest, ACondInALoopIsEvaluatedInEachIteration) {
  Graph g;
  const LoopVars r = While(
      g, "loop", {Number(g, 27), Number(g, 0)}, [](const LoopVars& v) { return Greater(v[0], 1.0f); },
      [&](const LoopVars& v) {
        // The Collatz sequence: halves even numbers; odd n becomes 3n + 1.
        const Output odd = Equal(FloorMod(v[0], 2.0f), 1.0f);
        const Output next = Cond(
            g, odd, v[0], [](Output x) { return x * 3.0f + 1.0f; }, [](Output x) { return x / 2.0f; });
        return LoopVars{next, v[1] + 1.0f};
      });
  EXPECT_EQ(*RunOne(g, r[1]), 111);  // the number of steps from 27 to 1
}

size_t ResidentBytes() {
  size_t pages = 0;
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  const int read = std::fscanf(f, "%*u %zu", &pages);
  std::fclose(f);
  return read == 1 ? pages * 4096 : 0;
}

TEST(ControlFlowTest, TenThousandIterationsUseTheMemoryOfAFew) {
  Graph g;
  const Output big = Placeholder(g, kFloat32, {32 << 10});  // 128 KiB
  const LoopVars r = While(
      g, "loop", {Number(g, 0), big}, [](const LoopVars& v) { return Less(v[0], 10'000.0f); },
      [](const LoopVars& v) {
        return LoopVars{v[0] + 1.0f, v[1] + 1.0f};
      },
      32);
  auto session = Session::Create(g).value();
  const size_t before = ResidentBytes();
  Tensor zeros(kFloat32, {32 << 10});
  std::fill_n(zeros.mutable_data<float>().data(), 32 << 10, 0.0f);
  auto out = session->Run({r[1]}, {{big, zeros}});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].data<float>()[1234], 10'000);
  EXPECT_LT(ResidentBytes() - before, size_t{300} << 20);  // keeping all iterations would take 1.3 GB
}

// A loop whose condition is always true.
Output Endless(Graph& g, const std::string& device = "") {
  return While(
      g, "endless", {Number(g, 1)}, [](const LoopVars& v) { return Greater(v[0], 0.0f); },
      [](const LoopVars& v) { return LoopVars{Identity(v[0])}; }, 10, device)[0];
}

TEST(ControlFlowTest, AnEndlessLoopEndsAtTheDeadlineAndTheNextStepRuns) {
  Graph g;
  const Output endless = Endless(g);
  const Output n = Number(g, 3);
  auto session = Session::Create(g, {.inter_op_parallelism_threads = 1}).value();
  const Status s = session->Run({endless}, {}, {.timeout = std::chrono::milliseconds(50)}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDeadlineExceeded) << s;
  EXPECT_EQ(*RunOne(*session, CountTo(g, n)), 3);
}

TEST(ControlFlowTest, ClosingTheSessionEndsAnEndlessLoop) {
  Graph g;
  const Output endless = Endless(g);
  auto session = Session::Create(g).value();
  std::atomic<bool> begun{false};
  std::thread closer([&] {
    while (!begun) std::this_thread::yield();
    ASSERT_TRUE(session->Close().ok());
  });
  begun = true;
  const Status s = session->Run({endless}).status();
  closer.join();
  EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
}

TEST(ControlFlowTest, AnErrorInAnIterationNamesItsNode) {
  Graph g;
  const Output table = EnterConstant(Operand(Tensor::Vector<float>({1, 2, 3})).ToOutput(g), "loop");
  const LoopVars r = While(
      g, "loop", {Operand(int32_t{0}).ToOutput(g)}, [](const LoopVars& v) { return Less(v[0], 10); },
      [&](const LoopVars& v) {
        auto scope = g.ControlDependencies({Gather(table, v[0]).op()});
        return LoopVars{v[0] + 1};
      });
  auto session = Session::Create(g).value();
  const Status s = session->Run({r[0]}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("Gather"), absl::string_view::npos) << s;
}

TEST(ControlFlowTest, InputsFromDifferentLoopsAreRefused) {
  Graph g;
  const Output inside = EnterConstant(Number(g, 1), "loop");
  const Output mixed = NodeBuilder(g, "AddV2").Name("mixed").Input(inside).Input(Number(g, 2)).Output();
  auto session = Session::Create(g).value();
  const Status s = session->Run({mixed}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
  EXPECT_NE(s.message().find("'mixed'"), absl::string_view::npos) << s;
}

class ClusterControlFlowTest : public ::testing::Test {
 protected:
  // Tensors of up to a kilobyte are sent at once, and larger ones only when they are granted
  // (cluster/exchange/exchange.h). The limits are low, so that the tests cover both.
  ClusterControlFlowTest()
      : cluster_(1, 1, {.membership = {}, .exchange = {.eager_limit = 1 << 10, .eager_budget = 4096}}) {}
  std::unique_ptr<Session> Open(Graph& g) { return Session::Create(g, {.target = cluster_.worker_target()}).value(); }
  TestCluster cluster_;
};

TEST_F(ClusterControlFlowTest, TheBodyMayBeOnAnotherTask) {
  for (const int64_t parallel : {1, 10}) {
    Graph g;
    const Output n = Placeholder(g, kFloat32, {});
    const Output limit = EnterConstant(n, "loop", parallel);
    const LoopVars r = While(
        g, "loop", {Number(g, 0), Number(g, 0)}, [&](const LoopVars& v) { return Less(v[0], limit); },
        [&](const LoopVars& v) {
          return LoopVars{v[0] + 1.0f, On(g, kPs, [&] { return v[1] + v[0] * v[0]; })};
        },
        parallel, kWorker);
    auto session = Open(g);
    EXPECT_EQ(*RunOne(*session, r[1], {{n, Tensor::Scalar(0.0f)}}), 0);
    EXPECT_EQ(*RunOne(*session, r[1], {{n, Tensor::Scalar(20.0f)}}), 2470);  // the sum of i * i for i < 20
  }
}

TEST_F(ClusterControlFlowTest, TheConditionMayBeOnAnotherTask) {
  Graph g;
  const LoopVars r = While(
      g, "loop", {Number(g, 0)}, [&](const LoopVars& v) { return On(g, kPs, [&] { return Less(v[0], 5.0f); }); },
      [](const LoopVars& v) { return LoopVars{v[0] + 1.0f}; }, 10, kWorker);
  EXPECT_EQ(*RunOne(*Open(g), r[0]), 5);
}

TEST_F(ClusterControlFlowTest, NextIterationAndMergeMayBeOnDifferentTasks) {
  // Enter, Exit and NextIteration of the loop variable are on another task than its Merge.
  Graph g;
  const LoopVars r = While(
      g, "loop", {Number(g, 0)}, [&](const LoopVars& v) { return Less(v[0], 5.0f); },
      [](const LoopVars& v) { return LoopVars{v[0] + 1.0f}; }, 10, kWorker);
  for (const auto& node : ImplOf(g).nodes()) {
    if (node->type() == "NextIteration" || node->type() == "Enter" || node->type() == "Exit") node->set_device(kPs);
  }
  EXPECT_EQ(*RunOne(*Open(g), r[0]), 5);
}

TEST_F(ClusterControlFlowTest, TheInnerBodyOfNestedLoopsMayBeOnAnotherTask) {
  for (const int64_t parallel : {1, 10}) {
    Graph g;
    const Output r = SumOfProducts(g, Number(g, 6), parallel, kWorker,
                                   [&](Output x) { return On(g, kPs, [&] { return x + 0.0f; }); });
    EXPECT_EQ(*RunOne(*Open(g), r), ExpectedSumOfProducts(6));
  }
}

TEST_F(ClusterControlFlowTest, AVariableOnTheParameterServerIsUpdatedInEachIteration) {
  Graph g;
  Variable v;
  {
    auto device = g.Device(kPs);
    v = Variable(g, {}, Zeros(), {.name = "v"});
  }
  const Output handle = EnterConstant(v.handle(), "loop");
  const LoopVars r = While(
      g, "loop", {Number(g, 0)}, [&](const LoopVars& w) { return Less(w[0], 10.0f); },
      [&](const LoopVars& w) {
        const Operation add =
            NodeBuilder(g, "AssignAddVariableOp").Input(handle).Input(w[0]).Attr("dtype", kFloat32).Finish();
        auto scope = g.ControlDependencies({add});
        return LoopVars{w[0] + 1.0f};
      },
      10, kWorker);
  auto session = Open(g);
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  EXPECT_EQ(*RunOne(*session, r[0]), 10);
  EXPECT_EQ(*RunOne(*session, v.value()), 45);  // 0 + 1 + ... + 9
}

TEST_F(ClusterControlFlowTest, ALoopWithoutAConditionRunsOnce) {
  Graph g;
  const Output inside = EnterConstant(Number(g, 2), "loop");
  const Output out = NodeBuilder(g, "Exit").Input(inside * inside).Output();
  EXPECT_EQ(*RunOne(*Open(g), out), 4);
}

TEST_F(ClusterControlFlowTest, ALoopInvariantIsUsedOnAnotherTaskInEachIteration) {
  Graph g;
  const Output two = EnterConstant(Number(g, 2), "loop");
  const LoopVars r = While(
      g, "loop", {Number(g, 0)}, [&](const LoopVars& v) { return Less(v[0], 5.0f); },
      [&](const LoopVars& v) {
        // Drops the control dependency of the body, so that no node of the loop on the parameter server depends on the
        // iteration.
        auto scope = g.ControlDependencies(std::vector<Operation>{});
        return LoopVars{v[0] + On(g, kPs, [&] { return two * two; })};
      },
      10, kWorker);
  EXPECT_EQ(*RunOne(*Open(g), r[0]), 8);  // two times 2 * 2
}

TEST_F(ClusterControlFlowTest, SmallAndLargeDeadTensorsCrossTasks) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  for (const int64_t size : {1, 100'000}) {
    const Output x = Placeholder(g, kFloat32, {size});
    const Output r = Cond(
        g, pred, x, [&](Output v) { return On(g, kPs, [&] { return v * 2.0f; }); },
        [&](Output v) { return On(g, kPs, [&] { return v * 3.0f; }); });
    Tensor ones(kFloat32, {size});
    std::fill_n(ones.mutable_data<float>().data(), size, 1.0f);
    auto session = Open(g);
    for (const bool side : {true, false}) {
      auto out = session->Run({r}, {{pred, Tensor::Scalar(side)}, {x, ones}});
      ASSERT_TRUE(out.ok()) << out.status();
      EXPECT_EQ((*out)[0].data<float>()[size - 1], side ? 2 : 3);
    }
  }
}

TEST_F(ClusterControlFlowTest, ADeadFetchFromAnotherTaskIsAnError) {
  Graph g;
  const Output pred = Placeholder(g, DType::kBool, {});
  const Operation sides = NodeBuilder(g, "Switch").Input(Number(g, 1)).Input(pred).Device(kPs).Finish();
  const Status s = Open(g)->Run({sides.output(1)}, {{pred, Tensor::Scalar(false)}}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
}

TEST_F(ClusterControlFlowTest, AnEndlessLoopOverTwoTasksEndsAtTheDeadline) {
  Graph g;
  const Output r = While(
      g, "loop", {Number(g, 1)}, [](const LoopVars& v) { return Greater(v[0], 0.0f); },
      [&](const LoopVars& v) { return LoopVars{On(g, kPs, [&] { return Exp(v[0] * 0.0f); })}; }, 10, kWorker)[0];
  auto session = Open(g);
  const Status s = session->Run({r}, {}, {.timeout = std::chrono::milliseconds(50)}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kDeadlineExceeded) << s;
  EXPECT_EQ(*RunOne(*session, On(g, kPs, [&] { return Number(g, 3) + 1.0f; })), 4);
}

TEST_F(ClusterControlFlowTest, AnErrorOnTheOtherTaskEndsTheLoop) {
  Graph g;
  const LoopVars r = While(
      g, "loop", {Number(g, 0)}, [](const LoopVars& v) { return Less(v[0], 10.0f); },
      [&](const LoopVars& v) {
        return LoopVars{On(g, kPs, [&] {
          // NaN when v[0] is 3: log(0) * 0.
          const Output bad = Log(Number(g, 3) - v[0]) * 0.0f + v[0] + 1.0f;
          return NodeBuilder(g, "CheckNumerics").Input(bad).Attr("message", std::string("too far")).Output();
        })};
      },
      10, kWorker);
  const Status s = Open(g)->Run({r[0]}).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
}

}  // namespace
}  // namespace tensorbraid
