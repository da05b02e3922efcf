// Tests that training which is interrupted and resumed gives the same weights as training without interruption, bit for
// bit.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cluster/testing/test_cluster.h"
#include "io/file_testutil.h"
#include "tensorbraid/tensorbraid.h"
#include "train/checkpoints/random_training_testutil.h"

namespace tensorbraid {
namespace {

// RandomTraining with a session, of this process or of a cluster, and the options of its savers.
struct SavedRandomTraining : RandomTraining {
  explicit SavedRandomTraining(bool seeded = true, bool sharded = false, const TestCluster* cluster = nullptr)
      : RandomTraining(seeded, cluster == nullptr ? nullptr : &cluster->spec()) {
    init = GlobalVariablesInitializer(g);
    options = {.sharded = sharded, .random_state = true};
  }

  Status Start(const std::string& target = "") {
    TF_ASSIGN_OR_RETURN(session, Session::Create(g, {.target = target}));
    TF_RETURN_IF_ERROR(session->Run({init}).status());
    return session->Run({start_input}).status();
  }
  Status Run(int steps) {
    for (int i = 0; i < steps; ++i) TF_RETURN_IF_ERROR(session->Run({train}).status());
    return OkStatus();
  }

  Operation init;
  SaverOptions options;
  std::unique_ptr<Session> session;
};

// The bytes of all variables, slots included.
std::string WeightsOf(const Graph& g, Session& session) {
  std::string bytes;
  for (const Variable& variable : g.variables()) {
    const Tensor value = session.Run({variable}).value()[0];
    bytes.append(static_cast<const char*>(value.raw_data()), value.num_bytes());
  }
  return bytes;
}

class RandomStatesTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  TempDir dir_;
};

TEST_F(RandomStatesTest, ResumedTrainingHasTheSameWeightsAsUninterruptedTraining) {
  for (const bool sharded : {false, true}) {
    for (const int at : {1, 6, 11}) {
      SavedRandomTraining whole;
      ASSERT_TRUE(whole.Start().ok());
      ASSERT_TRUE(whole.Run(15).ok());

      SavedRandomTraining killed(/*seeded=*/true, sharded);
      Saver saver(killed.g, killed.options);
      ASSERT_TRUE(killed.Start().ok());
      ASSERT_TRUE(killed.Run(at).ok());
      const auto path = saver.Save(*killed.session, Path("model"), {.global_step = at});
      ASSERT_TRUE(path.ok()) << path.status();
      ASSERT_TRUE(killed.Run(2).ok());  // these steps are lost

      SavedRandomTraining resumed(/*seeded=*/true, sharded);
      Saver restorer(resumed.g, resumed.options);
      resumed.session = Session::Create(resumed.g).value();
      const Status restored = restorer.Restore(*resumed.session, *path);
      ASSERT_TRUE(restored.ok()) << restored;
      EXPECT_TRUE(restorer.restored_random_state());
      ASSERT_TRUE(resumed.Run(15 - at).ok());
      EXPECT_TRUE(WeightsOf(resumed.g, *resumed.session) == WeightsOf(whole.g, *whole.session))
          << "interrupted at " << at << (sharded ? ", sharded" : "");
    }
  }
}

TEST_F(RandomStatesTest, TheSavedStateIncludesSeedsThatWereDrawnAtRandom) {
  SavedRandomTraining first(/*seeded=*/false);
  Saver saver(first.g, first.options);
  ASSERT_TRUE(first.Start().ok());
  ASSERT_TRUE(first.Run(3).ok());
  const auto path = saver.Save(*first.session, Path("model"));
  ASSERT_TRUE(path.ok()) << path.status();
  ASSERT_TRUE(first.Run(9).ok());

  SavedRandomTraining second(/*seeded=*/false);
  Saver restorer(second.g, second.options);
  second.session = Session::Create(second.g).value();
  ASSERT_TRUE(second.Run(0).ok());
  ASSERT_TRUE(restorer.Restore(*second.session, *path).ok());
  ASSERT_TRUE(second.Run(9).ok());
  EXPECT_TRUE(WeightsOf(first.g, *first.session) == WeightsOf(second.g, *second.session));

  // The states can also be restored in the session that has continued.
  ASSERT_TRUE(restorer.Restore(*second.session, *path).ok());
  ASSERT_TRUE(second.Run(9).ok());
  EXPECT_TRUE(WeightsOf(first.g, *first.session) == WeightsOf(second.g, *second.session));
}

// The variables are on the parameter server; the worker has the random ops and the input.
TEST_F(RandomStatesTest, ResumedTrainingInAClusterHasTheSameWeights) {
  TestCluster one(1, 1), two(1, 1), three(1, 1);
  SavedRandomTraining whole(/*seeded=*/true, /*sharded=*/true, &one);
  ASSERT_TRUE(whole.Start(one.worker_target()).ok());
  ASSERT_TRUE(whole.Run(9).ok());

  SavedRandomTraining killed(/*seeded=*/true, /*sharded=*/true, &two);
  Saver saver(killed.g, killed.options);
  ASSERT_TRUE(killed.Start(two.worker_target()).ok());
  ASSERT_TRUE(killed.Run(5).ok());
  const auto path = saver.Save(*killed.session, Path("model"));
  ASSERT_TRUE(path.ok()) << path.status();

  SavedRandomTraining resumed(/*seeded=*/true, /*sharded=*/true, &three);
  Saver restorer(resumed.g, resumed.options);
  resumed.session = Session::Create(resumed.g, {.target = three.worker_target()}).value();
  ASSERT_TRUE(restorer.Restore(*resumed.session, *path).ok());
  ASSERT_TRUE(resumed.Run(4).ok());
  EXPECT_TRUE(WeightsOf(resumed.g, *resumed.session) == WeightsOf(whole.g, *whole.session));
}

TEST_F(RandomStatesTest, ACheckpointWithoutStatesRestoresTheVariables) {
  SavedRandomTraining first;
  first.options.random_state = false;
  Saver saver(first.g, first.options);
  ASSERT_TRUE(first.Start().ok());
  ASSERT_TRUE(first.Run(2).ok());
  const auto path = saver.Save(*first.session, Path("model"));
  ASSERT_TRUE(path.ok()) << path.status();

  SavedRandomTraining second;
  Saver restorer(second.g, second.options);
  ASSERT_TRUE(second.Start().ok());
  ASSERT_TRUE(restorer.Restore(*second.session, *path).ok());
  EXPECT_FALSE(restorer.restored_random_state());
  EXPECT_TRUE(WeightsOf(first.g, *first.session) == WeightsOf(second.g, *second.session));
}

TEST_F(RandomStatesTest, ResumedTrainingInAMonitoredSessionHasTheSameWeights) {
  const auto start = [&](SavedRandomTraining& t, const std::string& dir, int64_t last) {
    return MonitoredTrainingSession(t.g, {.hooks = {StopAtStep(last)},
                                          .checkpoint_dir = dir,
                                          .save_checkpoint_every_steps = 4,
                                          .save_random_state = true,
                                          .input_initializers = {t.start_input}});
  };
  SavedRandomTraining whole;
  auto session = start(whole, Path("whole"), 15);
  ASSERT_TRUE(session.ok()) << session.status();
  while (!(*session)->ShouldStop()) ASSERT_TRUE((*session)->Run({whole.train}).ok());
  const std::string want = WeightsOf(whole.g, (*session)->session());

  {
    SavedRandomTraining killed;
    const Output nan = Const(killed.g, Tensor::Scalar(std::numeric_limits<float>::quiet_NaN()));
    const Output broken = NodeBuilder(killed.g, "CheckNumerics").Input(nan).Attr("message", "the end").Output();
    auto interrupted = start(killed, Path("model"), 15);
    ASSERT_TRUE(interrupted.ok()) << interrupted.status();
    for (int i = 0; i < 6; ++i) ASSERT_TRUE((*interrupted)->Run({killed.train}).ok());
    // After an error no checkpoint is saved, so steps 5 and 6 are lost.
    EXPECT_FALSE((*interrupted)->Run({broken}).ok());
    (*interrupted)->Close().IgnoreError();
  }
  EXPECT_TRUE(LatestCheckpoint(Path("model")).value().ends_with("-4")) << LatestCheckpoint(Path("model")).value();

  SavedRandomTraining resumed;
  auto again = start(resumed, Path("model"), 15);
  ASSERT_TRUE(again.ok()) << again.status();
  while (!(*again)->ShouldStop()) ASSERT_TRUE((*again)->Run({resumed.train}).ok());
  EXPECT_TRUE(WeightsOf(resumed.g, (*again)->session()) == want);
}

}  // namespace
}  // namespace tensorbraid
