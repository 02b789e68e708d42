"""Which secrets are known, as data: literal needles first, a regular expression only where a needle was met.

All patterns work on UTF-8 bytes: measured, a search for a literal is three times as fast there as in text that holds
one character beyond Latin-1. Every repetition that may fail has an upper bound, so that no input costs more than
linear time.
"""

import re
from typing import NamedTuple


class TokenRule(NamedTuple):
    """A token that its issuer made recognisable by a prefix."""

    kind: str
    needles: tuple[bytes, ...]
    """Exact prefixes."""
    body: bytes
    """What follows the prefix."""
    before: bytes = b""
    """What must stand directly before the prefix and belongs to the token."""


_WORD = rb"[A-Za-z0-9_-]"
_MIXED = rb"(?=[A-Za-z0-9_-]{0,80}[0-9])(?=[A-Za-z0-9_-]{0,80}[A-Z])"
"""Both digits and capitals: for prefixes that ordinary hyphenated names share."""
_GITLAB_USES = ("pat", "dt", "rt", "cbt", "ptt", "ft", "imt", "agent", "soat", "ffct", "oas")

TOKENS = (
    TokenRule("anthropic-key", (b"sk-ant-",), _WORD + rb"{20,}"),
    TokenRule(
        "openai-key",
        (b"sk-proj-", b"sk-svcacct-", b"sk-service-", b"sk-admin-", b"sk-or-v1-", b"sk-None-", b"sk-lf-"),
        _WORD + rb"{20,}",
    ),
    TokenRule("openai-key", (b"sk-",), rb"[A-Za-z0-9]{20,}"),
    TokenRule("aws-key", (b"AKIA", b"ASIA", b"ABIA", b"ACCA"), rb"[0-9A-Z]{16}"),
    TokenRule("aws-key", (b"ABSK",), rb"[A-Za-z0-9+/]{80,}={0,2}"),
    TokenRule("github-token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), rb"[A-Za-z0-9]{36,}"),
    TokenRule("github-token", (b"github_pat_",), rb"[A-Za-z0-9_]{22,}"),
    TokenRule(
        "gitlab-token",
        tuple(f"gl{use}-".encode() for use in _GITLAB_USES),
        rb"[A-Za-z0-9_-]{20,}(?:\.[0-9a-z.]{2,20})?",
    ),
    TokenRule("slack-token", tuple(f"xox{letter}-".encode() for letter in "abcdeoprs"), rb"[A-Za-z0-9-]{10,}"),
    TokenRule("slack-token", (b"xoxe.xoxp-", b"xoxe.xoxb-", b"xapp-"), rb"[A-Za-z0-9-]{10,}"),
    TokenRule(
        "stripe-key",
        (b"sk_live_", b"sk_test_", b"sk_prod_", b"rk_live_", b"rk_test_", b"rk_prod_"),
        rb"[A-Za-z0-9_]{10,}",
    ),
    TokenRule("stripe-key", (b"whsec_",), rb"[A-Za-z0-9+/]{20,}={0,2}"),
    TokenRule("google-key", (b"AIza",), _WORD + rb"{30,}"),
    TokenRule("google-key", (b"ya29.", b"GOCSPX-", b"1//0"), _WORD + rb"{20,}"),
    TokenRule("npm-token", (b"npm_",), rb"[A-Za-z0-9]{30,}"),
    TokenRule("pypi-token", (b"pypi-",), _MIXED + _WORD + rb"{16,}"),
    TokenRule("rubygems-token", (b"rubygems_",), rb"[a-f0-9]{40,}"),
    TokenRule("huggingface-token", (b"hf_", b"api_org_"), rb"[A-Za-z0-9]{30,}"),
    TokenRule("digitalocean-token", (b"dop_v1_", b"doo_v1_", b"dor_v1_"), rb"[A-Za-z0-9]{32,}"),
    TokenRule("sendgrid-key", (b"SG.",), rb"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    TokenRule("telegram-token", (b":AA",), rb"[A-Za-z0-9_-]{32,}", rb"[0-9]{8,10}$"),
    TokenRule("age-key", (b"AGE-SECRET-KEY-1",), rb"[0-9A-Za-z]{50,}"),
    TokenRule("shopify-token", (b"shpat_", b"shpca_", b"shppa_", b"shpss_"), rb"[a-fA-F0-9]{32,}"),
    TokenRule("linear-key", (b"lin_api_", b"lin_oauth_"), rb"[A-Za-z0-9]{32,}"),
    TokenRule("docker-token", (b"dckr_pat_", b"dckr_oat_"), _WORD + rb"{20,}"),
    TokenRule("sentry-token", (b"sntrys_", b"sntryu_"), rb"[A-Za-z0-9_+/]{40,}={0,2}"),
    TokenRule("supabase-token", (b"sbp_", b"sb_secret_"), rb"[A-Za-z0-9_-]{24,}"),
    TokenRule("postman-key", (b"PMAK-",), rb"[A-Za-z0-9-]{30,}"),
    TokenRule("newrelic-key", (b"NRAK-",), rb"[A-Za-z0-9]{27,}"),
    TokenRule("vault-token", (b"hvs.", b"hvb.", b"hvr."), _WORD + rb"{20,}"),
    TokenRule("atlassian-token", (b"ATATT3", b"ATCTT3", b"ATBB"), rb"[A-Za-z0-9_=-]{28,}"),
    TokenRule("databricks-token", (b"dapi",), rb"[a-f0-9]{32}(?:-[0-9])?"),
    TokenRule("model-provider-key", (b"gsk_", b"xai-", b"pplx-", b"r8_", b"fw_"), rb"[A-Za-z0-9]{32,}"),
    TokenRule("langsmith-key", (b"lsv2_pt_", b"lsv2_sk_"), rb"[a-f0-9]{32}_[a-f0-9]{10}"),
    TokenRule("figma-token", (b"figd_", b"figo_", b"figu_"), _WORD + rb"{30,}"),
    TokenRule("notion-token", (b"ntn_", b"secret_"), rb"[A-Za-z0-9]{40,}"),
    TokenRule("tailscale-key", (b"tskey-",), rb"[A-Za-z0-9-]{20,}"),
    TokenRule("grafana-token", (b"glc_", b"glsa_"), rb"[A-Za-z0-9_+/]{32,}={0,2}"),
    TokenRule("mailgun-key", (b"key-",), rb"[a-f0-9]{32}"),
    TokenRule("twilio-key", (b"SK",), rb"[0-9a-f]{32}"),
    TokenRule("square-token", (b"sq0atp-", b"sq0csp-"), _WORD + rb"{20,}"),
    TokenRule("razorpay-key", (b"rzp_live_", b"rzp_test_"), rb"[A-Za-z0-9]{14,}"),
    TokenRule("doppler-token", (b"dp.pt.", b"dp.st.", b"dp.ct.", b"dp.sa."), rb"[A-Za-z0-9_.]{40,}"),
    TokenRule("pulumi-token", (b"pul-",), rb"[a-f0-9]{40}"),
    TokenRule("planetscale-token", (b"pscale_tkn_", b"pscale_pw_", b"pscale_oauth_"), rb"[A-Za-z0-9_.-]{30,}"),
    TokenRule("fly-token", (b"fo1_", b"fm1_", b"fm2_"), rb"[A-Za-z0-9_+/-]{40,}={0,2}"),
    TokenRule("alibaba-key", (b"LTAI",), _MIXED + rb"[A-Za-z0-9]{16,}"),
    TokenRule("openshift-token", (b"sha256~",), _WORD + rb"{40,}"),
    TokenRule("1password-token", (b"ops_eyJ",), rb"[A-Za-z0-9_+/-]{60,}={0,2}"),
    TokenRule("jwt", (b"eyJ",), rb"[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*"),
)

SHORTEST_RUN = 15
"""Every token above holds a run of this many letters, digits, ``_`` and ``-``: the shortest is a Slack token."""
LONGEST_PREFIX = 16
"""How far before such a run its prefix may begin."""
RUN_BYTES = bytes(ord("a") if bytes((code,)).isalnum() or code in b"_-" else ord(" ") for code in range(256))
"""Translation under which a long run is ``aaa…``: one literal search finds what fifty prefixes would be needed for."""


class PlaceRule(NamedTuple):
    """A secret known by the words around it. Needle and pattern are met in the text in lower case, ASCII only."""

    kind: str
    needle: bytes
    pattern: re.Pattern[bytes]
    """Begins where the needle begins. Its groups named ``secret…`` are replaced."""


PLACES = (
    PlaceRule("bearer", b"bearer", re.compile(rb"(?<![a-z0-9_])bearer[ \t]+(?P<secret>[a-z0-9._~+/-]{16,}=*)")),
    PlaceRule(
        "bearer",
        b"bearer",  # the spelling after a JSON escape: \nBearer
        re.compile(rb"(?<=\\[bfnrt])bearer[ \t]+(?P<secret>[a-z0-9._~+/-]{16,}=*)"),
    ),
    PlaceRule(
        "authorization",
        b"auth",
        re.compile(
            rb"""authorization(?:\\*["'][ \t]{0,8}[:=][ \t]{0,8}\\*["']|[ \t]{0,8}[:=][ \t]{0,8}(?:\\*["'])?)(?:"""
            rb"""(?:basic|token|apikey|key|bot|digest|negotiate|ntlm|splunk)[ \t]+(?P<secret>[^\s"'\\,;]{6,})"""
            rb"""|(?P<secret_alone>(?!bearer)[a-z0-9._~+/-]{16,}=*)(?![ \t]*[^\s"'\\,;}\])]))"""
        ),
    ),
    PlaceRule(  # .npmrc, and the configuration of Docker
        "auth",
        b"auth",
        re.compile(
            rb"""(?<=[_"'])auth(?:\\*["'][ \t]{0,8}[:=][ \t]{0,8}\\*["']|[ \t]{0,8}=[ \t]{0,8}(?:\\*["'])?)"""
            rb"""(?P<secret>[a-z0-9+/_-]{12,}={0,2})(?![^\s"'\\,;}])"""
        ),
    ),
    PlaceRule("basic", b"basic", re.compile(rb"(?<![a-z0-9])basic[ ]+(?P<secret>[a-z0-9+/]{8,}={0,2})(?![a-z0-9+/=])")),
    PlaceRule(
        "url-password",
        b"://",
        re.compile(
            rb"""://[^\s/:@"'<>`\\\[\](){},]{0,256}:(?P<secret>(?!\$\{?[a-z_]+\}?@|\{\{?[a-z_. ]+\}\}?@)"""
            rb"""[^\s/"'<>`\\]{1,512})@(?=[a-z0-9\[$%{_-])"""
        ),
    ),
    PlaceRule("url-password", b"://", re.compile(rb"://(?P<secret>[a-z0-9_-]{20,256})@(?=[a-z0-9])")),
    PlaceRule(
        "webhook",
        b"://",
        re.compile(
            rb"://hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<secret>[a-z0-9+/_-]{20,})"
            rb"|://(?:[a-z]+\.)?discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/(?P<secret_discord>[0-9]{5,24}/[a-z0-9_-]{40,})"
            rb"|://[a-z0-9-]{1,80}\.webhook\.office\.com/(?P<secret_office>[a-z0-9@/_-]{40,})"
        ),
    ),
    PlaceRule(
        "curl-user",
        b"curl",
        re.compile(
            rb"""curl[^\n\r]{0,400}?[ ](?:-u|--user)[ =]?(?:\\*["'])?[^\s:"'\\$\[]{1,80}:(?P<secret>[^\s"'\\$]{2,})"""
        ),
    ),
    PlaceRule(
        "sql-password",
        b"identified by",
        # Alembic and others speak of a "revision identified by '8f2c1d04'".
        re.compile(rb"""(?<!revision )(?<!version )identified by \\*["'](?P<secret>[^"'\\]{1,200})"""),
    ),
)

EXAMPLE = re.compile(rb"EXAMPLE(?:KEY)?$")
"""Values that end like this are the documented examples of cloud providers and stay."""

PEM_MARK = re.compile(rb"-{4,5} ?(?P<side>BEGIN|END) (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
PEM_BETWEEN = re.compile(rb"[A-Za-z0-9+/=\s:.,()>|-]*(?:\\+[nrt/\\][A-Za-z0-9+/=\s:.,()>|-]*)*")
"""Body of a key within one piece of text: base64, headers, quoting of mails and logs, escaped line ends."""
PEM_PIECES = re.compile(rb"""[A-Za-z0-9+/=\s"'`\\,.+-]*""")
"""Body of a key that source code holds in pieces."""
PEM_FIELD = re.compile(rb'[^"\\\n]*(?:\\.[^"\\\n]*)*"\s*:')
"""What follows an end that stands in a field's name: the strings before it are no part of the same list."""
PEM_NEAR = 4096
PEM_LOOSE = re.compile(
    rb"(?:(?:\s|\\+[nrt]|[>|])+"
    rb"(?:[A-Za-z][A-Za-z-]{3,20}: [^\s\"'\\]{1,80}|[A-Za-z0-9+/=]{24,}|[A-Za-z0-9+/]{1,24}={1,2}))+"
    rb"(?:(?:\s|\\+[nrt])+[A-Za-z0-9+/=]{8,24}(?![A-Za-z0-9+/=]))?"
    rb"|(?:\s|\\+[nrt])+[A-Za-z0-9+/=]{8,}"
)
"""What follows a beginning that has no end: lines that look like base64, and no prose."""
PEM_TAIL = re.compile(
    rb"(?:(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{24,80}(?:\s|\\+[nrt])+)+(?:[A-Za-z0-9+/=]{1,80}(?:\s|\\+[nrt])+)?$"
)
"""What stands before an end whose beginning was cut off."""
PEM_WINDOW = 65_536
"""Bytes before an end within which a key without beginning is looked for."""
