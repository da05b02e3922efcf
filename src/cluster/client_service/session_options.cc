#include "cluster/client_service/session_options.h"

#include <algorithm>

#include "cluster/protobuf/config.pb.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Whether a rewrite is on. The client's toggle decides. If the toggle is DEFAULT, the rewrite is on if
// `is_on_by_default`.
bool IsOn(proto::RewriterConfig::Toggle toggle, bool is_on_by_default) {
  if (toggle == proto::RewriterConfig::OFF) return false;
  return toggle == proto::RewriterConfig::DEFAULT ? is_on_by_default : true;
}

OptimizeOptions OptimizeOptionsFrom(const proto::GraphOptions& options) {
  const proto::OptimizerOptions& o = options.optimizer_options();
  const proto::RewriterConfig& rewrites = options.rewrite_options();
  const bool rewrites_on = !rewrites.disable_meta_optimizer();
  const bool level_on = o.opt_level() >= 0;
  OptimizeOptions result;
  const auto skip_unless = [&result](bool is_on, std::initializer_list<const char*> passes) {
    if (!is_on) result.skipped_passes.insert(result.skipped_passes.end(), passes.begin(), passes.end());
  };
  skip_unless(rewrites_on && IsOn(rewrites.constant_folding(), level_on || o.do_constant_folding()),
              {"known_shapes", "constant_folding"});
  skip_unless(
      rewrites_on && IsOn(rewrites.common_subgraph_elimination(), level_on || o.do_common_subexpression_elimination()),
      {"common_subexpressions"});
  skip_unless(rewrites_on, {"fuse_biases", "fuse_batch_norms"});
  skip_unless(IsOn(rewrites.dependency_optimization(), true), {"remove_identities"});
  return result;
}

}  // namespace

StatusOr<MasterSessionOptions> SessionOptionsFrom(const proto::ConfigProto& config) {
  MasterSessionOptions options{
      .allow_soft_placement = config.allow_soft_placement(),
      .log_device_placement = config.log_device_placement(),
      .operation_timeout = std::chrono::milliseconds(std::max<int64_t>(0, config.operation_timeout_in_ms())),
      // A session that brings its own cluster has isolated state by default.
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
