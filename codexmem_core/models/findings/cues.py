"""The words by which a preference is recognised, as data: English."""

# Typed quotation marks are what this file is about.
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
    general: bool = False
    """True when only the sentence's form is general: a sign that it reports a problem defeats it."""


def cue(pattern: str, polarity: Polarity | None, *, durable: bool, general: bool = False) -> Cue:
    """A cue from its pattern; the group ``cue`` must be in it."""
    return Cue(re.compile(pattern), polarity, durable, general)


REPOSITORY = r"(?:repo|repository|project|codebase|code base|workspace|monorepo|package)"
LANGUAGE = (
    r"(?:english|german|french|spanish|italian|portuguese|dutch|polish|russian|ukrainian|turkish|arabic|hindi|"
    r"chinese|japanese|korean|mandarin)"
)
ARTEFACT = (
    r"(?:tests?|fixtures?|mocks?|asserts?|commits?|commit (?:messages?|subjects?)|branch(?:es)?|tags?|releases?|"
    r"deployments?|deploys?|"
    r"prs?|pull requests?|migrations?|functions?|methods?|class(?:es)?|modules?|files?|file names?|folders?|scripts?|"
    r"names?|variables?|"
    r"constants?|comments?|docstrings?|docs|documentation|readmes?|changelogs?|imports?|exports?|dependenc(?:y|ies)|"
    r"packages?|type "
    r"(?:hints?|annotations?)|types|line length|lines?|indentation|quotes|strings?|texts?|labels?|keywords?|errors?|"
    r"error messages?|"
    r"exceptions?|warnings?|log(?: message)?s?|endpoints?|handlers?|components?|hooks?|apis?|code|queries|sql|"
    r"config(?:uration)?s?|secrets?|todos?|"
    r"changes?|fix(?:es)?|features?|amounts?|dates?|times?|timestamps?|answers?|replies|explanations?|summaries|"
    r"house style|form inputs?|inputs?|access|columns?|tables?|ids|identifiers|keys|urls|paths|routes|styles|colou?rs|"
    r"units|prices|currencies|versions|settings|env(?:ironment)? variables|translations|constants|events|credentials|"
    r"notes|reports|diffs?)"
)
"""What the work is made of, as people name it in rules."""
ARTEFACTS = (
    r"(?:and |but |also,? |btw,? |please,? )?(?:(?:every|each|all|any)(?: new)? |new )?(?!the\b|this\b|these\b|that\b|"
    r"my\b|your\b|an?\b)"
    rf"(?:[a-z][\w-]+ ){{0,2}}{ARTEFACT}"
)
START = r"(?:^|[,;:.!—–]\s*|\b(?:and|but|so|also|then|please|just|no|nope|ok|okay|well|again)[,:]?\s+)"
# After "always" and "never": a verb that describes what happened, not one that tells what to do.
_DESCRIBES = (
    r"(?!mind\b|(?!focus|canvas|always|this)\w*[^su\W]s\b|(?!need|feed|seed|embed|proceed|speed|shed|red)\w{2,}ed\b|"
    r"(?:more|less|fewer|got|came|went|was|were|had|did|saw|seen|been|done|gone|heard|known|said|took|made|ran|found|"
    r"worked|a|an|the|seem|happen|work|again)\b)"
)
_HABIT = r"(?!forget\b|fail\b|get\b|see\b|hear\b|have\b|thought\b|knew\b|wonder\b|know\b|end up\b|said\b|meant\b)"
_IDLE = (
    r"(?!worry|bother (?!with \w+ing\b|with (?!it\b|this\b|that\b|the\b))|bother$|bother[,.]|mind\b|know\b|think\b|"
    r"see\b|understand|care\b|get it|have\b|need\b|believe|remember|give up|"
    r"you\b|we\b|i\b|hesitate|panic|be sorry|sweat|quite\b|really\b|even\b|seem\b)"
)
_MOVED = (
    r"(?:.{0,60}?[,:;.]\s+)?(?:as of (?:today|now),? )?(?:we|the team|everyone)(?:'re| are|'ve| have)?"
    r"(?: all| now| just| finally| recently)* (?:moving|moved|switching|switched|migrating|migrated|standardi[sz]ing"
    r"|standardi[sz]ed)"
)

