// Tests of images in summaries. The images are compressed, so the tests compare pixels, not bytes.
#include <gtest/gtest.h>
#include <png.h>

#include <limits>

#include "executor/evaluate.h"
#include "io/summary.pb.h"
#include "tensorbraid/ops.h"

namespace tensorbraid {
namespace {

StatusOr<proto::Summary> Summarize(const Tensor& images, int64_t max_images = 3) {
  Graph g;
  const Output summary = NodeBuilder(g, "ImageSummary")
                             .Input(Const(g, Tensor::Scalar("tag")))
                             .Input(Const(g, images))
                             .Attr("max_images", max_images)
                             .Output();
  TF_ASSIGN_OR_RETURN(const auto got, Evaluate({summary}));
  proto::Summary message;
  EXPECT_TRUE(message.ParseFromString(got[0].scalar<std::string>()));
  return message;
}

// The pixels of a PNG, with as many channels as the image has.
std::vector<uint8_t> Decode(const std::string& png) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, png.data(), png.size()), 0);
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0);
  return pixels;
}

TEST(ImageSummary, BytesAreKept) {
  const auto summary = Summarize(Tensor::Of<uint8_t>({2, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255}));
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->value_size(), 2);
  EXPECT_EQ(summary->value(1).tag(), "tag/image/1");
  EXPECT_EQ(summary->value(1).image().width(), 2);
  EXPECT_EQ(summary->value(1).image().height(), 1);
  EXPECT_EQ(summary->value(1).image().colorspace(), 3);
  EXPECT_EQ(Decode(summary->value(1).image().encoded_image_string()), (std::vector<uint8_t>{6, 7, 8, 9, 10, 255}));
}

TEST(ImageSummary, ASingleImageHasNoNumberInItsTag) {
  const auto summary = Summarize(Tensor::Of<uint8_t>({2, 1, 1, 1}, {7, 8}), 1);
  ASSERT_EQ(summary->value_size(), 1);
  EXPECT_EQ(summary->value(0).tag(), "tag/image");
}

// Real numbers are scaled as in TensorFlow: so that the largest is 255 or, if some are negative, so that 0 is 128 and
// the largest magnitude is 127 away from it.
TEST(ImageSummary, RealNumbersFillTheRange) {
  const auto positive = Summarize(Tensor::Of<float>({1, 1, 3, 1}, {0, 1, 2}));
  EXPECT_EQ(Decode(positive->value(0).image().encoded_image_string()), (std::vector<uint8_t>{0, 127, 255}));
  const auto both = Summarize(Tensor::Of<double>({1, 1, 3, 1}, {-4, 0, 2}));
  EXPECT_EQ(Decode(both->value(0).image().encoded_image_string()), (std::vector<uint8_t>{1, 128, 191}));
  const auto none = Summarize(Tensor::Of<float>({1, 1, 1, 1}, {0}));
  EXPECT_EQ(Decode(none->value(0).image().encoded_image_string()), (std::vector<uint8_t>{0}));
}

TEST(ImageSummary, PixelsThatAreNotFiniteAreRed) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto summary = Summarize(Tensor::Of<float>({1, 1, 2, 3}, {1, nan, 1, 1, 1, 1}));
  EXPECT_EQ(Decode(summary->value(0).image().encoded_image_string()), (std::vector<uint8_t>{255, 0, 0, 255, 255, 255}));
}

TEST(ImageSummary, ImagesWithoutPixelsAreRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(Summarize(Tensor(kFloat32, {1, 0, 2, 1})).status()));
}

}  // namespace
}  // namespace tensorbraid
