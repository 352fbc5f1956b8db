"""All tests, in two runs beside each other: those that run whole bots wait for most of their time.

    python tools/run_tests.py

A shell's `&` would leave the second run deaf to Ctrl+C, which some of its tests press.
"""

import subprocess
import sys
import tempfile

PYTEST = (sys.executable, "-m", "pytest")
WHOLE = "tests/e2e"


def main() -> int:
    with tempfile.TemporaryFile() as log:
        whole = subprocess.Popen([*PYTEST, WHOLE], stdout=log, stderr=subprocess.STDOUT)
        try:
            rest = subprocess.call([*PYTEST, f"--ignore={WHOLE}"])
            print(f"等整机测试跑完（{WHOLE}）", flush=True)
            status = whole.wait()
        finally:
            whole.terminate()
        log.seek(0)
        sys.stdout.buffer.write(log.read())
        sys.stdout.flush()
    return rest or status


if __name__ == "__main__":
    sys.exit(main())
