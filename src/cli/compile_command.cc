#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cli/compile_report.h"
#include "cli/plan_flags.h"
#include "core/text/strings.h"
#include "pjrt/plugin.h"
#include "planner/model/training_graph.h"

namespace tensorbraid {
namespace {

struct CompileFlags {
  std::string graph, train_op, card = "h100", plugin, dump;
  int64_t batch = 0;
  std::vector<std::string> shapes;
};

// Returns the exit code: 1 if a program cannot be compiled.
StatusOr<int> RunCompile(const CompileFlags& flags) {
  CompileRequest request;
  TF_ASSIGN_OR_RETURN(request.graph, planner::ReadTrainingGraph(flags.graph, flags.train_op));
  request.options.batch = flags.batch;
  request.dump = flags.dump;
  for (const std::string& text : flags.shapes) {
    TF_ASSIGN_OR_RETURN(auto shape, ParseShapeFlag(text));
    request.options.shapes.insert(std::move(shape));
  }
  TF_ASSIGN_OR_RETURN(const std::string path, CompilerFor(flags.plugin));
  TF_ASSIGN_OR_RETURN(const pjrt::Plugin* plugin, pjrt::Plugin::Load(path));
  TF_ASSIGN_OR_RETURN(const pjrt::DescribedCard card, pjrt::DescribeCard(flags.card));
  TF_ASSIGN_OR_RETURN(const auto topology, pjrt::Topology::Create(*plugin, card));
  TF_ASSIGN_OR_RETURN(const CompileReport report, CompileStep(*topology, request));
  std::printf(
      "%sCompiled for a description of the card '%s' by the plugin '%s' (PJRT %d.%d). Nothing ran on a GPU: this shows "
      "that\nthe step can be compiled and what memory it needs, not how fast it is.\n",
      report.text.c_str(), card.name.c_str(), path.c_str(), plugin->major_version(), plugin->minor_version());
  return report.failed == 0 ? 0 : 1;
}

}  // namespace

void AddCompileCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App* compile =
      app.add_subcommand("compile", "Compile a training step for a GPU that this machine need not have");
  compile->add_option("--graph", flags->graph, "a GraphDef, binary or text")->type_name("FILE")->required();
  compile->add_option("--train_op", flags->train_op, "the operation that trains")->type_name("NAME");
  compile
      ->add_option("--card", flags->card,
                   StrCat("what to compile for: ", StrJoin(pjrt::DescribedCards(), ", "),
                          ", or a file with a GpuTargetConfigProto of XLA as text"))
      ->capture_default_str()
      ->type_name("NAME");
  compile->add_option("--batch", flags->batch, "examples of a step: the first dimension of what is fed")
      ->check(AtLeast(1));
  compile->add_option("--shape", flags->shapes, "the shape of a tensor that the graph does not know; may be repeated")
      ->type_name("NAME=DIM,DIM");
  compile
      ->add_option("--accelerator_plugin", flags->plugin,
                   "compile with this PJRT plugin, instead of the one that $TENSORBRAID_ACCELERATOR_PLUGIN names or "
                   "that is installed")
      ->type_name("PATH");
  compile->add_option("--dump", flags->dump, "write the programs, in StableHLO, into this directory")->type_name("DIR");
  compile->footer(
      "\nNeeds a plugin and two parts of CUDA (pip install --no-deps jax-cuda13-pjrt nvidia-nvvm nvidia-cuda-nvcc), "
      "but\n"
      "no GPU and no driver. Prints the programs of a step, the memory that they need, and the nodes that would run "
      "on\n"
      "the host. Exits with 1 if a program cannot be compiled. See docs/accelerators.md.\n\n"
      "Example:\n"
      "  tensorbraid compile --graph=graph.pb --train_op=train --batch=128 --card=a100");
  compile->callback([flags, invocation] {
    invocation->run = [flags] {
      const StatusOr<int> code = RunCompile(*flags);
      return code.ok() ? *code : ExitCode(Annotate(code.status(), "tensorbraid compile"));
    };
  });
}

}  // namespace tensorbraid
