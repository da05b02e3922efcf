#include "pjrt/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/threads/thread.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/testing/test_plugins.h"

namespace tensorbraid::pjrt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum absl::StatusCode;

const Tensor kOnes = Tensor::Of<float>({4}, {1, 1, 1, 1});
const Tensor kNumbers = Tensor::Of<float>({4}, {1, 2, 3, 4});

// Each test runs with each plugin of TENSORBRAID_TEST_PLUGINS, or with the fake one.
class ProgramTest : public testing::TestWithParam<std::string> {
 protected:
  // Runs a program of two arguments.
  static StatusOr<Program::Results> Run(const Program& program, const Tensor& a, const Tensor& b,
                                        const std::vector<int>& kept = {}, int device = 0) {
    const std::vector<const Tensor*> arguments = {&a, &b};
    return program.Run(arguments, kept, device);
  }
  static std::vector<float> Value(const StatusOr<Program::Results>& results) {
    if (!results.ok()) {
      ADD_FAILURE() << results.status();
      return {};
    }
    return Floats(ToHost(*results->outputs[0], kFloat32, {4}));
  }

  Client& client_ = ClientOf(GetParam());
};
INSTANTIATE_TEST_SUITE_P(All, ProgramTest, testing::ValuesIn(TestPlugins()), PluginName);

TEST_P(ProgramTest, Runs) {
  const auto program = client_.Compile(kAdd, AddOptions());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT((*program)->outputs(), ElementsAre(ArrayType{kFloat32, {4}}));
  const Tensor a = ToDevice(client_, kNumbers).value(), b = ToDevice(client_, kOnes).value();
  auto results = Run(**program, a, b);
  EXPECT_THAT(Value(results), ElementsAre(2, 3, 4, 5));
  EXPECT_TRUE(results->done.Await().ok());
  EXPECT_THAT(Floats(ToHost(a)), ElementsAre(1, 2, 3, 4));  // nothing was consumed
}

TEST_P(ProgramTest, UpdatesADonatedArgumentInPlace) {
  const auto program = client_.Compile(kUpdate, UpdateOptions()).value();
  const Tensor a = ToDevice(client_, kNumbers).value(), b = ToDevice(client_, kOnes).value();
  const uintptr_t address = AddressOf(client_, *ArrayOf(a).value());
  const auto results = Run(*program, a, b);
  EXPECT_THAT(Value(results), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(AddressOf(client_, *results->outputs[0]), address);

  const Status again = Run(*program, a, b).status();
  EXPECT_EQ(again.code(), kFailedPrecondition);
  EXPECT_THAT(again.message(), AllOf(HasSubstr("the program 'update': argument 0"), HasSubstr("has no value")));
}

TEST_P(ProgramTest, KeepsADonatedArgumentThatOthersHold) {
  const auto program = client_.Compile(kUpdate, UpdateOptions()).value();
  const Tensor a = ToDevice(client_, kNumbers).value(), b = ToDevice(client_, kOnes).value();
  EXPECT_THAT(Value(Run(*program, a, b, {0})), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Floats(ToHost(a)), ElementsAre(1, 2, 3, 4));

  // Another buffer shares the array: it is kept without being named.
  const Tensor shared = DeviceTensor(RefPtr<Array>::Share(ArrayOf(a).value()), kFloat32, {4});
  EXPECT_FALSE(DeviceBuffer::Of(a).value()->IsSole());
  EXPECT_THAT(Value(Run(*program, a, b)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Floats(ToHost(shared)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Floats(ToHost(a)), ElementsAre(1, 2, 3, 4));
}

TEST_P(ProgramTest, ChecksItsArguments) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor a = ToDevice(client_, kNumbers).value();
  const auto message_of = [&](const Tensor& b, absl::StatusCode code) {
    const Status status = Run(*program, a, b).status();
    EXPECT_EQ(status.code(), code) << status;
    return std::string(status.message());
  };
  const Tensor integers = ToDevice(client_, Tensor::Of<int32_t>({4}, {1, 2, 3, 4})).value();
  EXPECT_EQ(message_of(integers, kInvalidArgument), "the program 'add': argument 1 must be float32[4], got int32[4]");
  const Tensor square = ToDevice(client_, Tensor::Of<float>({2, 2}, {1, 2, 3, 4})).value();
  EXPECT_EQ(message_of(square, kInvalidArgument), "the program 'add': argument 1 must be float32[4], got float32[2,2]");
  EXPECT_THAT(message_of(ToDevice(client_, kOnes, 1).value(), kInvalidArgument), HasSubstr("another device"));
  EXPECT_THAT(message_of(kOnes, kInternal), HasSubstr("is not in the memory of an accelerator"));
  EXPECT_THAT(message_of(DeviceTensor(nullptr, kFloat32, {4}), kFailedPrecondition), HasSubstr("has no value"));
  const std::vector<const Tensor*> one = {&a};
  EXPECT_EQ(program->Run(one, {}, 0).status(), InvalidArgument("the program 'add': it has 2 arguments, got 1"));
}

TEST_P(ProgramTest, SaysWhyATextDoesNotCompile) {
  for (const std::string& text : {std::string("no program"), std::string(kAdd).replace(60, 3, "???")}) {
    const Status status = client_.Compile(text, AddOptions()).status();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.message(), AllOf(HasSubstr("compiling the program 'add'"), HasSubstr(GetParam())));
    EXPECT_GT(status.message().size(), 80u) << status;
  }
  CompileOptions options = AddOptions();
  options.arguments[0].dtype = kString;
  EXPECT_EQ(client_.Compile(kAdd, options).status().code(), kInvalidArgument);
}

TEST_P(ProgramTest, UsesResultsThatAreNotReady) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor b = ToDevice(client_, kOnes).value();
  Tensor value = ToDevice(client_, kNumbers).value();
  for (int i = 0; i < 100; ++i) {
    value = DeviceTensor(Run(*program, value, b).value().outputs[0], kFloat32, {4});
  }
  EXPECT_THAT(Floats(ToHost(value)), ElementsAre(101, 102, 103, 104));
}

