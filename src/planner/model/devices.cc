#include "planner/model/devices.h"

#include <vector>

#include "core/text/strings.h"

namespace tensorbraid::planner {
namespace {

// Peaks of float32 without tensor cores or sparsity, as the vendors' data sheets give them. For a CPU: base clock times
// the float32 operations that a core's vector units can do in a cycle (AVX2: 2 x 8 lanes x 2, AVX-512 with two units:
// 2 x 16 x 2), and the bandwidth of all memory channels of a socket, 8 bytes each. Intel's CPUs lower their clock for
// vector code, so their peaks are too high: by 0.4 GHz on an E5-2699 v3, says
// computerbase.de/2014-09/intel-xeon-e5-2600-v3-erstmals-mit-avx-taktangaben.
//
// Behind the data sheet is a second source with the same numbers, where one was found.
constexpr KnownDevice kDevices[] = {
    {"k40", true, 1, 4290, 288, "NVIDIA Tesla K40 board specification BD-06902-001; anandtech.com/show/8729"},
    {"k80-die", true, 1, 2800, 240,
     "NVIDIA Tesla K80 board specification BD-07317-001: base clock, half of the board; anandtech.com/show/8729: 562 "
     "MHz, 2 x 2,496 units (4,370 at the boost clock, where power and heat allow it)"},
    {"p100-pcie", true, 1, 9300, 732,
     "NVIDIA Tesla P100 PCIe data sheet, 16 GB; tomshardware.com/news/nvidia-tesla-p100-pcie-gpu,32119.html (720 GB/s "
     "when it was announced)"},
    {"p100", true, 1, 10600, 732,
     "NVIDIA Tesla P100 data sheet, NVLink; hothardware.com/news/nvidia-unveils-beastly-tesla-p100 (720 GB/s when it "
     "was announced)"},
    {"t4", true, 1, 8100, 320, "NVIDIA T4 data sheet; sysrqmts.com: 8.14 TFLOPS, 320 GB/s"},
    {"v100", true, 1, 15700, 900, "NVIDIA V100 data sheet, NVLink; sysrqmts.com: 15.67 TFLOPS, 897 GB/s"},
    {"a100", true, 1, 19500, 1555, "NVIDIA A100 data sheet, SXM 40 GB; glennklockwood.com/garden/processors/A100"},
    {"h100", true, 1, 67000, 3350, "NVIDIA H100 data sheet, SXM; glennklockwood.com/garden/processors/h100"},
    {"xeon-e5-2690v3", false, 12, 83, 68, "Intel ARK: 2.6 GHz, AVX2, 4 channels DDR4-2133; no second source"},
    {"xeon-8380", false, 40, 147, 205,
     "Intel ARK: 2.3 GHz, AVX-512, 8 channels DDR4-3200; anandtech.com/show/16594 (cores), microway.com on Ice Lake SP "
     "(memory); no second source for the clock"},
    {"epyc-7763", false, 64, 78, 205,
     "AMD product page: 2.45 GHz, AVX2, 8 channels DDR4-3200; techgage.com/article/amd-epyc-milan-launch-performance"},
    {"epyc-9654", false, 96, 77, 461,
     "AMD product page: 2.4 GHz, 12 channels DDR5-4800; numberworld.org/blogs/2024_8_7_zen5_avx512_teardown: AVX-512 "
     "on "
     "units of 256 bits, so 32 float32 operations per cycle"},
};

// What it costs to start an op: a kernel launch of CUDA, and a call in our executor.
constexpr double kGpuOpNs = 10'000;
constexpr double kCpuOpNs = 300;

}  // namespace

std::span<const KnownDevice> KnownDevices() { return kDevices; }

StatusOr<DeviceSpeed> SpeedOf(std::string_view name, double efficiency) {
  std::vector<std::string> names;
  for (const KnownDevice& device : kDevices) {
    names.emplace_back(device.name);
    if (device.name != name) continue;
    return DeviceSpeed{.flops_per_s = device.gflops_per_core * 1e9 * efficiency,
                       .bytes_per_s = device.memory_gb_s * 1e9 * efficiency / device.cores,
                       .op_ns = device.is_gpu ? kGpuOpNs : kCpuOpNs,
                       .cores = device.cores,
                       .is_gpu = device.is_gpu};
  }
  const std::string nearest = NearestWord(std::string(name), names);
  return NotFound("no device '", name, "' is known; the table has ", StrJoin(names, ", "),
                  nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?"));
}

}  // namespace tensorbraid::planner
