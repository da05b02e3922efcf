// Tests saves while files fail in every way and at every operation. The last good checkpoint must stay whole and be
// found, and training must continue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>

#include "cluster/testing/test_cluster.h"
#include "core/memory/allocator.h"
#include "core/threads/thread.h"
#include "io/file.h"
#include "tensorbraid/tensorbraid.h"
#include "train/checkpoints/checkpoint_saver.h"
#include "train/checkpoints/fault_cases_testutil.h"

namespace tensorbraid {
namespace {

using Fault = FaultyFiles::Fault;
using UnsyncedNames = FaultyFiles::UnsyncedNames;
using ::testing::HasSubstr;

// Two variables on two parameter servers. All elements of the two variables have the same value.
struct Program {
  Program(const TestCluster& cluster, bool sharded) {
    given = Placeholder(g, kFloat32, {});
    std::vector<Operation> set;
    for (int i = 0; i < 2; ++i) {
      auto device = g.Device(StrCat("/job:ps/task:", i));
      // The first variable is larger than the buffer of a file.
      const Shape shape{i == 0 ? 70'000 : 3};
      const Variable v(g, shape, Zeros(), {.name = StrCat("v", i)});
      set.push_back(v.Assign(Fill(g, shape, given)));
      values.emplace_back(v);
    }
    assign = Group(g, set);
    saver = std::make_unique<Saver>(g, SaverOptions{.max_to_keep = 2, .sharded = sharded});
    session = Session::Create(g, {.target = cluster.worker_target()}).value();
    Set(0);
  }
  void Set(float value) { ASSERT_TRUE(session->Run({assign}, {{given, Tensor::Scalar(value)}}).ok()); }
  // The value of all elements; -1 if they differ.
  float Get() {
    const auto tensors = session->Run(values).value();
    const float first = tensors[0].data<float>()[0];
    for (const Tensor& t : tensors) {
      for (const float x : t.data<float>()) {
        if (x != first) return -1;
      }
    }
    return first;
  }

  Graph g;
  Output given;
  std::vector<Fetch> values;
  Operation assign;
  std::unique_ptr<Saver> saver;
  std::unique_ptr<Session> session;
};

class SaverFaultTest : public testing::Test {
 protected:
  // Restores the latest checkpoint of the directory in another program. Returns the restored value, or -1 if there is
  // none. This program saves nothing. It is made once, which saves time.
  float Restored(bool sharded) {
    std::unique_ptr<Program>& other = others_[sharded ? 1 : 0];
    if (other == nullptr) other = std::make_unique<Program>(cluster_, sharded);
    other->Set(0);
    const auto restored = RestoreLatest(*other->saver, *other->session, dir_);
    EXPECT_TRUE(restored.ok()) << restored.status();
    return restored.value_or(false) ? other->Get() : -1;
  }
  // Expects that every tensor of the latest checkpoint can be read.
  void ExpectLatestIsWhole() {
    const auto latest = LatestCheckpoint(dir_);
    ASSERT_TRUE(latest.ok()) << latest.status();
    const auto reader = CheckpointReader::Open(*latest);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->tensors().size(), 2u);
    for (const auto& t : (*reader)->tensors()) EXPECT_TRUE((*reader)->GetTensor(t.name).ok()) << t.name;
  }
  // Expects that the directory has no files but those of checkpoints.
  void ExpectNoLeftovers() {
    for (const std::string& file : files_.Files()) {
      if (!file.starts_with(dir_ + "/") || file == dir_ + "/checkpoint") continue;
      const std::string prefix = file.substr(0, file.find('.', dir_.size()));
      EXPECT_TRUE(CheckpointExists(prefix)) << file;
      EXPECT_EQ(file.find("temp"), std::string::npos) << file;
    }
  }

  FaultyFiles files_;
  ScopedEnv env_{&files_};
  TestCluster cluster_{2, 1};
  std::string dir_;
  std::unique_ptr<Program> others_[2];  // not sharded and sharded
};

// The parameters are the fault, whether the save is sharded, and whether it replaces a checkpoint with the same prefix.
class EveryFaultTest : public SaverFaultTest, public testing::WithParamInterface<FaultParam> {
 protected:
  const FaultCase& fault() const { return std::get<0>(GetParam()); }
  bool sharded() const { return std::get<1>(GetParam()); }
  SaveOptions Step(int64_t step) const {
    return std::get<2>(GetParam()) ? SaveOptions() : SaveOptions{.global_step = step};
  }