# "The function should always return a list" tells what the code does, not how the user works.
_NO_SPECIFICATION = (
    r"^(?!(?:the|this|that|it|its|these|those|each|every)\b(?:\s+\w+)?\s+(?:function|method|class|button|page|endpoint|"
    r"api|"
    r"parser|server|script|output|result|value|field|query|response|command|should|must)\b).*?\b"
)

ENGLISH: tuple[Cue, ...] = (
    cue(rf"{START}(?P<cue>(?:never|don't ever|do not ever)\s+{_DESCRIBES}\w)", "avoid", durable=True),
    cue(
        rf"{_NO_SPECIFICATION}(?P<cue>(?:should|must|shall|may|to|we) never\s+{_DESCRIBES}{_HABIT}\w)",
        "avoid",
        durable=True,
    ),
    cue(rf"{START}(?P<cue>always\s+{_DESCRIBES}\w)", None, durable=True),
    cue(rf"^(?:can|could|would|will) you (?:please )?(?P<cue>always\s+{_DESCRIBES}\w)", None, durable=False),
    cue(r"^(?:again|please|just)?[:,]?\s*let's (?P<cue>always\s+\w)", None, durable=True),
    cue(r"^let's (?P<cue>never\s+\w)", "avoid", durable=True),
    cue(r"^(?:can|could|would|will) you (?:please )?(?P<cue>never\s+\w)", "avoid", durable=True),
    cue(
        rf"{_NO_SPECIFICATION}(?P<cue>(?:you |we |they )?(?:should|must|shall) always\s+{_DESCRIBES}\w)",
        None,
        durable=True,
    ),
    cue(rf"\b(?P<cue>(?:make|be) sure (?:that )?you always\s+{_DESCRIBES}\w)", None, durable=True),
    cue(
        rf"\b(?P<cue>(?:want|need|sure|remember|try|like|expect)(?: you)? to always\s+{_DESCRIBES}\w)",
        None,
        durable=True,
    ),
    cue(rf"\b(?P<cue>(?:we|i) always\s+{_DESCRIBES}{_HABIT}\w)", None, durable=True, general=True),
    cue(
        rf"\b(?P<cue>(?:we|i) (?:usually|normally)\s+{_DESCRIBES}{_HABIT}(?!.*\bbut\b)\w)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        r"(?P<cue>\b(?:from now on|from here on|going forward|moving forward|henceforth|as a (?:general )?rule|"
        r"for (?:all )?(?:the )?future(?: (?:work|tasks|sessions|changes))?(?=[,:]| (?:work|tasks|sessions|"
        r"changes)))\b)",
        None,
        durable=True,
    ),
    cue(
        rf"{START}(?P<cue>(?:next time|in (?:the )?future|every time|each time|whenever)\b,?\s+"
        r"(?!it\b|this\b|that\b|the\b|i\b|we (?:may|might|will|could)\b))",
        None,
        durable=True,
    ),
    cue(
        rf"{START}(?P<cue>(?:remember|keep in mind|bear in mind|make a note|note for (?:later|the future))"
        r"(?::|,| that(?! (?:fix|one|command|trick|error|solution|file|\w+[,.!])\b)| to| i\b| we\b| my\b| "
        r"our\b| this:| never|"
        r" always)\s*\S)",
        None,
        durable=True,
    ),
    cue(
        r"\b(?P<cue>(?:i|we)(?:'d)?(?: would| do| really| strongly| generally| usually| always| much| still| also)*"
        r" (?:prefer (?!(?:that|this|it)[,.!]|(?:the|this|that|your) (?:\w+ )?(?:one|option|version|approach|variant|"
        r"way|solution|first|second|former|latter)\b)"
        r"(?!the (?:first|second|third|last|latter|former|other|new|old)\b)|rather (?!(?:look|start|fix|continue|go|"
        r"work|wait|try|stay|move)\b))"
        r"(?:\w|if\b))",
        None,
        durable=True,
    ),
    cue(
        r"(?P<cue>\b(?:in|for|across) (?:all|every|any|each)(?: of)?(?: my| our)? "
        r"(?:projects?|repos?|repositor(?:y|ies)|codebases?)[:,]\s*\w)",
        None,
        durable=True,
    ),
    cue(
        r"^(?P<cue>.{3,160}?[,;.–—-]*\s*(?:that|this)(?:'s| is) (?:just )?(?:how|the way) (?:we|i) (?:all |always |"
        r"usually |normally )?"
        r"(?:do|like|want|write|name|format|handle|commit|test|call|use|work)\b"
        r"|.{3,160}?[,;.–—-]+\s*(?:that|this)(?:'s| is) (?:our|my|a) (?:\w+ )?(?:rule|deal|policy|convention|style|"
        r"agreement|standard|habit|principle)\b)",
        None,
        durable=True,
    ),
    cue(
        rf"^(?P<cue>(?!.*\b(?:and now|since then|but now)\b){_MOVED}\s+(?:over )?(?:to|on)\s+(?!(?:the|that|this|a|an|"
        r"my) )\w)",
        "do",
        durable=True,
    ),
    cue(
        r"^(?P<cue>.{0,160}?\b(?:this|that|which|these|it|both)(?: \w+)? (?:goes|go|applies|apply|holds?|"
        r"counts?) (?:for|to|in)"
        r" (?:every|all|any|each|whatever)\b)",
        None,
        durable=True,
    ),
    cue(
        r"^(?P<cue>.{3,120}?\b(?:has|have|needs?) to (?:be|pass|run|stay|go)\b.{0,60}?\bbefore (?:you|we|any|each|"
        r"every)\b)",
        "do",
        durable=True,
    ),
    cue(
        r"^(?P<cue>.{3,80}?\b(?:has|have) no (?:place|business) (?:in|inside|outside)\b)",
        "avoid",
        durable=True,
    ),
    cue(rf"{START}(?P<cue>prefer\s+(?!the\b)\w)", None, durable=True),
    cue(
        r"\b(?P<cue>(?:my|our) (?:preference|convention|rule|standard|policy|favou?rite)\b.{0,40}\bis\b)",
        None,
        durable=True,
    ),
    cue(
        r"\b(?P<cue>i (?:really |do |also |always )*(?:like|love)\s+"
        r"(?!it\b|this\b|that\b|them\b|the\b|your\b|how\b|what\b|where\b|to know\b)\w)",
        None,
        durable=True,
    ),
    cue(
        r"\b(?P<cue>i (?:really )?(?:hate|dislike|can't stand|don't like|do not like)\s+"
        r"(?!it\b|this\b|that\b|the (?:idea|approach|way|look)|how\b|what\b)\w)",
        "avoid",
        durable=True,
    ),
    cue(
        rf"^(?P<cue>in (?:this|our|my) {REPOSITORY},?\s+"
        r"(?:we|use|please|only|never|always|don't|do not|you (?:must|should)|all|every|run|write|prefer|"
        r"keep|avoid))\b",
        None,
        durable=True,
    ),
    cue(
        rf"^(?P<cue>(?:please )?(?:use|don't|do not|avoid|prefer|we use|only use)\s.{{2,120}}"
        rf"\b(?:in|for|throughout|across) (?:this|our|all|every|any|my|the whole) (?:\w+ "
        rf")?{REPOSITORY[:-1]}|repos|repositories|projects))s?\b",
        None,
        durable=True,
    ),
    cue(rf"\b(?P<cue>this {REPOSITORY} (?:uses|requires|follows|targets|only uses))\b", None, durable=True),
    cue(
        rf"^(?P<cue>{ARTEFACTS}\s(?:must|should)\s(?:always |never |not )?"
        r"(?:be|have|use|follow|go|start|end|live|pass|stay|include|contain|come|never|always|depend|hit|touch|need|"
        r"call)\b)",
        None,
        durable=False,
    ),
    cue(
        rf"{START}(?P<cue>(?:please )?(?:only )?use\s+[^,.;]{{1,60}}?,?\s+(?:and )?"
        r"(?:not|never|instead of|rather than|over)\s+\w)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?:no|nope|wrong|that's wrong|that is wrong|not that)[,.!:;]*\s+"
        r"(?:please )?(?:use|write|put|keep|call|name|prefer|stick)\s+\w)",
        "do",
        durable=False,
    ),
    cue(
        r"\b(?P<cue>i (?:already |just |explicitly )?(?:said|told you|asked you|asked for)(?: before| already|"
        r" last time| twice)*\s*"
        r"(?:to |not to |that |:|,|use |no |don't |never |always )\S)",
        None,
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?:for|when|with) [\w -]{2,40},? (?:please )?(?:always |only )?use\s+(?!an?\b)\S)",
        "do",
        durable=False,
    ),
    cue(
        rf"{START}(?P<cue>keep (?:your |the )?(?:answers|replies|responses|explanations|summaries|messages|commits|"
        r"functions|pull requests|prs|tests|names)\s+(?!in\b|for\b|open\b|as\b)\w)",
        "do",
        durable=False,
    ),
    cue(
        rf"{START}(?P<cue>no (?:emojis?|comments|abbreviations|jargon|filler|markdown|tables|bullet points|"
        rf"preamble))\b",
        "avoid",
        durable=False,
    ),
    cue(rf"{START}(?P<cue>stop \w{{2,}}ing\s+\w)", "avoid", durable=False),
    cue(rf"{START}(?P<cue>(?:please )?don't forget to\s+\w)", "do", durable=False),
    cue(rf"{START}(?P<cue>(?:please )?(?:don't|do not)\s+{_IDLE}\w)", "avoid", durable=False),
    cue(rf"{START}(?P<cue>(?:please )?(?:avoid|no more)\s+\w)", "avoid", durable=False),
    cue(r"\b(?P<cue>i (?:don't|do not) want\s+(?!it\b|this\b|that\b|to (?:know|see)\b)\w)", "avoid", durable=False),
    cue(rf"{START}(?P<cue>(?:please (?:always )?|only |please only )use\s+\w)", "do", durable=False),
    cue(r"\b(?P<cue>keep it (?:that|this) way)\b", "do", durable=True),
    cue(
        r"^(?:(?:again|no|please|and)[:,]?\s+)?(?P<cue>(?!the\b|this\b|that\b|my\b|an?\b|in\b|it\b|but\b|and\b|maybe\b|"
        r"of\b)"
        r"[\w.+#-]{2,30}(?: [\w.+#-]{2,30})?, not (?!sure|yet|now|really|quite|the\b|this\b|that\b|an?\b|"
        r"to\b|in\b|what|me\b|my\b|because|for\b)"
        r"[\w.+#-]{2,30}(?: [\w.+#-]{2,30})?)[.!]*$",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?:only )?use\s+(?!an?\b|your\b|what)[\w .+#-]{1,40}?,? (?:for|when)\s+(?!the\b|this\b|"
        r"that\b|my\b|an?\b|now\b)\w)",
        "do",
        durable=False,
    ),
    cue(r"^(?P<cue>use\s+(?!an?\b|your\b)[\w .+#-]{1,40},? please)\b", "do", durable=False),
    cue(
        rf"{START}(?P<cue>we (?:only )?(?:use|follow|stick to|target)\s+(?!an?\b|to\b)\w)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        rf"{START}(?P<cue>(?:please )?(?:answer|reply|respond|speak|talk|explain|write)\b.{{0,40}}\bin "
        rf"(?:\w+ )?{LANGUAGE})\b",
        "do",
        durable=False,
    ),
    cue(r"\b(?P<cue>(?:call me|my name is)\s+\w)", "do", durable=True),
    cue(
        r"\b(?P<cue>i(?: am|'m) (?:an?|the) (?:\w+ ){0,3}(?:developer|engineer|designer|student|researcher|scientist|"
        r"manager|teacher|writer|maintainer|founder|beginner|administrator|analyst|programmer))\b",
        "do",
        durable=True,
    ),
)
