"""Certificates: who signed them must be in the system's store, or in what SSL_CERT_FILE names."""

from __future__ import annotations

import shutil
import ssl
import subprocess

import pytest
from codexmem_hookspecs.errors import ModelRefused
from fake_openai import FakeOpenAI

GOOD = {"color": "red", "size": 3}


@pytest.fixture
def encrypted(tmp_path):
    """A server whose certificate nobody but its owner has signed; its address and that certificate."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = FakeOpenAI(script=[{"json": GOOD}])
    server.encrypt(context)
    with server:
        yield server, certificate


def config(server):
    return f'[models]\nbackend = "openai"\nbase_url = "{server.url}/v1"\nwire = "chat"\nmodel = "m"\n'


def test_an_unknown_signer_is_refused(encrypted, ask, monkeypatch):
    server, _ = encrypted
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(ModelRefused, match="certificate verify failed"):
        ask(config(server))
    assert server.requests == []


def test_a_signer_that_ssl_cert_file_names_is_trusted(encrypted, ask, monkeypatch):
    server, certificate = encrypted
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert ask(config(server)).data == GOOD
