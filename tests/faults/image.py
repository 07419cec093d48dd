"""The Dockerfile's steps as a script, in an empty folder and a fresh virtual environment.

Run by `make faults` alone: it installs all that dprl needs, and compiles all kernels.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.problems import ROOT
from tests.test_deploying import COPY, RUN, STEPS

USERADD = "#!/bin/sh\nexit 0\n"  # the container's own user: here it is whoever runs this


def test_the_steps_of_the_image_as_a_script(tmp_path: Path) -> None:
    root, stubs = tmp_path / "root", tmp_path / "stubs"
    root.mkdir()
    stubs.mkdir()
    for name in ("useradd", "chown"):
        (stubs / name).write_text(USERADD)
        (stubs / name).chmod(0o755)
    environment = {
        name: os.environ[name] for name in os.environ if not name.startswith(("DPRL", "NUMBA", "PYTHON"))
    }
    here = root

    def inside(text: str) -> str:
        return re.sub(r"(?<![\w.:/-])/(src|wheels|data|kernels)\b", rf"{root}/\1", text)

    def run(command: str) -> None:
        done = subprocess.run(
            command, shell=True, cwd=here, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"

    for word, rest in STEPS:
        if word == "FROM":
            venv = tmp_path / f"venv{len(list(tmp_path.glob('venv*')))}"
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
            environment["PATH"] = f"{venv / 'bin'}:{stubs}:{os.environ['PATH']}"
        elif word == "WORKDIR":
            here = Path(inside(rest))
            here.mkdir(exist_ok=True)
        elif word == "ENV":
            environment |= dict(pair.split("=") for pair in shlex.split(inside(rest)))
        elif word == COPY and rest == ". .":
            ignored = shutil.ignore_patterns(*(ROOT / ".dockerignore").read_text().replace("**/", "").split())
            shutil.copytree(ROOT, here, ignore=ignored, dirs_exist_ok=True)
        elif word == COPY and not rest.startswith("--from=build"):
            shutil.copy(ROOT / rest.split()[0], inside(rest.split()[1]))
        elif word == RUN:
            run(inside(rest))
    steps = dict(STEPS)
    began = time.monotonic()
    served = subprocess.Popen(
        json.loads(steps["CMD"]), cwd=here, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        health = steps["HEALTHCHECK"].partition("CMD ")[2]
        while subprocess.run(
            health, shell=True, env=environment, capture_output=True, check=False
        ).returncode:
            assert served.poll() is None
            assert time.monotonic() - began < 180.0
            time.sleep(0.5)
        print(f"image: all steps run, healthy after {time.monotonic() - began:.0f} s")
    finally:
        served.send_signal(signal.SIGTERM)
        _, log = served.communicate(timeout=30)
    assert served.returncode == 0
    assert all(isinstance(json.loads(line), dict) for line in log.splitlines()), log
