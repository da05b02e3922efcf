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
