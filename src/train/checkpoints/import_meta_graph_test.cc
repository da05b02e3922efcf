// Tests ImportMetaGraph: a graph that was saved beside a checkpoint can be restored and trained further.
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

// Saves a model after one step. Returns the path of the checkpoint.
std::string SaveModel(const TempDir& dir) {
  Graph g;
  const Variable w(g, {2}, Ones(), {.name = "w"});
  const Variable local(g, {}, Zeros(), {.name = "local", .trainable = false, .local = true});
  const Variable step = GetOrCreateGlobalStep(g);
  const Output loss = ReduceSum(w * w, Axes::All(), {.name = "loss"});
  const Operation train = GradientDescentOptimizer(0.25).Minimize(loss, {.global_step = step, .name = "train"});
  Saver saver(g, {.max_to_keep = 3});
  saver.SetCollections({{"important", {loss.name(), train.name()}}});
  auto session = Session::Create(g).value();
  EXPECT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  EXPECT_TRUE(session->Run({train}).ok());
  return saver.Save(*session, JoinPath(dir.path(), "model"), {.global_step = 1}).value();
}

TEST(ImportMetaGraph, VariablesCollectionsAndTheSaverComeBack) {
  TempDir dir;
  const std::string path = SaveModel(dir);
  Graph g;
  const auto imported = ImportMetaGraph(g, ReadFile(path + ".meta").value());
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->variables.at("variables").size(), 2u);
  ASSERT_EQ(imported->variables.at("trainable_variables").size(), 1u);
  ASSERT_EQ(imported->variables.at("local_variables").size(), 1u);
  EXPECT_TRUE(imported->variables.at("local_variables")[0].local());
  EXPECT_EQ(imported->collections.at("important"), (std::vector<std::string>{"loss:0", "train"}));
  EXPECT_EQ(imported->max_to_keep, 3);
  EXPECT_EQ(GetGlobalStep(g).name(), "global_step");
  EXPECT_EQ(g.variables().size(), 3u);
  const Variable w = imported->variables.at("trainable_variables")[0];
  EXPECT_EQ(w.shape(), Shape({2}));
  EXPECT_TRUE(w.trainable());

  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({imported->restore}, {{imported->filename, Tensor::Scalar(path)}}).ok());
  ASSERT_TRUE(session->Run({"train"}).ok());
  const auto value = session->Run({w});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].data<float>()[0], 0.25f);
}

TEST(ImportMetaGraph, TheImportedVariablesCanBeTrainedInANewWay) {
  TempDir dir;
  const std::string path = SaveModel(dir);
  Graph g;
  const auto imported = ImportMetaGraph(g, ReadFile(path + ".meta").value());
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Variable w = g.trainable_variables().at(0);
  const Operation train = MomentumOptimizer(0.5, 0.9).Minimize(ReduceSum(w * 2.0f), {.name = "again"});
  Saver saver(g, {.variables = {w}});
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  ASSERT_TRUE(saver.Restore(*session, path).ok());
  ASSERT_TRUE(session->Run({train}).ok());
  EXPECT_EQ(session->Run({w}).value()[0].data<float>()[0], -0.5f);
}

