// Compiles programs for a card that need not be in this machine.
#ifndef TENSORBRAID_PJRT_TOPOLOGY_H_
#define TENSORBRAID_PJRT_TOPOLOGY_H_

#include <memory>
#include <string>
#include <string_view>

#include "pjrt/described_card.h"
#include "pjrt/plugin.h"
#include "pjrt/program.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

// A card as a plugin knows it from a description. Programs are compiled for it without a client, so that a machine
// without the card and without its driver shows that a program can be compiled, and the memory that it would need.
// Nothing runs; the compiler tries no variants, as it does on the card itself. Thread-safe. Errors name the plugin.
class Topology {
 public:
  // The plugin's error if it cannot read the description; Unimplemented if it compiles for its own devices only.
  // `plugin` must outlive the object.
  static StatusOr<std::unique_ptr<Topology>> Create(const Plugin& plugin, const DescribedCard& card);
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  // Compiles StableHLO text, and returns the memory that the program would need. The plugin's error, with `name`, if
  // the text is wrong or cannot be compiled for the card. Blocks for as long as that takes: from 0.1 s to minutes.
  StatusOr<ProgramMemory> Compile(std::string_view text, const std::string& name) const;

 private:
  Topology(const Plugin& plugin, c_api::Topology* topology);
  const Plugin& plugin_;
  c_api::Topology* const topology_;
  const std::string context_;  // of errors
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_TOPOLOGY_H_
