// Summaries for TensorBoard, as serialized Summary messages.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/text/strings.h"
#include "graph/format/tensor_proto.h"
#include "io/png_writer.h"
#include "io/summary.pb.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/string/string.h"
#include "kernels/cpu/summary/histogram.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

Status Emit(KernelContext& ctx, const proto::Summary& summary) {
  ctx.set_output(0, Tensor::Scalar(summary.SerializeAsString()));
  return OkStatus();
}

template <typename T>
Status ScalarSummary(KernelContext& ctx) {
  const Tensor& tags = ctx.input(0);
  const Tensor& values = ctx.input(1);
  if (tags.shape() != values.shape()) {
    return InvalidArgument("tags and values must have the same shape, got ", tags.shape(), " and ", values.shape());
  }
  proto::Summary summary;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    proto::Summary::Value* v = summary.add_value();
    v->set_tag(tags.data<std::string>()[i]);
    v->set_simple_value(static_cast<float>(values.data<T>()[i]));
  }
  return Emit(ctx, summary);
}

template <typename T>
Status HistogramSummary(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* tag, TextOf(ctx, 0, "the tag"));
  Histogram histogram;
  for (const T& v : ctx.input(1).data<T>()) {
    const auto value = static_cast<double>(static_cast<ComputeType<T>>(v));
    if (!std::isfinite(value)) {
      return InvalidArgument("the histogram '", *tag, "' cannot have ", std::isnan(value) ? "a Nan" : "an Infinity");
    }
    histogram.Add(value);
  }
  proto::Summary summary;
  proto::Summary::Value* v = summary.add_value();
  v->set_tag(*tag);
  proto::HistogramProto* h = v->mutable_histo();
  h->set_min(histogram.min);
  h->set_max(histogram.max);
  h->set_num(histogram.num);
  h->set_sum(histogram.sum);
  h->set_sum_squares(histogram.sum_squares);
  for (const auto& [limit, count] : histogram.Buckets()) {
    h->add_bucket_limit(limit);
    h->add_bucket(count);
  }
  return Emit(ctx, summary);
}

// "tag/image/2", or "tag/image" if `max` is 1.
std::string PartTag(const std::string& tag, const char* kind, int64_t max, int64_t i) {
  return max > 1 ? StrCat(tag, "/", kind, "/", i) : StrCat(tag, "/", kind);
}

// The pixels of an image. Bytes are unchanged. Real numbers are scaled to the range of a byte, with 0 at 128 if some
// are negative. Pixels that are not finite get the colour `bad`.
template <typename T>
std::vector<uint8_t> Pixels(std::span<const T> image, int64_t channels, std::span<const uint8_t> bad) {
  std::vector<uint8_t> pixels(image.size());
  if constexpr (std::is_same_v<T, uint8_t>) {
    std::copy(image.begin(), image.end(), pixels.begin());
  } else {
    float low = std::numeric_limits<float>::infinity();
    float high = -low;
    for (const T& v : image) {
      const auto x = static_cast<float>(v);
      if (!std::isfinite(x)) continue;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    constexpr float kTiny = 1e-6f;
    const bool has_negative = low < 0;
    const float most = has_negative ? std::max(std::abs(low), std::abs(high)) : high;
    const float scale = most < kTiny ? 0.0f : (has_negative ? 127.0f : 255.0f) / most;
    const float offset = has_negative ? 128.0f : 0.0f;
    for (size_t begin = 0; begin < image.size(); begin += static_cast<size_t>(channels)) {
      bool finite = true;
      for (int64_t c = 0; c < channels; ++c) finite = finite && std::isfinite(static_cast<float>(image[begin + c]));
      for (int64_t c = 0; c < channels; ++c) {
        pixels[begin + c] =
            finite ? static_cast<uint8_t>(static_cast<float>(image[begin + c]) * scale + offset) : bad[c];
      }
    }
  }
  return pixels;
}

template <typename T>
Status ImageSummary(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* tag, TextOf(ctx, 0, "the tag"));
  const Tensor& images = ctx.input(1);
  const Shape& shape = images.shape();
  if (shape.rank() != 4 || (shape.dim(3) != 1 && shape.dim(3) != 3 && shape.dim(3) != 4)) {
    return InvalidArgument("images must have shape [batch, height, width, channels] with 1, 3 or 4 channels, got ",
                           shape);
  }
  const int64_t channels = shape.dim(3);
  const auto& bad = ctx.node().attr<Tensor>("bad_color");
  if (bad.dtype() != DType::kUint8 || bad.shape().rank() != 1 || bad.num_elements() < channels) {
    return InvalidArgument("bad_color must be a uint8 vector of ", channels, " or more elements, got ", bad.dtype(),
                           bad.shape());
  }
  const int64_t max = ctx.node().attr<int64_t>("max_images");
  const int64_t size = shape.dim(0) == 0 ? 0 : images.num_elements() / shape.dim(0);
  proto::Summary summary;
  for (int64_t i = 0; i < std::min(max, shape.dim(0)); ++i) {
    const std::vector<uint8_t> pixels =
        Pixels<T>(images.data<T>().subspan(static_cast<size_t>(i * size), size), channels, bad.data<uint8_t>());
    proto::Summary::Value* v = summary.add_value();
    v->set_tag(PartTag(*tag, "image", max, i));
    proto::Summary::Image* image = v->mutable_image();
    image->set_height(static_cast<int32_t>(shape.dim(1)));
    image->set_width(static_cast<int32_t>(shape.dim(2)));
    image->set_colorspace(static_cast<int32_t>(channels));
    TF_ASSIGN_OR_RETURN(std::string png, EncodePng(pixels, shape.dim(1), shape.dim(2), channels));
    image->set_encoded_image_string(std::move(png));
  }
  return Emit(ctx, summary);
}