TEST(ImportMetaGraph, GradientsGoThroughImportedBranchesAndLoops) {
  std::string bytes;
  {
    Graph g;
    const Variable v(g, {}, Constant(2.0), {.name = "v"});
    const Output x = Placeholder(g, kFloat32, Shape(), "x");
    const Output looped = While(
        {Const(g, Tensor::Scalar(int32_t{0})), x}, [](const std::vector<Output>& now) { return Less(now[0], 3); },
        [&](const std::vector<Output>& now) {
          return std::vector<Output>{Add(now[0], 1), Mul(now[1], v.value())};
        })[1];
    const Output y = Cond(
        Greater(x, 1.0f), [&] { return std::vector<Output>{looped * looped}; },
        [&] { return std::vector<Output>{looped * v.value()}; })[0];
    Saver saver(g);
    saver.SetCollections({{"y", {y.name()}}});
    bytes = saver.ToMetaGraphDef().value();
  }
  Graph g;
  const auto imported = ImportMetaGraph(g, bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Output y = g.FindOutput(imported->collections.at("y")[0]).value(), x = g.FindOutput("x:0").value();
  const auto gradients = Gradients({y}, {x, imported->variables.at("variables")[0].handle()});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const auto slopes = [&](float at) {
    const auto values = session->Run({(*gradients)[0], (*gradients)[1]}, {{x, Tensor::Scalar(at)}});
    EXPECT_TRUE(values.ok()) << values.status();
    return std::pair((*values)[0].data<float>()[0], (*values)[1].data<float>()[0]);
  };
  EXPECT_EQ(slopes(3.0f), std::pair(2 * 3.0f * 64, 6 * 9.0f * 32));  // y is (x v³)²
  EXPECT_EQ(slopes(0.5f), std::pair(16.0f, 4 * 0.5f * 8));           // y is x v⁴
}

// The MetaGraph of "y": a loop within a branch of the conditional on "x". No gradient passes through the loop.
std::string FixedLoopInABranch() {
  Graph g;
  const Variable v(g, {}, Constant(3.0), {.name = "v"});
  const Output x = Placeholder(g, kFloat32, Shape(), "x");
  const Output y = Cond(
      Greater(x, 0.0f),
      [&] {
        const Output fixed = While(
            {Const(g, Tensor::Scalar(int32_t{0})), x}, [](const std::vector<Output>& now) { return Less(now[0], 2); },
            [](const std::vector<Output>& now) {
              return std::vector<Output>{Add(now[0], 1), Mul(now[1], 2.0f)};
            },
            {.back_prop = false})[1];
        return std::vector<Output>{fixed * x * v.value()};
      },
      [&] { return std::vector<Output>{x}; })[0];
  Saver saver(g);
  saver.SetCollections({{"y", {y.name()}}});
  return saver.ToMetaGraphDef().value();
}

TEST(ImportMetaGraph, NoGradientGoesThroughALoopThatWasBuiltWithoutOne) {
  const std::string bytes = FixedLoopInABranch();
  for (const std::string scope : {"", "copy"}) {
    Graph g;
    const auto imported = ImportMetaGraph(g, bytes, {.import_scope = scope});
    ASSERT_TRUE(imported.ok()) << imported.status();
    const Output y = g.FindOutput(imported->collections.at("y")[0]).value();
    const Output x = g.FindOutput(scope.empty() ? "x:0" : "copy/x:0").value();
    const auto gradients = Gradients({y}, {x});
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    auto session = Session::Create(g).value();
    ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
    const auto slope = session->Run({(*gradients)[0]}, {{x, Tensor::Scalar(5.0f)}});
    ASSERT_TRUE(slope.ok()) << slope.status();
    EXPECT_EQ((*slope)[0].scalar<float>(), 4 * 5.0f * 3) << "y is 4 x times v x, and the first factor is a constant";
  }
}

TEST(ImportMetaGraph, AScopeIsPutBeforeAllNames) {
  TempDir dir;
  const std::string path = SaveModel(dir);
  const std::string bytes = ReadFile(path + ".meta").value();
  Graph g;
  for (const std::string prefix : {"outer/copy/", "outer/copy_1/"}) {
    const auto outer = g.NameScope("outer/");
    const auto imported = ImportMetaGraph(g, bytes, {.import_scope = "copy"});
    ASSERT_TRUE(imported.ok()) << imported.status();
    EXPECT_EQ(imported->variables.at("trainable_variables").at(0).name(), prefix + "w");
    EXPECT_EQ(imported->collections.at("important"), (std::vector<std::string>{prefix + "loss:0", prefix + "train"}));
    EXPECT_EQ(imported->restore.name().substr(0, prefix.size()), prefix);
    EXPECT_EQ(NoOp(g, "later").name(), prefix == "outer/copy/" ? "outer/later" : "outer/later_1");
  }
  EXPECT_EQ(g.variables().size(), 6u);
  // The nodes of a copy refer to each other: the saver restores its variables, and a step trains them.
  const auto again = ImportMetaGraph(g, bytes, {.import_scope = "third"});
  ASSERT_TRUE(again.ok()) << again.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({again->restore}, {{again->filename, Tensor::Scalar(path)}}).ok());
  ASSERT_TRUE(session->Run({"third/train"}).ok());
  const auto value = session->Run({again->variables.at("trainable_variables").at(0)});
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ((*value)[0].data<float>()[0], 0.25f);
}

