// Tests libraries of custom ops: how programs and servers load them, and steps that use their ops on several tasks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "core/system/held_port.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "launch/processes/child_process.h"
#include "launch/processes/process_testutil.h"
#include "tensorbraid/custom_op/library.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kTestOps = {"MayFail", "NearestNeighbors"};

void ExpectError(const Status& got, StatusCode code, const std::string& text) {
  EXPECT_EQ(got.code(), code) << got;
  EXPECT_THAT(std::string(got.message()), HasSubstr(text));
}

bool Exists(const std::string& op) {
  Graph g;
  NodeBuilder(g, op).Finish();
  return !absl::IsNotFound(g.status());
}

TEST(OpLibraryTest, LoadingTwiceIsLoadingOnce) {
  for (int i = 0; i < 2; ++i) {
    const auto ops = LoadOpLibrary(SCALED_TANH);
    ASSERT_TRUE(ops.ok()) << ops.status();
    EXPECT_THAT(*ops, ElementsAre("ScaledTanh"));
  }
  // The same file by another name.
  const TempDir directory;
  const std::string link = directory.path() + "/link.so";
  std::filesystem::create_symlink(SCALED_TANH, link);
  const auto ops = LoadOpLibrary(link);
  ASSERT_TRUE(ops.ok()) << ops.status();
  EXPECT_THAT(*ops, ElementsAre("ScaledTanh"));
}

TEST(OpLibraryTest, ACopyHasNamesThatAreTaken) {
  ASSERT_TRUE(LoadOpLibrary(SCALED_TANH).ok());
  const TempDir directory;
  const std::string copy = directory.path() + "/copy.so";
  std::filesystem::copy_file(SCALED_TANH, copy);
  const Status s = LoadOpLibrary(copy).status();
  ExpectError(s, StatusCode::kAlreadyExists, "custom op 'ScaledTanh': an op of that name exists");
  EXPECT_THAT(std::string(s.message()), HasSubstr(copy));
}

TEST(OpLibraryTest, FilesThatAreNoOpLibraries) {
  const TempDir directory;
  ExpectError(LoadOpLibrary(directory.path() + "/none.so").status(), StatusCode::kNotFound, "none.so");
  ExpectError(LoadOpLibrary(directory.path()).status(), StatusCode::kFailedPrecondition, directory.path());
  ExpectError(LoadOpLibrary(directory.Write("text.so", "not a library")).status(), StatusCode::kInvalidArgument,
              "it is not a shared library");
  ExpectError(LoadOpLibrary(TENSORBRAID_PROGRAM).status(), StatusCode::kInvalidArgument,
              "it is not a library of custom ops: it has no TENSORBRAID_OP_LIBRARY");
}

TEST(OpLibraryTest, DamagedFiles) {
  const TempDir directory;
  const std::string whole = TextOf(SCALED_TANH);
  for (const size_t size : {size_t{5}, size_t{63}, size_t{64}, size_t{100}, size_t{4000}}) {
    const Status s = LoadOpLibrary(directory.Write("part.so", whole.substr(0, size))).status();
    ExpectError(s, StatusCode::kInvalidArgument, size < 64 ? "it is not a shared library" : "the file is incomplete");
  }
  std::string other_machine = whole;
  other_machine[18] = 40;  // the machine in the header: ARM
  ExpectError(LoadOpLibrary(directory.Write("other.so", other_machine)).status(), StatusCode::kInvalidArgument,
              "it is not a shared library for this machine");
}

TEST(OpLibraryTest, ALibraryOfAnotherVersionIsRefusedBeforeItsCodeRuns) {
  const Status s = LoadOpLibrary(OTHER_VERSION).status();
  ExpectError(s, StatusCode::kInvalidArgument, "it was compiled for another version of Tensorbraid");
  EXPECT_THAT(std::string(s.message()), HasSubstr("needs 'tensorbraid op library: interface 0"));
  EXPECT_THAT(std::string(s.message()), HasSubstr(OpLibraryAbi()));
}

