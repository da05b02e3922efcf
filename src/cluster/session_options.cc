#include "cluster/session_options.h"

#include <algorithm>

#include "cluster/config.pb.h"
#include "core/strings.h"

namespace tensorbraid {
namespace {

// A rewrite that the level of optimisation switches on or off, unless the client names it.
bool IsOn(proto::RewriterConfig::Toggle toggle, bool otherwise) {
  if (toggle == proto::RewriterConfig::OFF) return false;
  return toggle == proto::RewriterConfig::DEFAULT ? otherwise : true;
}

OptimizeOptions OptimizeOptionsFrom(const proto::GraphOptions& options) {
  const proto::OptimizerOptions& o = options.optimizer_options();
  const proto::RewriterConfig& rewrites = options.rewrite_options();
  if (rewrites.disable_meta_optimizer()) return {.fold_constants = false, .merge_equal = false};
  const bool all = o.opt_level() >= 0;
  return {.fold_constants = IsOn(rewrites.constant_folding(), all || o.do_constant_folding()),
          .merge_equal = IsOn(rewrites.common_subgraph_elimination(), all || o.do_common_subexpression_elimination())};
}

}  // namespace

StatusOr<MasterSessionOptions> SessionOptionsFrom(const proto::ConfigProto& config) {
  MasterSessionOptions options{
      .allow_soft_placement = config.allow_soft_placement(),
      .log_device_placement = config.log_device_placement(),
      .operation_timeout = std::chrono::milliseconds(std::max<int64_t>(0, config.operation_timeout_in_ms())),
      // Tasks that a session has named for itself hold nothing that is meant for others, unless it says so.
      .isolated_state = config.cluster_def().job_size() > 0
                            ? config.isolate_session_state() ||
                                  !config.experimental().share_session_state_in_clusterspec_propagation()
                            : config.isolate_session_state(),
      .optimize = OptimizeOptionsFrom(config.graph_options()),
      .check_all_devices = !config.allow_soft_placement() && !config.graph_options().place_pruned_graph(),
      .cost_graph_every = std::max<int64_t>(0, config.graph_options().build_cost_model()),
      .cost_graph_after = std::max<int64_t>(0, config.graph_options().build_cost_model_after())};
  for (const std::string& filter : config.device_filters()) {
    auto name = DeviceName::Parse(filter);
    if (!name.ok()) return Annotate(name.status(), "device_filters");
    options.device_filters.push_back(*std::move(name));
  }
  return options;
}

}  // namespace tensorbraid
