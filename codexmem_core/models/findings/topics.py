"""What a preference is about: the key under which a later one replaces an earlier one."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# Word lists read better as words.
# ruff: noqa: RUF001, SIM905
from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codexmem_core.models.findings.cues import LANGUAGE
from codexmem_core.models.findings.signs import CONTRAST, TAKEN_BACK

if TYPE_CHECKING:
    from codexmem_hookspecs.values.extract import Polarity, Preference

WORDS = 6
"""Most words of a topic made from the sentence itself."""
SHORTEST_STEM = 3
SHARED_WORDS = 2

_CHOICES: tuple[tuple[str, str, str], ...] = (
    # topic, the alternatives of which one stands, what else the sentence must speak of
    ("indentation", r"tabs?|spaces?|two-space|four-space|空格|制表符|タブ|スペース", ""),
    ("javascript package manager", r"npm|pnpm|yarn|bun", ""),
    ("python package manager", r"pip|uv|poetry|pipenv|conda|pdm", ""),
    ("python test runner", r"pytest|unittest|nose", ""),
    ("javascript test runner", r"jest|vitest|mocha", ""),
    ("python formatter", r"black|yapf|autopep8|ruff format", r"format|python|code"),
    ("javascript formatter", r"prettier|biome", ""),
    ("python linter", r"flake8|pylint|ruff(?! format)", ""),
    ("quotes", r"single quotes?|double quotes?|单引号|双引号|シングルクォート|ダブルクォート", ""),
    ("commit language", LANGUAGE + r"|中文|英文|英语|日文|日本語|英語|中国語", r"commit|提交|コミット"),
    ("comment language", LANGUAGE + r"|中文|英文|英语|日文|日本語|英語|中国語", r"comment|注释|コメント"),
    (
        "answer language",
        LANGUAGE + r"|中文|英文|英语|日文|日本語|英語|中国語",
        r"answer|repl|respon|speak|talk|explain|回答|回复|答え|返答|返事|説明|交流",
    ),
    ("merging", r"rebas\w+|merge commits?|squash\w*", ""),
    ("semicolons", r"semicolons?|分号|セミコロン", ""),
    (
        "answer length",
        r"short|brief|concise|terse|verbose|detailed|long|简洁|简短|详细|簡潔|短く|詳しく",
        r"answer|repl|respon|explan|回答|回复|答え|返答|説明",
    ),
    ("naming", r"snake_?case|camel_?case|kebab-?case|pascal_?case", ""),
    ("database", r"postgres\w*|mysql|mariadb|sqlite", r"\bdatabase|\bdb\b|数据库|データベース"),
    ("shell", r"bash|zsh|fish", r"\bshell"),
    ("containers", r"docker|podman", ""),
    ("http client", r"requests|httpx|aiohttp|axios|fetch", r"\bhttp|\bclient"),
    ("name of the user", r"call me \w+|my name is \w+", ""),
)
_QUALIFIERS = re.compile(
    r"(?<![\w./-])(python|javascript|typescript|rust|golang|java|kotlin|swift|ruby|php|c\+\+|html|css|sql|markdown|yaml|json|toml|"
    r"makefiles?|dockerfiles?|shell scripts?|tests?|docs|documentation|frontend|backend|production|staging|"
    r"ci)(?![\w/-]|\.\w)"
    r"|(?<![a-z])(go)(?= (?:code|files|project))|(测试|文档|前端|后端|テスト|ドキュメント|フロントエンド|バックエンド)"
)
_STOP = frozenset(
    "a about again all also always am an and any anything are as at be been before but by can could did do "
    "does doing don't "
    "each ever every everywhere from future general generally go going had has have here how i i'd i'm if "
    "in into instead is it "
    "its just keep kind like love make me mind more much must my never no not now of on only or our over "
    "please prefer project "
    "rather really remember repo repository rule said should so some stick stop strongly sure than that the "
    "their them then "
    "there they this time to told too use used uses using usually very want was we well were what when "
    "whenever will with "
    "without would write you your avoid forget hate dislike codebase forward moving after hence henceforth "
    "let's".split()
)
_CJK_STOP = re.compile(
    r"从现在(?:起|开始)|以后|今后|往后|总是|始终|永远|每次|一律|务必|一定要?|记住|记得|默认|统一|使用|请|都|不要|别|不|要|我们?|你|的|了|用|吧|"
    r"这个|项目|仓库|里|先|再|就|更|喜欢|偏好|习惯|必须|应该|"
    r"常に|いつも|必ず|今後|これから|毎回|絶対に?|覚えて|おいて|ください|下さい|しないで|ないで|使って|使わ|して|では|は|を|が|に|で|も|の|と|この|リポジトリ|プロジェクト|"
    r"してね|ね|です|ます|こと"
)
_WORD = re.compile(r"[a-z0-9][a-z0-9'+#.\-_/]*[a-z0-9+#]|[a-z0-9]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_NOT_WORD = re.compile(r"[^\w]+")


def topic(sentence: str, polarity: Polarity) -> str:
    """Lower-case words, most specific first.

    A known choice (tabs or spaces, npm or pnpm) has one name with what qualifies it in front, so that "tabs in
    Makefiles" and "spaces in Python" both stand. To turn one alternative down is narrower than to choose "
    "one: "never use
    npm" does not contradict "use pnpm", so there the alternative stands first. Anything else is keyed by its own words.
    """
    lowered = sentence.lower()
    for name, alternatives, chosen in _matching(lowered):
        if polarity == "do" and not chosen:
            break
        qualifiers = sorted({"".join(found) for found in _QUALIFIERS.findall(lowered)} - set(name.split()))
        words = [*qualifiers[:3], name]
        if polarity == "avoid":
            words.insert(0, " ".join(sorted(alternatives)[:2]))
        return " ".join(words)
    return " ".join(statement_words(lowered)[:WORDS])


def statement_words(sentence: str) -> list[str]:
    """The words that carry a sentence, as stems, longest first: equal lists say the same thing."""
    lowered = sentence.lower().replace("’", "'")
    words = {_stem(word) for word in _WORD.findall(lowered) if word not in _STOP}
    for run in _CJK.findall(lowered):
        words.update(part for part in (_NOT_WORD.sub("", piece) for piece in _CJK_STOP.split(run)) if part)
    words.discard("")
    return sorted(words, key=lambda word: (-len(word), word)) or sorted(_WORD.findall(lowered))[:1] or ["unstated"]


def same_statement(preference: Preference) -> tuple[str, ...]:
    """Equal for two preferences that only differ in wording."""
    for _, _, chosen in _matching(preference.quote.lower()):
        if chosen:
            return tuple(sorted(chosen))
        break
    return tuple(statement_words(preference.quote))


def replaces(newer: Preference, older: Preference) -> bool:
    """Whether a later preference takes the place of an earlier one of the same scope and project."""
    if newer.topic == older.topic:
        return True
    if newer.polarity == older.polarity:
        return False
    for narrow, wide in ((newer, older), (older, newer)):
        rejected = narrow.topic.removesuffix(wide.topic).strip()
        if narrow.polarity == "avoid" and narrow.topic.endswith(" " + wide.topic):
            return any(rejected in chosen for _, _, chosen in _matching(wide.quote.lower()))
    return False


def takes_back(newer: Preference, older: Preference) -> bool:
    """Whether a later preference says outright that an earlier one about the same thing does not hold any more.

    "The same thing" are two words that carry both sentences, or one that is all the older one is about.
    """
    if not TAKEN_BACK.search(newer.quote.lower()) or same_statement(newer) == same_statement(older):
        return False
    about = set(statement_words(older.quote))
    return len(about & set(statement_words(newer.quote))) >= min(SHARED_WORDS, len(about))


def family(topic_words: str) -> str:
    """The choice that a topic belongs to, else the topic: only preferences of one family can replace each other."""
    for name, _, _ in _CHOICES:
        if topic_words.endswith(name):
            return name
    return topic_words


def _matching(lowered: str) -> list[tuple[str, set[str], set[str]]]:
    """The first choice that a sentence speaks of: its name, all alternatives named, those not turned down."""
    for name, pattern, also in _COMPILED:
        named = set(pattern.findall(lowered))
        if named and (also is None or also.search(lowered)):
            return [(name, named, set(pattern.findall(CONTRAST.sub("", lowered))))]
    return []


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= SHORTEST_STEM:
            stem = word[: -len(ending)]
            doubled = len(stem) > SHORTEST_STEM and stem[-1] == stem[-2] and stem[-1] not in "ls"
            return stem[:-1] if doubled and ending in {"ing", "ed"} else stem
    return word


def _alternatives(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])")


_COMPILED = tuple(
    (name, _alternatives(pattern), re.compile(also) if also else None) for name, pattern, also in _CHOICES
)
