// Tests what the table of op test cases (tests/ops) cannot test: gradients of float32 results, random crops with state,
// the public functions, and files that claim to have more data than they have.
#include "tensorbraid/ops/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/text/strings.h"
#include "core/threads/thread_pool.h"
#include "executor/evaluate.h"
#include "kernels/cpu/image/gif_codec.h"
#include "kernels/cpu/image/jpeg_codec.h"
#include "kernels/cpu/image/png_codec.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

Tensor Value(Output o, ThreadPool* pool = nullptr) {
  EvaluateOptions options;
  options.pool = pool;
  auto result = o.valid() ? Evaluate({o}, {}, options) : StatusOr<std::vector<Tensor>>(InvalidArgument("no output"));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->at(0) : Tensor();
}

// Pseudorandom numbers in [-1, 1).
Tensor Numbers(const Shape& shape, int seed) {
  Tensor t(kFloat32, shape);
  double v = 0.37 * seed + 0.11;
  for (float& x : t.mutable_data<float>()) {
    v = std::fmod(v * 997.3 + 0.731, 1.0);
    x = static_cast<float>(2 * v - 1);
  }
  return t;
}

double Dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  return std::inner_product(a.data<float>().begin(), a.data<float>().end(), b.data<float>().begin(), 0.0);
}

// For a linear op R, the gradient G of sum(g R(x)) satisfies <g, R(z)> = <G, z> for all z.
void ExpectLinearGradient(const std::string& what, const Shape& shape, const std::function<Output(Output)>& op) {
  SCOPED_TRACE(what);
  Graph graph;
  const Output x = Const(graph, Numbers(shape, 1));
  const Output y = op(x);
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  const Tensor at_z = Value(op(Const(graph, Numbers(shape, 2))));
  const Tensor weights = Numbers(at_z.shape(), 3);
  const auto gradients = Gradients({ReduceSum(y * weights)}, {x});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const Tensor gradient = Value((*gradients)[0]);
  EXPECT_NEAR(Dot(weights, at_z), Dot(gradient, Numbers(shape, 2)), 1e-3);
}

TEST(ImageGradient, OfResizeIsTheTransposeOfTheOp) {
  const std::vector<image::ResizeOptions> flags = {{}, {.align_corners = true}, {.half_pixel_centers = true}};
  for (const image::ResizeOptions& f : flags) {
    for (const auto& size : std::vector<std::vector<int64_t>>{{7, 3}, {2, 9}, {1, 1}}) {
      const std::string what = StrCat(f.align_corners, f.half_pixel_centers, " ", size[0], "x", size[1]);
      ExpectLinearGradient("bilinear " + what, {2, 5, 6, 3},
                           [&](Output x) { return image::ResizeBilinear(x, size, f); });
      ExpectLinearGradient("bicubic " + what, {2, 5, 6, 3}, [&](Output x) { return image::ResizeBicubic(x, size, f); });
      ExpectLinearGradient("nearest " + what, {2, 5, 6, 3},
                           [&](Output x) { return image::ResizeNearestNeighbor(x, size, f); });
    }
  }
}

TEST(ImageGradient, OfScaleAndTranslateIsTheTransposeOfTheOp) {
  for (const char* kernel : {"lanczos3", "triangle", "gaussian"}) {
    ExpectLinearGradient(kernel, {2, 5, 6, 3}, [&](Output x) {
      Graph& g = *x.graph();
      return NodeBuilder(g, "ScaleAndTranslate")
          .Input(x)
          .Input(Const(g, Tensor::Vector<int32_t>({7, 4})))
          .Input(Const(g, Tensor::Vector<float>({1.4f, 0.7f})))
          .Input(Const(g, Tensor::Vector<float>({0.5f, -0.25f})))
          .Attr("kernel_type", kernel)
          .Output();
    });
  }
}

Tensor SomeBoxes() {
  return Tensor::Of<float>({3, 4}, {0, 0, 1, 1, 0.13f, 0.22f, 0.71f, 0.93f, 0.84f, 0.91f, 0.27f, 0.16f});
}

