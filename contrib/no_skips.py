"""Fail when a test was skipped: a skip nobody notices is a test nobody runs. Takes pytest's JUnit report."""

import sys
from pathlib import Path
from xml.etree import ElementTree as ET


def skipped(report: Path) -> list[str]:
    """Tests that were skipped, each with its reason; expected failures do not count."""
    return [
        f"{case.get('classname')}::{case.get('name')}: {skip.get('message')}"
        for case in ET.parse(report).iter("testcase")
        for skip in case.iter("skipped")
        if skip.get("type") != "pytest.xfail"
    ]


if __name__ == "__main__":
    found = skipped(Path(sys.argv[1]))
    print("\n".join(found) if found else "No test was skipped.")
    sys.exit(bool(found))
