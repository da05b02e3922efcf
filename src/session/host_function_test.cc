// Steps that call functions of the program: CallHostFunction, and datasets over them.
#include "tensorbraid/graph/host_function.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "tensorbraid/data/dataset.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/control_flow.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

StatusOr<std::vector<Tensor>> AddOne(const std::vector<Tensor>& inputs) {
  return std::vector<Tensor>{Tensor::Scalar(inputs[0].scalar<float>() + 1.0f)};
}

TEST(HostFunctionTest, AStepCallsTheFunctionWithItsInputs) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  int calls = 0;
  const Operation call =
      CallHostFunction(g,
                       [&](const std::vector<Tensor>& inputs) -> StatusOr<std::vector<Tensor>> {
                         ++calls;
                         return std::vector<Tensor>{Tensor::Scalar(inputs[0].scalar<float>() * 2), inputs[1]};
                       },
                       {x * 3.0f, Operand(Tensor::Scalar("text"))}, {kFloat32, kString});
  auto session = Session::Create(g).value();
  const auto values = session->Run({call.output(0) + 1.0f, call.output(1)}, {{x, Tensor::Scalar(2.0f)}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].scalar<float>(), 13.0f);
  EXPECT_EQ((*values)[1].scalar<std::string>(), "text");
  EXPECT_EQ(calls, 1);
}

