"""Runs the cases of this folder with Tensorbraid, and compares what they return with what they return with TensorFlow.

usage: compare.py [WORD...]   (only the cases whose label, or a name that they cover, contains one of the words)
       compare.py --record    runs TensorFlow for the files of cases whose results in ../references/differential are
                              missing or no longer current

TensorFlow's results are read from ../references/differential. Some of the cases also run with TensorFlow itself, whose
results must be the recorded ones. Prints for each name how many cases agree, the known differences, and how many
callables of tf.compat.v1 count (count.py). Exits with 1 if a result differs. Needs a Python with TensorFlow and NumPy,
and the package tensorbraid in PYTHONPATH.
"""

import collections
import json
import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "interop")]
sys.dont_write_bytecode = True
import count  # noqa: E402
import recorded  # noqa: E402
import registry  # noqa: E402

TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2}
LIVE_EVERY = 40  # every so manieth case also runs with TensorFlow itself
RECORD = "python/tests/differential/compare.py --record"


def run(package, cases):
    """Runs the cases with a package. Returns its version, the callables that it has, and the records by label."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0",
                       TF_USE_LEGACY_KERAS="1")  # tf.layers is in the package tf_keras
    with tempfile.TemporaryDirectory() as folder:
        output, labels, errors = (os.path.join(folder, name) for name in ("output", "labels", "errors"))
        with open(labels, "w") as file:
            json.dump([case.label for case in cases], file)
        with open(errors, "w") as file:
            subprocess.run([sys.executable, os.path.join(HERE, "run_cases.py"), package, output, labels],
                           env=environment, stderr=file, stdout=file)
        version, names, records, last = "", [], {}, None
        with open(output, "rb") as file:
            while True:
                try:
                    item = pickle.load(file)
                except EOFError:
                    text = open(errors).read()
                    sys.exit(f"the process of {package} ended in the case {last!r}:\n{text[-3000:]}")
                if item[0] == "end":
                    return version, names, records
                if item[0] == "package":
                    version, names = item[1:]
                elif item[0] == "case":
                    last = item[1]
                else:
                    records[item[1]] = item[2]


def reference(file, cases):
    """Where TensorFlow's results of a file of cases are, and what they follow from. Labels have numbers, which
    also follow from other files."""
    sources = recorded.sources(os.path.join(HERE, file + ".py"), HERE, os.path.join(HERE, "run_cases.py"))
    return {"path": os.path.join(os.path.dirname(HERE), "references", "differential", file + ".json.xz"),
            "files": sources, "extra": "\n".join(case.label for case in cases)}


def by_file(cases):
    files = collections.defaultdict(list)
    for case in cases:
        files[case.file].append(case)
    return files


def record(cases):
    """Runs TensorFlow for the files of cases that have no current results."""
    stale = {file: some for file, some in by_file(cases).items() if not recorded.is_current(**reference(file, some))}
    if not stale:
        return
    version, _, records = run("tensorflow", [case for some in stale.values() for case in some])
    for file, some in stale.items():
        kept = {case.label: {key: value for key, value in records[case.label].items() if key not in ("calls", "raised")}
                for case in some}
        recorded.write(**reference(file, some), version=version, values=kept)
        print(f"recorded {len(some)} cases of {file}")


def read(cases):
    """TensorFlow's recorded results, by label."""
    results = {}
    for file, some in by_file(cases).items():
        results.update(recorded.read(**reference(file, some), command=RECORD))
    return results


def same(wanted, got, dtype=None):
    """Whether two values agree: floats within the tolerance, all else exactly."""
    a, b = np.asarray(wanted), np.asarray(got)
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return False
    if a.dtype.kind in "fc":
        relative = TOLERANCE.get(dtype or a.dtype.name, 1e-5)
        # Sums of terms that cancel differ by some units in the last place of the terms, which are about 1.
        scale = np.max(np.abs(a[np.isfinite(a)]), initial=0)
        return np.allclose(a, b, rtol=relative, atol=max(relative * min(1, scale), 1e-6), equal_nan=True)
    return bool(np.all(a == b))


def weaker(shape, of):
    """Whether a static shape leaves out something of another, but does not contradict it."""
    return shape is None or (of is not None and len(shape) == len(of)
                             and all(a is None or a == b for a, b in zip(shape, of)))


