// Several threads that build one graph, run steps of it, save its variables and close sessions.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid {
namespace {

void InThreads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

std::unique_ptr<Session> NewSession(Graph& g) {
  auto session = Session::Create(g);
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

TEST(ThreadsTest, ScopesAndMistakesBelongToTheirThread) {
  Graph g;
  Variable v(g, {}, Zeros(), {.name = "v"});
  const ScopeGuard name = g.NameScope("outer");
  const ScopeGuard device = g.Device("/job:ps");
  const ScopeGuard place = g.ColocateWith(v.handle().op());
  const ScopeGuard container = g.Container("mine");
  const ScopeGuard after = g.ControlDependencies({v.initializer()});
  const ScopeGuard variables = g.VariableScope("scope");
  const ScopeGuard line = g.Location("program.py", 7);
  g.AddError(InvalidArgument("the first thread's mistake"));
  std::thread([&] {
    EXPECT_TRUE(g.status().ok()) << g.status();
    EXPECT_EQ(g.name_scope(), "");
    EXPECT_EQ(VariableScopeName(g), "");
    const Operation op = NoOp(g, "alone");
    EXPECT_EQ(op.name(), "alone");
    EXPECT_EQ(op.device(), "");
    EXPECT_EQ(op.attr("_class"), nullptr);
    EXPECT_TRUE(NodeOf(op)->control_inputs().empty());
    EXPECT_EQ(NodeOf(op)->location().find("program.py"), std::string::npos);
    g.AddError(InvalidArgument("the second thread's mistake"));
  }).join();
  EXPECT_EQ(g.name_scope(), "outer/scope");
  EXPECT_EQ(g.TakeStatus().message(), "the first thread's mistake");
  EXPECT_TRUE(g.status().ok()) << "the other thread's mistake ended with it: " << g.status();
}

TEST(ThreadsTest, ThreadsMakeNodesWithDifferentNamesAndIdsInOrder) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {}, "x");
  InThreads(4, [&](int) {
    for (int i = 0; i < 200; ++i) EXPECT_TRUE((x * 2.0f + 1.0f).valid());
  });
  std::set<std::string> names;
  const auto& nodes = ImplOf(g).nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i]->id(), static_cast<int>(i));
    EXPECT_TRUE(names.insert(nodes[i]->name()).second) << nodes[i]->name();
    for (const Output& in : nodes[i]->inputs()) EXPECT_LT(NodeOf(in)->id(), static_cast<int>(i));
  }
  EXPECT_EQ(nodes.size(), 1u + 4u * 200u * 4u);
}

TEST(ThreadsTest, AStepThatWaitsDoesNotKeepOthersFromBuilding) {
  Graph g;
  const FIFOQueue queue(g, {kFloat32});
  const std::vector<Output> taken = queue.Dequeue();
  const auto session = NewSession(g);
  auto waiting = std::async(std::launch::async, [&] { return session->Run({taken[0]}); });
  const Output built = Square(Const(g, Tensor::Scalar(3.0f)));
  EXPECT_EQ((*session->Run({built}))[0].scalar<float>(), 9.0f);
  const Operation put = queue.Enqueue({built});
  ASSERT_TRUE(session->Run({put}).ok());
  const auto value = waiting.get();
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 9.0f);
}

TEST(ThreadsTest, APreparedStepRunsWhileAThreadHoldsTheGraph) {
  Graph g;
  const Output y = Const(g, Tensor::Scalar(2.0f)) * 3.0f;
  const auto session = NewSession(g);
  const auto prepared = session->Prepare({y}, {});
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const GraphLock held(g);
  const auto value = std::async(std::launch::async, [&] { return prepared->Run({}); }).get();
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 6.0f);
}

TEST(ThreadsTest, AShapeThatWasReadStaysWhenItIsRefined) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, Shape::Unknown(), "x");
  const Shape& before = x.shape();
  ImplOf(g).RefineShape(NodeOf(x), 0, Shape({-1, 20}));
  ImplOf(g).RefineShape(NodeOf(x), 0, Shape({2, 20}));
  EXPECT_FALSE(before.has_rank());
  EXPECT_EQ(x.shape(), Shape({2, 20}));
}

TEST(ThreadsTest, AGraphWithAnUnfinishedLoopIsAnErrorWhereTheLoopIsNeeded) {
  Graph g;
  const Output other = Square(Const(g, Tensor::Scalar(3.0f)));
  const auto session = NewSession(g);
  const auto loop = While(
      {Const(g, Tensor::Scalar(0.0f))}, [](const std::vector<Output>& v) { return Less(v[0], 3.0f); },
      [&](const std::vector<Output>& v) {
        std::thread([&] {
          EXPECT_EQ(g.ToGraphDef().status().code(), absl::StatusCode::kFailedPrecondition);
          EXPECT_EQ(session->Run({v[0]}).status().code(), absl::StatusCode::kFailedPrecondition);
          EXPECT_TRUE(session->Run({other}).ok());
        }).join();
        return std::vector<Output>{v[0] + 1.0f};
      });
  const auto value = session->Run({loop[0]});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].scalar<float>(), 3.0f);
}

// Each thread draws what it does next: TENSORBRAID_THREADS_SECONDS=60 makes it run for longer.
TEST(ThreadsTest, EightThreadsBuildRunAndClose) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1, 4}, "x");
  Variable v(g, {4}, Ones(), {.name = "v"});
  const Operation init = GlobalVariablesInitializer(g);
  const Operation add = v.AssignAdd(Tensor::Vector<float>({1, 1, 1, 1}));
  const auto shared = NewSession(g);
  ASSERT_TRUE(shared->Run({init}).ok());
  const char* const seconds = std::getenv("TENSORBRAID_THREADS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
  InThreads(8, [&](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread));
    const Tensor fed = *Tensor::Create(kFloat32, {2, 4});
    for (int i = 0; i < 25 || std::chrono::steady_clock::now() < end; ++i) {
      const ScopeGuard scope = g.NameScope("thread" + std::to_string(thread));
      switch (random() % 6) {
        case 0: {
          const auto r = shared->Run({ReduceSum(x * static_cast<float>(i) + v)}, {{x, fed}});
          EXPECT_TRUE(r.ok()) << r.status();
          break;
        }
        case 1:
          EXPECT_TRUE(shared->Run({add}).ok());
          break;
        case 2: {
          const auto merged = Cond(
              Less(ReduceSum(x), 0.0f), [&] { return std::vector<Output>{ReduceSum(x)}; },
              [&] { return std::vector<Output>{Const(g, Tensor::Scalar(0.0f))}; });
          const auto r = shared->Run({merged[0]}, {{x, fed}});
          EXPECT_TRUE(r.ok()) << r.status();
          break;
        }
        case 3: {
          const auto gradients = Gradients({ReduceSum(Square(x * v))}, {v.handle()});
          ASSERT_TRUE(gradients.ok()) << gradients.status();
          const auto r = shared->Run({(*gradients)[0]}, {{x, fed}});
          EXPECT_TRUE(r.ok()) << r.status();
          break;
        }
        case 4: {
          const auto own = NewSession(g);
          EXPECT_TRUE(own->Run({init}).ok());
          EXPECT_TRUE(own->Run({v}).ok());
          EXPECT_TRUE(own->Close().ok());
          break;
        }
        default: {
          const auto bytes = g.ToGraphDef();
          EXPECT_TRUE(bytes.ok() && Graph().ImportGraphDef(*bytes).ok());
        }
      }
      EXPECT_TRUE(g.status().ok()) << g.status();
    }
  });
}

}  // namespace
}  // namespace tensorbraid
