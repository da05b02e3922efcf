#include <memory>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/bench/bench.h"
#include "cli/client_options.h"
#include "cli/commands.h"
#include "cli/one_of.h"

namespace tensorbraid {

void AddBenchCommand(CLI::App& app, Invocation* invocation) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* bench =
      app.add_subcommand("bench", "Measure the speed of this machine, or of a cluster of processes on it");
  bench
      ->add_option("NAME", options->name,
                   "step, softmax, lenet, lstm, crnn, push, pull, allpairs, nullstep, sparse or save")
      ->required()
      ->check(OneOf(
          {"step", "softmax", "lenet", "lstm", "crnn", "push", "pull", "allpairs", "nullstep", "sparse", "save"}));
  bench->add_option("--mode", options->mode, "softmax: local, async or sync")
      ->check(OneOf({"local", "async", "sync"}))
      ->capture_default_str();
  bench
      ->add_option("--workers", options->workers,
                   "softmax, nullstep, sparse: number of workers; lenet, lstm, crnn: if more than 1, that many workers "
                   "with one core each "
                   "train synchronously, and are compared with one process on one core")
      ->check(AtLeast(1))
      ->capture_default_str();
  bench->add_option("--threads", options->threads, "lenet, lstm, crnn: number of threads (default: one per core)")
      ->check(AtLeast(1));
  bench->add_option("--ps", options->ps, "number of parameter servers; allpairs: of tasks, at least 2")
      ->check(AtLeast(1))
      ->capture_default_str();
  bench
      ->add_option("--mb", options->mb,
                   "push, pull, allpairs, nullstep: size of the variable in 1e6 bytes; save: of each of ten variables")
      ->check(AtLeast(1e-6))
      ->capture_default_str();
  bench
      ->add_option("--bytes", options->bytes,
                   "push, pull, allpairs, nullstep: size of the variable in bytes, instead of --mb")
      ->check(AtLeast(1));
  bench
      ->add_option("--background_mb", options->background_mb,
                   "push, pull: also push this many MB repeatedly in the background")
      ->check(AtLeast(0));
  bench
      ->add_option("--beside", options->beside,
                   "softmax, async or sync: start this many programs beside it that keep cores busy, and compare the "
                   "steps per second with those of tasks that always poll before they sleep")
      ->check(AtLeast(0));
  bench->add_option("--steps", options->steps, "number of steps to measure")->check(AtLeast(1));
  bench
      ->add_option("--rounds", options->rounds,
                   "push, pull: number of rounds into which the steps are divided; nullstep, sparse, save, models with "
                   "--workers, "
                   "and softmax with --beside: number of rounds")
      ->check(AtLeast(1));
  bench->add_option("--dir", options->directory, "save: the directory below which the checkpoints are written")
      ->capture_default_str();
  bench->add_option("--protocol", options->protocol,
                    "protocol between the tasks: grpc, grpc+ucx, or the best that both ends have (default)");
  bench
      ->add_option("--wire", options->wire,
                   "softmax, nullstep, sparse, and models with --workers: how gradients, or values, travel, such as "
                   "ps:int8, ps:gradients=topk or ps:parameters=bfloat16; may be repeated")
      ->type_name("JOB:TYPE");
  bench->add_option("--target", options->target,
                    "allpairs: a task of a running cluster, such as grpc://alpha:2222, which is measured instead of "
                    "processes on this machine");
  AddClientOptions(bench, &options->tls, &options->token_file, &options->insecure);
  bench->add_option("--rows", options->rows, "sparse: rows of the table")->check(AtLeast(1))->capture_default_str();
  bench->add_option("--dim", options->dim, "sparse: columns of the table")->check(AtLeast(1))->capture_default_str();
  bench->add_option("--k", options->k, "sparse: ids in a step")->check(AtLeast(1))->capture_default_str();
  bench->add_flag("--sum", options->sum, "pull: the worker also adds all elements up, and so reads every byte");
  bench->add_flag("--rss", options->rss, "push, pull: report the memory of each task over 1,000 steps");
  bench->add_flag("--baseline,!--no-baseline", options->baseline,
                  "push, pull: also measure plain gRPC, and ucx_perftest with --protocol=grpc+ucx; nullstep with "
                  "--wire: also float32; lenet, lstm, crnn: also "
                  "oneDNN alone, or with --workers a local "
                  "session (default)");
  bench->add_flag("--smoke", options->smoke, "a short run that only checks that the benchmark works");
  bench->add_flag("--json", options->json, "print one line of JSON per result");
  bench->footer(
      "\nstep      an assign_add in this process whose value is fetched\n"
      "softmax   softmax regression on batches of 100; each worker's own steps while all workers train\n"
      "lenet     two convolutions and two dense layers on batches of 128 images of 28 x 28 pixels, trained with Adam\n"
      "lstm      an LSTM of 200 units over 20 steps on batches of 32, trained with gradient descent\n"
      "crnn      the model of examples/crnn_ctc.cc (convolutions with batch normalization, a bidirectional LSTM, CTC) "
      "on\n"
      "          batches of 32 lines, trained with Adadelta\n"
      "push      assign_add of a tensor held by the worker to a variable on the parameter servers\n"
      "pull      a read of that variable by the worker; the variable changes before each read\n"
      "allpairs  for each pair of tasks: one sums a variable of the other; the last line is for all pairs at once\n"
      "nullstep  each worker reads all parameters, sums them, and adds a gradient of the same size; with --wire, "
      "ratio\n"
      "          compares the steps per second with those of float32\n"
      "sparse    gradient descent on the rows of a table that a batch of ids selects\n"
      "save      checkpoints of ten variables on one parameter server, while a worker pushes a tensor to each of them\n"
      "          in every step; lengthened is by how much the saves lengthen the steps, and the baseline is what\n"
      "          dd conv=fsync does: the same number of bytes, written and synced\n\n"
      "Of lenet, lstm and crnn, cpu_ms is the CPU time of a step, of all threads together, and onednn_ms what oneDNN\n"
      "alone takes for the arithmetic, in its fastest layouts. memory_mb is the peak of the memory over the "
      "steps,\n"
      "beyond what the process had before it made the variables; memory_of_steps_mb, beyond what it had before the\n"
      "first step.\n\n"
      "Tasks are processes on this machine. Values are verified at the end. gb_s is 1e9 bytes per second at the\n"
      "median; ratio is the median of plain gRPC divided by our median, and ucx_perftest_ratio what a message of\n"
      "ucx_perftest takes divided by our median. local_ms is the median of the same step with\n"
      "all variables on the worker, and times_local is our median divided by it. These steps, plain gRPC and ours\n"
      "are measured alternately. With --beside, steps_per_s and no_gate_steps_per_s are of all workers, and ratio is\n"
      "the median over the rounds of the first divided by the second, which are measured alternately, too.\n"
      "Push and pull are measured in several rounds, each with new processes. For each side, the fastest round is "
      "reported: "
      "on a\n"
      "virtual machine, the memory that a process happens to get can halve the speed at which it copies.");
  bench->callback([options, invocation] {
    invocation->run = [options] { return ExitCode(Annotate(RunBench(*options), "tensorbraid bench")); };
  });
}

}  // namespace tensorbraid
