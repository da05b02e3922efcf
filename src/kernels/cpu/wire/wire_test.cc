// Tests of the codec for tensors on the wire (codec.h), and of the names of its types and the rules that choose them
// (tensorbraid/core/wire.h).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/wire/codec.h"
#include "tensorbraid/core/dtype.h"

namespace tensorbraid::cpu {
namespace {

using absl::StatusCode;

constexpr Wire kAll[] = {Wire::kFloat32, Wire::kFloat16, Wire::kBFloat16, Wire::kInt8, Wire::kOneBit, Wire::kTopK};
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// Numbers of elements: near the sizes of blocks and of vectors, and near the largest tensor that is sent as float32.
constexpr int64_t kSizes[] = {0, 1, 63, 64, 65, 255, 256, 257, 511, 512, 1000, 4097};

std::vector<uint8_t> Encode(Wire wire, const Shape& shape, const std::vector<float>& x, float* residual = nullptr) {
  std::vector<uint8_t> bytes(WireBytes(wire, shape));
  const WireEncoder encoder(wire, shape, x.data(), residual, bytes.data());
  encoder.Encode(0, encoder.blocks());
  return bytes;
}

StatusOr<std::vector<float>> Decode(std::span<const uint8_t> bytes) {
  TF_ASSIGN_OR_RETURN(const WireHeader header, ReadWireHeader(bytes));
  const int64_t n = header.shape.num_elements();
  std::vector<float> out(n, -77.0F);
  TF_RETURN_IF_ERROR(DecodeWire(header, bytes, 0, (n + kWireBlock - 1) / kWireBlock, out.data()));
  return out;
}

std::vector<float> RoundTrip(Wire wire, const std::vector<float>& x, float* residual = nullptr) {
  return Decode(Encode(wire, {static_cast<int64_t>(x.size())}, x, residual)).value();
}

std::vector<float> Normal(int64_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

// The largest difference that a type may make to value i of x.
float Bound(Wire wire, const std::vector<float>& x, size_t i) {
  const size_t block = i - i % kWireBlock;
  float largest = 0;
  for (size_t k = block; k < std::min<size_t>(x.size(), block + kWireBlock); ++k) {
    largest = std::max(largest, std::abs(x[k]));
  }
  if (x.size() < kMinWireElements) return 0;
  switch (wire) {
    case Wire::kFloat16:
      return std::abs(x[i]) * 0x1p-11F + 0x1p-25F;
    case Wire::kBFloat16:
      return std::abs(x[i]) * 0x1p-8F;
    case Wire::kInt8:
      return largest / 127 * 0.501F;
    case Wire::kOneBit:
      return largest;
    case Wire::kTopK:
      return std::abs(x[i]);
    default:
      return 0;
  }
}

TEST(WireCodecTest, ValuesAreWithinTheBoundOfTheirType) {
  for (const Wire wire : kAll) {
    for (const int64_t n : kSizes) {
      const std::vector<float> x = Normal(n);
      const std::vector<float> y = RoundTrip(wire, x);
      ASSERT_EQ(y.size(), x.size());
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_LE(std::abs(x[i] - y[i]), Bound(wire, x, i))
            << WireName(wire) << " " << i << " of " << n << ": " << x[i];
      }
    }
  }
}

TEST(WireCodecTest, ShapesSurvive) {
  for (const Wire wire : kAll) {
    for (const Shape& shape : {Shape({}), Shape({0, 5}), Shape({3, 1, 100}), Shape({2, 2, 2, 2, 2, 2, 2})}) {
      const auto header = ReadWireHeader(Encode(wire, shape, Normal(shape.num_elements())));
      ASSERT_TRUE(header.ok()) << header.status();
      EXPECT_EQ(header->shape, shape);
    }
  }
}

TEST(WireCodecTest, EachTypeTakesItsShareOfTheBytes) {
  const Shape shape = {1000, 1000};
  const double whole = 4e6;
  EXPECT_EQ(WireBytes(Wire::kFloat32, shape), 4'000'024);
  EXPECT_NEAR(WireBytes(Wire::kFloat16, shape) / whole, 1 / 2.0, 0.001);
  EXPECT_NEAR(WireBytes(Wire::kBFloat16, shape) / whole, 1 / 2.0, 0.001);
  EXPECT_NEAR(WireBytes(Wire::kInt8, shape) / whole, 0.254, 0.001);    // of each 1024 bytes, 4 + 256
  EXPECT_NEAR(WireBytes(Wire::kOneBit, shape) / whole, 0.039, 0.001);  // 8 + 32
  EXPECT_NEAR(WireBytes(Wire::kTopK, shape) / whole, 0.02, 0.001);     // 8 bytes for 1 % of the values
  EXPECT_EQ(WireBytes(Wire::kInt8, Shape({2, -1})), -1);
  EXPECT_EQ(WireBytes(Wire::kInt8, Shape::Unknown()), -1);
}

TEST(WireCodecTest, TheSixteenBitTypesRoundAsCastsDo) {
  std::vector<float> x = {0.0F,     -0.0F,    1.0F,         1.0F + 0x1p-11F, 1.0F + 0x1p-8F, 1.0F + 0x1.8p-8F,
                          65504.0F, 65519.0F, 65520.0F,     1e30F,           -1e30F,         0x1p-14F,
                          0x1p-24F, 0x1p-25F, 0x1.8p-25F,   -0x1.8p-24F,     0x1p-140F,      kInf,
                          -kInf,    0x1p-15F, 0x1.ffcp-15F, 0x1.ffep-15F,    3.4e38F,        -3.4028235e38F};
  std::mt19937 random(3);
  while (x.size() < 100'000) {
    const float v = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(v) && (std::abs(v) >= 0x1p-126F || v == 0)) x.push_back(v);
  }
  const auto n = static_cast<int64_t>(x.size());
  const std::vector<float> half = RoundTrip(Wire::kFloat16, x), brain = RoundTrip(Wire::kBFloat16, x);
  std::vector<Float16> halves(n);
  FromFloat(x.data(), halves.data(), n);
  std::vector<float> expected(n);
  ToFloat(halves.data(), expected.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(half[i]), std::bit_cast<uint32_t>(expected[i])) << x[i];
    // Rounds to nearest: no other bfloat16 is nearer, and ties go to the even one.
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]), rest = bits & 0xffff, down = bits - rest;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (down & 0x10000) != 0);
    ASSERT_EQ(std::bit_cast<uint32_t>(brain[i]), down + (up ? 0x10000 : 0)) << x[i];
  }
}