TEST(ImageGradient, OfCropAndResizeIsTheTransposeOfTheOp) {
  for (const bool nearest : {false, true}) {
    ExpectLinearGradient(nearest ? "nearest" : "bilinear", {2, 5, 6, 3}, [&](Output x) {
      return image::CropAndResize(x, SomeBoxes(), Tensor::Vector<int32_t>({0, 1, 1}), {3, 4}, {.nearest = nearest});
    });
  }
}

TEST(ImageGradient, OfTheBoxesOfCropAndResizeAgreesWithFiniteDifferences) {
  Graph graph;
  const Output images = Const(graph, Numbers({2, 5, 6, 3}, 1));
  const Tensor weights = Numbers({3, 3, 4, 3}, 2);
  const Output boxes = Placeholder(graph, kFloat32, {3, 4});
  const Output loss =
      ReduceSum(image::CropAndResize(images, boxes, Tensor::Vector<int32_t>({0, 1, 1}), {3, 4}) * weights);
  const auto gradients = Gradients({loss}, {boxes});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  const auto got = Evaluate(*gradients, {{boxes, SomeBoxes()}});
  ASSERT_TRUE(got.ok()) << got.status();
  // The first box is left out: it is the whole image, and the loss has a kink where a box reaches an edge.
  for (size_t i = 4; i < 12; ++i) {
    double at[2];
    constexpr float kStep = 2e-3f;
    for (int side = 0; side < 2; ++side) {
      Tensor moved = SomeBoxes();
      moved.mutable_data<float>()[i] += side == 0 ? -kStep : kStep;
      const auto value = Evaluate({loss}, {{boxes, moved}});
      ASSERT_TRUE(value.ok());
      at[side] = value->at(0).scalar<float>();
    }
    EXPECT_NEAR(got->at(0).data<float>()[i], (at[1] - at[0]) / (2 * kStep), 0.05) << i;
  }
}

TEST(Image, ResizeDoesNotDependOnThreads) {
  ThreadPool pool("image_test", 3);
  Graph graph;
  const Output x = Const(graph, Numbers({3, 70, 90, 3}, 1));
  const std::vector<Output> results = {image::ResizeBilinear(x, {130, 50}), image::ResizeBicubic(x, {130, 50}),
                                       image::ResizeArea(x, {33, 44}), image::ResizeNearestNeighbor(x, {130, 50})};
  for (const Output& o : results) {
    const Tensor one = Value(o), many = Value(o, &pool);
    EXPECT_EQ(std::memcmp(one.raw_data(), many.raw_data(), one.num_bytes()), 0) << o.op().type();
  }
}

// The values are TensorFlow's for these seeds.
TEST(Image, RandomCropsDrawTensorFlowsNumbers) {
  Graph graph;
  std::vector<int32_t> pixels(60 * 90);
  std::iota(pixels.begin(), pixels.end(), 0);
  const Output crop = NodeBuilder(graph, "RandomCrop")
                          .Input(Const(graph, Tensor::Of<int32_t>({60, 90, 1}, pixels)))
                          .Input(Const(graph, Tensor::Vector<int64_t>({3, 4})))
                          .Attr("seed", 5)
                          .Attr("seed2", 7)
                          .Output();
  EXPECT_EQ(Value(crop).data<int32_t>()[0], 3718);
  for (const bool v2 : {false, true}) {
    NodeBuilder sample(graph, v2 ? "SampleDistortedBoundingBoxV2" : "SampleDistortedBoundingBox");
    sample.Input(Const(graph, Tensor::Vector<int32_t>({60, 90, 3})));
    sample.Input(Const(graph, Tensor::Of<float>({1, 2, 4}, {0.1f, 0.2f, 0.5f, 0.6f, 0.3f, 0.3f, 0.9f, 0.8f})));
    if (v2) sample.Input(Const(graph, Tensor::Scalar(0.1f)));
    const Operation op = sample.Attr("seed", 5)
                             .Attr("seed2", 7)
                             .Attr("aspect_ratio_range", std::vector<float>{0.5f, 2.0f})
                             .Attr("area_range", std::vector<float>{0.2f, 0.9f})
                             .Attr("max_attempts", 20)
                             .Finish();
    ASSERT_TRUE(op.valid()) << graph.status();
    EXPECT_THAT(Value(op.output(0)).data<int32_t>(), testing::ElementsAre(13, 17, 0));
    EXPECT_THAT(Value(op.output(1)).data<int32_t>(), testing::ElementsAre(38, 45, -1));
  }
}

