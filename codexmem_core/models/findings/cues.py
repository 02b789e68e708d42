"""The words by which a preference is recognised, as data: English, Chinese, Japanese."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001
from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from codexmem_hookspecs.values.extract import Polarity


class Cue(NamedTuple):
    """A way to state a default."""

    pattern: re.Pattern[str]
    """Matched against a masked sentence; the group ``cue`` is where the statement begins."""
    polarity: Polarity | None
    """None: a negation after the cue decides."""
    durable: bool
    """True when the words alone say that it is meant to last. False: a sign of a one-off request defeats it."""


def _cue(pattern: str, polarity: Polarity | None, *, durable: bool) -> Cue:
    return Cue(re.compile(pattern), polarity, durable)


REPOSITORY = r"(?:repo|repository|project|codebase|code base|workspace|monorepo|package)"
LANGUAGE = (
    r"(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|hindi|"
    r"chinese|japanese|korean|mandarin)"
)
_START = r"(?:^|[,;:.!—–]\s*|\b(?:and|but|so|also|then|please|just|no|nope|ok|okay|well|again)[,:]?\s+)"
# After "always" and "never": a verb that describes what happened, not one that tells what to do.
_DESCRIBES = (
    r"(?!mind\b|(?!focus|canvas|always|this)\w*[^su\W]s\b|(?!need|feed|seed|embed|proceed|speed|shed|red)\w{2,}ed\b|"
    r"(?:got|came|went|was|were|had|did|saw|said|took|made|ran|found|worked|a|an|the|seem|happen|work|again)\b)"
)
_HABIT = r"(?!forget\b|fail\b|get\b|see\b|hear\b|have\b|thought\b|knew\b|wonder\b|know\b|end up\b|said\b|meant\b)"
_IDLE = (
    r"(?!worry|bother|mind\b|know\b|think\b|see\b|understand|care\b|get it|have\b|need\b|believe|remember|give up|"
    r"you\b|we\b|i\b|hesitate|panic|be sorry|sweat|quite\b|really\b|even\b|seem\b)"
)

# "The function should always return a list" tells what the code does, not how the user works.
_NO_SPECIFICATION = (
    r"^(?!(?:the|this|that|it|its|these|those|each|every)\b(?:\s+\w+)?\s+(?:function|method|class|button|page|endpoint|api|"
    r"parser|server|script|output|result|value|field|query|response|command|should|must)\b).*?\b"
)

ENGLISH: tuple[Cue, ...] = (
    _cue(rf"{_START}(?P<cue>(?:never|don't ever|do not ever)\s+{_DESCRIBES}\w)", "avoid", durable=True),
    _cue(rf"\b(?P<cue>(?:should|must|shall|may|to|we) never\s+{_DESCRIBES}{_HABIT}\w)", "avoid", durable=True),
    _cue(rf"{_START}(?P<cue>always\s+{_DESCRIBES}\w)", None, durable=True),
    _cue(rf"^(?:can|could|would|will) you (?:please )?(?P<cue>always\s+{_DESCRIBES}\w)", None, durable=False),
    _cue(r"^(?:again|please|just)?[:,]?\s*let's (?P<cue>always\s+\w)", None, durable=True),
    _cue(r"^let's (?P<cue>never\s+\w)", "avoid", durable=True),
    _cue(r"^(?:can|could|would|will) you (?:please )?(?P<cue>never\s+\w)", "avoid", durable=True),
    _cue(
        rf"{_NO_SPECIFICATION}(?P<cue>(?:you |we |they )?(?:should|must|shall) always\s+{_DESCRIBES}\w)",
        None,
        durable=True,
    ),
    _cue(rf"\b(?P<cue>(?:make|be) sure (?:that )?you always\s+{_DESCRIBES}\w)", None, durable=True),
    _cue(
        rf"\b(?P<cue>(?:want|need|sure|remember|try|like|expect)(?: you)? to always\s+{_DESCRIBES}\w)",
        None,
        durable=True,
    ),
    _cue(rf"\b(?P<cue>(?:we|i) (?:always|usually|normally)\s+{_DESCRIBES}{_HABIT}\w)", None, durable=True),
    _cue(
        r"(?P<cue>\b(?:from now on|from here on|going forward|moving forward|henceforth|as a (?:general )?rule|"
        r"for (?:all )?(?:the )?future(?: (?:work|tasks|sessions|changes))?(?=[,:]| (?:work|tasks|sessions|"
        r"changes)))\b)",
        None,
        durable=True,
    ),
    _cue(
        rf"{_START}(?P<cue>(?:next time|in (?:the )?future|every time|each time|whenever)\b,?\s+"
        r"(?!it\b|this\b|that\b|the\b|i\b|we (?:may|might|will|could)\b))",
        None,
        durable=True,
    ),
    _cue(
        rf"{_START}(?P<cue>(?:remember|keep in mind|bear in mind|make a note|note for (?:later|the future))"
        r"(?::|,| that(?! (?:fix|one|command|trick|error|solution|file|\w+[,.!])\b)| to| i\b| we\b| my\b| "
        r"our\b| this:| never|"
        r" always)\s*\S)",
        None,
        durable=True,
    ),
    _cue(
        r"\b(?P<cue>(?:i|we)(?:'d)?(?: would| do| really| strongly| generally| usually| always| much| still| also)*"
        r" (?:prefer|rather)\b)",
        None,
        durable=True,
    ),
    _cue(
        r"(?P<cue>\b(?:in|for|across) (?:all|every|any|each)(?: of)?(?: my| our)? "
        r"(?:projects?|repos?|repositor(?:y|ies)|codebases?)[:,]\s*\w)",
        None,
        durable=True,
    ),
    _cue(rf"{_START}(?P<cue>prefer\s+\w)", None, durable=True),
    _cue(
        r"\b(?P<cue>(?:my|our) (?:preference|convention|rule|standard|policy|favou?rite)\b.{0,40}\bis\b)",
        None,
        durable=True,
    ),
    _cue(
        r"\b(?P<cue>i (?:really |do |also |always )*(?:like|love)\s+"
        r"(?!it\b|this\b|that\b|them\b|the (?:idea|approach|way|look|sound)|your\b|how\b|what\b|where\b|to know\b)\w)",
        None,
        durable=True,
    ),
    _cue(
        r"\b(?P<cue>i (?:really )?(?:hate|dislike|can't stand|don't like|do not like)\s+"
        r"(?!it\b|this\b|that\b|the (?:idea|approach|way|look)|how\b|what\b)\w)",
        "avoid",
        durable=True,
    ),
    _cue(
        rf"^(?P<cue>in (?:this|our|my) {REPOSITORY},?\s+"
        r"(?:we|use|please|only|never|always|don't|do not|you (?:must|should)|all|every|run|write|prefer|"
        r"keep|avoid))\b",
        None,
        durable=True,
    ),
    _cue(
        rf"^(?P<cue>(?:please )?(?:use|don't|do not|avoid|prefer|we use|only use)\s.{{2,120}}"
        rf"\b(?:in|for|throughout|across) (?:this|our|all|every|any|my|the whole) (?:\w+ "
        rf")?{REPOSITORY[:-1]}|repos|repositories|projects))s?\b",
        None,
        durable=True,
    ),
    _cue(rf"\b(?P<cue>this {REPOSITORY} (?:uses|requires|follows|targets|only uses))\b", None, durable=True),
    _cue(
        r"^(?P<cue>(?!the\b|this\b|that\b|it\b|its\b|these\b|those\b|an?\b|you\b|i\b|we\b|there\b|which\b|what\b|"
        r"something\b|he\b|she\b|they\b|someone\b|maybe\b|if\b)"
        r"[\w' -]{3,60}?\s(?:must|should)\s(?:always |never |not )?"
        r"(?:be|have|use|follow|go|start|end|live|pass|stay|include|contain|come|never|always)\b)",
        None,
        durable=False,
    ),
    _cue(
        rf"{_START}(?P<cue>(?:please )?(?:only )?use\s+[^,.;]{{1,60}}?,?\s+(?:and )?"
        r"(?:not|never|instead of|rather than|over)\s+\w)",
        "do",
        durable=False,
    ),
    _cue(
        r"^(?P<cue>(?:no|nope|wrong|that's wrong|that is wrong|not that)[,.!:;]*\s+"
        r"(?:please )?(?:use|write|put|keep|call|name|prefer|stick)\s+\w)",
        "do",
        durable=False,
    ),
    _cue(
        r"\b(?P<cue>i (?:already |just |explicitly )?(?:said|told you|asked you|asked for)\s*"
        r"(?:to |not to |that |:|,|use |no |don't |never |always )\S)",
        None,
        durable=False,
    ),
    _cue(
        r"^(?P<cue>(?:for|when|with) [\w -]{2,40},? (?:please )?(?:always |only )?use\s+(?!an?\b)\S)",
        "do",
        durable=False,
    ),
    _cue(
        rf"{_START}(?P<cue>keep (?:your |the )?(?:answers|replies|responses|explanations|summaries|messages|commits|"
        r"functions|pull requests|prs|tests|names)\s+\w)",
        "do",
        durable=False,
    ),
    _cue(
        rf"{_START}(?P<cue>no (?:emojis?|comments|abbreviations|jargon|filler|markdown|tables|bullet points|"
        rf"preamble))\b",
        "avoid",
        durable=False,
    ),
    _cue(rf"{_START}(?P<cue>stop \w{{2,}}ing\s+\w)", "avoid", durable=False),
    _cue(rf"{_START}(?P<cue>(?:please )?don't forget to\s+\w)", "do", durable=False),
    _cue(rf"{_START}(?P<cue>(?:please )?(?:don't|do not)\s+{_IDLE}\w)", "avoid", durable=False),
    _cue(rf"{_START}(?P<cue>(?:please )?(?:avoid|no more)\s+\w)", "avoid", durable=False),
    _cue(r"\b(?P<cue>i (?:don't|do not) want\s+(?!it\b|this\b|that\b|to (?:know|see)\b)\w)", "avoid", durable=False),
    _cue(rf"{_START}(?P<cue>(?:please (?:always )?|only |please only )use\s+\w)", "do", durable=False),
    _cue(r"\b(?P<cue>keep it (?:that|this) way)\b", "do", durable=True),
    _cue(
        r"^(?:(?:again|no|please|and)[:,]?\s+)?(?P<cue>(?!the\b|this\b|that\b|my\b|an?\b|in\b|it\b|but\b|and\b|maybe\b|of\b)"
        r"[\w.+#-]{2,30}(?: [\w.+#-]{2,30})?, not (?!sure|yet|now|really|quite|the\b|this\b|that\b|an?\b|"
        r"to\b|in\b|what|me\b|my\b|because|for\b)"
        r"[\w.+#-]{2,30}(?: [\w.+#-]{2,30})?)[.!]*$",
        "do",
        durable=False,
    ),
    _cue(
        r"^(?P<cue>(?:only )?use\s+(?!an?\b|your\b|what)[\w .+#-]{1,40}?,? (?:for|when)\s+(?!the\b|this\b|"
        r"that\b|my\b|an?\b|now\b)\w)",
        "do",
        durable=False,
    ),
    _cue(r"^(?P<cue>use\s+(?!an?\b|your\b)[\w .+#-]{1,40},? please)\b", "do", durable=False),
    _cue(rf"{_START}(?P<cue>we (?:only )?(?:use|follow|stick to|target)\s+(?!an?\b|to\b)\w)", None, durable=False),
    _cue(
        rf"{_START}(?P<cue>(?:please )?(?:answer|reply|respond|speak|talk|explain|write)\b.{{0,40}}\bin "
        rf"(?:\w+ )?{LANGUAGE})\b",
        "do",
        durable=False,
    ),
    _cue(r"\b(?P<cue>(?:call me|my name is)\s+\w)", "do", durable=True),
    _cue(
        r"\b(?P<cue>i(?: am|'m) (?:an?|the) (?:\w+ ){0,3}(?:developer|engineer|designer|student|researcher|scientist|"
        r"manager|teacher|writer|maintainer|founder|beginner|administrator|analyst|programmer))\b",
        "do",
        durable=True,
    ),
)

_ZH = r"(?:^|[，,。；;：:、！!]\s*|请|你|我们|就|都|也|但|并且|而且|还有|另外)"
_ZH_WRONG = r"(?!.{0,6}(?:失败|报错|出错|崩溃|卡住|超时|不行|没用))"
CHINESE: tuple[Cue, ...] = (
    _cue(r"(?P<cue>从现在(?:起|开始)|从今(?:往后|以后|天起)|今后|往后)", None, durable=True),
    _cue(rf"{_ZH}\s*(?P<cue>以后{_ZH_WRONG})", None, durable=True),
    _cue(rf"(?P<cue>(?:总是|始终|永远|每次(?!.{{0,4}}(?:失败|报错))|一律|务必|一定要){_ZH_WRONG})", None, durable=True),
    _cue(r"(?:^|[，,。；;：:！!]\s*|请)(?P<cue>(?:请)?(?:记住|记得|牢记|别忘了))", None, durable=True),
    _cue(
        r"(?P<cue>默认(?:用|使用|采用)|统一(?:用|使用)|我(?:们)?(?:更|比较|还是)?(?:喜欢|偏好|偏爱|习惯)|我的偏好|我们一直用)",
        None,
        durable=True,
    ),
    _cue(
        r"(?P<cue>我(?:不喜欢|讨厌)|千万(?:别|不要)|绝(?:不|对不)(?:要|能|许)|禁止|严禁|不许|不准)",
        "avoid",
        durable=True,
    ),
    _cue(
        r"(?P<cue>(?:这个|本|咱们|我们的?)(?:项目|仓库|代码库|工程)(?:里|中|内)?[，,]?(?:都|只|要|必须|统一|一律|用|使用|请|不要|别))",
        None,
        durable=True,
    ),
    _cue(r"(?P<cue>用\s*[^，,。]{1,30}?[，,]?\s*(?:而不是|不要用|别用|不用|代替)\s*\S)", "do", durable=False),
    _cue(
        r"(?:^|[，,。！!]\s*)(?P<cue>(?:不对|不是|错了|不)[，,。！! ]+(?:请|应该|要|得)?(?:用|使用|改用|写成|叫)\s*\S)",
        "do",
        durable=False,
    ),
    _cue(r"(?P<cue>我(?:说过|说的是|之前说|不是说|让你)\s*\S)", None, durable=False),
    _cue(rf"{_ZH}\s*(?P<cue>不要|请勿|避免|别(?!的|人|名|处)\S)", "avoid", durable=False),
    _cue(r"(?P<cue>请(?:尽量|保持|务必)\S)", None, durable=False),
    _cue(
        r"^(?P<cue>[\u4e00-\u9fff]{2,8}(?:不要|别|请勿)(?:再)?(?:用|写|加|使用|出现|有|超过)\s*\S)",
        "avoid",
        durable=False,
    ),
    _cue(r"(?P<cue>请(?:用|使用|改用|都用|统一|始终)\s*\S)", "do", durable=False),
    _cue(
        r"(?P<cue>用(?:中文|英文|日文|简体中文|繁体中文|英语|日语)(?:回答|回复|写|说明|解释|交流))", "do", durable=False
    ),
    _cue(r"(?P<cue>(?:必须|应该|应当)(?:用|使用|先|写|有|是|遵循|保持))", "do", durable=False),
)

_JA_WRONG = r"(?!.{0,6}(?:失敗|エラー|落ち|クラッシュ|遅い|止ま|なって))"
JAPANESE: tuple[Cue, ...] = (
    _cue(r"(?P<cue>今後|これから(?:は|も)|以後|次(?:回)?から|今度から)", None, durable=True),
    _cue(rf"(?P<cue>(?:常に|いつも(?!の|通り|ありがと)|必ず|毎回|絶対に?){_JA_WRONG})", None, durable=True),
    _cue(r"(?P<cue>.{0,60}(?:覚えて(?:おいて|ください|ね)|忘れないで))", None, durable=True),
    _cue(r"(?P<cue>.{0,60}(?:が好き(?!な)|好みです|の方が(?:いい|良い|好み)|派です|が嫌い))", None, durable=True),
    _cue(
        r"(?P<cue>(?:この|本|うちの)(?:リポジトリ|レポジトリ|プロジェクト|コードベース)(?:では|は|で).{1,80}(?:使|し(?:て|ます|ない)|書|こと|禁止))",
        None,
        durable=True,
    ),
    _cue(r"(?P<cue>(?:デフォルト|既定|基本的に)(?:で|は|では)?.{1,60}(?:使|で(?:書|答)|して))", None, durable=True),
    _cue(r"(?P<cue>.{1,60}(?:は禁止|してはいけない|しないこと|使わないこと))", "avoid", durable=True),
    _cue(r"(?P<cue>.{1,60}(?:ではなく|じゃなくて|の代わりに).{1,60})", "do", durable=False),
    _cue(
        r"(?P<cue>.{1,80}(?:しないで|使わないで|書かないで|入れないで|付けないで|つけないで|変えないで|変更しないで|"
        r"触らないで|コミットしないで|[わかさたなばまらが]ないで(?:ください|ね)|は?やめて(?:ください)?|避けて))",
        "avoid",
        durable=False,
    ),
    _cue(r"(?P<cue>.{1,60}(?:を|も)使って(?:ください|ほしい|下さい|ね)?[。！!]?$)", "do", durable=False),
    _cue(
        r"(?P<cue>.{0,40}(?:日本語|英語|中国語)で(?:(?:答え|回答|返答|返事|書い|説明)し?て|お願い))",
        "do",
        durable=False,
    ),
    _cue(r"^(?P<cue>(?:返事|回答|答え|説明|返答)は.{1,20}(?:して|お願い))", "do", durable=False),
    _cue(r"(?P<cue>.{1,60}(?:にして|で統一して|を守って)(?:ください|下さい|ほしい)[。！!]?$)", "do", durable=False),
)