template <typename T>
void AppendLittleEndian(T v, std::string* out) {
  for (size_t i = 0; i < sizeof v; ++i) *out += static_cast<char>(static_cast<uint64_t>(v) >> (8 * i) & 0xff);
}

// A WAV file of 16-bit samples; `samples` are in [-1, 1], ordered by frame, then by channel.
std::string EncodeWav(std::span<const float> samples, uint32_t rate, int64_t channels) {
  constexpr uint32_t kBytes = 2;
  const auto data = static_cast<uint32_t>(samples.size() * kBytes);
  std::string wav = "RIFF";
  AppendLittleEndian<uint32_t>(36 + data, &wav);  // the bytes after this number
  wav += "WAVEfmt ";
  AppendLittleEndian<uint32_t>(16, &wav);  // the bytes of the format
  AppendLittleEndian<uint16_t>(1, &wav);   // PCM
  AppendLittleEndian<uint16_t>(static_cast<uint16_t>(channels), &wav);
  AppendLittleEndian<uint32_t>(rate, &wav);
  AppendLittleEndian<uint32_t>(static_cast<uint32_t>(rate * kBytes * static_cast<uint32_t>(channels)), &wav);
  AppendLittleEndian<uint16_t>(static_cast<uint16_t>(kBytes * static_cast<uint32_t>(channels)), &wav);
  AppendLittleEndian<uint16_t>(8 * kBytes, &wav);
  wav += "data";
  AppendLittleEndian<uint32_t>(data, &wav);
  for (float s : samples) {
    const float scaled = std::isnan(s) ? 0.0f : std::clamp(std::round(s * 32768.0f), -32768.0f, 32767.0f);
    AppendLittleEndian<uint16_t>(static_cast<uint16_t>(static_cast<int16_t>(scaled)), &wav);
  }
  return wav;
}