TEST(Image, FilesSurviveARoundTripThroughThePublicFunctions) {
  Graph graph;
  Tensor pixels(kUint8, {9, 11, 3});
  int v = 0;
  for (uint8_t& p : pixels.mutable_data<uint8_t>()) p = static_cast<uint8_t>(v += 3);
  const Output png = image::EncodePng(Const(graph, pixels));
  for (const Output& decoded : {image::DecodePng(png), image::DecodeImage(png, {.expand_animations = false})}) {
    const Tensor again = Value(decoded);
    ASSERT_EQ(again.shape(), pixels.shape());
    EXPECT_EQ(std::memcmp(again.raw_data(), pixels.raw_data(), pixels.num_bytes()), 0);
  }
  const Output jpeg = image::EncodeJpeg(Const(graph, pixels), {.quality = 80});
  EXPECT_EQ(Value(image::DecodeJpeg(jpeg, {.ratio = 2})).shape(), Shape({5, 6, 3}));
  EXPECT_EQ(Value(image::DecodeJpeg(jpeg, {.channels = 1})).shape(), Shape({9, 11, 1}));
  EXPECT_EQ(image::DecodePng(png, {.channels = 4}).shape(), Shape({-1, -1, 4}));
}

// If requested, the existing part of a truncated file is decoded.
TEST(ImageFile, TruncatedJpegsCanBeRecovered) {
  std::vector<uint8_t> pixels(40 * 40), decoded(40 * 40);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i % 40 * 3 + i / 40 * 2);
  const auto jpeg = cpu::WriteJpeg(pixels.data(), {40, 40, 1}, {});
  ASSERT_TRUE(jpeg.ok());
  const std::string part = jpeg->substr(0, jpeg->size() - 60);
  const auto allocate = [&](int64_t, const cpu::ImageSize&) -> StatusOr<void*> { return decoded.data(); };
  EXPECT_FALSE(cpu::ReadJpeg(part, {}, allocate).ok());
  ASSERT_TRUE(cpu::ReadJpeg(part, {.try_recover_truncated = true}, allocate).ok());
  EXPECT_EQ(decoded.back(), 128);  // grey
  for (size_t i = 0; i < 40; ++i) EXPECT_NEAR(decoded[i], pixels[i], 4);
}

// Programs look for these words, which are TensorFlow's.
TEST(ImageFile, OfAnotherFormatIsRefusedWithTheFunctionsThatDecodeIt) {
  const auto expect_error = [](Output o, const std::string& words) {
    const Status status = o.valid() ? Evaluate({o}, {}, {}).status() : InvalidArgument("no output");
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(words));
  };
  Graph graph;
  Tensor zeros(kUint8, {2, 3, 3});
  std::ranges::fill(zeros.mutable_data<uint8_t>(), uint8_t{0});
  const Output png = image::EncodePng(Const(graph, zeros)), jpeg = image::EncodeJpeg(Const(graph, zeros));
  const Output bmp = Const(graph, Tensor::Scalar(std::string("BM and no more")));
  expect_error(image::DecodeBmp(jpeg), "Trying to decode JPEG format using DecodeBmp op. Use `decode_jpeg` or");
  expect_error(image::DecodePng(bmp), "Use `decode_bmp` or `decode_image` instead. Op used: DecodePng");
  const Output window = Const(graph, Tensor::Vector<int32_t>({0, 0, 3, 1}));
  expect_error(image::DecodeAndCropJpeg(png, window),
               "DecodeAndCropJpeg operation can run on JPEG only, but detected PNG");
  expect_error(image::DecodeAndCropJpeg(jpeg, window), "Invalid JPEG data or crop window: the window [0, 0, 3, 1]");
}

