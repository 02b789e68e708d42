"""Fixtures of the safety tests: folders behind the guard, and planted secrets of every kind (made up, none is real)."""

import random
import string
from pathlib import Path

import pytest

from codexmem_core.safety.files import GuardedFolder

_PICK = random.Random(7)


def _run(length, alphabet=string.ascii_letters + string.digits):
    return "".join(_PICK.choices(alphabet, k=length))


_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
# Prefixes are put together here so that no scanner takes this file for a leak.
SECRETS = {
    "anthropic-key": "sk-" + "ant-api03-" + _run(40),
    "openai-key": "sk-" + _run(40),
    "openai-key project": "sk-" + "proj-" + _run(20) + "_" + _run(20) + "-" + _run(8),
    "openai-key service": "sk-" + "svcacct-" + _run(44),
    "aws-key": "AK" + "IA" + _run(16, _UPPER),
    "aws-key temporary": "AS" + "IA" + _run(16, _UPPER),
    "github-token ghp": "gh" + "p_" + _run(36),
    "github-token gho": "gh" + "o_" + _run(36),
    "github-token ghu": "gh" + "u_" + _run(36),
    "github-token ghs": "gh" + "s_" + _run(36),
    "github-token ghr": "gh" + "r_" + _run(36),
    "github-token fine": "github" + "_pat_" + _run(22) + "_" + _run(59),
    "gitlab-token": "gl" + "pat-" + _run(20),
    "slack-token": "xo" + "xb-" + _run(12, string.digits) + "-" + _run(24),
    "slack-token app": "xa" + "pp-1-" + _run(11, _UPPER) + "-" + _run(13, string.digits),
    "stripe-key": "sk" + "_live_" + _run(24),
    "stripe-key restricted": "rk" + "_live_" + _run(24),
    "google-key": "AI" + "za" + _run(35),
    "google-key oauth": "ya" + "29." + _run(60),
    "npm-token": "np" + "m_" + _run(36),
    "pypi-token": "py" + "pi-AgEIcHlwaS5vcmc" + _run(60),
    "huggingface-token": "h" + "f_" + _run(34),
    "digitalocean-token": "do" + "p_v1_" + _run(64, _HEX),
    "sendgrid-key": "S" + "G." + _run(22) + "." + _run(43),
    "telegram-token": _run(9, "123456789") + ":A" + "A" + _run(33),
    "age-key": "AGE-SECRET" + "-KEY-1" + _run(58, _UPPER),
    "shopify-token": "sh" + "pat_" + _run(32, _HEX),
    "linear-key": "lin" + "_api_" + _run(40),
    "docker-token": "dc" + "kr_pat_" + _run(27),
    "postman-key": "PM" + "AK-" + _run(24, _HEX) + "-" + _run(34, _HEX),
    "vault-token": "hv" + "s." + _run(90),
    "atlassian-token": "AT" + "ATT3" + _run(60),
    "databricks-token": "da" + "pi" + _run(32, _HEX),
    "grafana-token": "gl" + "sa_" + _run(32) + "_" + _run(8, _HEX),
    "notion-token": "nt" + "n_" + _run(46),
    "tailscale-key": "ts" + "key-auth-" + _run(12) + "-" + _run(24),
    "model-provider-key": "gs" + "k_" + _run(52),
    "jwt": "ey" + "J" + _run(33) + ".ey" + "J" + _run(60) + "." + _run(43),
}


@pytest.fixture(params=sorted(SECRETS))
def planted(request):
    """Kind and value of one recognisable secret."""
    return request.param.split()[0], SECRETS[request.param]


@pytest.fixture
def planted_all():
    """One secret of each kind."""
    return dict(SECRETS)


@pytest.fixture
def root(tmp_path: Path):
    """A folder with a few files."""
    folder = tmp_path / "root"
    (folder / "notes" / "deep").mkdir(parents=True)
    (folder / "MEMORY.md").write_bytes(b"old")
    (folder / "notes" / "one.md").write_bytes(b"one")
    (folder / "notes" / "deep" / "two.jsonl").write_bytes(b"two\n")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_bytes(b"ref")
    (tmp_path / "outside.md").write_bytes(b"outside")
    return folder


@pytest.fixture
def memory(root):
    """The folder as a memory root is opened."""
    return GuardedFolder(str(root), write=True)


@pytest.fixture
def store(root):
    """The folder as a host's store is opened."""
    return GuardedFolder(str(root), links=True)