  // Saves the values 1, 2 and 3, the last one with the fault at operation `n`. Returns whether that save had at least
  // `n` operations.
  bool SaveWithFaultAt(int n) {
    Program program(cluster_, sharded());
    const auto save = [&](int value) {
      program.Set(static_cast<float>(value));
      return program.saver->Save(*program.session, dir_ + "/model", Step(value));
    };
    EXPECT_TRUE(save(1).ok());
    EXPECT_TRUE(save(2).ok());
    if (fault().power_loss) {
      // Syncs the directory that has the name of dir_, so that a loss of power can only affect what is in dir_.
      EXPECT_TRUE(files_.SyncDirectory("/").ok());
    }
    files_.FailAt(fault().fault, n);
    const auto saved = save(3);
    const bool fired = files_.fired();
    files_.Repair();
    if (fault().power_loss && fired) files_.LosePower(*fault().power_loss);
    EXPECT_EQ(program.Get(), 3);
    if (!saved.ok()) {
      EXPECT_THAT(std::string(saved.status().message()), HasSubstr(dir_));
    }

    const float restored = Restored(sharded());
    if (!fired) {
      EXPECT_TRUE(saved.ok()) << saved.status();
      EXPECT_EQ(restored, 3);
    } else if (fault().fault != Fault::kFlippedBit) {
      EXPECT_TRUE(restored == 3 || (restored == 2 && !saved.ok())) << restored << " after " << saved.status();
      ExpectLatestIsWhole();
    } else {
      EXPECT_TRUE(restored == 3 || restored == 2) << restored;
    }
    if (fired && !saved.ok() && (fault().fault == Fault::kIoError || fault().fault == Fault::kNoSpace)) {
      ExpectNoLeftovers();
    }

    // A later save must succeed. The same program makes it or, if the fault has killed the program, a new one.
    if (fault().fault != Fault::kKilled) {
      EXPECT_TRUE(save(4).ok());
    } else {
      Program next(cluster_, sharded());
      next.Set(4);
      EXPECT_TRUE(next.saver->Save(*next.session, dir_ + "/model", Step(4)).ok());
    }
    EXPECT_EQ(Restored(sharded()), 4);
    ExpectLatestIsWhole();
    return fired;
  }
};

TEST_P(EveryFaultTest, LeavesAGoodCheckpointThatIsFound) {
  // A save has at least 16 operations: it creates, appends to, syncs and renames each of four files, which are the
  // data, the index, the graph and `checkpoint`.
  ForEachChange(16, &dir_, [this](int n) { return SaveWithFaultAt(n); });
}

std::string NameOf(const testing::TestParamInfo<FaultParam>& info) {
  return FaultName(info.param, "Sharded", "Whole", "SamePrefix");
}

INSTANTIATE_TEST_SUITE_P(Errors, EveryFaultTest,
                         testing::Combine(testing::ValuesIn(kFileErrors), testing::Bool(), testing::Bool()), NameOf);
INSTANTIATE_TEST_SUITE_P(Ends, EveryFaultTest,
                         testing::Combine(testing::ValuesIn(kProcessEnds), testing::Bool(), testing::Bool()), NameOf);
// These saves do not replace a checkpoint with the same prefix, because an older checkpoint must exist in case the new
// one is damaged.
INSTANTIATE_TEST_SUITE_P(Damage, EveryFaultTest,
                         testing::Combine(testing::Values(FaultCase{"FlippedBit", Fault::kFlippedBit}), testing::Bool(),
                                          testing::Values(false)),
                         NameOf);

TEST_F(SaverFaultTest, AFlippedBitInAnyFileIsNoticedAndTheEarlierCheckpointIsUsed) {
  dir_ = "/logs";
  Program program(cluster_, /*sharded=*/true);
  for (const float value : {1, 2}) {
    program.Set(value);
    ASSERT_TRUE(
        program.saver->Save(*program.session, "/logs/model", {.global_step = static_cast<int64_t>(value)}).ok());
  }
  Program later(cluster_, /*sharded=*/true);
  int noticed = 0;
  for (const std::string& file : files_.Files()) {
    if (file.ends_with(".meta")) continue;  // restoring does not read it
    const size_t size = files_.SizeOf(file);
    // Tries each byte of a small file, and some bytes of a large one.
    for (size_t byte = 0; byte<size; byte += size> 1000 ? 9973 : 1) {
      SCOPED_TRACE(StrCat("byte ", byte, " of ", file));
      files_.FlipBit(file, byte);
      later.Set(0);
      const auto restored = RestoreLatest(*later.saver, *later.session, dir_);
      ASSERT_TRUE(restored.ok()) << restored.status();
      const float value = later.Get();
      ASSERT_TRUE(value == 1 || value == 2) << value;
      noticed += value == 1 ? 1 : 0;  // the earlier checkpoint was used
      files_.FlipBit(file, byte);
    }
  }
  EXPECT_GT(noticed, 100);
  EXPECT_EQ(Restored(/*sharded=*/true), 2);
}

TEST_F(SaverFaultTest, ANewDirectoryIsOnTheDiskOnceASaveHasReturned) {
  for (const bool sharded : {false, true}) {
    dir_ = sharded ? "/sharded/of/one/run" : "/whole/of/one/run";
    {
      Program program(cluster_, sharded);
      program.Set(7);
      ASSERT_TRUE(program.saver->Save(*program.session, dir_ + "/model", {.global_step = 1}).ok());
    }
    files_.LosePower(UnsyncedNames::kLost);
    EXPECT_EQ(Restored(sharded), 7);
  }
}

TEST_F(SaverFaultTest, ACheckpointThatLacksADataFileIsSkipped) {
  dir_ = "/logs";
  Program program(cluster_, /*sharded=*/true);
  for (const float value : {1, 2}) {
    program.Set(value);
    ASSERT_TRUE(
        program.saver->Save(*program.session, "/logs/model", {.global_step = static_cast<int64_t>(value)}).ok());
  }
  ASSERT_TRUE(files_.RemoveFile("/logs/model-2.data-00001-of-00002").ok());
  EXPECT_EQ(Restored(/*sharded=*/true), 1);
}

// A process is stopped while it saves step 15, once at each change of a file. Meanwhile its successor saves step 20.
class StoppedSaveTest : public SaverFaultTest {
 protected:
  StatusOr<std::string> Save(Program& program, int64_t step, bool keep_later_step = true) {
    return program.saver->Save(*program.session, dir_ + "/model",
                               {.global_step = step, .keep_later_step = keep_later_step});
  }
  // Calls `check` with the result of the stopped save.
  void StopAtEachChange(bool keep_later_step, const std::function<void(const Status&)>& check) {
    dir_ = "/logs";
    Program stopped(cluster_, /*sharded=*/false), next(cluster_, /*sharded=*/false);
    ASSERT_TRUE(Save(stopped, 10).ok());
    const int before = files_.changes();
    ASSERT_TRUE(Save(stopped, 15, keep_later_step).ok());
    const int changes = files_.changes() - before;
    for (int n = 1; n <= changes; ++n) {
      SCOPED_TRACE(StrCat("stopped at change ", n));
      dir_ = StrCat("/logs-", n);
      ASSERT_TRUE(Save(stopped, 10).ok());
      next.saver->RecoverLastCheckpoints({dir_ + "/model-10"});
      files_.FailAt(Fault::kBlocked, n);
      Status woken;
      Thread thread("stopped", [&] { woken = Save(stopped, 15, keep_later_step).status(); });
      files_.WaitUntilFired();
      const auto later = Save(next, 20);
      files_.Repair();
      thread.Join();
      ASSERT_TRUE(later.ok()) << later.status();
      check(woken);
      ExpectLatestIsWhole();
      if (HasFailure()) return;
    }
  }
};

TEST_F(StoppedSaveTest, DoesNotReplaceALaterCheckpoint) {
  int kept_from_saving = 0;
  StopAtEachChange(/*keep_later_step=*/true, [&](const Status& woken) {
    EXPECT_EQ(LatestCheckpoint(dir_).value(), dir_ + "/model-20");
    if (absl::IsAborted(woken)) ++kept_from_saving;
    EXPECT_TRUE(woken.ok() || absl::IsAborted(woken)) << woken;
  });
  EXPECT_GT(kept_from_saving, 5);
}

TEST_F(StoppedSaveTest, SucceedsWithoutKeepLaterStep) {
  StopAtEachChange(/*keep_later_step=*/false, [](const Status& woken) { EXPECT_TRUE(woken.ok()) << woken; });
}

class LeftoversTest : public SaverFaultTest, public testing::WithParamInterface<bool> {};

TEST_P(LeftoversTest, OfAKilledSaveAreRemovedByALaterSave) {
  const bool sharded = GetParam();
  bool fired = true;
  int with_leftovers = 0;
  for (int n = 1; fired; ++n) {
    SCOPED_TRACE(StrCat("killed at change ", n));
    dir_ = StrCat("/logs-", n);
    const auto save = [&](Program& program, int64_t step) {
      return program.saver->Save(*program.session, dir_ + "/model", {.global_step = step});
    };
    {
      Program killed(cluster_, sharded);
      ASSERT_TRUE(save(killed, 1).ok());
      files_.FailAt(Fault::kKilled, n);
      save(killed, 2).IgnoreError();
      fired = files_.fired();
      files_.Repair();
    }
    const auto left = [&] {
      std::vector<std::string> temporary;
      for (const std::string& file : files_.Files()) {
        if (file.starts_with(dir_ + "/") && file.find("temp") != std::string::npos) temporary.push_back(file);
      }
      return temporary;
    };
    const auto before = left();
    with_leftovers += before.empty() ? 0 : 1;

    Program next(cluster_, sharded);
    ASSERT_TRUE(save(next, 3).ok());
    EXPECT_EQ(left(), before) << "recent files must stay, because their save might still be running";
    files_.AdvanceWallClock(std::chrono::hours(2));
    ASSERT_TRUE(save(next, 4).ok());
    EXPECT_THAT(left(), testing::IsEmpty());
    EXPECT_EQ(Restored(sharded), 0);  // the value of every program in this test
    for (const int step : {1, 3, 4}) EXPECT_TRUE(CheckpointExists(StrCat(dir_, "/model-", step))) << step;
    if (HasFailure()) return;
  }
  EXPECT_GT(with_leftovers, 5);
}

INSTANTIATE_TEST_SUITE_P(Saves, LeftoversTest, testing::Bool());

TEST_F(SaverFaultTest, FilesThatAreNoLeftoversOfThePrefixStay) {
  dir_ = "/logs";
  Program program(cluster_, /*sharded=*/false);
  const auto write = [&](const std::string& name) {
    auto file = files_.OpenWritable("/logs/" + name, Env::WriteMode::kCreate);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append("bytes").ok());
  };
  ASSERT_TRUE(files_.MakeDirectory("/logs").ok());
  const std::string parts = "_temp_0123456789abcdef";
  const std::vector<std::string> kept = {
      "models-1.index.tempstate1",                // of another prefix
      "other-1.index.tempstate1",                 // of another prefix
      "model-a-1.index.tempstate1",               // of another prefix
      "model-1-1.index.tempstate1",               // of another prefix, "model-1"
      "model-1.index.tempstate",                  // without the number of a temporary file
      "model-1.notes.tempstate1",                 // not a file of a checkpoint
      "model-7.data-00000-of-00001",              // of a checkpoint that is being copied
      "model-8.data-00000-of-00002",              // of a save that is running
      "model-8" + parts + "/part-00001-of-00002"  // of a save that is running
  };
  const std::vector<std::string> removed = {
      "model-2.index.tempstate1", "model-2.data-00000-of-00001", "model.data-00000-of-00001.tempstate22",
      "model-3" + parts + "/part-00000-of-00002.index", "model-3.data-00000-of-00002"};
  for (const char* directory : {"model-3", "model-8"}) {
    ASSERT_TRUE(files_.MakeDirectory(StrCat("/logs/", directory, parts)).ok());
  }
  for (const auto& names : {kept, removed}) {
    for (const std::string& name : names) write(name);
  }
  write("model-8" + parts + "/part-00000-of-00002.index");  // finished long before the other part
  files_.AdvanceWallClock(std::chrono::hours(2));
  write("model-8" + parts + "/part-00001-of-00002.data-00000-of-00001.tempstate1");  // being written
  ASSERT_TRUE(program.saver->Save(*program.session, "/logs/model", {.global_step = 9}).ok());
  for (const std::string& name : kept) EXPECT_TRUE(FileExists("/logs/" + name)) << name;
  for (const std::string& name : removed) EXPECT_FALSE(FileExists("/logs/" + name)) << name;
  EXPECT_TRUE(FileExists("/logs/model-8" + parts + "/part-00000-of-00002.index"));
  EXPECT_FALSE(files_.Stat("/logs/model-3" + parts).ok());
}

// Each step adds one to `count` on the parameter server, and saves a checkpoint.
struct Training {
  explicit Training() {
    auto device = g.Device("/job:ps/task:0");
    count = Variable(g, {}, Zeros(), {.name = "count"});
    train = GradientDescentOptimizer(1.0).Minimize(-1.0f * count, {.global_step = GetOrCreateGlobalStep(g)});
  }
  StatusOr<std::unique_ptr<MonitoredSession>> Start(const TestCluster& cluster) {
    return MonitoredTrainingSession(
        g, {.master = cluster.worker_target(), .checkpoint_dir = "/logs", .save_checkpoint_every_steps = 1});
  }
  Graph g;
  Variable count;
  Operation train;
};

TEST_F(SaverFaultTest, TrainingGoesOnWhenItsFilesFail) {
  Training training;
  auto session = training.Start(cluster_);
  ASSERT_TRUE(session.ok()) << session.status();
  int steps = 0;
  for (const Fault fault : {Fault::kNoSpace, Fault::kReadOnly, Fault::kIoError}) {
    bool fired = true;
    for (int n = 1; fired; ++n) {
      files_.FailAt(fault, n);
      const auto run = (*session)->Run({training.train});
      ASSERT_TRUE(run.ok()) << run.status() << " with a fault at " << n;
      ++steps;
      fired = files_.fired();
      files_.Repair();
      ASSERT_TRUE((*session)->Run({training.train}).ok());
      ++steps;
      EXPECT_EQ(LatestCheckpoint("/logs").value(), StrCat("/logs/model.ckpt-", steps))
          << "the save after the failed one must succeed";
    }
  }
  EXPECT_GT(steps, 3 * 2 * 16);  // 3 faults, and 2 steps for each of at least 16 operations of a save
  EXPECT_EQ((*session)->Run({training.count}).value()[0].scalar<float>(), static_cast<float>(steps));
  EXPECT_TRUE((*session)->Close().ok());
}

TEST_F(SaverFaultTest, TrainingThatCannotSaveAtAllDoesNotBegin) {
  ASSERT_TRUE(files_.MakeDirectory("/logs").ok());
  files_.FailAt(Fault::kReadOnly, 1);
  Training training;
  const Status status = training.Start(cluster_).status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("/logs"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("must be writable"));
}

TEST_F(SaverFaultTest, CloseReturnsTheErrorOfTheLastSave) {
  Training training;
  auto session = MonitoredTrainingSession(
      training.g, {.master = cluster_.worker_target(), .checkpoint_dir = "/logs", .save_checkpoint_every_steps = 1000});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run({training.train}).ok());
  files_.FailAt(Fault::kNoSpace, 1);
  const Status closed = (*session)->Close();
  EXPECT_TRUE(absl::IsResourceExhausted(closed)) << closed;
  EXPECT_THAT(std::string(closed.message()), HasSubstr("max_to_keep"));
  EXPECT_EQ(LatestCheckpoint("/logs").value(), "/logs/model.ckpt-0");
}