TEST(WireCodecTest, ValuesThatAreNotFiniteStayVisible) {
  for (const float bad : {kNan, -kNan, kInf, -kInf}) {
    for (const Wire wire : kAll) {
      std::vector<float> x = Normal(700), residual(700);
      x[300] = bad;
      const std::vector<float> y = RoundTrip(wire, x, HasErrorFeedback(wire) ? residual.data() : nullptr);
      if (wire == Wire::kInt8 || wire == Wire::kOneBit) {
        // The block of this value decodes to NaNs, and no other block does.
        for (int64_t i = 0; i < 700; ++i) ASSERT_EQ(std::isnan(y[i]), i / 256 == 1) << WireName(wire) << i;
      } else if (std::isnan(bad)) {
        EXPECT_TRUE(std::isnan(y[300])) << WireName(wire);
      } else {
        EXPECT_EQ(y[300], bad) << WireName(wire);
      }
      // The residual is added to the next gradient, so it must stay finite.
      for (const float r : residual) ASSERT_TRUE(std::isfinite(r)) << WireName(wire);
    }
  }
}

TEST(WireCodecTest, TopKSendsTheLargestValuesAndOfEqualOnesTheFirst) {
  std::vector<float> x(1000, 0.5F);
  x[17] = -3;
  x[998] = 2;
  x[999] = 0;
  std::vector<float> expected(1000, 0.0F);
  expected[17] = -3;
  expected[998] = 2;
  for (int i = 0; i < 8; ++i) expected[i] = 0.5F;
  EXPECT_EQ(RoundTrip(Wire::kTopK, x), expected);
  // The values contain more NaNs than are sent.
  std::vector<float> residual(1000);
  std::fill_n(x.begin() + 100, 50, kNan);
  const std::vector<float> y = RoundTrip(Wire::kTopK, x, residual.data());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(std::isnan(y[i]), i >= 100 && i < 110) << i;
  for (const float r : residual) EXPECT_TRUE(std::isfinite(r));
}

