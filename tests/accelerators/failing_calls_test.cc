// Tests of sessions on an accelerator whose plugin fails at any call, when the client is made, in the first
// compilation, in a training step, in a save: each time there is a Status, nothing is left, and no value is silently
// wrong. The plugin is the fake one (src/pjrt/testing/fake_plugin.h).
#include "pjrt/testing/failing_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/strings.h"
#include "fake_device.h"
#include "io/file_testutil.h"
#include "tensorbraid/checkpoint/checkpoint.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Of all elements of the two variables.
struct Values {
  float handle, reference;
  friend bool operator==(const Values&, const Values&) = default;
};
std::ostream& operator<<(std::ostream& out, const Values& values) {
  return out << values.handle << ", " << values.reference;
}

// A session that trains two variables on the device, and what their values may be. Sessions with tensors of another
// size have other programs.
class Training {
 public:
  explicit Training(int64_t size) : size_(size) {
    const auto device = g_.Device(kDevice);
    x_ = Placeholder(g_, kFloat32, {size}, "x");
    indices_ = Placeholder(g_, kInt32, {2}, "indices");
    handle_ = Variable(g_, {size}, Zeros(), {.name = "handle"});
    reference_ = Variable(g_, {size}, Zeros(), {.name = "reference", .reference = true});
    init_ = {handle_.Assign(x_), reference_.Assign(x_)};
    train_ = {x_ + x_, handle_.AssignSub(x_), reference_.AssignAdd(x_ + x_)};
    // Whose indices the program checks.
    rows_ = NodeBuilder(g_, "Gather").Input(reference_.handle()).Input(indices_).Finish().output(0);
    reads_ = {handle_.Read(), reference_.Read()};
    saver_ = std::make_unique<Saver>(g_, SaverOptions{.variables = {handle_, reference_}});
  }

  Status Begin() {
    TF_RETURN_IF_ERROR(g_.status());
    TF_ASSIGN_OR_RETURN(session_, Session::Create(g_, {.device_count = {{"XLA_CPU", 1}}}));
    return OkStatus();
  }
  void End() { session_ = nullptr; }

  Status Initialize() {
    const Status status = session_->Run(init_, {Ones()}).status();
    possible_.clear();
    if (status.ok()) possible_ = {{1, 1}};
    return status;
  }
  // Updates both variables in place, by one program.
  Status Train() {
    const auto run = session_->Run(train_, {Ones()});
    const std::vector<Values> before = possible_;
    if (run.ok()) {
      EXPECT_EQ((*run)[0].data<float>()[0], 2);
      possible_.clear();
    }
    for (const Values& values : before) possible_.push_back({values.handle - 1, values.reference + 2});
    return run.status();
  }
  Status LookUp() { return session_->Run({rows_}, {{indices_, Tensor::Vector<int32_t>({0, 1})}}).status(); }
  Status Read() {
    TF_ASSIGN_OR_RETURN(const auto read, session_->Run({reads_.begin(), reads_.end()}));
    Expect({read[0].data<float>()[0], read[1].data<float>()[0]});
    return OkStatus();
  }
  // Also reads what it has saved.
  Status Save() {
    TF_ASSIGN_OR_RETURN(saved_, saver_->Save(*session_, directory_.path() + "/model", {.write_meta_graph = false}));
    const auto file = CheckpointReader::Open(saved_);
    EXPECT_TRUE(file.ok()) << file.status();
    if (!file.ok()) return OkStatus();
    const auto value = [&](const char* name) { return (*file)->GetTensor(name).value().data<float>()[0]; };
    Expect({value("handle"), value("reference")});
    saved_values_ = possible_;
    return OkStatus();
  }
  // REQUIRES: a save has succeeded.
  Status Restore() {
    const Status status = saver_->Restore(*session_, saved_);
    possible_.clear();
    if (status.ok()) possible_ = saved_values_;
    return status;
  }
  bool has_saved() const { return !saved_values_.empty(); }

 private:
  Feed Ones() const {
    Tensor ones(kFloat32, {size_});
    for (float& x : ones.mutable_data<float>()) x = 1;
    return {x_, ones};
  }
  void Expect(const Values& values) {
    if (!possible_.empty()) {
      EXPECT_THAT(possible_, Contains(values));
    }
    possible_ = {values};
  }

