"""tf.data.Options, and datasets of CSV files whose columns have names."""

import os

from cases_data import rows
from cases_files import in_folder
from registry import case

QUIET = {"names": False}


def chosen(tf):
    """Options are kept by what is made of a dataset, and later ones win."""
    first, second = tf.data.Options(), tf.data.Options()
    first.deterministic, first.experimental_slack = True, True
    first.threading.private_threadpool_size = 4
    second.experimental_deterministic = False
    second.experimental_optimization.map_fusion = True
    dataset = tf.data.Dataset.range(4).with_options(first).map(lambda x: x + 1).with_options(second)
    other = tf.data.Dataset.range(3)
    found = []
    for some in (dataset, dataset.batch(2), tf.data.Dataset.zip((other, dataset)), other, other.concatenate(dataset)):
        options = some.options()
        found.append([options.deterministic, options.experimental_slack, options.threading.private_threadpool_size,
                      options.experimental_threading.max_intra_op_parallelism,
                      options.experimental_optimization.map_fusion, options.autotune.enabled,
                      int(options.experimental_distribute.auto_shard_policy), options == tf.data.Options()])
    merged = first.merge(second)
    return [found, merged.deterministic, merged.experimental_slack, first == tf.data.Options(), first != second,
            rows(tf, dataset.batch(3)), other.options() == tf.data.Options()]


case("data.Options data.ThreadingOptions", chosen, label="options of datasets", **QUIET)


def threads(tf):
    options, own = tf.data.Options(), tf.data.ThreadingOptions()
    own.max_intra_op_parallelism = 3
    options.threading = own
    return [options.threading.max_intra_op_parallelism, own == tf.data.ThreadingOptions(), options.deterministic]


case("data.ThreadingOptions data.Options", threads, label="threads of options", **QUIET)
for number, (name, value) in enumerate((("nothing", 1), ("deterministic", "x"), ("threading", 3))):
    case("data.Options", lambda tf, n=name, v=value: setattr(tf.data.Options(), n, v), label=f"wrong options #{number}")


def table(tf, folder):
    """Batches of the columns of CSV files, by their names."""
    for name, lines in (("a", "1,2.5,x,5000000000\n,NA,z,1\n3,4,w,7\n"), ("b", "7,1e39,y,2\n8,2,v,3\n")):
        with open(os.path.join(folder, name + ".csv"), "w") as file:
            file.write("n,f,text,big\n" + lines)
    make, one = tf.data.experimental.make_csv_dataset, os.path.join(folder, "a.csv")
    both = os.path.join(folder, "*.csv")
    return [rows(tf, make(one, 2, num_epochs=1, shuffle=False, na_value="NA")),
            rows(tf, make(both, 2, label_name="n", num_epochs=1, shuffle=False, na_value="NA")),
            rows(tf, make(both, 2, select_columns=["text", "n"], shuffle=False, num_epochs=2)),
            rows(tf, make(both, 3, select_columns=[1, 3], column_defaults=[tf.float64, tf.int64], shuffle=False), count=3),
            rows(tf, make([one], 1, column_names=list("pqrs"), column_defaults=[[4], [0.5], ["no"], tf.int64],
                          num_epochs=1, shuffle=False, na_value="NA")),
            rows(tf, make(one, 3, column_names=list("pqrs"), header=False, num_epochs=1, shuffle=False)),
            [len(part[0]) for part in [rows(tf, make(both, 1, num_epochs=1, shuffle_seed=4, num_parallel_reads=2))]]]


in_folder("data.Dataset", table, label="CSV files with names of columns", **QUIET)
for number, arguments in enumerate(({"label_name": "no"}, {"column_names": ["a", "a", "b", "c"]}, {"select_columns": ["no"]})):
    def wrong(tf, folder, arguments=arguments):
        path = os.path.join(folder, "a.csv")
        with open(path, "w") as file:
            file.write("a,b,c,d\n1,2,3,4\n")
        return rows(tf, tf.data.experimental.make_csv_dataset(path, 1, num_epochs=1, **arguments))

    in_folder("data.Dataset", wrong, label=f"wrong arguments of make_csv_dataset #{number}", **QUIET)
