#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/launch/launch_flags.h"
#include "cli/launch/new_engine.h"
#include "cli/one_of.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "launch/jobs/detach.h"
#include "launch/jobs/jobs.h"
#include "launch/launcher/launcher.h"
#include "launch/launcher/task_call.h"

namespace tensorbraid {
namespace {

void AddSlurmOptions(CLI::App* launch, LaunchFlags* flags) {
  const std::string group = "With --on=slurm";
  const auto add = [&](const char* names, auto& value, const char* text) {
    return launch->add_option(names, value, text)->group(group);
  };
  add("--partition", flags->slurm.partition, "the partition; default: that of the cluster")->type_name("NAME");
  add("--nodes", flags->slurm.nodes,
      "number of nodes; default: as many as the tasks need with --tasks_per_node, otherwise 1, or all of an allocation")
      ->check(CLI::Range(1, 100'000));
  add("--tasks_per_node,--tasks-per-node", flags->slurm.tasks_per_node, "how many tasks a node may run")
      ->check(CLI::Range(1, 100'000));
  add("--cpus_per_task,--cpus-per-task", flags->slurm.cpus_per_task, "number of cores for each task")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add("--time", flags->slurm.time, "limit of the job's time, as for srun: minutes, H:M:S or D-H")->type_name("TIME");
  add("--gres", flags->slurm.gres, "what each node must have, as for srun: gpu:2")->type_name("LIST");
  add("--engine_args,--engine-args", flags->engine_arguments,
      "further arguments for srun or sbatch, separated by blanks: \"--account=lab --exclusive\"")
      ->type_name("ARGUMENTS");
  launch->add_flag("--batch", flags->batch, "submit the job by sbatch, and return")->group(group);
  launch
      ->add_flag("--requeue", flags->slurm.requeue,
                 "with --batch: a job whose time is up or which loses a machine waits for its turn again")
      ->group(group);
}

Status RunDetached(const LaunchFlags& flags, std::unique_ptr<Engine> engine) {
  TF_ASSIGN_OR_RETURN(const std::string directory, JobsDirectory(flags.jobs_directory));
  TF_ASSIGN_OR_RETURN(const std::string job,
                      LaunchDetached(flags.options, std::move(engine), {.jobs_directory = directory, .on = flags.on}));
  std::fprintf(stderr, "launch: the tasks run; 'tensorbraid attach %s' follows them, 'tensorbraid stop %s' ends them\n",
               job.c_str(), job.c_str());
  std::printf("%s\n", job.c_str());
  return OkStatus();
}

void AddRayOptions(CLI::App* launch, RayOptions* options) {
  const std::string group = "With --on=ray";
  const auto add = [&](const char* names, auto& value, const char* text) {
    return launch->add_option(names, value, text)->group(group);
  };
  add("--ray_address,--ray-address", options->address,
      "address of the cluster; default: that of $RAY_ADDRESS, or the cluster that this machine belongs to")
      ->type_name("ADDRESS");
  add("--resources", options->resources, "what each task needs: CPU=2,GPU=1; default: CPU=1")->type_name("LIST");
  add("--ps_resources,--ps-resources", options->ps_resources,
      "what each parameter server needs; default: the same as a worker")
      ->type_name("LIST");
  add("--placement", options->placement, "how Ray distributes the tasks over its nodes")
      ->check(OneOf({"SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"}))
      ->capture_default_str();
  add("--wait_s,--wait-s", options->wait_s, "seconds to wait until Ray has what the tasks need")
      ->check(AtLeast(0))
      ->type_name("SECONDS")
      ->capture_default_str();
  add("--python", options->python, "a Python that has the packages ray and tensorbraid")
      ->type_name("FILE")
      ->capture_default_str();
}

// Refuses options of other engines than the one of --on: they would have no effect.
Status CheckEngineOptions(const CLI::App& launch, const LaunchFlags& flags) {
  const std::string prefix = "With --on=";
  const bool is_local = flags.on == "local";
  const std::string this_job = StrCat("this job is on ", flags.on, is_local ? ", the default" : "");
  for (const CLI::Option* option : launch.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name(), group = option->get_group();
    if (is_local && (name == "--directory" || name == "--remote_program")) {
      return InvalidArgument(name, " is for jobs on other machines, and ", this_job,
                             "; --on=ssh and others change that");
    }
    if (name == "--silence_s" && (is_local || flags.on == "kubernetes")) {
      return InvalidArgument("--silence_s is for --on=ssh, slurm, mpi and ray, and ", this_job);
    }
    if (!group.starts_with(prefix) || group == prefix + flags.on) continue;
    if (name == "--sync" && !is_local) continue;  // NewEngine says what takes its place
    return InvalidArgument(name, " is for ", group.substr(prefix.find("--")), ", and ", this_job);
  }
  return OkStatus();
}

}  // namespace

void AddLaunchCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<LaunchFlags>();
  CLI::App* launch = app.add_subcommand("launch", "Start a program as the tasks of a cluster");
  launch
      ->add_option("--on", flags->on,
                   "where: local (this machine), ssh (machines that ssh reaches), slurm, mpi, ray, kubernetes")
      ->check(OneOf({"local", "ssh", "slurm", "mpi", "ray", "kubernetes"}))
      ->capture_default_str();
  launch->add_option("--ps", flags->options.ps, "number of parameter servers")->capture_default_str();
  launch->add_option("--workers", flags->options.workers, "number of workers, with the chief")->capture_default_str();
  launch->add_flag("--evaluator", flags->options.evaluator,
                   "with --env-style=tf_config: one more task, which evaluates the checkpoints of tf.estimator");
  launch->add_option("--log_dir", flags->options.log_dir,
                     "also append each task's output to a file of this directory, for example worker-0.log");
  launch
      ->add_option("--report", flags->options.report_file,
                   "also write the table at the end to this file, as JSON; written even if no task has a server")
      ->type_name("FILE");
  launch->add_option("--env-style,--env_style", flags->style, "how a task is told its cluster, job and index")
      ->check(OneOf({"flags", "tf_config"}))
      ->capture_default_str();
  launch->add_option("--token_file", flags->options.token_file, "pass --token_file=FILE on to each task")
      ->type_name("FILE");
  launch
      ->add_option(
          "--env", flags->environment,
          "set this environment variable in each task; without a value, to that of this process. Not for secrets: "
          "--dry-run prints it. May be given several times")
      ->check([](const std::string& text) { return std::string(ParseEnvironment(text).status().message()); })
      ->type_name("NAME[=VALUE]");
  launch
      ->add_option(
          "--gpus_per_worker,--gpus-per-worker,--gpus", flags->options.gpus_per_worker,
          "GPUs of NVIDIA for each task but the parameter servers, which get none; default: local, ssh and mpi "
          "leave all GPUs of a machine to all of its tasks, slurm, ray and kubernetes ask for none")
      ->check(CLI::Range(0, 64))
      ->type_name("NUMBER");
  launch
      ->add_option("--metrics_port", flags->options.metrics_port,
                   "port on which ps/0 serves the status of the cluster to browsers and to Prometheus")
      ->check(CLI::Range(1, 65535));
  launch
      ->add_option("--restart", flags->restart,
                   "start tasks that fail again: no, on-failure, or on-failure:N for at most N times each")
      ->check([](const std::string& text) { return std::string(ParseRestartPolicy(text).status().message()); })
      ->type_name("POLICY")
      ->capture_default_str();
  launch->add_option("--grace_s", flags->grace_s, "seconds that the other tasks may continue after one has failed")
      ->check(AtLeast(0))
      ->type_name("SECONDS")
      ->capture_default_str();
  launch
      ->add_option("--stop_grace_s", flags->stop_grace_s, "seconds that tasks may take to save and leave after SIGTERM")
      ->check(AtLeast(0))
      ->type_name("SECONDS")
      ->capture_default_str();
  // For the script of --batch --requeue: gets the failure if it is that of a machine.
  launch->add_option("--lost_file", flags->lost_file)->group("");
  launch->add_flag("--dry-run,--dry_run", flags->dry_run, "only print what would be started, and where");
  launch->add_flag("--detach", flags->detach,
                   "return when the tasks have been started; print the name of the job, which goes on");
  launch
      ->add_option("--jobs_dir", flags->jobs_directory,
                   "where --detach keeps the job; default: $TENSORBRAID_JOBS_DIR, else tensorbraid/jobs in "
                   "$XDG_STATE_HOME or ~/.local/state")
      ->type_name("DIR");
  const std::string ssh_group = "With --on=ssh";
  const std::string machines_group = "On other machines";
  launch
      ->add_option("--hosts", flags->hosts, "with ssh and mpi: machines and how many tasks each may run: alpha:4,beta")
      ->group(machines_group)
      ->type_name("LIST");
  launch->add_option("--hostfile", flags->host_file, "the same as a file, a machine in each line: alpha slots=4")
      ->group(machines_group)
      ->type_name("FILE");
  launch
      ->add_option(
          "--spare_nodes,--spare-nodes", flags->spare_nodes,
          "with slurm, ssh and mpi: how many machines run nothing until another one is lost, and then its tasks; "
          "with --hosts the last ones. Needs --restart")
      ->group(machines_group)
      ->check(CLI::Range(1, 100'000));
  launch
      ->add_option("--directory", flags->directory,
                   "the working directory of the tasks on the machines; default: the present one, or the image's")
      ->group(machines_group)
      ->type_name("DIR");
  launch
      ->add_option(
          "--sync", flags->sync,
          "first bring this directory to the machines, at the same path; only what has changed travels (rsync)")
      ->group(ssh_group)
      ->type_name("DIR");
  launch
      ->add_option(
          "--silence_s", flags->silence_s,
          "with ssh, slurm, mpi and ray: seconds without a message from this launcher, because the network is cut or "
          "its machine has died, after which a machine ends its tasks, by SIGTERM and after --stop_grace_s by SIGKILL; "
          "0: never")
      ->group(machines_group)
      ->check(CLI::Range(0.0, 1'000'000.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  AddSlurmOptions(launch, flags.get());
  AddRayOptions(launch, &flags->ray);
  launch->add_option("--mpirun", flags->mpirun, "the mpirun program and its options, separated by blanks")
      ->group("With --on=mpi")
      ->capture_default_str();
  launch->add_option("--ssh", flags->ssh, "the ssh program and its options, separated by blanks")
      ->group(ssh_group)
      ->capture_default_str();
  launch
      ->add_option("--remote_program", flags->remote_program,
                   "tensorbraid on the machines; default: the path of this program, else tensorbraid in PATH")
      ->group(machines_group)
      ->type_name("FILE");
  launch
      ->add_flag("--insecure", flags->insecure,
                 "do not make certificates for the job; anyone who reaches the machines can then run steps")
      ->group(machines_group);
  AddKubernetesOptions(launch, &flags->kubernetes);
  launch->footer(
      R"(
Full usage: tensorbraid launch [OPTIONS] -- PROGRAM [ARGUMENTS]

Each task runs PROGRAM ARGUMENTS --ps_hosts=... --worker_hosts=... --job_name=... --task_index=...; with
--env-style=tf_config it gets the environment variable TF_CONFIG instead of these flags, as tf.estimator
expects it: the first worker is chief/0. Tasks get free ports, which are held until the end. Each line of
output is prefixed with its task, unless it begins with '{'.
SIGTERM lets the tasks save a checkpoint and leave. Ctrl-C does the same, but ends all tasks within 2 s.
The tasks go on while their output is not read. At least the latest 64 MiB are kept; older lines are left
out. When the reader of the output ends (| head), the tasks get SIGTERM, and the exit code is 141.

With --restart=on-failure a task that fails is started again on the same port: after 0.5 s, then after twice
as long each time, up to 30 s. It is not started again if it exits with 2 (an error in its arguments or its
program), or if it fails after a parameter server has ended with 0.
The exit code is 0 if all tasks exited with 0 at last, otherwise the code of the first task that failed for
good.

With --on=ssh each machine needs this program, the user's program at the same path, and a login without a
password. Parameter servers are spread over the machines. The tasks use TLS with certificates that are made
for this job; their keys are in files that only the user can read, and are gone when the job ends.
--sync=DIR removes and overwrites only files that it has brought, and leaves checkpoints alone. For a Python
program it also brings the packages of its Python; the machines need an interpreter of the same version.

With --on=slurm, srun asks for the nodes, or the job runs in the allocation of a batch script or of salloc.
The tasks get SIGTERM before the time is up. With --on=mpi, an mpirun on each machine starts its tasks.

With --detach the job goes on without this terminal, also when you log out. 'tensorbraid jobs' lists such
jobs; 'tensorbraid attach JOB', 'logs JOB' and 'stop JOB' follow, read and end one.

At the end a table says for each task how many steps its sessions made, which share of the time it computed,
waited within steps, or was outside of steps, in the program itself; what it sent and received; and how often
it was started again. Below it is one sentence of advice, if the numbers support one.

With --on=kubernetes each task is a pod of --image, and kubectl creates it with your rights. The pods are
deleted when the job ends; --volume keeps checkpoints.

Examples:
  tensorbraid launch --ps=1 --workers=2 -- build/release/examples/mnist_softmax --train_steps=1000
  tensorbraid launch --ps=1 --workers=2 -- python -m tensorbraid train.py    # written for TensorFlow 1
  tensorbraid launch --on=ssh --hosts=alpha:2,beta:2 --sync=. -- ./train --data_dir=data
  tensorbraid launch --on=ssh --hosts=alpha:2,beta:2 --sync=. -- env/bin/python train.py
  tensorbraid launch --on=slurm --nodes=2 --tasks_per_node=2 --time=1:00:00 -- ./train --data_dir=data
  tensorbraid launch --on=kubernetes --image=registry.example/train:1 --volume=train:/data -- train --data_dir=/data)");
  launch->callback([launch, flags, invocation] {
    invocation->run = [launch, flags, invocation] {
      if (const Status fits = CheckEngineOptions(*launch, *flags); !fits.ok()) {
        return ExitCode(Annotate(fits, "tensorbraid launch"));
      }
      flags->options.command = invocation->program;
      flags->options.insecure = flags->insecure;
      for (const std::string& text : flags->environment) {
        flags->options.environment.push_back(*ParseEnvironment(text));
      }
      flags->options.style = flags->style == "flags" ? TaskStyle::kFlags : TaskStyle::kTfConfig;
      flags->options.restart = *ParseRestartPolicy(flags->restart);
      flags->options.grace = Milliseconds(flags->grace_s);
      flags->options.stop_grace = Milliseconds(flags->stop_grace_s);
      if (flags->batch) return ExitCode(Annotate(LaunchAsBatchJob(*flags, *invocation), "tensorbraid launch"));
      auto engine = NewEngine(*invocation, flags.get());
      if (!engine.ok()) return ExitCode(Annotate(engine.status(), "tensorbraid launch"));
      if (flags->dry_run) {
        const auto text = DescribeLaunch(flags->options, **engine);
        if (text.ok()) std::fputs(text->c_str(), stdout);
        return ExitCode(Annotate(text.status(), "tensorbraid launch"));
      }
      if (flags->detach) return ExitCode(Annotate(RunDetached(*flags, *std::move(engine)), "tensorbraid launch"));
      const auto result = Launch(flags->options, *std::move(engine));
      if (!result.ok()) return ExitCode(Annotate(result.status(), "tensorbraid launch"));
      if (result->machine_lost && !flags->lost_file.empty()) {
        const Status written = WriteFile(flags->lost_file, result->failure + "\n");
        if (!written.ok()) return ExitCode(Annotate(written, "tensorbraid launch: --lost_file"));
      }
      return result->exit_code;
    };
  });
}

}  // namespace tensorbraid
