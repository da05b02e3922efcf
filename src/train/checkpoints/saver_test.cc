#include "tensorbraid/train/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "absl/strings/str_format.h"
#include "checkpoint/v1_checkpoint.h"
#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/checkpoints/meta_graph.pb.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;

// Two global variables and a local one, in a session.
struct SavedModel {
  explicit SavedModel(float first = 1) {
    a = Variable(g, {2}, Constant(first), {.name = "a"});
    b = Variable(g, {}, Constant(7), {.name = "b", .dtype = kInt64});
    local = Variable(g, {}, Zeros(), {.name = "mine", .local = true});
  }
  Status Start(const std::string& target = "") {
    const Operation init = GlobalVariablesInitializer(g);
    TF_ASSIGN_OR_RETURN(session, Session::Create(g, {.target = target}));
    return session->Run({init}).status();
  }
  float First() { return session->Run({a}).value()[0].data<float>()[0]; }

  Graph g;
  Variable a, b, local;
  std::unique_ptr<Session> session;
};

class SaverTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  TempDir dir_;
};

// Each thread has its own saver. All use one graph and one session, so the savers add their nodes while steps run.
TEST_F(SaverTest, ThreadsSaveAndRestoreWhileOthersBuildAndRun) {
  SavedModel m;
  ASSERT_TRUE(m.Start().ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const std::string folder = Path("thread" + std::to_string(i));
      for (int round = 0; round < 8; ++round) {
        if (i % 2 == 0) {
          Saver saver(m.g);
          const auto path = saver.Save(*m.session, folder + "/model", {.global_step = round});
          ASSERT_TRUE(path.ok()) << path.status();
          EXPECT_EQ(LatestCheckpoint(folder).value(), *path);
          const Status restored = saver.Restore(*m.session, *path);
          EXPECT_TRUE(restored.ok()) << restored;
        } else {
          const auto sum = m.session->Run({ReduceSum(m.a * static_cast<float>(round))});
          ASSERT_TRUE(sum.ok()) << sum.status();
          EXPECT_EQ((*sum)[0].scalar<float>(), 2.0f * static_cast<float>(round));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(m.g.status().ok()) << m.g.status();
}

// The position of an iterator over 0, 1, 2, ..., which is no variable.
struct SavedNumbers {
  explicit SavedNumbers(Graph& g)
      : iterator(data::Iterator::Initializable(data::Dataset::Range(g, int64_t{0}, int64_t{10}))),
        next(iterator.GetNext()[0]) {}
  SavedState State() const {
    Graph& g = *next.graph();
    const Output resource = NodeOf(next)->inputs()[0];
    return {.values = {{.value = NodeBuilder(g, "SerializeIterator").Input(resource).Output(), .name = "numbers"}},
            .restore = [&g, resource](const std::vector<Output>& restored) {
              return NodeBuilder(g, "DeserializeIterator").Input(resource).Input(restored.at(0)).Finish();
            }};
  }
  int64_t Next(Session& session) const { return session.Run({next}).value()[0].scalar<int64_t>(); }

  data::Iterator iterator;
  Output next;
};

TEST_F(SaverTest, StatesAreSavedAndRestoredBesideVariables) {
  for (const bool sharded : {false, true}) {
    SavedModel m;
    const SavedNumbers numbers(m.g);
    Saver saver(m.g, {.variables = {m.a, m.b}, .states = {numbers.State()}, .sharded = sharded});
    ASSERT_TRUE(m.Start().ok());
    ASSERT_TRUE(m.session->Run({numbers.iterator.initializer()}).ok());
    EXPECT_EQ(numbers.Next(*m.session), 0);
    EXPECT_EQ(numbers.Next(*m.session), 1);
    const auto path = saver.Save(*m.session, Path("both"));
    ASSERT_TRUE(path.ok()) << path.status();
    EXPECT_EQ(numbers.Next(*m.session), 2);
    ASSERT_TRUE(m.session->Run({m.a.AssignAdd(Const(m.g, Tensor::Vector<float>({4, 4})))}).ok());
    const Status restored = saver.Restore(*m.session, *path);
    ASSERT_TRUE(restored.ok()) << restored;
    EXPECT_EQ(numbers.Next(*m.session), 2);
    EXPECT_EQ(m.First(), 1);
  }
}

TEST_F(SaverTest, AStateNeedsNoVariable) {
  SavedModel m;
  const SavedNumbers numbers(m.g);
  Saver saver(m.g, {.states = {numbers.State()}});
  ASSERT_TRUE(m.Start().ok());
  ASSERT_TRUE(m.session->Run({numbers.iterator.initializer()}).ok());
  numbers.Next(*m.session);
  const auto path = saver.Save(*m.session, Path("state"));
  ASSERT_TRUE(path.ok()) << path.status();
  const auto tensors = CheckpointReader::Open(*path).value()->tensors();
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].name, "numbers");
  ASSERT_TRUE(m.session->Run({numbers.iterator.initializer()}).ok());
  ASSERT_TRUE(saver.Restore(*m.session, *path).ok());
  EXPECT_EQ(numbers.Next(*m.session), 1);
}

TEST_F(SaverTest, AStateWithTheNameOfAVariableIsAMistake) {
  SavedModel m;
  SavedState state = SavedNumbers(m.g).State();
  state.values[0].name = "a";
  Saver saver(m.g, {.variables = {m.a}, .states = {state}});
  EXPECT_NE(m.g.status().message().find("two values would be saved as 'a'"), absl::string_view::npos) << m.g.status();
}

TEST_F(SaverTest, AnotherProgramRestoresWhatWasSaved) {
  SavedModel m;
  Saver saver(m.g);
  ASSERT_TRUE(m.Start().ok());
  const auto path = saver.Save(*m.session, Path("new/dir/model"), {.global_step = 20});
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(*path, Path("new/dir/model-20"));
  EXPECT_EQ(LatestCheckpoint(Path("new/dir")).value(), *path);
  auto reader = CheckpointReader::Open(*path).value();
  ASSERT_EQ(reader->tensors().size(), 2u) << "the local variable must not be saved";
  EXPECT_EQ(reader->GetTensor("b")->scalar<int64_t>(), 7);

  SavedModel other(/*first=*/3);
  Saver restorer(other.g);
  ASSERT_TRUE(other.Start().ok());
  ASSERT_TRUE(restorer.Restore(*other.session, *path).ok());
  EXPECT_EQ(other.First(), 1.0f);
}

TEST_F(SaverTest, FailsOnceTheGraphIsDestroyed) {
  SavedModel m;
  Saver saver(m.g);
  ASSERT_TRUE(m.Start().ok());
  const std::string path = saver.Save(*m.session, Path("model")).value();
  m.g = Graph();
  for (const Status& s :
       {saver.Save(*m.session, path).status(), saver.Restore(*m.session, path), saver.ToMetaGraphDef().status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(s)) << s;
    EXPECT_THAT(std::string(s.message()), testing::ContainsRegex("Saver \\(saver_test.cc:[0-9]+\\): the Graph has been "
                                                                 "destroyed"));
  }
}

TEST_F(SaverTest, KeepsAtMostMaxToKeepCheckpoints) {
  SavedModel m;
  Saver saver(m.g, {.max_to_keep = 2});
  ASSERT_TRUE(m.Start().ok());
  for (int step : {1, 2, 3}) ASSERT_TRUE(saver.Save(*m.session, Path("model"), {.global_step = step}).ok());
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre(Path("model-2"), Path("model-3")));
  EXPECT_FALSE(CheckpointExists(Path("model-1")));
  EXPECT_FALSE(std::filesystem::exists(Path("model-1.meta")));
  EXPECT_TRUE(CheckpointExists(Path("model-2")));
  EXPECT_THAT(GetCheckpointState(dir_.path())->all_model_checkpoint_paths,
              ElementsAre(Path("model-2"), Path("model-3")));
  // A later process manages the same checkpoints.
  Saver later(m.g, {.max_to_keep = 2, .name = "later"});
  later.RecoverLastCheckpoints({Path("model-1"), Path("model-2"), Path("model-3")});
  ASSERT_TRUE(later.Save(*m.session, Path("model"), {.global_step = 4}).ok());
  EXPECT_FALSE(CheckpointExists(Path("model-2")));
  EXPECT_TRUE(CheckpointExists(Path("model-3")));
}

