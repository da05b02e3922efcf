#include <memory>

#include "CLI/CLI.hpp"
#include "cli/bench.h"
#include "cli/commands.h"

namespace tensorbraid {

void AddBenchCommand(CLI::App& app, Invocation* invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench = app.add_subcommand("bench", "Measure what this machine, or a cluster of processes on it, gives");
  bench->add_option("NAME", options->name, "step, softmax, push or pull")
      ->required()
      ->check(CLI::IsMember({"step", "softmax", "push", "pull"}));
  bench->add_option("--mode", options->mode, "softmax: local, async or sync")
      ->check(CLI::IsMember({"local", "async", "sync"}))
      ->capture_default_str();
  bench->add_option("--workers", options->workers, "softmax: number of workers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench->add_option("--ps", options->ps, "number of parameter servers")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench->add_option("--mb", options->mb, "push, pull: size of the variable in 1e6 bytes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench->add_option("--bytes", options->bytes, "push, pull: the same in bytes")->check(CLI::PositiveNumber);
  bench->add_option("--background_mb", options->background_mb, "push, pull: push so much over and over meanwhile")
      ->check(CLI::NonNegativeNumber);
  bench->add_option("--steps", options->steps, "number of steps measured")->check(CLI::PositiveNumber);
  bench->add_option("--rounds", options->rounds, "push, pull: number of rounds that share the steps")
      ->check(CLI::PositiveNumber);
  bench->add_option("--protocol", options->protocol, "between the tasks")->capture_default_str();
  bench->add_flag("--rss", options->rss, "push, pull: tell the memory of each task over 1,000 steps");
  bench->add_flag("--baseline,!--no-baseline", options->baseline, "push, pull: measure plain gRPC beside it (default)");
  bench->add_flag("--smoke", options->smoke, "a short run, to see that it works");
  bench->add_flag("--json", options->json, "one line of JSON per result");
  bench->footer(
      "\nstep      one assign_add in this process, its value fetched\n"
      "softmax   softmax regression, batches of 100, each worker's own steps while all workers train\n"
      "push      assign_add of a tensor held by the worker to a variable on the parameter servers\n"
      "pull      a read of that variable, changed since the last one, by the worker\n\n"
      "Tasks are processes on this machine. Values are verified at the end. gb_s is 1e9 bytes per second at the\n"
      "median; ratio is the median of plain gRPC, measured in turn with ours, over our median. Push and pull are\n"
      "measured in rounds, each with new processes, and the round with the lowest median counts, of ours and of plain\n"
      "gRPC: on virtual machines it depends on the memory that a process gets whether it copies at half the speed.");
  bench->callback([options, invocation] {
    invocation->run = [options] { return ExitCode(Annotate(RunBench(*options), "tensorbraid bench")); };
  });
}

}  // namespace tensorbraid
