#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/checkpoint_report.h"
#include "cli/commands.h"

namespace tensorbraid {
namespace {

struct InspectFlags {
  std::string checkpoint;
  std::string other;
  std::string tensor;
  int max_elements = 100;
};

// Returns the exit code: 0, or, like diff, 1 if two checkpoints differ.
StatusOr<int> Inspect(const InspectFlags& flags) {
  TF_ASSIGN_OR_RETURN(const std::string prefix, ResolveCheckpoint(flags.checkpoint));
  std::string text;
  bool equal = true;
  if (!flags.other.empty()) {
    TF_ASSIGN_OR_RETURN(const std::string other, ResolveCheckpoint(flags.other));
    TF_ASSIGN_OR_RETURN(CheckpointComparison comparison, CompareCheckpoints(prefix, other));
    text = std::move(comparison.text);
    equal = comparison.equal;
  } else if (!flags.tensor.empty()) {
    TF_ASSIGN_OR_RETURN(text, DescribeTensor(prefix, flags.tensor, flags.max_elements));
  } else {
    TF_ASSIGN_OR_RETURN(text, DescribeCheckpoint(prefix));
  }
  std::fputs(text.c_str(), stdout);
  return equal ? 0 : 1;
}

}  // namespace

void AddInspectCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App* inspect = app.add_subcommand("inspect", "Show what the files of a training run contain");
  inspect->require_subcommand(1);
  CLI::App* checkpoint = inspect->add_subcommand("checkpoint", "List the tensors of a checkpoint, or compare two");
  checkpoint
      ->add_option("CHECKPOINT", flags->checkpoint,
                   "a prefix (logs/model-100), one of its files, or a directory, for its latest checkpoint")
      ->required();
  CLI::Option* other =
      checkpoint->add_option("OTHER", flags->other, "a second checkpoint: print how it differs from the first");
  CLI::Option* tensor =
      checkpoint->add_option("--tensor", flags->tensor, "print the range and the values of this tensor")
          ->excludes(other);
  checkpoint->add_option("--max_elements", flags->max_elements, "how many values of the tensor to print")
      ->capture_default_str()
      ->needs(tensor)
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  checkpoint->footer(
      "\nReads checkpoints of Tensorbraid and of TensorFlow. Exits with 1 if two checkpoints differ, 2 on an error.\n\n"
      "Examples:\n"
      "  tensorbraid inspect checkpoint logs\n"
      "  tensorbraid inspect checkpoint logs/model.ckpt-2000 --tensor=weights\n"
      "  tensorbraid inspect checkpoint logs/model.ckpt-1000 logs/model.ckpt-2000");
  checkpoint->callback([invocation, flags] {
    invocation->run = [flags] {
      const StatusOr<int> code = Inspect(*flags);
      if (code.ok()) return *code;
      std::fprintf(stderr, "tensorbraid: %s\n", std::string(code.status().message()).c_str());
      return 2;
    };
  });
}

}  // namespace tensorbraid
