#include "kernels/cpu/embedding/initial_rows.h"

#include <algorithm>
#include <cmath>

#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "kernels/cpu/random/distributions.h"

namespace tensorbraid::cpu {
namespace {

class ConstantRows final : public FirstRows {
 public:
  explicit ConstantRows(float value) : value_(value) {}
  void Fill(int64_t /*key*/, std::span<float> row) const override { std::fill(row.begin(), row.end(), value_); }

 private:
  const float value_;
};

// An element is offset + scale * x, where x is drawn from the distribution D.
template <typename D>
class DrawnRows final : public FirstRows {
 public:
  DrawnRows(uint64_t stream, float offset, float scale) : stream_(stream), offset_(offset), scale_(scale) {}
  void Fill(int64_t key, std::span<float> row) const override {
    const Philox philox(stream_, 0, static_cast<uint64_t>(key));
    float drawn[D::kGroup];
    size_t at = 0;
    for (; at + D::kGroup <= row.size(); at += D::kGroup) {
      D::Draw(philox, at / D::kGroup * D::kBlocks, drawn);
      for (size_t i = 0; i < D::kGroup; ++i) row[at + i] = offset_ + scale_ * drawn[i];
    }
    if (at == row.size()) return;
    D::Draw(philox, at / D::kGroup * D::kBlocks, drawn);
    for (size_t i = 0; at < row.size(); ++i, ++at) row[at] = offset_ + scale_ * drawn[i];
  }

 private:
  const uint64_t stream_;
  const float offset_, scale_;
};

}  // namespace

StatusOr<std::shared_ptr<const FirstRows>> MakeFirstRows(const std::string& distribution,
                                                         const std::vector<float>& arguments, int64_t seed,
                                                         const std::string& whole) {
  const size_t wanted = distribution == "constant" ? 1 : 2;
  const bool finite = std::ranges::all_of(arguments, [](float x) { return std::isfinite(x); });
  if (arguments.size() != wanted || !finite) {
    std::string given;
    for (const float x : arguments) given += StrCat(given.empty() ? "" : ", ", x);
    return InvalidArgument("the initializer '", distribution, "' of growing table '", whole, "' takes ", wanted,
                           wanted == 1 ? " finite number, got [" : " finite numbers, got [", given, "]");
  }
  const float a = arguments[0];
  if (distribution == "constant") return std::make_shared<ConstantRows>(a);
  const uint64_t stream = Fingerprint64(StrCat(seed, ":", whole));
  const float b = arguments[1];
  if (distribution == "uniform") return std::make_shared<DrawnRows<Uniform<float>>>(stream, a, b - a);
  if (distribution == "normal") return std::make_shared<DrawnRows<StandardNormal<float>>>(stream, a, b);
  if (distribution == "truncated_normal") return std::make_shared<DrawnRows<Truncated<float>>>(stream, a, b);
  return InvalidArgument("growing table '", whole, "' has the unknown initializer '", distribution,
                         "': use constant, uniform, normal or truncated_normal");
}

}  // namespace tensorbraid::cpu