TEST(Image, FlipsReverseRowsOrColumns) {
  Graph graph;
  const Output x = Const(graph, Tensor::Of<float>({2, 2, 1}, {1, 2, 3, 4}));
  EXPECT_THAT(Value(image::FlipLeftRight(x)).data<float>(), testing::ElementsAre(2, 1, 4, 3));
  EXPECT_THAT(Value(image::FlipUpDown(x)).data<float>(), testing::ElementsAre(3, 4, 1, 2));
  // Chance decides for each image of a batch whether it is flipped.
  const Output batch = Const(graph, Tensor(Numbers({64, 1, 2, 1}, 4)));
  const Tensor in = Numbers({64, 1, 2, 1}, 4), out = Value(image::RandomFlipLeftRight(batch, {.seed = 3}));
  int flipped = 0;
  for (size_t i = 0; i < 128; i += 2) {
    const bool is_flipped = out.data<float>()[i] == in.data<float>()[i + 1];
    EXPECT_EQ(out.data<float>()[i + 1], in.data<float>()[is_flipped ? i : i + 1]);
    flipped += is_flipped ? 1 : 0;
  }
  // Of the 64 images, about half are flipped.
  EXPECT_GT(flipped, 16);
  EXPECT_LT(flipped, 48);
  image::FlipLeftRight(Const(graph, Tensor::Vector<float>({1, 2})));
  EXPECT_THAT(std::string(graph.status().message()), testing::HasSubstr("rank of 3 or 4"));
}

// A batch without pixels may have images of any size: kernels make no tables of them, and do not visit their pixels.
TEST(Image, BatchesWithoutPixelsCostNothingWhateverTheSizeOfTheImages) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const Tensor no_images(kFloat32, {0, 4, 4, 1}), no_channels(kFloat32, {1, 4, 4, 0});
  const Tensor huge_batch(kFloat32, {0, kMost, kMost, 1}), huge_crop(kFloat32, {1, kMost, kMost, 0});
  const Tensor size = Tensor::Vector<int32_t>({kMost, kMost}), two = Tensor::Vector<float>({1, 1});
  const Tensor box = Tensor::Of<float>({1, 4}, {0, 0, 1, 1}), first = Tensor::Vector<int32_t>({0});
  const Tensor transform(kFloat32, {1, 8}), no_boxes(kFloat32, {int64_t{1} << 60, 0, 4});
  const std::vector<std::tuple<const char*, std::vector<Tensor>, Shape>> cases = {
      {"ResizeBilinear", {no_images, size}, {0, kMost, kMost, 1}},
      {"ResizeBicubic", {no_images, size}, {0, kMost, kMost, 1}},
      {"ResizeArea", {no_images, size}, {0, kMost, kMost, 1}},
      {"ResizeNearestNeighbor", {no_images, size}, {0, kMost, kMost, 1}},
      {"ResizeNearestNeighborGrad", {huge_batch, Tensor::Vector<int32_t>({4, 4})}, {0, 4, 4, 1}},
      {"ResizeBilinearGrad", {huge_batch, no_images}, {0, 4, 4, 1}},
      {"ResizeBicubicGrad", {huge_batch, no_images}, {0, 4, 4, 1}},
      {"ScaleAndTranslate", {no_images, size, two, two}, {0, kMost, kMost, 1}},
      {"CropAndResize", {no_channels, box, first, size}, {1, kMost, kMost, 0}},
      {"CropAndResizeGradImage", {huge_crop, box, first, Tensor::Vector<int32_t>({1, 4, 4, 0})}, {1, 4, 4, 0}},
      {"CropAndResizeGradBoxes", {huge_crop, no_channels, box, first}, {1, 4}},
      {"ExtractGlimpse", {no_channels, size, Tensor(kFloat32, {1, 2})}, {1, kMost, kMost, 0}},
      {"ImageProjectiveTransformV2", {no_channels, transform, size}, {1, kMost, kMost, 0}},
      {"DrawBoundingBoxes", {Tensor(kFloat32, {int64_t{1} << 60, 0, 0, 1}), no_boxes}, {int64_t{1} << 60, 0, 0, 1}},
  };
  for (const auto& [op, inputs, shape] : cases) {
    SCOPED_TRACE(op);
    Graph graph;
    NodeBuilder builder(graph, op);
    std::vector<std::pair<Output, Tensor>> feeds;
    for (const Tensor& t : inputs) {
      feeds.emplace_back(Placeholder(graph, t.dtype(), Shape::Unknown()), t);
      builder.Input(feeds.back().first);
    }
    if (std::string_view(op) == "CropAndResizeGradImage") builder.Attr("T", kFloat32);
    if (std::string_view(op) == "ImageProjectiveTransformV2") builder.Attr("interpolation", "BILINEAR");
    const Output result = builder.Output();
    ASSERT_TRUE(graph.status().ok()) << graph.status();
    const auto values = Evaluate({result}, feeds);
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ(values->at(0).shape(), shape);
  }
}