TEST_P(ProgramTest, RunsOnEachDevice) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor a = ToDevice(client_, kNumbers, 1).value(), b = ToDevice(client_, kOnes, 1).value();
  const auto results = Run(*program, a, b, {}, 1);
  EXPECT_THAT(Value(results), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(results->outputs[0]->device(), 1);
  const auto copy = results->outputs[0]->CopyTo(0);
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_THAT(Floats(ToHost(**copy, kFloat32, {4})), ElementsAre(2, 3, 4, 5));
}

TEST_P(ProgramTest, TakesAnArrayUnderAnotherShape) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor square = ToDevice(client_, Tensor::Of<float>({2, 2}, {1, 2, 3, 4})).value();
  EXPECT_THAT(Value(Run(*program, square.Reshaped({4}).value(), ToDevice(client_, kOnes).value())),
              ElementsAre(2, 3, 4, 5));
}

TEST_P(ProgramTest, IsSavedAndLoaded) {
  const std::string bytes = client_.Compile(kUpdate, UpdateOptions()).value()->Serialize().value();
  const auto program = client_.LoadProgram(bytes, UpdateOptions());
  ASSERT_TRUE(program.ok()) << program.status();
  const Tensor a = ToDevice(client_, kNumbers).value(), b = ToDevice(client_, kOnes).value();
  EXPECT_THAT(Value(Run(**program, a, b)), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ((*program)->Memory().value().arguments, 32);

  const Status garbage = client_.LoadProgram("garbage", UpdateOptions()).status();
  EXPECT_FALSE(garbage.ok());
  EXPECT_THAT(garbage.message(), HasSubstr("loading the program 'update'"));
}

TEST_P(ProgramTest, RunsAndCompilesOnManyThreads) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor a = ToDevice(client_, kNumbers).value(), b = ToDevice(client_, kOnes).value();
  std::vector<Thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back("run", [&, t] {
      for (int i = 0; i < 10; ++i) EXPECT_THAT(Value(Run(*program, a, b)), ElementsAre(2, 3, 4, 5));
      if (t == 0) {
        EXPECT_TRUE(client_.Compile(kUpdate, UpdateOptions()).ok());
      }
    });
  }
  for (Thread& thread : threads) thread.Join();
}

TEST_P(ProgramTest, CopiesAllDtypes) {
  for (const DType dtype : {kFloat32, kFloat64, kFloat16, kBfloat16, kInt8, kInt16, kInt32, kInt64, kUint8, kUint16,
                            kUint32, kUint64, kBool, DType::kComplex64, DType::kComplex128}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3, 5}}) {
      Tensor tensor(dtype, shape);
      for (size_t i = 0; i < tensor.num_bytes(); ++i) static_cast<char*>(tensor.inplace_raw_data())[i] = i % 2;
      const auto on_device = ToDevice(client_, tensor, 1);
      ASSERT_TRUE(on_device.ok()) << on_device.status();
      const auto back = ToHost(*on_device);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(std::memcmp(back->raw_data(), tensor.raw_data(), tensor.num_bytes()), 0) << DTypeName(dtype);
    }
  }
  EXPECT_EQ(ToDevice(client_, Tensor::Scalar("text")).status().code(), kInvalidArgument);
}

// A device never uses host memory in place, so code that forgets a copy is noticed.
TEST_P(ProgramTest, DoesNotShareTheMemoryOfTheHost) {
  Tensor tensor(kFloat32, {1 << 16});
  const Tensor on_device = ToDevice(client_, tensor).value();
  EXPECT_NE(AddressOf(client_, *ArrayOf(on_device).value()), reinterpret_cast<uintptr_t>(tensor.raw_data()));
}

TEST_P(ProgramTest, CannotBeUsedInAChild) {
  const auto program = client_.Compile(kAdd, AddOptions()).value();
  const Tensor a = ToDevice(client_, kNumbers).value();
  const pid_t child = fork();
  if (child == 0) {
    const auto fails = [](const Status& status) { return status.code() == kFailedPrecondition; };
    const bool all = fails(Run(*program, a, a).status()) && fails(client_.Compile(kAdd, AddOptions()).status()) &&
                     fails(ToDevice(client_, kOnes).status()) && fails(ToHost(a).status());
    _exit(all ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(Value(Run(*program, a, a)), ElementsAre(2, 4, 6, 8));  // the parent still uses it
}

}  // namespace
}  // namespace tensorbraid::pjrt
