// A convolutional network on a folder of images. The images of a class are in a folder that has the name of the class.
// Files are listed, shuffled, decoded on several threads and batched while the steps before train, so that a step finds
// its batch ready.
//
//   build/release/examples/image_folder                                    # on images of digits that it writes itself
//   build/release/examples/image_folder --image_dir=flowers --size=64
//   build/release/examples/image_folder --trace=trace.json                 # what a step does, and how long it waits
#include <tensorbraid/raw_ops/io.h>
#include <tensorbraid/tensorbraid.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tf = tensorbraid;
namespace data = tensorbraid::data;
namespace fs = std::filesystem;
namespace layers = tensorbraid::layers;

// Writes the digits of MNIST as PNG files to DIRECTORY/DIGIT/NUMBER.png.
tf::Status WriteDigits(const std::string& directory, const std::string& mnist_dir, int count) {
  TF_ASSIGN_OR_RETURN(data::Mnist mnist, data::Mnist::Load(mnist_dir, {}));
  tf::Graph g;
  auto pixels = tf::Placeholder(g, tf::kFloat32, {data::Mnist::kPixels});
  auto file = tf::Placeholder(g, tf::kString, {});
  auto image = tf::Cast(tf::Reshape(pixels, {28, 28, 1}) * 255.0f, tf::kUint8);
  auto write = tf::raw_ops::WriteFile(file, tf::image::EncodePng(image));
  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  const auto batch = mnist.NextBatch(count);
  for (int i = 0; i < count; ++i) {
    const fs::path path = fs::path(directory) / std::to_string(batch.labels.data<int64_t>()[static_cast<size_t>(i)]) /
                          (std::to_string(i) + ".png");
    TF_ASSIGN_OR_RETURN(const tf::Tensor row, batch.images.Slice(i, i + 1).Reshaped({data::Mnist::kPixels}));
    TF_RETURN_IF_ERROR(session->Run({write}, {{pixels, row}, {file, tf::Tensor::Scalar(path.string())}}).status());
  }
  std::printf("wrote %d images of digits to %s\n", count, directory.c_str());
  return tf::OkStatus();
}

// The names of the folders in a folder, sorted, and the number of files in them.
struct Classes {
  std::vector<std::string> names;
  int64_t num_files = 0;
};
tf::StatusOr<Classes> FindClasses(const std::string& directory) {
  Classes classes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!entry.is_directory()) continue;
    classes.names.push_back(entry.path().filename().string());
    classes.num_files += std::distance(fs::directory_iterator(entry.path()), fs::directory_iterator());
  }
  std::sort(classes.names.begin(), classes.names.end());
  if (classes.names.size() >= 2) return classes;
  return absl::NotFoundError("--image_dir=" + directory + " must have a folder of images for each of several classes");
}

// Two convolutions, each followed by pooling, and two dense layers. Returns a score for each class.
tf::Output Network(tf::Output x, size_t num_classes) {
  x = layers::Conv2D(x, {.filters = 16, .kernel = {5, 5}, .activation = layers::Activation::kRelu});
  x = tf::nn::MaxPool(x, {.size = {2}});
  x = layers::Conv2D(x, {.filters = 32, .kernel = {5, 5}, .activation = layers::Activation::kRelu});
  x = tf::nn::MaxPool(x, {.size = {2}});
  x = layers::Dense(layers::Flatten(x), {.units = 128, .activation = layers::Activation::kRelu});
  return layers::Dense(x, {.units = static_cast<int64_t>(num_classes)});
}

struct Options {
  std::string image_dir, trace;
  int size, steps, batch_size;
};

