#include "example_steps.h"

#include <cstdlib>
#include <utility>

#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "io/file.h"
#include "io/file_testutil.h"
#include "planner/model/profile.h"

namespace tensorbraid {
namespace {

// Writes digits without any dark pixel.
void WriteDigits(const TempDir& dir, const std::string& kind, uint32_t count) {
  dir.Write(kind + "-images-idx3-ubyte", Idx({count, 28, 28}, std::string(size_t{28} * 28 * count, 0)));
  dir.Write(kind + "-labels-idx1-ubyte", Idx({count}, std::string(count, 3)));
}

std::string WithDirectory(std::string command, const std::string& directory) {
  for (size_t at = 0; (at = command.find("DIR", at)) != std::string::npos; at += directory.size()) {
    command.replace(at, 3, directory);
  }
  return command;
}

}  // namespace

std::vector<ExampleStep> ExampleSteps() {
  const std::string digits = " --data_dir=DIR --log_dir=DIR/logs";
  const std::string cnn = TB_MNIST_CNN " --device=/gpu:0 --batch_size=4 --train_steps=60" + digits;
  const std::string resnet = TB_RESNET_IMAGES " --device_type=GPU --test_images=0 --batch_size=4 --train_steps=60";
  std::vector<ExampleStep> steps = {
      {.name = "mnist_local",
       .command = TB_MNIST_LOCAL " --device=/gpu:0 --data_dir=DIR --batch_size=20 --train_steps=6000",
       .batch = 100,
       .nodes = 20},
      {.name = "mnist_cnn", .command = cnn, .batch = 100, .nodes = 101},
      {.name = "mnist_cnn_with_a_server",
       .command = TB_LAUNCH " launch --ps=1 --workers=1 -- " + cnn,
       .batch = 100,
       .nodes = 60},
      // The variables are on the CPU.
      {.name = "towers",
       .command = TB_TOWERS " --device_type=GPU --num_devices=2 --batch_size=4 --train_steps=100" + digits,
       .batch = 128,
       .programs = 2,
       .nodes = 50},
      // Backward, the columns divide their gradients at places that follow from shapes on the other device.
      {.name = "two_columns",
       .command = TB_TWO_COLUMNS " --device_type=GPU --batch_size=4 --train_steps=100" + digits,
       .batch = 100,
       .programs = 8,
       .known_later = 4,
       .nodes = 20},
      {.name = "resnet_20", .command = resnet, .batch = 64, .nodes = 601},
      {.name = "resnet_20_bfloat16", .command = resnet + " --bfloat16", .batch = 64, .nodes = 601, .by_command = true},
      // The gradient of the penalty is added to the first tower's on the CPU, beside the variables, before the mean of
      // both towers is computed on the first device.
      {.name = "resnet_20_towers",
       .command = resnet + " --num_devices=2",
       .batch = 64,
       .programs = 3,
       .nodes = 200,
       .host_trips = 1},
  };
#ifdef TB_PYTHON
  const std::string python = "env PYTHONPATH=" TB_PYTHON_PATH " " TB_PYTHON " ";
  steps.insert(steps.end(),
               {{.name = "python_mnist_cnn",
                 .command = python + "examples/python/mnist_cnn.py --device=/gpu:0 --data_dir=DIR --test_images=10 "
                                     "--batch_size=4 --train_steps=100",
                 .batch = 50,
                 .nodes = 100},
                {.name = "python_resnet_20",
                 .command = python + "examples/python/resnet_images.py --device_type=GPU --test_images=0 "
                                     "--batch_size=4 --train_steps=60",
                 .batch = 64,
                 .nodes = 600,
                 .by_command = true},
                {.name = "python_autoencoder",
                 .command = python + "tests/accelerators/generative.py autoencoder 100 4",
                 .batch = 64,
                 .nodes = 100},
                {.name = "python_gan",
                 .command = python + "tests/accelerators/generative.py gan 100 4",
                 .batch = 64,
                 .nodes = 100}});
#endif
  if (std::getenv("TENSORBRAID_TEST_LARGE") != nullptr) {
    const std::string large =
        TB_RESNET_IMAGES " --depth=50 --device_type=GPU --test_images=0 --batch_size=1 --train_steps=40";
    steps.push_back({.name = "resnet_50", .command = large, .batch = 64, .nodes = 1000});
    steps.push_back({.name = "resnet_50_bfloat16", .command = large + " --bfloat16", .batch = 64, .nodes = 1000});
  }
  return steps;
}

StatusOr<planner::TrainingGraph> TrainForProfile(const ExampleStep& example) {
  const TempDir dir;
  WriteDigits(dir, "train", 100);
  WriteDigits(dir, "t10k", 10);
  const std::string line =
      StrCat(kHostSubstituteVariable,
             "=always TENSORBRAID_ACCELERATOR_PLUGIN=GPU:2=" TB_FAKE_PLUGIN
             " TENSORBRAID_LOG=warning TENSORBRAID_STEP_PROFILE=",
             dir.path(), "/profile ", WithDirectory(example.command, dir.path()), " > ", dir.path(), "/output 2>&1");
  const int exit = std::system(line.c_str());
  auto step = planner::ReadProfile(dir.path() + "/profile", 1);
  if (exit == 0 && step.ok()) return step;
  return NotFound("'", line, "' exits with ", exit, ", ", step.status().message(), ":\n",
                  ReadFile(dir.path() + "/output").value_or("no output"));
}

}  // namespace tensorbraid