def difference(case, wanted, got, less_known):
    """The first difference between two records, in words; "" if they agree."""
    if "error" in wanted or "error" in got:
        if "error" not in wanted:
            return f"TensorFlow has no error, Tensorbraid: {got['error'][0]}: {got['error'][2]}"
        stage, classes, text = wanted["error"]
        if "error" not in got:
            return f"Tensorbraid has no error, TensorFlow: {stage}: {text}"
        if classes[0] not in got["error"][1] or stage != got["error"][0]:
            return f"errors: TensorFlow: {stage}: {text}; Tensorbraid: {got['error'][0]}: {got['error'][2]}"
        return ""
    paths = [path for path, _ in wanted["leaves"]]
    if paths != [path for path, _ in got["leaves"]]:
        return f"structures: {paths} and {[path for path, _ in got['leaves']]}"
    if "no gradient" in got and "no gradient" not in wanted:
        return f"only Tensorbraid has no gradient: {got['no gradient']}"
    gradients_differ = "no gradient" in wanted
    dtypes = {}
    for (path, a), (_, b) in zip(wanted["leaves"], got["leaves"]):
        for key in a:
            if key == "name" and not case.names:
                continue
            if key == "shape" and a[key] != b.get(key) and weaker(a[key], b.get(key)):
                continue  # Tensorbraid knows more
            if key == "shape" and case.shapes and a[key] != b.get(key) and weaker(b.get(key), a[key]):
                less_known.append(f"{case.label}: static shape {b.get(key)}, not {a[key]}: {case.shapes}")
                continue
            plain = key == "value" and a["kind"] == b["kind"] == "value"
            equal = same(a[key], b.get(key)) if plain else a[key] == b.get(key)
            if not equal:
                return f"{key} of {path or 'the result'}: {a[key]} and {b.get(key)}"
        dtypes[path] = a.get("dtype")
    if not gradients_differ and wanted["none"] != got["none"]:
        return f"gradients that are None: {wanted['none']} and {got['none']}"
    for step, (a, b) in enumerate(zip(wanted["values"], got["values"])) if case.values else ():
        for path in a:
            if not same(a[path], b[path], dtypes.get(path)):
                return f"value of {path or 'the result'} in step {step}:\n{a[path]}\nand\n{b[path]}"
    return ""


def called(cases, record, differ):
    """The names that the agreeing cases call or whose error they end with, where something is compared."""
    names = set()
    for case in cases:
        if case.label in differ or case.known:
            continue
        if "error" in record[case.label]:
            names.update(record[case.label]["raised"])
        elif record[case.label]["leaves"]:
            names.update(record[case.label]["calls"])
    return names


def main():
    words, cases = sys.argv[1:], registry.read()
    if words == ["--record"]:
        record(cases)
        return
    wanted = read(cases)
    cases = [case for case in cases
             if not words or any(word in name for word in words for name in case.covers + [case.label])]
    if not cases:
        sys.exit("no case has these words")
    _, present, got = run("tensorbraid", cases)
    live = cases[::LIVE_EVERY]
    _, _, again = run("tensorflow", live)
    counts = collections.defaultdict(lambda: [0, 0])
    differences, known, less_known = {}, [], []
    for case in live:
        found = difference(case, wanted[case.label], again[case.label], [])
        if found:
            sys.exit(f"{case.label}: TensorFlow no longer gives what was recorded: {found}. Run: {RECORD}")
    for case in cases:
        found = difference(case, wanted[case.label], got[case.label], less_known)
        if case.known:
            known.append(f"{case.label}: {case.known}" + ("" if found else " (but the results agree: remove the mark)"))
        elif found:
            differences[case.label] = found
        for name in case.covers:
            counts[name][0] += not found
            counts[name][1] += 1
    for name in sorted(counts):
        agree, of = counts[name]
        print(f"{name}: {agree} of {of} cases agree")
    for line in known + less_known:
        print(f"known difference: {line}")
    for label, found in differences.items():
        print(f"DIFFERENCE: {label}: {found}")
    counted = called(cases, got, differences)
    uncalled = sorted(name for name in set(counts) - counted if counts[name][0] and not words)
    if uncalled:
        print("names that cases cover, but do not call with arguments that are not defaults:", *uncalled)
    if not words:
        count.report(present, counted)
    marked = sum(bool(case.known) for case in cases)
    print(f"{len(live)} cases ran with TensorFlow again")
    print(f"{len(cases)} cases: {len(cases) - len(differences) - marked} agree, {marked} known differences, "
          f"{len(differences)} differences")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