TEST(ImportMetaGraph, LoopsOfTwoCopiesAreTwoLoops) {
  const std::string bytes = FixedLoopInABranch();
  Graph g;
  std::vector<Output> ys;
  std::vector<Feed> feeds;
  for (const std::string scope : {"a", "b"}) {
    const auto imported = ImportMetaGraph(g, bytes, {.import_scope = scope});
    ASSERT_TRUE(imported.ok()) << imported.status();
    ys.push_back(g.FindOutput(imported->collections.at("y")[0]).value());
    feeds.emplace_back(g.FindOutput(scope + "/x:0").value(), Tensor::Scalar(scope == "a" ? 1.0f : 2.0f));
  }
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  const auto values = session->Run({ys[0], ys[1]}, feeds);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].scalar<float>(), 4 * 1.0f * 3);
  EXPECT_EQ((*values)[1].scalar<float>(), 4 * 4.0f * 3);
}

TEST(ImportMetaGraph, QueueRunnersComeBack) {
  std::string bytes;
  {
    Graph g;
    const Variable v(g, {}, Zeros(), {.name = "v"});
    const Output queue =
        NodeBuilder(g, "FIFOQueueV2").Name("queue").Attr("component_types", std::vector<DType>{kFloat32}).Output();
    const Operation enqueue = NodeBuilder(g, "QueueEnqueueV2")
                                  .Name("enqueue")
                                  .Input(queue)
                                  .InputList({Const(g, Tensor::Scalar(4.0f))})
                                  .Finish();
    const Operation close = NodeBuilder(g, "QueueCloseV2").Name("close").Input(queue).Finish();
    const Operation cancel =
        NodeBuilder(g, "QueueCloseV2").Name("cancel").Input(queue).Attr("cancel_pending_enqueues", true).Finish();
    NodeBuilder(g, "QueueDequeueV2")
        .Name("dequeue")
        .Input(queue)
        .Attr("component_types", std::vector<DType>{kFloat32})
        .Finish();
    Saver saver(g);
    saver.SetQueueRunners({{"queue_runners", {QueueRunner({enqueue}, close, cancel)}}});
    bytes = saver.ToMetaGraphDef().value();
  }
  Graph g;
  const auto imported = ImportMetaGraph(g, bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->queue_runners.at("queue_runners").size(), 1u);
  const QueueRunner& runner = imported->queue_runners.at("queue_runners")[0];
  EXPECT_EQ(runner.close_operation().name(), "close");
  EXPECT_EQ(runner.cancel_operation().name(), "cancel");
  auto session = Session::Create(g).value();
  Coordinator coordinator;
  ASSERT_TRUE(runner.Start(*session, coordinator).ok());
  const auto item = session->Run({g.FindOutput("dequeue:0").value()});
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ((*item)[0].data<float>()[0], 4.0f);
  coordinator.RequestStop();
  EXPECT_TRUE(coordinator.Join().ok());
}

TEST(ImportMetaGraph, ReferenceVariablesComeBackAndAreTrained) {
  std::string bytes;
  {
    Graph g;
    const Variable w(g, {2}, Ones(), {.name = "w", .reference = true});
    ReduceSum(w * w, Axes::All(), {.name = "loss"});
    bytes = Saver(g).ToMetaGraphDef().value();
  }
  Graph g;
  const auto imported = ImportMetaGraph(g, bytes);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Variable w = imported->variables.at("trainable_variables").at(0);
  EXPECT_TRUE(w.is_reference());
  const Operation train = MomentumOptimizer(0.25, 0.9).Minimize(g.FindOutput("loss:0").value());
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g)}).ok());
  ASSERT_TRUE(session->Run({train}).ok());
  EXPECT_EQ(session->Run({w}).value()[0].data<float>()[0], 0.5f);
}

TEST(ImportMetaGraph, OtherBytesAndMissingNodesAreRefused) {
  Graph g;
  EXPECT_TRUE(absl::IsInvalidArgument(ImportMetaGraph(g, "\xff\xff").status()));
  TempDir dir;
  const std::string bytes = ReadFile(SaveModel(dir) + ".meta").value();
  ASSERT_TRUE(ImportMetaGraph(g, bytes).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(ImportMetaGraph(g, bytes).status())) << "the names of the nodes are taken";
}

}  // namespace
}  // namespace tensorbraid