  const int64_t size_;
  Graph g_;
  Output x_, indices_, rows_;
  Variable handle_, reference_;
  std::vector<Fetch> init_, train_;
  std::vector<Output> reads_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
  const TempDir directory_;
  std::string saved_;
  std::vector<Values> possible_, saved_values_;  // empty: any
};

// The first error of each of these.
Status TrainAndRead(Training& training) {
  Status first = training.Initialize();
  first.Update(training.Train());
  first.Update(training.LookUp());
  first.Update(training.Train());
  first.Update(training.Read());
  return first;
}
Status SaveAndRestore(Training& training) {
  Status first = training.Save();
  if (training.has_saved()) first.Update(training.Restore());
  first.Update(training.Read());
  return first;
}

class FailingCallsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { control = &UseFakePlugin("XLA_CPU"); }
  void TearDown() override { control->consumes_when_failing = false; }

  // Of variables that no session has trained: their programs are compiled.
  static std::unique_ptr<Training> NewTraining() {
    static int64_t size = 1;
    return std::make_unique<Training>(++size);
  }
  static std::unique_ptr<Training> NewSession() {
    auto training = NewTraining();
    const Status begun = training->Begin();
    EXPECT_TRUE(begun.ok()) << begun;
    return training;
  }
  // Whether all steps may succeed although this call has failed. The caller of a destruction cannot do anything about
  // it, and steps work without figures of memory. A program that is compiled before its step asks for it is compiled
  // again if the step comes just after the error.
  static bool MayBeMadeUpFor(std::string_view call) {
    return call.ends_with("_Destroy") || call == "Device_MemoryStats" || call == "Client_Compile" ||
           call.starts_with("Executable_") || call == "LoadedExecutable_GetExecutable";
  }
  static void ExpectErrorOf(const char* call, const Status& error) {
    ASSERT_NE(call, nullptr) << error;
    EXPECT_THAT(std::string(error.message()), HasSubstr(StrCat("made to fail: ", call)));
  }
  // Lets each call of `work` fail, in a session of its own in which `before` has succeeded, and does it all again.
  // Returns the number of calls that were errors.
  static int Sweep(Status (*before)(Training&), Status (*work)(Training&)) {
    int errors = 0;
    for (pjrt::FailingCalls calls(*control);;) {
      const auto training = NewSession();
      if (before != nullptr) {
        EXPECT_TRUE(before(*training).ok());
      }
      Status error;
      const char* const call = calls.Next([&] { error = work(*training); });
      SCOPED_TRACE(StrCat(calls.next(), ", ", call == nullptr ? "no call" : call, ": ", error.ToString()));
      if (!error.ok()) {
        ++errors;
        ExpectErrorOf(call, error);
      } else if (call != nullptr) {
        EXPECT_TRUE(MayBeMadeUpFor(call));
      }
      if (before != nullptr) {
        EXPECT_TRUE(before(*training).ok());
      }
      const Status again = work(*training);
      EXPECT_TRUE(again.ok()) << again;
      training->End();
      ExpectNothingIsLeft(*control);
      if (call == nullptr) return errors;
    }
  }

  static pjrt::FakePluginControl* control;
};
pjrt::FakePluginControl* FailingCallsTest::control = nullptr;

// Before the others: a process makes its client once.
TEST_F(FailingCallsTest, WhenTheClientIsMade) {
  for (pjrt::FailingCalls calls(*control); control->clients == 0;) {
    const auto training = NewTraining();
    Status error;
    const char* const call = calls.Next([&] {
      error = training->Begin();
      if (error.ok()) error = training->Initialize();
    });
    if (control->clients == 0) ExpectErrorOf(call, error);
  }
}

TEST_F(FailingCallsTest, InTheFirstCompilationAndTheSteps) { EXPECT_GT(Sweep(nullptr, TrainAndRead), 30); }

TEST_F(FailingCallsTest, InStepsWhoseArgumentsAreConsumed) {
  control->consumes_when_failing = true;
  EXPECT_GT(Sweep(nullptr, TrainAndRead), 30);
}

TEST_F(FailingCallsTest, InASave) { EXPECT_GT(Sweep(TrainAndRead, SaveAndRestore), 8); }

}  // namespace
}  // namespace tensorbraid