TEST_F(SaverTest, AProcessThatWasStoppedDoesNotReplaceALaterCheckpointOfItsSuccessor) {
  // `first` stands for the saver of a process that was stopped after step 10, and `second` for that of its successor.
  // Both save the same session.
  SavedModel m;
  Saver first(m.g, {.name = "first"});
  Saver second(m.g, {.name = "second"});
  ASSERT_TRUE(m.Start().ok());
  const auto save = [&](Saver& saver, int64_t step) {
    return saver.Save(*m.session, Path("model"), {.global_step = step, .keep_later_step = true}).status();
  };
  ASSERT_EQ(save(first, 10), OkStatus());
  second.RecoverLastCheckpoints({Path("model-10")});
  ASSERT_EQ(save(second, 20), OkStatus());
  const Status stale = save(first, 15);
  EXPECT_EQ(stale.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(stale.message()), ::testing::HasSubstr(Path("model-20")));
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), Path("model-20"));
  // A saver's own later checkpoint does not prevent the save, because restored training repeats steps.
  EXPECT_EQ(save(second, 18), OkStatus());
  EXPECT_EQ(LatestCheckpoint(dir_.path()).value(), Path("model-18"));
}

TEST_F(SaverTest, KeepsSomeCheckpointsForever) {
  SavedModel m;
  Saver saver(m.g, {.max_to_keep = 1, .keep_checkpoint_every = std::chrono::hours(0)});
  ASSERT_TRUE(m.Start().ok());
  for (int step : {1, 2}) ASSERT_TRUE(saver.Save(*m.session, Path("model"), {.global_step = step}).ok());
  EXPECT_TRUE(CheckpointExists(Path("model-1")));
  EXPECT_THAT(saver.last_checkpoints(), ElementsAre(Path("model-2")));
}