// When a graph is imported, as on a server, errors of shape rules are left to the kernels.
TEST(ImagePatches, TheKernelRefusesWrongWindowsToo) {
  const std::vector<std::array<const char*, 3>> wrong = {
      {"0", "1", "1"}, {"1", "0", "1"}, {"1", "1", "0"}, {"-1", "1", "1"}, {"1", "4611686018427387904", "1"}};
  for (const auto& window : wrong) {
    const auto list = [](const char* name, const char* v) {
      return StrCat("attr { key: '", name, "' value { list { i: [1, ", v, ", ", v, ", 1] } } } ");
    };
    Graph graph;
    const Status imported = graph.ImportGraphDefText(
        StrCat("node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } "
               "node { name: 'y' op: 'ExtractImagePatches' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } "
               "attr { key: 'padding' value { s: 'SAME' } } ",
               list("ksizes", window[0]), list("strides", window[1]), list("rates", window[2]), "}"));
    ASSERT_TRUE(imported.ok()) << imported;
    const auto x = graph.FindOutput("x:0"), y = graph.FindOutput("y:0");
    ASSERT_TRUE(x.ok() && y.ok());
    const Status status = Evaluate({*y}, {{*x, Numbers({1, 4, 4, 1}, 1)}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("must be between 1 and"));
  }
}

// If a file is too short for the size in its header, the decoder must refuse it before it allocates the image.
TEST(ImageFile, IsRefusedWithoutAnAllocationIfItCannotHoldItsSize) {
  const auto refuse = [](int64_t, const cpu::ImageSize&) -> StatusOr<void*> {
    ADD_FAILURE() << "the decoder allocates the image";
    return InvalidArgument("no memory");
  };
  // A grey PNG of 20,000 x 20,000 pixels, which is under the limit of sizes. The file ends within its header.
  std::string png = "\x89PNG\r\n\x1a\n";
  png += std::string("\0\0\0\rIHDR\0\0\x4e\x20\0\0\x4e\x20\x08\0\0\0\0", 21);
  Status status = cpu::ReadPng(png, 0, 8, refuse);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  // A GIF with a frame of 12,000 x 12,000 pixels.
  std::string gif = "GIF89a";
  gif += std::string("\xe0\x2e\xe0\x2e\x80\0\0\1\2\3\4\5\6", 13);
  gif += std::string("\x2c\0\0\0\0\xe0\x2e\xe0\x2e\0\2\1\4\0;", 15);
  status = cpu::ReadGif(gif, false, refuse);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cannot hold"));
  // A JPEG whose header is changed to 20,000 x 20,000 pixels.
  const std::vector<uint8_t> pixels(16 * 16, 7);
  auto jpeg = cpu::WriteJpeg(pixels.data(), {16, 16, 1}, {});
  ASSERT_TRUE(jpeg.ok());
  const size_t at = jpeg->find(std::string("\0\x10\0\x10", 4), jpeg->find("\xff\xc0"));
  ASSERT_NE(at, std::string::npos);
  jpeg->replace(at, 4, "\x4e\x20\x4e\x20");
  status = cpu::ReadJpeg(*jpeg, {}, refuse);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cannot hold"));
}

}  // namespace
}  // namespace tensorbraid
