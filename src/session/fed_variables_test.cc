// Tests steps that feed variables: which reads get the fed value, on one task and on several.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cluster/testing/test_cluster.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Reads of `v`, a scalar, which is 2 and fed with 10, and of `table`, 3 x 2, which is 0 and fed with 7. Reads are on
// `where`, the variables on other tasks if there are several.
class Reads {
 public:
  explicit Reads(const std::string& where, bool across_tasks) {
    {
      auto device = g.Device(across_tasks ? "/job:ps/task:0" : "");
      v = Variable(g, {}, Constant(2), {.name = "v"});
      other = Variable(g, {}, Zeros(), {.name = "other"});
    }
    {
      auto device = g.Device(across_tasks ? "/job:ps/task:1" : "");
      table = Variable(g, {3, 2}, Zeros(), {.name = "table"});
    }
    auto device = g.Device(where);
    p = Placeholder(g, kFloat32, {}, "p");
    Build();
  }

  Graph g;
  Variable v, other, table;
  Output p;
  std::map<std::string, Output> scalars;  // by name: a read whose fed value is 10 and whose own value is 2
  std::map<std::string, Output> rows;     // by name: elements that are all 7 if fed, else 0
  Output shape;                           // of `table`

 private:
  void Build() {
    scalars["value"] = v.value();
    scalars["read"] = v.Read();
    scalars["identity"] = Identity(v) + 0.0f;
    scalars["gradient"] = (*Gradients({v * v}, {v.handle()}))[0] * 0.5f;
    {
      auto after = g.ControlDependencies({other.AssignAdd(1.0f)});
      scalars["after"] = v * 1.0f;
    }
    scalars["cond"] = Cond(
        p > 0.0f, [&] { return v * 1.0f; }, [&] { return v * -1.0f; });
    scalars["nested"] = Cond(
        p > 0.0f,
        [&] {
          return Cond(
              p > 5.0f, [&] { return v * -1.0f; }, [&] { return v * 1.0f; });
        },
        [&] { return v * -1.0f; });
    scalars["while"] = Sum(2, [&] { return v.value(); }) * 0.5f;
    scalars["while with a cond"] = Sum(2,
                                       [&] {
                                         return Cond(
                                             p > 0.0f, [&] { return v.Read(); }, [&] { return v * -1.0f; });
                                       }) *
                                   0.5f;
    const auto function = DefineFunction(g, "f", {{kFloat32, {}}}, [&](Graph& body, const std::vector<Output>& args) {
      const Output read = NodeBuilder(body, "ReadVariableOp").Input(v.handle()).Attr("dtype", kFloat32).Output();
      return std::vector<Output>{args[0] * 0.0f + read};
    });
    scalars["function"] = CallFunction(g, function, {p})[0];
    scalars["one of several"] = NodeBuilder(g, "ReadVariableOp")
                                    .Input(NodeBuilder(g, "IdentityN").InputList({p, v.handle()}).Finish().output(1))
                                    .Attr("dtype", kFloat32)
                                    .Output();
    rows["gather"] = Gather(table, Tensor::Vector<int32_t>({1, 0}));
    rows["rows"] = table.SparseRead(Tensor::Vector<int64_t>({2}));
    rows["gather_nd"] = NodeBuilder(g, "ResourceGatherNd")
                            .Input(table.handle())
                            .Input(Const(g, Tensor::Of<int32_t>({1, 2}, {2, 1})))
                            .Attr("dtype", kFloat32)
                            .Output();
    rows["batch"] = NodeBuilder(g, "ResourceGather")
                        .Input(table.handle())
                        .Input(Const(g, Tensor::Of<int32_t>({3, 1}, {0, 1, 1})))
                        .Attr("dtype", kFloat32)
                        .Attr("batch_dims", int64_t{1})
                        .Output();
    rows["lookup"] = nn::EmbeddingLookup(table, Tensor::Vector<int32_t>({2, 1}));
    rows["while"] = Sum(1, [&] { return ReduceSum(table.SparseRead(Tensor::Vector<int32_t>({0}))) * 0.5f; });
    rows["cond"] = Cond(
        p > 0.0f, [&] { return table.SparseRead(Tensor::Vector<int32_t>({0})); },
        [&] { return table.SparseRead(Tensor::Vector<int32_t>({1})) - 1.0f; });
    shape = NodeBuilder(g, "VariableShape").Input(table.handle()).Output();
  }

