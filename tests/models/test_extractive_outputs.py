"""Of a failure's output the one line that says what went wrong; and what counts as failed."""

import json

import pytest
from codexmem_hookspecs.values.capture import ToolUse

from codexmem_core.models.findings import outputs
from codexmem_core.models.findings.commands import understand

LINKER = """cc -O0 -o tide tide.c
/usr/bin/ld: /tmp/cc1.o: in function `main':
tide.c:(.text+0x2f): undefined reference to `sin'
collect2: error: ld returned 1 exit status
make: *** [Makefile:2: tide] Error 1
"""
TAP = """TAP version 13
not ok 1 - the first week is number one
  ---
  error: |-
    Expected values to be strictly equal:

    0 !== 1

  code: 'ERR_ASSERTION'
  ...
# fail 1
"""
CARGO = """   Compiling heron v0.1.0
error[E0382]: borrow of moved value: `x`
error: could not compile `heron` (bin "heron") due to 1 previous error
"""


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (LINKER, "tide.c:(.text+0x2f): undefined reference to `sin'"),
        (TAP, "error: Expected values to be strictly equal: 0 !== 1"),
        (CARGO, "error[E0382]: borrow of moved value: `x`"),
        (
            "python3 -m unittest\nTraceback\nValueError: bad\nFAILED (errors=1)\nmake: *** [check] Error 1",
            "ValueError: bad",
        ),
        ("./main.go:4:2: undefined: foo", "./main.go:4:2: undefined: foo"),
        ("make: *** No rule to make target 'report'.  Stop.", "make: *** No rule to make target 'report'. Stop."),
        ("sh: 0: cannot open deploy.sh: No such file", "sh: 0: cannot open deploy.sh: No such file"),
        # when nothing says what, that something failed is better than nothing
        ("gcc a.c\nmake: *** [Makefile:1: all] Error 1", "gcc a.c"),
        ("make: *** [Makefile:1: all] Error 1", "make: *** [Makefile:1: all] Error 1"),
        ("npm ERR! code ELIFECYCLE\nnpm ERR! missing script: lint", "npm ERR! missing script: lint"),
        ("", ""),
    ],
)
def test_the_line_that_says_what(output, line):
    assert outputs.error_line(output) == line


@pytest.mark.parametrize(
    ("output", "bad"),
    [
        ("# pass 3\n# fail 0", False),
        ("# pass 2\n# fail 1", True),
        ("not ok 1 - x", True),
        ("Ran 2 tests\n\nFAILED (failures=1)", True),
        ("Ran 2 tests\n\nOK", False),
    ],
)
def test_a_summary_of_tests_tells_whether_they_failed(output, bad):
    tool = ToolUse(id="1", name="Bash", status="unknown", output=output)
    call = understand(ToolUse(id="1", name="Bash", input='{"command": "npm test | cat"}'))
    assert outputs.failed(tool, call) is bad
    assert bad or outputs.tests_passed(tool)


PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** End Patch"


@pytest.mark.parametrize(
    ("name", "command", "step", "edited"),
    [
        ("exec_command", f"apply_patch <<'EOF'\n{PATCH}\nEOF", "edit src/a.py", ("src/a.py",)),
        ("exec_command", f"cd /p && apply_patch <<EOF\n{PATCH}\nEOF", "edit src/a.py", ("src/a.py",)),
        ("exec_command", "cat > notes.md <<'EOF'\nmake test\nimport os\nEOF", "write notes.md", ("notes.md",)),
        ("exec_command", "echo hi | tee -a log.txt", "write log.txt", ("log.txt",)),
        ("exec_command", "sed -i s/a/b/ x.c", "sed -i s/a/b/ x.c", ()),
        ("exec_command", "make > /dev/null", "make > /dev/null", ()),
        ("exec_command", f"cat <<'EOF'\n{PATCH}\nEOF", "cat <<'EOF'", ()),
        ("exec_command", "cat > run.sh <<'EOF'\nmake\nEOF\nsh run.sh", "cat > run.sh <<'EOF' …", ()),
    ],
)
def test_what_a_command_changes_is_a_step(name, command, step, edited):
    call = understand(ToolUse(id="1", name=name, input=json.dumps({"cmd": command})), "/p")
    assert (call.step, call.edited) == (step, edited)


@pytest.mark.parametrize(
    "code",
    [
        """const r = await tools.exec_command({cmd: "apply_patch <<'E'\\n*** Begin Patch\\n*** Add File: b.py"});""",
        'await tools.apply_patch("*** Begin Patch\\n*** Add File: b.py\\n+1\\n*** End Patch");',
        "await tools.apply_patch(`*** Begin Patch\n*** Add File: b.py\n+1\n*** End Patch`);",
    ],
)
def test_a_patch_within_code_is_an_edit(code):
    assert understand(ToolUse(id="1", name="exec", input=code)).step == "add b.py"


def test_the_content_of_a_here_document_has_no_purpose():
    call = understand(ToolUse(id="1", name="Bash", input='{"command": "python3 x.py <<E\\nnpm test\\nE"}'))
    assert call.purposes == ("python3 x.py",)