TEST_F(SaverTest, PartsOfALargerVariableAreSavedAsOneTensor) {
  Graph g;
  const Variable top(g, {1, 2}, Constant(1), {.name = "top"});
  const Variable bottom(g, {2, 2}, Constant(2), {.name = "bottom"});
  Saver saver(g, {.variables = {{top, "whole", "3 2 0,1:-"}, {bottom, "whole", "3 2 1,2:-"}}});
  const Operation init = GlobalVariablesInitializer(g);
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const auto path = saver.Save(*session, Path("model"));
  ASSERT_TRUE(path.ok()) << path.status();
  const Tensor whole = CheckpointReader::Open(*path).value()->GetTensor("whole").value();
  EXPECT_EQ(whole.shape(), Shape({3, 2}));
  EXPECT_EQ(whole.data<float>()[1], 1.0f);
  EXPECT_EQ(whole.data<float>()[2], 2.0f);
  EXPECT_TRUE(saver.Restore(*session, *path).ok());
}

TEST_F(SaverTest, EachTaskSavesItsOwnVariables) {
  TestCluster cluster(2, 1);
  Graph g;
  std::vector<Variable> variables;
  for (int i = 0; i < 3; ++i) {
    auto device = g.Device(StrCat("/job:ps/task:", i % 2));
    variables.emplace_back(g, Shape({2}), Constant(i), VariableOptions{.name = StrCat("v", i)});
  }
  Saver saver(g, {.sharded = true});
  const Operation init = GlobalVariablesInitializer(g);
  const Operation forget = Group(
      g, {variables[0].Assign(Zeros()(g, {2}, kFloat32)), variables[1].Assign(Zeros()(g, {2}, kFloat32))}, "forget");
  auto session = Session::Create(g, {.target = cluster.worker_target()});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({init}).ok());
  const auto path = saver.Save(**session, Path("model"), {.global_step = 5});
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_TRUE(std::filesystem::exists(*path + ".data-00001-of-00002"));
  EXPECT_EQ(CheckpointReader::Open(*path).value()->tensors().size(), 3u);
  ASSERT_TRUE((*session)->Run({forget}).ok());
  ASSERT_TRUE(saver.Restore(**session, *path).ok());
  EXPECT_EQ((*session)->Run({variables[1]}).value()[0].data<float>()[1], 1.0f);
  for (const auto& f : std::filesystem::directory_iterator(dir_.path())) {
    EXPECT_EQ(f.path().string().find("_temp_"), std::string::npos) << f.path();
  }
}

