// The baseline of transfers through UCX: UCX's own benchmark, `ucx_perftest`, which Debian has in the package
// ucx-utils.
#ifndef TENSORBRAID_CLI_BENCH_UCX_PERFTEST_H_
#define TENSORBRAID_CLI_BENCH_UCX_PERFTEST_H_

#include <cstdint>

#include "tensorbraid/core/status.h"

namespace tensorbraid::bench {

// Milliseconds per message of `bytes` bytes between two processes of this machine, the mean of `messages`, with
// connections that report the loss of the other end, as ours do. Blocks. NotFound if the program is not installed.
StatusOr<double> UcxPerftestMs(int64_t bytes, int messages);

}  // namespace tensorbraid::bench

#endif  // TENSORBRAID_CLI_BENCH_UCX_PERFTEST_H_