  // The sum of `times` values of `term`, by a loop.
  Output Sum(int32_t times, const std::function<Output()>& term) {
    return While(
        {Const(g, Tensor::Scalar(int32_t{0})), Const(g, Tensor::Scalar(0.0f))},
        [&](const std::vector<Output>& at) { return at[0] < times; },
        [&](const std::vector<Output>& at) {
          return std::vector<Output>{at[0] + 1, at[1] + term()};
        })[1];
  }
};

Tensor Sevens() { return Tensor::Of<float>({3, 2}, {7, 7, 7, 7, 7, 7}); }

// Runs every read with and without feeds.
void ExpectFedReads(Reads& reads, Session& session) {
  ASSERT_TRUE(reads.g.status().ok()) << reads.g.status();
  ASSERT_TRUE(session.Run({GlobalVariablesInitializer(reads.g)}).ok());
  const Feed p = {reads.p, Tensor::Scalar(1.0f)};
  const auto value = [&](const std::string& name, const Output& read, const std::vector<Feed>& feeds) {
    const auto result = session.Run({read}, feeds);
    EXPECT_TRUE(result.ok()) << name << ": " << result.status();
    std::set<float> values;
    if (result.ok()) values.insert((*result)[0].data<float>().begin(), (*result)[0].data<float>().end());
    return values;
  };
  for (const auto& [name, read] : reads.scalars) {
    EXPECT_EQ(value(name, read, {p, {reads.v, Tensor::Scalar(10.0f)}}), std::set<float>{10}) << name;
    EXPECT_EQ(value(name, read, {p, {reads.v.value(), Tensor::Scalar(10.0f)}}), std::set<float>{10}) << name;
    EXPECT_EQ(value(name, read, {p, {"v:0", Tensor::Scalar(10.0f)}}), std::set<float>{10}) << name;
    EXPECT_EQ(value(name, read, {p}), std::set<float>{2}) << name;
  }
  for (const auto& [name, read] : reads.rows) {
    EXPECT_EQ(value(name, read, {p, {reads.table, Sevens()}}), std::set<float>{7}) << name;
    EXPECT_EQ(value(name, read, {p}), std::set<float>{0}) << name;
  }
  const auto shape = session.Run({reads.shape}, {{reads.table, Sevens()}});
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ((*shape)[0].data<int32_t>()[1], 2);
}

TEST(FedVariablesTest, EveryReadGivesTheFedValue) {
  Reads reads("", /*across_tasks=*/false);
  ExpectFedReads(reads, *Session::Create(reads.g).value());
}

TEST(FedVariablesTest, EveryReadGivesTheFedValueOnOtherTasks) {
  TestCluster cluster(2, 1);
  for (const char* where : {"/job:worker/task:0", "/job:ps/task:0", "/job:ps/task:1"}) {
    Reads reads(where, /*across_tasks=*/true);
    const auto session = Session::Create(reads.g, {.target = cluster.worker_target(), .isolate_session_state = true});
    ExpectFedReads(reads, *session.value());
  }
}

TEST(FedVariablesTest, TheControlInputsOfAReadStillRun) {
  Reads reads("", /*across_tasks=*/false);
  const auto session = Session::Create(reads.g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(reads.g)}).ok());
  ASSERT_TRUE(session->Run({reads.scalars["after"]}, {{reads.v, Tensor::Scalar(10.0f)}}).ok());
  EXPECT_EQ(session->Run({reads.other}).value()[0].scalar<float>(), 1);
}

TEST(FedVariablesTest, AnErrorOfAReadNamesItAndItsLine) {
  Graph g;
  const Variable table(g, {3, 2}, Zeros(), {.name = "table"});
  const Output row = table.SparseRead(Tensor::Vector<int32_t>({3}), "row");
  const Status s = Session::Create(g).value()->Run({row}, {{table, Sevens()}}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(s)) << s;
  EXPECT_THAT(std::string(s.message()), AllOf(HasSubstr("'row'"), HasSubstr("fed_variables_test.cc:")));
}

TEST(FedVariablesTest, APartOfAVariableIsFedAlone) {
  Graph g;
  const PartitionedVariable whole =
      GetPartitionedVariable(g, "whole", {4, 1}, FixedSizePartitioner(2), {.initializer = Zeros()});
  const Output all = whole.AsTensor();
  const Output found = nn::EmbeddingLookup(whole, Tensor::Vector<int32_t>({0, 1, 2, 3}),
                                           {.partition_strategy = nn::PartitionStrategy::kDiv});
  const auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const Tensor part = Tensor::Of<float>({2, 1}, {7, 7});
  const auto values = session->Run({all, found}, {{whole.parts()[1], part}});
  ASSERT_TRUE(values.ok()) << values.status();
  for (const Tensor& value : *values) {
    EXPECT_EQ(std::vector<float>(value.data<float>().begin(), value.data<float>().end()),
              (std::vector<float>{0, 0, 7, 7}));
  }
}