TEST_F(SaverTest, IsShardedByDefaultIfVariablesArePlacedOnTasks) {
  const auto is_sharded = [](const std::string& device, SaverOptions options) {
    Graph g;
    auto scope = g.Device(device);
    const Variable v(g, {}, Zeros(), {.name = "v"});
    const Saver saver(g, std::move(options));
    return g.FindOperation("save/MergeV2Checkpoints").ok();
  };
  EXPECT_FALSE(is_sharded("", {}));
  EXPECT_FALSE(is_sharded("/device:CPU:0", {}));
  EXPECT_TRUE(is_sharded("/job:ps/task:1", {}));
  EXPECT_FALSE(is_sharded("/job:ps/task:1", {.sharded = false}));
  EXPECT_TRUE(is_sharded("", {.sharded = true}));
}

// A table of 7 rows in `parts` parts on `ps` parameter servers, and another variable.
struct Sharded {
  Sharded(int ps, int64_t parts) : cluster(ps, 1) {
    const Tensor rows = Tensor::Of<float>({7, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    auto device = g.Device(ReplicaDeviceSetter({.ps_tasks = ps, .worker_device = "/job:worker/task:0"}));
    const PartitionedVariable table(g, rows, FixedSizePartitioner(parts), {.name = "table"});
    const Variable single(g, {2}, Constant(5), {.name = "single"});
    whole = table.AsTensor();
    all = {whole, single};
    std::vector<Operation> cleared = {single.Assign(Zeros(g, {2}))};
    for (const Variable& part : table.parts()) cleared.push_back(part.Assign(Zeros(g, part.shape())));
    clear = Group(g, cleared);
    saver = std::make_unique<Saver>(g);
    const Operation init = GlobalVariablesInitializer(g);
    session = Session::Create(g, {.target = cluster.worker_target()}).value();
    EXPECT_TRUE(session->Run({init}).ok());
  }
  TestCluster cluster;
  Graph g;
  Output whole;
  std::vector<Fetch> all;
  Operation clear;
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;
};

TEST_F(SaverTest, RestoresIntoOtherNumbersOfServersAndParts) {
  std::string want;
  for (const auto& [ps, parts] : {std::pair{3, 4}, {1, 1}, {2, 7}}) {
    Sharded from(ps, parts);
    const auto path = from.saver->Save(*from.session, Path(StrCat("model", ps)));
    ASSERT_TRUE(path.ok()) << path.status();
    for (int i = 0; i < ps; ++i) {
      EXPECT_TRUE(std::filesystem::exists(absl::StrFormat("%s.data-%05d-of-%05d", *path, i, ps)));
    }
    want = from.session->Run({from.whole}).value()[0].ToString(100);
    for (const auto& [other_ps, other_parts] : {std::pair{2, 3}, {1, 1}, {3, 5}}) {
      Sharded to(other_ps, other_parts);
      ASSERT_TRUE(to.session->Run({to.clear}).ok());
      const Status restored = to.saver->Restore(*to.session, *path);
      ASSERT_TRUE(restored.ok()) << restored;
      const auto got = to.session->Run(to.all).value();
      EXPECT_EQ(got[0].ToString(100), want) << ps << ", " << parts << " to " << other_ps << ", " << other_parts;
      EXPECT_EQ(got[1].data<float>()[1], 5.0f);
    }
  }
}

TEST_F(SaverTest, ReportsErrors) {
  Graph empty;
  Saver nothing(empty);
  EXPECT_TRUE(absl::IsInvalidArgument(empty.status()));
  Graph twice;
  const Variable v(twice, {}, Zeros(), {.name = "v"});
  Saver same(twice, {.variables = {{v, "x"}, {v, "x"}}});
  EXPECT_TRUE(absl::IsInvalidArgument(twice.status()));

  SavedModel m;
  Saver saver(m.g);
  ASSERT_TRUE(m.Start().ok());
  EXPECT_TRUE(absl::IsNotFound(saver.Restore(*m.session, Path("none"))));
  EXPECT_TRUE(absl::IsInvalidArgument(saver.Save(*m.session, "").status()));
  dir_.Write("file", "");
  EXPECT_FALSE(saver.Save(*m.session, Path("file/model")).ok());
  EXPECT_EQ(m.First(), 1.0f) << "the session must still be usable";
  const auto path = saver.Save(*m.session, Path("model")).value();
  Graph g;
  const Variable a(g, {3}, Zeros(), {.name = "a"});
  Saver other(g);
  const Operation init = GlobalVariablesInitializer(g);
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({init}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(other.Restore(*session, path)));  // the shape differs
}

// A program with one variable "w", which has no value until `init` runs or `saver` restores it.
struct SavedVariable {
  SavedVariable(const Shape& shape, DType dtype) : w(g, shape, Ones(), {.name = "w", .dtype = dtype}), saver(g) {
    init = GlobalVariablesInitializer(g);
    session = Session::Create(g).value();
  }
  Graph g;
  Variable w;
  Saver saver;
  Operation init;
  std::unique_ptr<Session> session;
};

TEST_F(SaverTest, ATensorOfAnotherShapeOrDtypeIsNotRestored) {
  const auto save = [&](const Shape& shape, DType dtype) {
    SavedVariable program(shape, dtype);
    EXPECT_TRUE(program.session->Run({program.init}).ok());
    return program.saver.Save(*program.session, Path("model")).value();
  };
  const auto expect_refused = [&](const std::string& path, const Shape& shape, DType dtype,
                                  const std::vector<std::string>& parts) {
    SavedVariable program(shape, dtype);
    const Status status = program.saver.Restore(*program.session, path);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    for (const std::string& part : parts) EXPECT_NE(status.message().find(part), absl::string_view::npos) << status;
    EXPECT_FALSE(program.session->Run({program.w.is_initialized()}).value()[0].scalar<bool>());
  };
  const std::string matrix = save({4, 16}, kFloat32);
  expect_refused(matrix, {4, 32}, kFloat32, {"'w'", "saver_test.cc:", "float32[4,32]", "float32[4,16]"});
  expect_refused(matrix, {}, kFloat32, {"float32[]", "float32[4,16]"});
  expect_refused(matrix, {4, 16}, kInt32, {"'w'", "int32[4,16]", "float32[4,16]"});
  const std::string scalar = save({}, kFloat32);
  expect_refused(scalar, {1}, kFloat32, {"float32[1]", "float32[]"});
  SavedVariable same({}, kFloat32);
  EXPECT_TRUE(same.saver.Restore(*same.session, scalar).ok());
}

TEST_F(SaverTest, TheRestoringOperationItselfRefusesAnotherShape) {
  SavedVariable from({4, 16}, kFloat32), to({4, 32}, kFloat32);
  ASSERT_TRUE(from.session->Run({from.init}).ok());
  const std::string path = from.saver.Save(*from.session, Path("model")).value();
  const Status status = to.session->Run({to.saver.restore()}, {{to.saver.filename(), Tensor::Scalar(path)}}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

TEST_F(SaverTest, ReshapeRestoresATensorOfAnotherShapeWithAsManyElements) {
  SavedVariable from({4, 16}, kFloat32), to({64}, kFloat32), larger({65}, kFloat32);
  ASSERT_TRUE(from.session->Run({from.init}).ok());
  const std::string path = from.saver.Save(*from.session, Path("model")).value();
  Saver reshaping(to.g, {.reshape = true, .name = "reshaping"});
  const Status restored = reshaping.Restore(*to.session, path);
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(to.session->Run({to.w}).value()[0].shape(), Shape({64}));
  Saver refusing(larger.g, {.reshape = true, .name = "reshaping"});
  const Status refused = refusing.Restore(*larger.session, path);
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
}

TEST_F(SaverTest, ACheckpointOfVersionOneIsRestored) {
  const std::string path = Path("vgg_16.ckpt");
  V1Writer writer(path);
  ASSERT_TRUE(writer.Add("w", {2}, TensorSlice(1), Tensor::Vector(std::vector<float>{3, 4})).ok());
  ASSERT_TRUE(writer.Finish().ok());
  SavedVariable program({2}, kFloat32);
  const Status restored = program.saver.Restore(*program.session, path);
  ASSERT_TRUE(restored.ok()) << restored;
  EXPECT_EQ(program.session->Run({program.w}).value()[0].data<float>()[1], 4.0f);
  SavedVariable other({3}, kFloat32);
  EXPECT_TRUE(absl::IsInvalidArgument(other.saver.Restore(*other.session, path)));
}

TEST_F(SaverTest, TheMetaGraphNamesTheSaversNodes) {
  SavedModel m;
  Saver saver(m.g, {.max_to_keep = 3, .sharded = false});
  proto::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(saver.ToMetaGraphDef().value()));
  EXPECT_EQ(meta.saver_def().filename_tensor_name(), "save/Const:0");
  EXPECT_EQ(meta.saver_def().save_tensor_name(), "save/control_dependency:0");
  EXPECT_EQ(meta.saver_def().restore_op_name(), "save/restore_all");
  EXPECT_EQ(meta.saver_def().max_to_keep(), 3);
  EXPECT_EQ(meta.collection_def().at("variables").bytes_list().value_size(), 2);
  Graph imported;
  EXPECT_TRUE(imported.ImportGraphDef(meta.graph_def()).ok());
  EXPECT_TRUE(imported.FindOperation("save/restore_all").ok());
}

TEST_F(SaverTest, AnErrorNamesTheVariableThatIsMadeAfterTheSaver) {
  SavedModel m;
  Saver saver(m.g);
  Saver chosen(m.g, {.variables = {m.a}, .name = "chosen"});
  const Variable later(m.g, {}, Zeros(), {.name = "later"});
  ASSERT_TRUE(m.Start().ok());
  for (const Status& status :
       {saver.Save(*m.session, Path("model")).status(), saver.Restore(*m.session, Path("model"))}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("before the variables 'later' (saver_test.cc:"));
  }
  EXPECT_TRUE(chosen.Save(*m.session, Path("chosen")).ok());
}

TEST_F(SaverTest, AnErrorListsAllVariablesThatTheCheckpointLacks) {
  SavedModel m;
  Saver some(m.g, {.variables = {m.a}});
  ASSERT_TRUE(m.Start().ok());
  ASSERT_TRUE(some.Save(*m.session, Path("some")).ok());
  SavedModel n;
  const Variable c(n.g, {}, Ones(), {.name = "c"});
  Saver all(n.g);
  ASSERT_TRUE(n.Start().ok());
  const Status status = all.Restore(*n.session, Path("some"));
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("lacks 2 of 3 variables: b, c"));
}

TEST_F(SaverTest, AWarmStartRestoresWhatTheCheckpointHas) {
  {
    SavedModel m(/*first=*/5);
    Saver some(m.g, {.variables = {m.a}});
    ASSERT_TRUE(m.Start().ok());
    ASSERT_TRUE(some.Save(*m.session, Path("some")).ok());
  }
  SavedModel n(/*first=*/1);
  const auto coverage = CoverageOf(Path("some"), n.g);
  ASSERT_TRUE(coverage.ok()) << coverage.status();
  EXPECT_EQ(coverage->restorable.size(), 1u);
  EXPECT_THAT(coverage->missing, ElementsAre("b"));
  auto session = MonitoredTrainingSession(n.g, {.warm_start_from = Path("some")});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto values = (*session)->Run({n.a, n.b}).value();
  EXPECT_EQ(values[0].data<float>()[0], 5);
  EXPECT_EQ(values[1].scalar<int64_t>(), 7);
  Graph other;
  const Variable x(other, {}, Ones(), {.name = "x"});
  EXPECT_TRUE(absl::IsInvalidArgument(MonitoredTrainingSession(other, {.warm_start_from = Path("some")}).status()));
}

}  // namespace
}  // namespace tensorbraid