TEST_F(SaverFaultTest, SupervisedTrainingGoesOnWhenItsFilesFail) {
  Graph g;
  const Variable count(g, {}, Zeros(), {.name = "count"});
  const Operation add = count.AssignAdd(1.0f);
  Supervisor supervisor(g, {.logdir = "/logs", .save_model_every = std::chrono::milliseconds(1)});
  auto session = supervisor.PrepareOrWaitForSession();
  ASSERT_TRUE(session.ok()) << session.status();
  const auto saves = [&](int64_t more) {
    const int64_t until = files_.changes() + more;
    while (files_.changes() < until && !supervisor.ShouldStop()) ASSERT_TRUE((*session)->Run({add}).ok());
  };
  saves(100);
  files_.FailAt(Fault::kReadOnly, 1);
  saves(20);
  EXPECT_FALSE(supervisor.ShouldStop());
  files_.Repair();
  saves(100);
  const Status stopped = supervisor.Stop();
  EXPECT_TRUE(stopped.ok()) << stopped;
}

// If steps update all variables while a save waits for the disk, only one variable has a copy with its old value: the
// one that is being written.
TEST_F(SaverFaultTest, ASaveCopiesOneVariableAtATime) {
  constexpr int kVariables = 6;
  constexpr int64_t kElements = 1 << 18;
  for (const bool references : {false, true}) {
    Graph g;
    std::vector<Operation> initialize, add;
    std::vector<std::string> names, slices(kVariables);
    std::vector<Output> reads;
    std::vector<Fetch> values;
    for (int i = 0; i < kVariables; ++i) {
      auto device = g.Device("/job:ps/task:0");
      const Output zeros = Zeros(g, {kElements}), ones = Ones(g, {kElements});
      names.push_back(StrCat("v", i));
      if (references) {
        const Output v =
            NodeBuilder(g, "VariableV2").Attr("shape", Shape({kElements})).Attr("dtype", kFloat32).Output();
        initialize.push_back(NodeBuilder(g, "Assign").Input(v).Input(zeros).Finish());
        add.push_back(NodeBuilder(g, "AssignAdd").Input(v).Input(ones).Finish());
        reads.push_back(Identity(v));
      } else {
        const Variable v(g, {kElements}, Zeros(), {.name = names.back()});
        initialize.push_back(v.initializer());
        add.push_back(v.AssignAdd(ones));
        reads.push_back(v.Read());
      }
    }
    Operation save;
    {
      auto device = g.Device("/job:ps/task:0");
      save = NodeBuilder(g, "SaveV2")
                 .Input(Const(g, Tensor::Scalar<std::string>("/model")))
                 .Input(Const(g, Tensor::Vector(names)))
                 .Input(Const(g, Tensor::Vector(slices)))
                 .InputList(reads)
                 .Attr("dtypes", std::vector<DType>(kVariables, kFloat32))
                 .Finish();
    }
    ASSERT_TRUE(g.status().ok()) << g.status();
    const Operation init = Group(g, initialize), step = Group(g, add);
    auto session = Session::Create(g, {.target = cluster_.worker_target()}).value();
    ASSERT_TRUE(session->Run({init}).ok());
    ASSERT_TRUE(session->Run({step}).ok());
    const int64_t before = GetAllocatorStats().bytes_in_use;

    // One operation creates the file, and four write each variable. So operation 11 writes the third variable.
    files_.FailAt(Fault::kBlocked, 11);
    Status saved;
    Thread saving("saving", [&] { saved = session->Run({save}).status(); });
    files_.WaitUntilFired();
    const Status stepped = session->Run({step}).status();
    const int64_t during = GetAllocatorStats().bytes_in_use;
    files_.Repair();
    saving.Join();
    EXPECT_TRUE(stepped.ok()) << stepped;
    ASSERT_TRUE(saved.ok()) << saved;
    EXPECT_LT(during - before, 2 * kElements * 4)  // bytes of two variables
        << (references ? "references" : "resources");

    // The first variables were written before the second step, so they were saved with their old values. The last ones
    // were saved with their new values.
    auto reader = CheckpointReader::Open("/model").value();
    std::vector<float> values_saved;
    for (const std::string& name : names) {
      const Tensor value = reader->GetTensor(name).value();
      EXPECT_EQ(value.data<float>()[0], value.data<float>()[kElements - 1]);
      values_saved.push_back(value.data<float>()[0]);
    }
    EXPECT_EQ(values_saved.front(), 1);
    EXPECT_EQ(values_saved.back(), 2);
    ASSERT_TRUE(RemoveCheckpoint("/model").ok());
  }
}

}  // namespace
}  // namespace tensorbraid
