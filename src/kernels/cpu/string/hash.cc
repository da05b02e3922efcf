// Hashes of strings, and fingerprints of the rows of a tensor.
#include <bit>
#include <cstring>

#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "kernels/cpu/elements.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

template <uint64_t (*kHash)(std::string_view)>
Status ToHashBucket(KernelContext& ctx) {
  const auto buckets = static_cast<uint64_t>(ctx.node().attr<int64_t>("num_buckets"));
  return MapStrings<int64_t>(ctx, [buckets](const std::string& s) { return static_cast<int64_t>(kHash(s) % buckets); });
}

Status ToHashBucketStrong(KernelContext& ctx) {
  const auto buckets = static_cast<uint64_t>(ctx.node().attr<int64_t>("num_buckets"));
  const auto& key = ctx.node().attr<std::vector<int64_t>>("key");
  if (key.size() != 2) return InvalidArgument("Key must have 2 elements, got ", key.size());
  return MapStrings<int64_t>(ctx, [&](const std::string& s) {
    return static_cast<int64_t>(SipHash(static_cast<uint64_t>(key[0]), static_cast<uint64_t>(key[1]), s) % buckets);
  });
}

static_assert(std::endian::native == std::endian::little,
              "fingerprints are copied in memory order and must be little-endian");

Status Fingerprint(KernelContext& ctx) {
  TF_ASSIGN_OR_RETURN(const std::string* method, TextOf(ctx, 1, "the method"));
  if (*method != "farmhash64") return InvalidArgument("unknown method '", *method, "'; expected 'farmhash64'");
  const Tensor& data = ctx.input(0);
  if (data.shape().rank() < 1) return InvalidArgument("data must have rank 1 or more, got shape ", data.shape());
  const bool plain = IsPlain(data.dtype());
  if (!plain && data.dtype() != kString) return InvalidArgument("cannot compute fingerprints of type ", data.dtype());
  const int64_t rows = data.shape().dim(0);
  const int64_t per_row = rows == 0 ? 0 : data.num_elements() / rows;
  TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, Shape({rows, int64_t{sizeof(uint64_t)}})));
  uint8_t* to = out->inplace_data<uint8_t>().data();
  for (int64_t row = 0; row < rows; ++row, to += sizeof(uint64_t)) {
    uint64_t value = 0;
    if (plain) {
      const size_t bytes = static_cast<size_t>(per_row) * DTypeSize(data.dtype());
      value = Fingerprint64({static_cast<const char*>(data.raw_data()) + static_cast<size_t>(row) * bytes, bytes});
    } else {
      const auto strings = data.data<std::string>().subspan(static_cast<size_t>(row * per_row), per_row);
      std::vector<uint64_t> each;
      for (const std::string& s : strings) each.push_back(Fingerprint64(s));
      // For one string, use its fingerprint; for several, the fingerprint of their fingerprints.
      value = each.size() == 1
                  ? each[0]
                  : Fingerprint64({reinterpret_cast<const char*>(each.data()), each.size() * sizeof(uint64_t)});
    }
    std::memcpy(to, &value, sizeof value);
  }
  return OkStatus();
}

}  // namespace

void RegisterStringHashKernels(KernelRegistry& r) {
  r.Add("StringToHashBucket", {}, ToHashBucket<Hash64>);
  r.Add("StringToHashBucketFast", {}, ToHashBucket<Fingerprint64>);
  r.Add("StringToHashBucketStrong", {}, ToHashBucketStrong);
  r.Add("Fingerprint", {}, Fingerprint);
}

}  // namespace tensorbraid::cpu
