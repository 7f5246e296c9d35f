"""Known vulnerabilities of the locked versions: `python .ci/audit.py LOCK_FILE`.

Exit code 1 if one is known. If the audit service cannot be reached, the last line begins with NOT
AUDITED and the exit code is 0: nothing was found out, and other checks go on.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ARGUMENTS = (
    "--require-hashes",
    "--disable-pip",
    "--progress-spinner",
    "off",
    "--timeout",
    "10",
    "--format",
    "json",
)


def main(lock: Path) -> int:
    command = [sys.executable, "-m", "pip_audit", *ARGUMENTS, "-r", str(lock)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    locked = len(re.findall(r"^[\w.-]+==", lock.read_text("utf-8"), re.M))
    lines, code = verdict(done.stdout, done.stderr, locked)
    print("\n".join(lines))
    return code


def verdict(report: str, errors: str, locked: int) -> tuple[list[str], int]:
    """What to say, and the exit code.

    `report` and `errors`: what pip-audit wrote; locked: how many versions the lock file holds.
    """
    found = _dependencies(report)
    audited = [package for package in found if "skip_reason" not in package]
    vulnerable = [package for package in audited if package["vulns"]]
    lines = []
    for package in vulnerable:
        names = ", ".join(known["id"] for known in package["vulns"])
        fixed = (
            ", ".join(
                sorted(
                    {
                        version
                        for known in package["vulns"]
                        for version in known["fix_versions"]
                    }
                )
            )
            or "nowhere yet"
        )
        lines.append(
            f"{package['name']} {package['version']}: {names}; fixed in {fixed}"
        )
    if not audited:
        lines.append(
            f"NOT AUDITED: none of {len(found) or locked} locked packages could be looked up."
            f" {_reason(found, errors)}"
        )
        return lines, 0
    lines.append(
        f"{len(audited)} of {len(found) or locked} locked packages audited; {len(vulnerable)} with"
        " known vulnerabilities"
    )
    return lines, int(bool(vulnerable))


def _dependencies(report: str) -> list[dict[str, Any]]:
    """What the audit says of each package; nothing where it did not come to a report."""
    try:
        return list(json.loads(report)["dependencies"])
    except ValueError:
        return []


def _reason(found: list[dict[str, Any]], errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if found:
        return f"e.g. {found[0]['skip_reason']}"
    return lines[-1] if lines else "it said nothing"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