TEST(HostFunctionTest, ItsErrorsAndExceptionsAreThoseOfTheStep) {
  Graph g;
  const auto status_of = [&](HostFunction function) {
    const Operation call =
        CallHostFunction(g, std::move(function), {Const(g, Tensor::Scalar(1.0f))}, {kFloat32}, {.name = "call"});
    return Session::Create(g).value()->Run({call.output(0)}).status();
  };
  const Status own = status_of([](const auto&) { return NotFound("no such thing"); });
  EXPECT_EQ(own.code(), StatusCode::kNotFound);
  EXPECT_NE(own.message().find("'call'"), absl::string_view::npos) << own;
  const Status thrown = status_of([](const auto&) -> StatusOr<std::vector<Tensor>> { throw std::runtime_error("oh"); });
  EXPECT_EQ(thrown.code(), StatusCode::kUnknown);
  EXPECT_NE(thrown.message().find("oh"), absl::string_view::npos) << thrown;
  const auto returning = [&](std::vector<Tensor> values) {
    return status_of([values](const auto&) -> StatusOr<std::vector<Tensor>> { return values; });
  };
  EXPECT_EQ(returning({}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(returning({Tensor::Scalar(1)}).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(returning({Tensor::Scalar(1.0f)}).ok());
}

TEST(HostFunctionTest, InLoopsBranchesAndMapsOfDatasets) {
  Graph g;
  const auto add_one = [](const std::vector<Output>& v) {
    return std::vector<Output>{CallHostFunction(*v[0].graph(), AddOne, {v[0]}, {kFloat32}).output(0)};
  };
  auto mapped = MapFn(add_one, {Const(g, Tensor::Vector(std::vector<float>{1, 2, 3}))});
  auto branch = Cond(
      Const(g, Tensor::Scalar(true)), [&] { return add_one({Const(g, Tensor::Scalar(5.0f))}); },
      [&] { return std::vector<Output>{Const(g, Tensor::Scalar(0.0f))}; });
  auto dataset = data::Dataset::FromTensorSlices(g, {Const(g, Tensor::Vector(std::vector<float>{10, 20, 30}))})
                     .Map(add_one)
                     .Filter([](const data::Tensors& e) {
                       return CallHostFunction(*e[0].graph(),
                                               [](const std::vector<Tensor>& v) -> StatusOr<std::vector<Tensor>> {
                                                 return std::vector<Tensor>{Tensor::Scalar(v[0].scalar<float>() > 15)};
                                               },
                                               {e[0]}, {kBool})
                           .output(0);
                     });
  auto iterator = data::Iterator::Initializable(dataset);
  auto next = iterator.GetNext()[0];
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  EXPECT_EQ(session->Run({mapped[0]}).value()[0].ToString(), "float32[3] [2 3 4]");
  EXPECT_EQ(session->Run({branch[0]}).value()[0].scalar<float>(), 6.0f);
  ASSERT_TRUE(session->Run({iterator.initializer()}).ok());
  EXPECT_EQ(session->Run({next}).value()[0].scalar<float>(), 21.0f);
  EXPECT_EQ(session->Run({next}).value()[0].scalar<float>(), 31.0f);
  EXPECT_EQ(session->Run({next}).status().code(), StatusCode::kOutOfRange);
}

TEST(HostFunctionTest, ADatasetTakesElementsFromTheProgram) {
  std::atomic<int> sources_in_use{0};  // outlives the graph, which keeps a source that the end of a session cuts off
  Graph g;
  auto limit = Placeholder(g, kInt64, {}, "limit");
  const auto dataset = data::Dataset::FromCallback(
      g, {{kInt64, {}}, {kFloat32, {2}}},
      [&](const std::vector<Tensor>& args) -> StatusOr<data::ElementSource> {
        ++sources_in_use;
        auto in_use = std::shared_ptr<void>(nullptr, [&](void*) { --sources_in_use; });
        return data::ElementSource([n = int64_t{0}, end = args[0].scalar<int64_t>(),
                                    in_use]() mutable -> StatusOr<std::optional<std::vector<Tensor>>> {
          if (n == end) return std::nullopt;
          if (n == 5) return DataLoss("the fifth is broken");
          const auto f = static_cast<float>(n);
          return std::vector<Tensor>{Tensor::Scalar(n++), Tensor::Vector(std::vector<float>{f, -f})};
        });
      },
      {limit});
  auto iterator = data::Iterator::Initializable(dataset.Repeat(Operand(2)).Batch(Operand(2)));
  auto next = iterator.GetNext();
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({iterator.initializer()}, {{limit, Tensor::Scalar(int64_t{3})}}).ok());
  EXPECT_EQ(session->Run({next[1]}).value()[0].ToString(), "float32[2,2] [[0 -0][1 -1]]");
  EXPECT_EQ(session->Run({next[0]}).value()[0].ToString(), "int64[2] [2 0]");
  EXPECT_EQ(session->Run({next[0]}).value()[0].ToString(), "int64[2] [1 2]");
  EXPECT_EQ(session->Run({next[0]}).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(sources_in_use, 0);
  ASSERT_TRUE(session->Run({iterator.initializer()}, {{limit, Tensor::Scalar(int64_t{9})}}).ok());
  ASSERT_TRUE(session->Run({next[0]}).ok());
  ASSERT_TRUE(session->Run({next[0]}).ok());
  EXPECT_EQ(session->Run({next[0]}).status().code(), StatusCode::kDataLoss);
}

TEST(HostFunctionTest, ItRunsOnTheTasksOfThisProcess) {
  TestCluster cluster(1, 1);
  Graph g;
  Output result;
  {
    auto device = g.Device("/job:ps/task:0");
    result = CallHostFunction(g, AddOne, {Const(g, Tensor::Scalar(1.0f))}, {kFloat32}).output(0);
  }
  EXPECT_EQ(Session::Create(g, {.target = cluster.worker_target()}).value()->Run({result}).value()[0].scalar<float>(),
            2.0f);
}

TEST(HostFunctionTest, AGraphFromAMessageKnowsNoFunctions) {
  auto g = std::make_unique<Graph>();
  CallHostFunction(*g, AddOne, {Const(*g, Tensor::Scalar(1.0f))}, {kFloat32}, {.name = "call"});
  const std::string message = g->ToGraphDef().value();
  g.reset();
  Graph other;  // as on a server in another process
  ASSERT_TRUE(other.ImportGraphDef(message).ok());
  const Status status = Session::Create(other).value()->Run({"call:0"}).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << status;
}

}  // namespace
}  // namespace tensorbraid
