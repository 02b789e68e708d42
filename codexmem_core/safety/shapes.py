"""What a secret value looks like, and what only stands in its place: types, references, the words of a sentence."""

import re

REDACTED = b"[REDACTED]"
SENTENCE = 400
"""Bytes in front of and within a value that are looked at to tell a sentence from a secret."""

BLANKS = re.compile(rb"[ \t]*")
SPACE = re.compile(rb"\s*")
ESCAPED_BLANKS = re.compile(rb"(?:[ \t]|\\t)*")
LITERAL_PREFIX = re.compile(rb"""(?:(?:[bBrRfFuU]{1,2}|\$)(?=["']))?""")
ESCAPED_QUOTE = re.compile(rb"""(\\{1,15})(["'])""")
UNTIL_ESCAPED_LINE = re.compile(rb"[^\\]*(?:\\[^nr][^\\]*)*", re.DOTALL)
PRIMITIVE = re.compile(rb"(?:-?[0-9][0-9.eE+-]*|true|false|null|-?Infinity|NaN)(?=\s*[,}\]])")
ESCAPED_PRIMITIVE = re.compile(rb"""[^\s,}\]\\"'{\[]+""")
QUERY_VALUE = re.compile(rb"""\[REDACTED[^\]\s]*\]|[^&\s#"'<>)\]\\`]+""")
FLAG_VALUE = re.compile(rb"""[^\s"'`\\]+""")
SHELL_END = re.compile(
    rb"[ \t]+(?:&&|\|\|?|[;><]|[A-Za-z_][A-Za-z0-9_]*=|\.{0,2}/|-{1,2}[A-Za-z]"
    rb"|(?:sh|bash|zsh|sudo|npm|npx|pnpm|yarn|node|python3?|pip3?|uv|poetry|pytest|cargo|docker|kubectl|terraform|git|"
    rb"curl)[ \t])"
    rb"|;(?=\s|$|[A-Za-z ]+=)"
)
"""Ends a variable's value in front of a command: an operator, an option, a path, a program that no phrase names."""
FLOW_END = re.compile(rb"[,}\]]")
TYPE = re.compile(
    rb"(?:str|string|String|bytes|Optional\[str\]|SecretStr|Secret|any|None|null|nil|undefined|true|false)"
    rb"(?:[ \t]*\|[ \t]*(?:None|null|undefined))?(?=[ \t]*(?:$|[\r\n,)=;\]}?]))"
)
TYPED_VALUE = re.compile(rb"[ \t]*=(?!=)[ \t]*")
BLOCK = re.compile(rb"[|>][+-]?[0-9]?[+-]?[ \t]*(?:#[^\r\n]*)?(?=\r?\n)")
NEXT_LINE = re.compile(
    rb"""[ \t]*(?:\r\n|\n|\r)[ \t]*(?P<word>[^\s]+)(?P<more>[ \t]+[^\s][^\r\n]*)?[ \t]*(?=[\r\n]|$)"""
)
NO_VALUE = re.compile(
    rb"""[\w.$"'-]+["']?[ \t]*[:=](?!=*$)|[-*+#>$%|]|[{}\[\]();,]+$|//|```|<|[^A-Za-z0-9\x80-\xff]+$|.*:$"""
)
"""A line that begins like this is the next key, a list, a comment, a prompt: not the value of the line before."""
KEY_ALONE = re.compile(rb"""[ \t"'*>#-]*(?:export |set )?[\w."'-]*$""")
ENDS_HERE = re.compile(rb"[ \t]*(?:[\r\n,;)}\]]|\Z)")

_PLACEHOLDER = re.compile(
    rb"\$[A-Z_][A-Z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_.:]*\}|\$\{\{[^{}]*\}\}|\$\([^()]*\)|\{\{[^{}]*\}\}|%[A-Z_]+%"
    rb"|<[A-Za-z][A-Za-z _-]*>|\*{3,}|\.{3}|(?:import\.meta|process)\.env\.[A-Z0-9_]+;?"
    rb"|os\.(?:environ|getenv)[.a-z]*[\[(]['\"]?[A-Z0-9_]+['\"]?[\])],?"
)
_SPEECH = re.compile(rb"[A-Za-z\x80-\xff']{2,}[,.]?(?=[ \t])|[\xe3-\xed][\x80-\xbf]{2}")
_DECLARING_WORDS = frozenset(
    b"export set setx env const let var final public private static declare local readonly string def arg add".split()
)
_FUNCTION_WORDS = frozenset(
    b"a an and are as ask at be but by can check do does enter for from get has have how i if in is it its make may "
    b"must my never no not of on one only optional or please put required run same see should so that the their then "
    b"there these they this to type under use used user was we what when where which who will with you your".split()
)
_TELLING = re.compile(
    rb"(?=.*[0-9])(?=.*[A-Za-z])|.*[^\w.,;:!?'\x80-\xff-]|(?=.*[a-z])(?=.*[A-Z].*[A-Z])|.{20}", re.DOTALL
)
_SAID = re.compile(rb"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[^\s\"'`\\]{6,}")
_ALGORITHM = re.compile(
    rb"(?:base|sha|md|utf|argon|bcrypt|pbkdf|aes|rsa|hs|rs|es|ed|oauth|v)-?[0-9]|.*-(?:bit|char)", re.IGNORECASE
)


def is_placeholder(text: bytes) -> bool:
    """Whether the text only names where the secret is kept, or that there is one."""
    return _PLACEHOLDER.fullmatch(text.strip(b"\"'`")) is not None


def looks_made(word: bytes) -> bool:
    """Whether a word is not an ordinary one: digits among letters, signs, capitals inside, or very long."""
    return _TELLING.match(word.rstrip(b".,;:!?")) is not None


def said_value(raw: bytes, at: int) -> bytes:
    """The word after ``password is``, if it can only be one; else nothing."""
    found = _SAID.match(raw, at, at + SENTENCE)
    word = b"" if found is None else found[0].rstrip(b".,;:!?)")
    return b"" if _ALGORITHM.match(word) is not None else word


def in_sentence(raw: bytes, start: int, end: int) -> bool:
    """Whether ordinary words stand in front of a name, other than those that declare a variable."""
    return any(word.strip(b",.").lower() not in _DECLARING_WORDS for word in _SPEECH.findall(raw, start, end))


def sentence_value(value: bytes) -> int:
    """Of a value within a sentence: how many bytes are the secret. All of it when that cannot be told."""
    words = value[:SENTENCE].split(None, 1)
    if len(words) < 2 or not words[1].strip():  # noqa: PLR2004 - one word
        return len(value)
    first = words[0]
    if first.strip(b".,;!?").lower() in _FUNCTION_WORDS:
        return 0
    return len(first.rstrip(b".,;!?")) if looks_made(first) else len(value)