TEST(OpLibraryTest, AfterAnErrorNoOpIsAdded) {
  ExpectError(LoadOpLibrary(TAKEN_NAME).status(), StatusCode::kAlreadyExists, "custom op 'Relu'");
  EXPECT_FALSE(Exists("NotAdded"));
  ExpectError(LoadOpLibrary(THROWING).status(), StatusCode::kInternal, "the licence has expired");
  EXPECT_FALSE(Exists("NotAddedEither"));
}

Output ScaledTanh(const Output& x, float scale) {
  return NodeBuilder(*x.graph(), "ScaledTanh").Input(x).Attr("scale", scale).Output();
}

TEST(OpLibraryTest, TheGradientIsThatOfDifferences) {
  ASSERT_TRUE(LoadOpLibrary(SCALED_TANH).ok());
  Graph g;
  const Output x = Placeholder(g, kFloat64, {-1});
  const Output y = ScaledTanh(x, 1.5);
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_EQ(y.shape(), Shape({-1}));
  const auto gradients = Gradients({y}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  auto session = Session::Create(g).value();
  const std::vector<double> at = {-2, -0.3, 0, 0.7, 1.4};
  constexpr double kStep = 1e-6;
  std::vector<double> before = at, after = at;
  for (double& v : before) v -= kStep;
  for (double& v : after) v += kStep;
  const Tensor low = session->Run({y}, {{x, Tensor::Vector(before)}}).value()[0];
  const Tensor high = session->Run({y}, {{x, Tensor::Vector(after)}}).value()[0];
  const Tensor gradient = session->Run({(*gradients)[0]}, {{x, Tensor::Vector(at)}}).value()[0];
  for (size_t i = 0; i < at.size(); ++i) {
    EXPECT_NEAR(gradient.data<double>()[i], (high.data<double>()[i] - low.data<double>()[i]) / (2 * kStep), 1e-6);
    EXPECT_NEAR(high.data<double>()[i], 1.5 * std::tanh(after[i]), 1e-6);
  }
  const Output zero = ScaledTanh(x, 0);
  ExpectError(Session::Create(g).value()->Run({zero}, {{x, Tensor::Vector(at)}}).status(), StatusCode::kInvalidArgument,
              "scale must not be 0");
}

// A parameter server and a worker, each a process of `tensorbraid serve`.
class ServerTest : public testing::Test {
 protected:
  struct Started {
    std::unique_ptr<ChildProcess> process;
    std::string target;  // "" if it did not start
  };
  Started Start(const std::string& job, const std::vector<std::string>& libraries) {
    std::vector<std::string> command = {
        TENSORBRAID_PROGRAM, "serve", "--job_name=" + job, "--task_index=0",
        StrCat("--cluster_spec=ps|localhost:", ps_.port(), ",worker|localhost:", worker_.port())};
    for (const std::string& library : libraries) command.push_back("--load=" + library);
    auto process = std::make_unique<ChildProcess>(ChildProcess::Start(command, {}).value());
    std::string target = AwaitLine(process->out(), job + "/0 serves at ");
    return {std::move(process), std::move(target)};
  }
  static std::string ErrorsOf(Started& server) {
    std::string text;
    pollfd event = {server.process->err().get(), POLLIN, 0};
    char c;
    while (::poll(&event, 1, 60000) == 1 && ::read(server.process->err().get(), &c, 1) == 1) text += c;
    return text;
  }

  const HeldPort ps_ = HeldPort::Take().value(), worker_ = HeldPort::Take().value();
};

TEST_F(ServerTest, AnOpRunsOnTheTasksThatHaveLoadedIt) {
  ASSERT_TRUE(LoadOpLibrary(SCALED_TANH).ok());
  const Started ps = Start("ps", {SCALED_TANH}), worker = Start("worker", {SCALED_TANH, TEST_OPS});
  ASSERT_NE(ps.target, "");
  ASSERT_NE(worker.target, "");
  Graph g;
  const Output x = Placeholder(g, kFloat32, {-1});
  Output y;
  {
    const auto device = g.Device("/job:ps/task:0");
    y = ScaledTanh(x, 2);
  }
  const auto gradients = Gradients({y}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  Output z;
  {
    const auto device = g.Device("/job:worker/task:0");
    z = ScaledTanh((*gradients)[0] + y, 1);
  }
  auto session = Session::Create(g, {.target = worker.target});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto values = (*session)->Run({y, z}, {{x, Tensor::Vector<float>({0, 1})}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_NEAR((*values)[0].data<float>()[1], 1.5231883, 1e-5);
  EXPECT_NEAR((*values)[1].data<float>()[0], std::tanh(2.0), 1e-5);
}

TEST_F(ServerTest, ATaskThatLacksAnOpIsToldWhichFlagLoadsIt) {
  ASSERT_TRUE(LoadOpLibrary(SCALED_TANH).ok());
  const Started ps = Start("ps", {}), worker = Start("worker", {SCALED_TANH});
  ASSERT_NE(ps.target, "");
  ASSERT_NE(worker.target, "");
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2});  // the master computes ops of constants itself
  const std::vector<Feed> feeds = {{x, Tensor::Vector<float>({1, 2})}};
  const auto device = g.Device("/job:ps/task:0");
  const Output y = ScaledTanh(x, 2);
  const Output sum = x + x;
  const auto expect_error = [](const Status& s) {
    ExpectError(s, StatusCode::kNotFound, "ScaledTanh");
    EXPECT_THAT(std::string(s.message()), HasSubstr("--load=LIBRARY"));
  };
  // The master lacks the op.
  const auto on_ps = Session::Create(g, {.target = ps.target});
  expect_error(on_ps.ok() ? (*on_ps)->Run({y}, feeds).status() : on_ps.status());
  // Another task lacks it. The error names the task, and other steps of the session go on.
  const auto on_worker = Session::Create(g, {.target = worker.target});
  ASSERT_TRUE(on_worker.ok()) << on_worker.status();
  const Status refused = (*on_worker)->Run({y}, feeds).status();
  expect_error(refused);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ps/0"));
  EXPECT_TRUE((*on_worker)->Run({sum}, feeds).ok());
}

TEST_F(ServerTest, AFailingKernelLeavesTheServerRunning) {
  const auto ops = LoadOpLibrary(TEST_OPS);
  ASSERT_TRUE(ops.ok()) << ops.status();
  EXPECT_EQ(*ops, kTestOps);
  const Started ps = Start("ps", {TEST_OPS}), worker = Start("worker", {TEST_OPS});
  ASSERT_NE(ps.target, "");
  ASSERT_NE(worker.target, "");
  Graph g;
  const Output x = Operand(Tensor::Vector<float>({1, 2})).ToOutput(g);
  const auto device = g.Device("/job:ps/task:0");
  const auto may_fail = [&](const std::string& how) {
    return NodeBuilder(g, "MayFail").Name(how).Input(x).Attr("how", how).Output();
  };
  const Output error = may_fail("error"), exception = may_fail("throw"), good = may_fail("no");
  auto session = Session::Create(g, {.target = worker.target});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 2; ++i) {
    ExpectError((*session)->Run({error}).status(), StatusCode::kDataLoss, "the kernel's own error");
    ExpectError((*session)->Run({exception}).status(), StatusCode::kInternal,
                "the kernel has thrown an exception: the kernel's own exception");
    EXPECT_TRUE((*session)->Run({good}).ok());
  }
}

TEST_F(ServerTest, AServerDoesNotStartWithoutItsLibraries) {
  for (const auto& [library, text] :
       {std::pair("/nowhere/lib.so", "/nowhere/lib.so"), std::pair(OTHER_VERSION, "compiled for another version")}) {
    Started server = Start("ps", {library});
    EXPECT_EQ(server.target, "");
    EXPECT_THAT(ErrorsOf(server), HasSubstr(text));
    EXPECT_NE(server.process->Reap().exit_code, 0);
  }
}

}  // namespace
}  // namespace tensorbraid
