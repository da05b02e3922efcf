#include "pjrt/topology.h"

#include "core/text/strings.h"
#include "pjrt/math_switches.h"
#include "pjrt/stablehlo_program.h"

namespace tensorbraid::pjrt {
namespace {

c_api::NamedValue TextOption(std::string_view name, std::string_view value) {
  c_api::NamedValue option;
  option.name = name.data();
  option.name_size = name.size();
  option.type = c_api::ValueType::kString;
  option.string_value = value.data();
  option.value_size = value.size();
  return option;
}

}  // namespace

StatusOr<std::unique_ptr<Topology>> Topology::Create(const Plugin& plugin, const DescribedCard& card) {
  // One process with one machine that has one card.
  const c_api::NamedValue options[] = {TextOption("target_config", card.description), TextOption("topology", "1x1x1")};
  c_api::TopologyDescriptionCreateArgs args{.topology_name = card.name.data(),
                                            .topology_name_size = card.name.size(),
                                            .create_options = options,
                                            .num_options = std::size(options)};
  TF_RETURN_IF_ERROR(Annotate(plugin.Call(&c_api::Api::TopologyDescription_Create, args),
                              StrCat("PJRT plugin '", plugin.path(), "': the description of '", card.name, "'")));
  return std::unique_ptr<Topology>(new Topology(plugin, args.topology));
}

Topology::Topology(const Plugin& plugin, c_api::Topology* topology)
    : plugin_(plugin), topology_(topology), context_(StrCat("PJRT plugin '", plugin.path(), "'")) {}

Topology::~Topology() {
  c_api::TopologyDescriptionDestroyArgs args{.topology = topology_};
  plugin_.Call(&c_api::Api::TopologyDescription_Destroy, args).IgnoreError();
}

StatusOr<ProgramMemory> Topology::Compile(std::string_view text, const std::string& name) const {
  const c_api::Program program = StableHlo(text);
  const std::string compile_options = CompileOptionsProto(text);
  c_api::CompileArgs args{.topology = topology_,
                          .program = &program,
                          .compile_options = compile_options.data(),
                          .compile_options_size = compile_options.size()};
  TF_RETURN_IF_ERROR(Annotate(plugin_.Call(&c_api::Api::Compile, args), StrCat(context_, ": compiling ", name)));
  c_api::ExecutableGetCompiledMemoryStatsArgs figures{.executable = args.executable};
  const Status status = plugin_.Call(&c_api::Api::Executable_GetCompiledMemoryStats, figures);
  c_api::ExecutableDestroyArgs destroy{.executable = args.executable};
  plugin_.Call(&c_api::Api::Executable_Destroy, destroy).IgnoreError();
  TF_RETURN_IF_ERROR(Annotate(status, StrCat(context_, ": ", name)));
  return ProgramMemory::Of(figures);
}

}  // namespace tensorbraid::pjrt