TEST(FedVariablesTest, AStepThatFeedsAndUpdatesAVariableIsAnError) {
  Graph g;
  const Variable v(g, {}, Zeros(), {.name = "v"});
  const Output p = Placeholder(g, kBool, {});
  const Output updated = Cond(
      p,
      [&] {
        auto after = g.ControlDependencies({v.AssignSub(1.0f)});
        return v.Read();
      },
      [&] { return v.value(); });
  const auto session = Session::Create(g).value();
  const Feed fed = {v, Tensor::Scalar(10.0f)};
  const auto message = [&](const Fetch& fetch) {
    const Status s = session->Run({fetch}, {fed, {p, Tensor::Scalar(false)}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(s)) << s;
    return std::string(s.message());
  };
  EXPECT_THAT(message(v.initializer()), AllOf(HasSubstr("the step feeds the variable 'v', but AssignVariableOp"),
                                              HasSubstr("fed_variables_test.cc:"), HasSubstr("updates it")));
  EXPECT_THAT(message(v.AssignAdd(1.0f)), HasSubstr("updates it"));
  EXPECT_THAT(message(updated), HasSubstr("updates it"));
  EXPECT_THAT(message(v.is_initialized()), HasSubstr("asks whether it is initialized"));
}

TEST(FedVariablesTest, TheValueMustFitTheVariable) {
  Graph g;
  const Variable v(g, {2}, Zeros(), {.name = "v"});
  const auto session = Session::Create(g).value();
  for (const Tensor& wrong : {Tensor::Scalar(1.0f), Tensor::Vector<int32_t>({1, 2})}) {
    const Status s = session->Run({v}, {{v, wrong}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(s)) << s;
    EXPECT_THAT(std::string(s.message()), HasSubstr("'v:0'"));
  }
  const Tensor right = Tensor::Vector<float>({1, 2});
  EXPECT_THAT(std::string(session->Run({v}, {{v, right}, {v.value(), right}}).status().message()),
              HasSubstr("'v:0' is fed twice"));
  EXPECT_TRUE(session->Prepare({v}, {v.handle()}).value().Run({right}).ok());
}

// A reference variable is a tensor itself, so that a feed replaces it where it is.
TEST(FedVariablesTest, EveryReadOfAReferenceVariableGivesTheFedValue) {
  TestCluster cluster(1, 1);
  Graph g;
  Output v;
  {
    auto device = g.Device("/job:ps/task:0");
    v = NodeBuilder(g, "VariableV2").Name("v").Attr("dtype", kFloat32).Attr("shape", Shape({2})).Output();
  }
  const Output assign = NodeBuilder(g, "Assign").Input(v).Input(Const(g, Tensor::Vector<float>({1, 1}))).Output();
  auto device = g.Device("/job:worker/task:0");
  const Output p = Placeholder(g, kBool, {});
  const Output read = Identity(v, "read");
  const std::vector<Output> reads = {
      read + 0.0f,
      Cond(
          p, [&] { return read * 1.0f; }, [&] { return read * -1.0f; }),
      Gather(read, Tensor::Vector<int32_t>({1, 0})),
      While(
          {Const(g, Tensor::Scalar(int32_t{0})), read}, [](const std::vector<Output>& at) { return at[0] < 3; },
          [&](const std::vector<Output>& at) {
            return std::vector<Output>{at[0] + 1, read * 1.0f};
          })[1]};
  const auto session = Session::Create(g, {.target = cluster.worker_target(), .isolate_session_state = true}).value();
  const Feed fed = {v, Tensor::Vector<float>({10, 10})};
  for (const Output& fetch : reads) {
    const auto value = session->Run({fetch}, {fed, {p, Tensor::Scalar(true)}});
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ((*value)[0].data<float>()[0], 10);
  }
  const Status s = session->Run({assign}, {fed}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(s)) << s;
  EXPECT_THAT(std::string(s.message()), HasSubstr("the step feeds the variable 'v', but Assign"));
}

}  // namespace
}  // namespace tensorbraid