tf::Status Train(const Options& options) {
  TF_ASSIGN_OR_RETURN(const Classes classes, FindClasses(options.image_dir));
  tf::Graph g;
  g.SetRandomSeed(1);
  const auto decode = [size = options.size](const data::Tensors& file) -> data::Tensors {
    auto pixels = tf::image::DecodeImage(tf::ReadFile(file[0]), {.channels = 1, .expand_animations = false});
    auto resized = tf::image::ResizeBilinear(tf::ExpandDims(pixels, 0), {size, size});
    return {tf::Reshape(resized, {size, size, 1}) / 255.0f, file[1]};
  };
  const auto batches_of = [&](const data::Dataset& files) {
    return files.ParallelMap(decode, -1).Batch(options.batch_size).Prefetch(2);
  };
  // The order of the files is random, but always the same, so that the test has images that are not for training.
  const auto files = data::Dataset::FilesOfClasses(g, options.image_dir, classes.names)
                         .Shuffle(classes.num_files, {.seed = 1, .reshuffle_each_iteration = false});
  const int64_t num_test = classes.num_files / 10;
  const auto training = batches_of(files.Skip(num_test).Shuffle(classes.num_files).Repeat());
  const auto test = batches_of(files.Take(num_test));

  const auto iterator = data::Iterator::FromStructure(g, training.element());
  const auto begin_training = iterator.MakeInitializer(training), begin_test = iterator.MakeInitializer(test);
  const auto batch = iterator.GetNext();  // images, labels
  const auto scores = Network(batch[0], classes.names.size());
  const auto loss = tf::ReduceMean(tf::nn::SparseSoftmaxCrossEntropy(batch[1], scores));
  const auto right = tf::ReduceSum(tf::Cast(tf::Equal(tf::ArgMax(scores, 1), batch[1]), tf::kFloat32));
  const auto train = tf::AdamOptimizer(0.001).Minimize(loss);
  const auto init = tf::GlobalVariablesInitializer(g);

  TF_ASSIGN_OR_RETURN(auto session, tf::Session::Create(g));
  TF_RETURN_IF_ERROR(session->Run({init, begin_training}).status());
  TF_ASSIGN_OR_RETURN(const auto step, session->Prepare({loss, train}));
  float first_loss = 0, last_loss = 0;
  for (int i = 0; i < options.steps; ++i) {
    TF_ASSIGN_OR_RETURN(const auto values, step.Run());
    last_loss = values[0].scalar<float>();
    if (i == 0) first_loss = last_loss;
    if ((i + 1) % 100 == 0) std::printf("step %d of %d: loss %.3f\n", i + 1, options.steps, last_loss);
  }
  if (!options.trace.empty()) {
    tf::RunMetadata metadata;
    TF_RETURN_IF_ERROR(session->Run({train}, {}, {.trace_level = tf::TraceLevel::kFull}, &metadata).status());
    TF_ASSIGN_OR_RETURN(const std::string trace, metadata.ToChromeTrace());
    if (!(std::ofstream(options.trace) << trace)) return absl::UnavailableError("cannot write " + options.trace);
    std::printf("trace of a step: %s, for ui.perfetto.dev; IteratorGetNext waits for the batch\n",
                options.trace.c_str());
  }

  TF_RETURN_IF_ERROR(session->Run({begin_test}).status());
  float correct = 0;
  while (true) {
    const auto tested = session->Run({right});
    if (absl::IsOutOfRange(tested.status())) break;
    TF_RETURN_IF_ERROR(tested.status());
    correct += (*tested)[0].scalar<float>();
  }
  std::printf("loss from %.3f to %.3f, test accuracy %.4f of %lld images\n", first_loss, last_loss,
              correct / static_cast<float>(std::max<int64_t>(1, num_test)), static_cast<long long>(num_test));
  return tf::OkStatus();
}

tf::Status Main(int argc, char** argv) {
  tf::Flags flags("A convolutional network on a folder of images, with a folder for each class.");
  auto& image_dir = flags.Define<std::string>("image_dir", "", "the folder; empty: images of digits in build/digits");
  auto& data_dir = flags.Define<std::string>("data_dir", "examples/data/mnist", "MNIST, for the images of digits");
  auto& size = flags.Define("size", 28, "width and height to which the images are resized");
  auto& steps = flags.Define("train_steps", 600, "steps of the training");
  auto& batch_size = flags.Define("batch_size", 50, "images per step");
  auto& trace = flags.Define<std::string>("trace", "", "write a trace of one step to this file; empty: no trace");
  for (const char* name : {"train_steps", "batch_size"}) flags.AtLeast(name, 1);
  flags.AtLeast("size", 12);
  flags.ParseOrExit(argc, argv);
  if (image_dir.empty()) {
    image_dir = "build/digits";
    if (!fs::exists(image_dir)) {  // under its name only when it is complete
      TF_RETURN_IF_ERROR(WriteDigits(image_dir + ".part", data_dir, 3000));
      fs::rename(image_dir + ".part", image_dir);
    }
  }
  return Train({image_dir, trace, size, steps, batch_size});
}

int main(int argc, char** argv) { return tf::ExitCode(Main(argc, argv)); }