TEST(WireCodecTest, WhatIsLostIsSentLater) {
  for (const Wire wire : {Wire::kInt8, Wire::kOneBit, Wire::kTopK}) {
    for (const int64_t n : {64, 300, 1000}) {
      std::vector<float> residual(n), sent(n), sum(n);
      for (int step = 0; step < 200; ++step) {
        const std::vector<float> x = Normal(n, 100 + step), before = residual;
        const std::vector<float> y = RoundTrip(wire, x, residual.data());
        for (int64_t i = 0; i < n; ++i) {
          // The residual is exactly the part that the receiver lacks.
          ASSERT_EQ(residual[i], (x[i] + before[i]) - y[i]) << WireName(wire) << " " << n << " " << i;
          sent[i] += y[i];
          sum[i] += x[i];
        }
      }
      for (int64_t i = 0; i < n; ++i) ASSERT_NEAR(sent[i] + residual[i], sum[i], 0.01) << WireName(wire);
    }
  }
}

TEST(WireCodecTest, BlocksMayBeEncodedSeparately) {
  const std::vector<float> x = Normal(2000);
  for (const Wire wire : kAll) {
    if (wire == Wire::kTopK) continue;
    std::vector<uint8_t> bytes(WireBytes(wire, {2000}));
    const WireEncoder encoder(wire, Shape({2000}), x.data(), nullptr, bytes.data());
    encoder.Encode(5, encoder.blocks());
    encoder.Encode(0, 2);
    encoder.Encode(2, 5);
    EXPECT_EQ(bytes, Encode(wire, {2000}, x)) << WireName(wire);
    const WireHeader header = ReadWireHeader(bytes).value();
    std::vector<float> out(2000);
    ASSERT_TRUE(DecodeWire(header, bytes, 3, 8, out.data()).ok());
    ASSERT_TRUE(DecodeWire(header, bytes, 0, 3, out.data()).ok());
    EXPECT_EQ(out, Decode(bytes).value()) << WireName(wire);
  }
}

TEST(WireCodecTest, TinyValuesDoNotOverflowTheScale) {
  for (const Wire wire : {Wire::kInt8, Wire::kOneBit}) {
    for (const float tiny : {0.0F, 1e-45F, 1e-38F, 1e-36F}) {
      for (const float y : RoundTrip(wire, std::vector<float>(256, tiny))) ASSERT_NEAR(y, tiny, 1e-35);
    }
  }
  for (const float y : RoundTrip(Wire::kInt8, std::vector<float>(256, 3e38F))) ASSERT_NEAR(y / 3e38F, 1, 1e-5);
}

