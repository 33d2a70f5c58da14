"""Export C, and run its self-test if there is a compiler."""

import shutil
import subprocess

import dynarm

model = dynarm.compile(dynarm.load("scara"), gravity="input")
made = dynarm.export_c(model, "scara_c", quantities=["inverse_dynamics", "mass_matrix"])
print("wrote", ", ".join(sorted(path.name for path in made.folder.iterdir())))
print("functions:", ", ".join(made.functions))

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler:
    sources = [str(made.folder / f"{made.name}{end}.c") for end in ("", "_test")]
    subprocess.run([compiler, "-std=c99", "-O2", *sources, "-o", "selftest", "-lm"], check=True)
    print(subprocess.run(["./selftest"], capture_output=True, text=True).stdout.strip())
else:
    print("no C compiler here; build it where the controller is")