Status AudioSummary(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* tag, TextOf(ctx, 0, "the tag"));
  const Tensor& clips = ctx.input(1);
  const Shape& shape = clips.shape();
  if (shape.rank() != 2 && shape.rank() != 3) {
    return InvalidArgument("audio must have shape [batch, frames] or [batch, frames, channels], got ", shape);
  }
  if (ctx.input(2).shape().rank() != 0) {
    return InvalidArgument("the sample rate must be a scalar, got shape ", ctx.input(2).shape());
  }
  const float rate = ctx.input(2).data<float>()[0];
  if (!(rate > 0) || rate > 4e9f)
    return InvalidArgument("the sample rate must be positive and at most 4e9, got ", rate);
  constexpr int64_t kMaxSamples = int64_t{1} << 30;  // sizes in WAV files have 32 bits
  const int64_t frames = shape.dim(1);
  const int64_t channels = shape.rank() == 2 ? 1 : shape.dim(2);
  if (channels < 1 || channels > 0xffff || frames < 1 || frames > kMaxSamples / channels) {
    return InvalidArgument("cannot write ", frames, " frames of ", channels, " channels as a WAV file");
  }
  const int64_t max = ctx.node().attr<int64_t>("max_outputs");
  proto::Summary summary;
  for (int64_t i = 0; i < std::min(max, shape.dim(0)); ++i) {
    proto::Summary::Value* v = summary.add_value();
    v->set_tag(PartTag(*tag, "audio", max, i));
    proto::Summary::Audio* audio = v->mutable_audio();
    audio->set_sample_rate(rate);
    audio->set_num_channels(channels);
    audio->set_length_frames(frames);
    audio->set_content_type("audio/wav");
    const auto samples = clips.data<float>().subspan(static_cast<size_t>(i * frames * channels), frames * channels);
    audio->set_encoded_audio_string(EncodeWav(samples, static_cast<uint32_t>(std::lround(rate)), channels));
  }
  return Emit(ctx, summary);
}

bool Parse(const std::string& bytes, google::protobuf::MessageLite* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Status MergeSummary(KernelContext& ctx) {
  proto::Summary merged;
  std::set<std::string> tags;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    for (const std::string& bytes : ctx.input(i).data<std::string>()) {
      proto::Summary summary;
      if (!Parse(bytes, &summary)) return InvalidArgument("input ", i, " is not a serialized Summary message");
      for (auto& value : *summary.mutable_value()) {
        // Values without a tag carry the name of their node instead.
        if (!value.tag().empty() && !tags.insert(value.tag()).second) {
          return InvalidArgument("tag '", value.tag(), "' is in more than one summary");
        }
        *merged.add_value() = std::move(value);
      }
    }
  }
  return Emit(ctx, merged);
}

Status CheckSerializable(const Tensor& t) {
  if (IsPlain(t.dtype()) || t.dtype() == kString) return OkStatus();
  return Unimplemented("cannot summarize tensors of type ", t.dtype());
}

Status TensorSummary(KernelContext& ctx) {
  TF_RETURN_IF_ERROR(CheckSerializable(ctx.input(0)));
  proto::Summary summary;
  proto::Summary::Value* v = summary.add_value();
  v->set_node_name(ctx.node().name());
  ToProto(ctx.input(0), v->mutable_tensor());
  return Emit(ctx, summary);
}

Status TensorSummaryV2(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* tag, TextOf(ctx, 0, "the tag"));
  TF_ASSIGN_OR_RETURN(const std::string* metadata, TextOf(ctx, 2, "the metadata"));
  TF_RETURN_IF_ERROR(CheckSerializable(ctx.input(1)));
  proto::Summary summary;
  proto::Summary::Value* v = summary.add_value();
  v->set_tag(*tag);
  Parse(*metadata, v->mutable_metadata());  // like TensorFlow, ignores parts that cannot be parsed
  ToProto(ctx.input(1), v->mutable_tensor());
  return Emit(ctx, summary);
}

}  // namespace

void RegisterSummaryKernels(KernelRegistry& r) {
  ForEachType<float, double, Float16, Bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
              uint64_t>([&]<typename T>() {
    r.Add("ScalarSummary", {{"T", {DTypeOf<T>::value}}}, ScalarSummary<T>);
    r.Add("HistogramSummary", {{"T", {DTypeOf<T>::value}}}, HistogramSummary<T>, ElementCost<20'000>);
  });
  ForEachType<uint8_t, float, double, Float16>([&]<typename T>() {
    r.Add("ImageSummary", {{"T", {DTypeOf<T>::value}}}, ImageSummary<T>, ElementCost<20'000>);
  });
  r.Add("AudioSummaryV2", {}, AudioSummary, ElementCost<20'000>);
  r.Add("MergeSummary", {}, MergeSummary);
  r.Add("TensorSummary", {}, TensorSummary);
  r.Add("TensorSummaryV2", {}, TensorSummaryV2);
}

}  // namespace tensorbraid::cpu