// Every change that makes the bytes inconsistent is refused. AddressSanitizer shows whether bytes after the end are
// read.
TEST(WireCodecTest, MalformedBytesAreRefused) {
  const auto refuses = [](std::vector<uint8_t> bytes, const std::string& why) {
    bytes.shrink_to_fit();
    const auto decoded = Decode(bytes);
    EXPECT_EQ(decoded.status().code(), StatusCode::kInvalidArgument) << why;
  };
  for (const Wire wire : kAll) {
    const std::string name(WireName(wire));
    const std::vector<uint8_t> good = Encode(wire, {30, 20}, Normal(600));
    ASSERT_TRUE(Decode(good).ok());
    for (size_t length = 0; length < good.size(); ++length) {
      refuses({good.begin(), good.begin() + static_cast<int64_t>(length)}, StrCat(name, " cut to ", length));
    }
    std::vector<uint8_t> longer = good;
    longer.push_back(0);
    refuses(longer, name + " with another byte");
    const auto with = [&](size_t at, uint64_t value, size_t size) {
      std::vector<uint8_t> bytes = good;
      std::memcpy(bytes.data() + at, &value, size);
      return bytes;
    };
    refuses(with(0, 'X', 1), name + " with another mark");
    refuses(with(1, 2, 1), name + " of a later version");
    for (const int type : {0, 7, 255}) refuses(with(2, type, 1), StrCat(name, " of type ", type));
    for (const int rank : {0, 1, 3, 200, 254, 255}) refuses(with(3, rank, 1), StrCat(name, " of rank ", rank));
    refuses(with(5, 1, 1), name + " with a reserved byte");
    for (const int64_t size :
         std::initializer_list<int64_t>{0, -1, -30, 60, 1LL << 31, 1LL << 40, 1LL << 59, 1LL << 62,
                                        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
      refuses(with(8, size, 8), StrCat(name, " with a dimension of ", size));
    }
  }
}

TEST(WireCodecTest, IndicesOutsideOfTheTensorAreRefused) {
  const std::vector<uint8_t> good = Encode(Wire::kTopK, {1000}, Normal(1000));
  ASSERT_EQ(good.size(), 16U + 10 * 8);  // a header, 10 indices and 10 values
  const auto with = [&](int k, uint32_t index) {
    std::vector<uint8_t> bytes = good;
    std::memcpy(bytes.data() + 16 + 4 * k, &index, 4);
    return Decode(bytes).status().code();
  };
  uint32_t third;
  std::memcpy(&third, good.data() + 16 + 4 * 3, 4);
  EXPECT_EQ(with(9, 1000), StatusCode::kInvalidArgument);
  EXPECT_EQ(with(9, 0xffffffff), StatusCode::kInvalidArgument);
  EXPECT_EQ(with(4, third), StatusCode::kInvalidArgument);  // the same index twice
  EXPECT_EQ(with(0, 999), StatusCode::kInvalidArgument);    // indices that are not in order
  EXPECT_EQ(with(9, 999), StatusCode::kOk);
}

TEST(WireNameTest, NamesAndTypesCorrespond) {
  for (const Wire wire : kAll) EXPECT_EQ(WireOf(WireName(wire)).value(), wire);
  const Status unknown = WireOf("int4").status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(unknown.message().find("'int4'"), absl::string_view::npos) << unknown;
  EXPECT_TRUE(CheckWireTypes(Wire::kOneBit).ok());
  EXPECT_FALSE(CheckWireTypes({/*parameters=*/Wire::kOneBit, /*gradients=*/Wire::kOneBit}).ok());
}

TEST(WireRulesTest, RulesGiveTheTypesOfJobs) {
  const auto types = ParseWireRules({"ps:bfloat16", "ps:gradients=int8", "other:topk", "third:parameters=int8"});
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_EQ(types->at("ps"), WireTypes(Wire::kBFloat16, Wire::kInt8));
  EXPECT_EQ(types->at("other"), WireTypes(Wire::kDefault, Wire::kTopK));
  EXPECT_EQ(types->at("third"), WireTypes(Wire::kInt8, Wire::kDefault));
  for (const char* bad :
       {"", "ps", ":int8", "ps:", "ps:int4", "ps:values=int8", "ps:parameters=", "ps:parameters=topk"}) {
    EXPECT_EQ(ParseWireRules({bad}).status().code(), StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace tensorbraid::cpu
