#include "pjrt/described_card.h"

#include <cstdint>

#include "core/text/strings.h"
#include "io/file.h"

namespace tensorbraid::pjrt {
namespace {

// What the makers of the cards publish, as far as it differs.
struct Card {
  const char* name;
  const char* model;
  const char* capability;        // the field cuda_compute_capability
  const char* platform_version;  // the same in words
  int multiprocessors;
  int lanes;  // float32 units of a multiprocessor
  int64_t shared_memory_per_multiprocessor;
  int64_t shared_memory_per_block;  // the most that a block can ask for
  int64_t memory;
  int64_t memory_bytes_per_s;
  int64_t l2_cache;
  double clock_ghz;
};
constexpr Card kCards[] = {
    {"a100", "NVIDIA A100-SXM4-80GB", "major: 8 minor: 0", "Compute Capability 8.0", 108, 64, 167936, 166912,
     85095874560, 2039000000000, 41943040, 1.41},
    {"h100", "NVIDIA H100 80GB HBM3", "major: 9 feature_extension: ACCELERATED_FEATURES", "Compute Capability 9.0a",
     132, 128, 233472, 232448, 84942979072, 3352320000000, 52428800, 1.98},
};

std::string DescriptionOf(const Card& card) {
  return StrCat(
      "gpu_device_info { threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 ",
      "shared_memory_per_core: ", card.shared_memory_per_multiprocessor,
      " threads_per_core_limit: 2048 core_count: ", card.multiprocessors, " fpus_per_core: ", card.lanes,
      " block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 ",
      "block_dim_limit_z: 65535 memory_bandwidth: ", card.memory_bytes_per_s, " l2_cache_size: ", card.l2_cache,
      " clock_rate_ghz: ", card.clock_ghz, " device_memory_size: ", card.memory,
      " shared_memory_per_block_optin: ", card.shared_memory_per_block, " cuda_compute_capability { ", card.capability,
      " } registers_per_core_limit: 65536 registers_per_block_limit: 65536 thread_dim_limit_x: 1024 ",
      "thread_dim_limit_y: 1024 thread_dim_limit_z: 64 device_vendor: \"NVIDIA Corporation\" platform_version: \"",
      card.platform_version, "\" device_address_bits: 64 name: \"", card.model,
      "\" driver_version: \"13.0.0\" runtime_version: \"13.0.0\" compile_time_toolkit_version: \"13.0.0\" ",
      "dnn_version: \"9.12.0\" } platform_name: \"CUDA\" dnn_version_info { major: 9 minor: 12 patch: 0 } ",
      "device_description_str: \"", card.model, "\"");
}

}  // namespace

std::vector<std::string> DescribedCards() {
  std::vector<std::string> names;
  for (const Card& card : kCards) names.emplace_back(card.name);
  return names;
}

StatusOr<DescribedCard> DescribeCard(const std::string& name) {
  if (name.find_first_of("/.") != std::string::npos) {
    TF_ASSIGN_OR_RETURN(std::string description, ReadFile(name));
    return DescribedCard{name, std::move(description)};
  }
  for (const Card& card : kCards) {
    if (name == card.name) return DescribedCard{name, DescriptionOf(card)};
  }
  return NotFound("there is no description of a card '", name, "', only of ", StrJoin(DescribedCards(), ", "),
                  "; a file with one has a '.' or '/' in its name");
}

}  // namespace tensorbraid::pjrt
