"""The check of the processor, before the module is loaded."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

from tensorbraid.internal import processor_check

V3 = ("fpu cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 abm avx avx2 bmi1 bmi2 f16c fma movbe xsave").split()


class ProcessorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def files(self, name, flags):
        """A package that is compiled for `name`, and a processor with these flags."""
        compiled_for, cpuinfo = os.path.join(self.dir, "processor.txt"), os.path.join(self.dir, "cpuinfo")
        with open(compiled_for, "w", encoding="utf-8") as file:
            file.write(name + "\n")
        with open(cpuinfo, "w", encoding="utf-8") as file:
            file.write("processor\t: 0\nvmx flags\t: vnmi\nflags\t\t: " + " ".join(flags) + "\nbugs\t\t: none\n\n")
        return compiled_for, cpuinfo

    def test_a_processor_with_all_flags_is_accepted(self):
        processor_check.check(*self.files("x86-64-v3", V3))

    def test_missing_flags_are_named_with_the_way_out(self):
        flags = [flag for flag in V3 if flag not in ("avx2", "fma")]
        with self.assertRaisesRegex(ImportError, "compiled for x86-64-v3 .* lacks avx2, fma.*TENSORBRAID_ARCH=native"):
            processor_check.check(*self.files("x86-64-v3", flags))
        with self.assertRaisesRegex(ImportError, "lacks avx512bw"):
            processor_check.check(*self.files("x86-64-v4", V3))

    def test_what_is_not_known_is_accepted(self):
        for name in ("native", "", "znver3"):
            processor_check.check(*self.files(name, ["fpu"]))
        compiled_for, cpuinfo = self.files("x86-64-v3", ["fpu"])
        processor_check.check(compiled_for, os.path.join(self.dir, "none"))
        processor_check.check(os.path.join(self.dir, "none"), cpuinfo)
        with open(cpuinfo, "w", encoding="utf-8") as file:
            file.write("processor\t: 0\nFeatures\t: fp asimd\n")  # ARM
        processor_check.check(compiled_for, cpuinfo)

    def test_the_package_checks_before_it_loads_the_module(self):
        files = self.files("x86-64-v3", [flag for flag in V3 if flag != "avx2"])
        program = textwrap.dedent(f"""
            import builtins, sys
            files = dict(zip(["processor.txt", "cpuinfo"], {files!r}))
            real = open
            builtins.open = lambda path, *args, **more: real(files.get(str(path).split("/")[-1], path), *args, **more)
            try:
                import tensorbraid
            except ImportError as error:
                print("refused:", error, "tensorbraid._core" in sys.modules)
        """)
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertRegex(result.stdout, "^refused: This copy of tensorbraid .* lacks avx2.* False\n$")


if __name__ == "__main__":
    unittest.main()
