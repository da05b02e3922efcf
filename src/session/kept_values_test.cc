// Tensors that programs write to: what a session keeps of a fed tensor, and what a fetched one shares with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tensorbraid/data/dataset.h"
#include "tensorbraid/graph/host_function.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/raw_ops/data_flow.h"
#include "tensorbraid/raw_ops/state.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

bool Holds(const StatusOr<std::vector<Tensor>>& got, float value) {
  if (!got.ok()) {
    ADD_FAILURE() << got.status();
    return false;
  }
  const auto values = (*got)[0].data<float>();
  return !values.empty() && std::all_of(values.begin(), values.end(), [&](float v) { return v == value; });
}

TEST(KeptValuesTest, WritingToAFetchedTensorChangesNothingElse) {
  Graph g;
  Variable w(g, {2}, Ones());
  const Output reference = raw_ops::VariableV2(g, {2}, kFloat32);
  const Output constant = Operand(Tensor::Of<float>({2}, {1, 1})).ToOutput(g);
  auto session = Session::Create(g).value();
  ASSERT_TRUE(session->Run({GlobalVariablesInitializer(g), raw_ops::Assign(reference, constant).op()}).ok());
  for (const Fetch& fetch : {Fetch(w), Fetch(reference), Fetch(constant), Fetch(Identity(constant))}) {
    Tensor fetched = session->Run({fetch}).value()[0];
    std::ranges::fill(fetched.mutable_data<float>(), 7.0f);
    static_cast<float*>(fetched.mutable_raw_data())[1] = 8;
    EXPECT_EQ(fetched.data<float>()[0], 7);
    EXPECT_TRUE(Holds(session->Run({fetch}), 1));
  }
}

// Feeds a tensor of ones to `keep`, then overwrites its elements through the pointer that was taken before the step.
// What `read` fetches must be the ones.
class FedTensorTest : public testing::Test {
 protected:
  void Run(const std::vector<Fetch>& keep) {
    values_ = fed_.mutable_data<float>();
    std::ranges::fill(values_, 1.0f);
    const auto kept = session().Run(keep, {{x_, fed_}});
    ASSERT_TRUE(kept.ok()) << kept.status();
    std::ranges::fill(values_, 7.0f);
  }
  Session& session() {
    if (session_ == nullptr) session_ = Session::Create(g_).value();
    return *session_;
  }

  Graph g_;
  const Output x_ = Placeholder(g_, kFloat32, {2}, "x");

 private:
  Tensor fed_{kFloat32, {2}};
  std::span<float> values_;
  std::unique_ptr<Session> session_;
};

TEST_F(FedTensorTest, VariablesKeepACopy) {
  Variable w(g_, {2}, Zeros());
  const Output reference = raw_ops::VariableV2(g_, {2}, kFloat32);
  Run({w.Assign(Reshape(Identity(x_), {2})), raw_ops::Assign(reference, x_).op()});
  EXPECT_TRUE(Holds(session().Run({w}), 1));
  EXPECT_TRUE(Holds(session().Run({reference}), 1));
}

TEST_F(FedTensorTest, QueuesAndOtherResourcesKeepACopy) {
  FIFOQueue queue(g_, {kFloat32});
  const Operation enqueue = queue.Enqueue({x_});
  const Output dequeued = queue.Dequeue()[0];
  const raw_ops::StageOptions area = {.shared_name = "area"};
  const Operation stage = raw_ops::Stage({x_}, area);
  const Output unstaged = raw_ops::Unstage(g_, {kFloat32}, {.shared_name = "area"}).values[0];
  Run({enqueue, stage});
  EXPECT_TRUE(Holds(session().Run({dequeued}), 1));
  EXPECT_TRUE(Holds(session().Run({unstaged}), 1));
}

TEST_F(FedTensorTest, DatasetsKeepACopy) {
  const auto iterator = data::Iterator::Initializable(data::Dataset::FromTensors(g_, {x_}).Cache().Repeat(3));
  const Output next = iterator.GetNext()[0];
  Run({iterator.initializer()});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Holds(session().Run({next}), 1));
}

TEST_F(FedTensorTest, AFetchedFeedIsACopy) {
  Tensor fed(kFloat32, {2});
  const auto values = fed.mutable_data<float>();
  std::ranges::fill(values, 1.0f);
  const auto fetched = session().Run({x_, Identity(x_)}, {{x_, fed}});
  std::ranges::fill(values, 7.0f);
  EXPECT_TRUE(Holds(fetched, 1));
}

TEST(KeptValuesTest, AConstantIsACopyOfTheTensorThatItWasMadeOf) {
  Tensor value(kFloat32, {2});
  const auto values = value.mutable_data<float>();
  std::ranges::fill(values, 1.0f);
  Graph g;
  const Output constant = Operand(value).ToOutput(g);
  std::ranges::fill(values, 7.0f);
  auto session = Session::Create(g).value();
  EXPECT_TRUE(Holds(session->Run({constant}), 1));
}

TEST(KeptValuesTest, ATensorThatIsNeverWrittenToIsKeptWithoutACopy) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {2}, "x");
  Variable w(g, {2}, Zeros());
  auto session = Session::Create(g).value();
  const Tensor value = Tensor::Of<float>({2}, {1, 1});
  ASSERT_TRUE(session->Run({w.Assign(x)}, {{x, value}}).ok());
  EXPECT_TRUE(session->Run({w}).value()[0].SharesBufferWith(value));
}

}  // namespace
}  // namespace tensorbraid
