"""The words by which a preference is recognised, as data: English rules, by their form.

Nothing in them says "always": they have no exception, tell of an event that comes back, name a thing in general or
compare values. A report of a problem has the same forms, so that most of them give way to its signs.
"""

from __future__ import annotations

from codexmem_core.models.findings.cues import ARTEFACT, ARTEFACTS, START, Cue, cue
from codexmem_core.models.findings.cues_habits import CERTAIN, EVENT, POLITE

_ACTS = r"(?:touch|chang|edit|add|commit|merg|push|deploy|releas|renam|remov|review|open|creat|updat|fix|break|writ)\w*"
_FORBIDDEN = (
    r"(?:not allowed|forbidden|off[- ]limits|taboo|banned|a no-?go|prohibited|not an option|not ok(?:ay)?|frozen|"
    r"read-only|untouchable)"
)

RULES: tuple[Cue, ...] = (
    # what stays as it is
    cue(
        rf"{START}(?P<cue>keep (?:the |your |all )?(?:changelog|readme|docs|documentation|imports|lines|classes|"
        r"modules|diffs?|"
        r"branches|comments|dependencies)\s+\w)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>.{3,70}?\b(?:must|may|should|can|shall)(?: not|n't| never) be (?:edited|touched|changed by hand|"
        r"modified by "
        r"hand|committed|checked in|pushed|reformatted|renamed)\b|(?:nobody|no one) (?:edits|touches|changes|commits|"
        r"pushes|"
        r"merges|deploys)\b)",
        "avoid",
        durable=True,
    ),
    # rules without exception, and what comes back
    cue(
        r"^(?P<cue>(?!(?:it|this|that|there|i|we|you|he|she|they)\b).{3,120}?,? (?:no|without) exceptions?\b"
        r"|[a-z][\w /.-]{5,100}, always[.!]*$)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        rf"^(?P<cue>(?!{CERTAIN}|(?:requests?|users?|access|logins?)\b).{{3,60}}?\b(?:is|are) (?:strictly |"
        rf"absolutely )?{_FORBIDDEN}\b)",
        "avoid",
        durable=False,
    ),
    cue(
        rf"^(?P<cue>(?!{CERTAIN}).{{3,60}}?\b(?:is|are) (?:mandatory|compulsory|obligatory|non-negotiable|a must)\b)",
        "do",
        durable=False,
    ),
    cue(
        rf"{POLITE}(?P<cue>(?!(?:it|this|that|the|he|she|they|there|we|i|you|why|what|"
        rf"please)\b)[a-z]\w+ [^,;]{{2,60}}?\b(?:before|after|with|"
        rf"in|on|for|at) (?:each|every|any) (?:single )?{EVENT}s?\b"
        rf"|(?:before|after|with|in|on|for) (?:each|every|any) (?:single )?{EVENT}s?\b,?\s+.{{3,}})",
        None,
        durable=True,
        general=True,
    ),
    cue(
        rf"(?P<cue>\b(?:whoever|anyone who|anybody who|everyone who|everybody who)\s+{_ACTS}\b.{{0,80}}?\b(?:has to|"
        r"must|needs to|"
        rf"should)\s+\w|\bwhoever (?!\w+ed\b|wrote\b|broke\b|made\b){_ACTS}\b)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        r"^(?P<cue>(?:everything|anything|all (?:code|files))\b(?: that| which)? .{3,40}?\b(?:needs?|must|has to|"
        r"have to|gets?|goes|"
        rf"(?:is|are) {_FORBIDDEN})\b)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        rf"{POLITE}(?P<cue>(?:one|small|short|tiny|atomic|separate|single|descriptive|meaningful) (?:commits?|"
        r"functions?|answers?|messages?|"
        r"prs?|pull requests?|names|classes|files?|diffs?|steps?|tests?|branch(?:es)?|migrations?)\b(?: (?:per|"
        r"for each|for every) \w|(?=,? please|"
        r"\s*[.!]*$)))",
        "do",
        durable=False,
    ),
    cue(
        rf"{START}(?P<cue>no (?!(?:open|pending|new|further|other|more|real|big|major|failing|known|obvious|visible|"
        r"need|idea|luck)\b)"
        r"(?:[\w-]+ ){1,2}(?:\w+[^s\W]s|tooling|code|logic|state)\b(?=(?:,? please)?\s*[.!]*$|,| unless\b)"
        r"|no [\w-]+ without\b)",
        "avoid",
        durable=False,
        general=True,
    ),
    cue(
        r"^(?P<cue>(?:in general|generally|in principle|basically|typically)[:,]? (?!(?:it|this|that|the|i|he|she|they|"
        r"there)\b)\w)",
        None,
        durable=True,
        general=True,
    ),
    cue(rf"{START}(?P<cue>no [^,.;]{{2,60}},? ever\b)", "avoid", durable=True),
    cue(
        rf"{START}(?P<cue>no (?:[\w-]+ )?(?!(?:morning|evening|nothing|"
        rf"meaning)\b)\w{{3,}}ing\b(?=(?:,? please)?\s*[.!]*$|,| without\b))",
        "avoid",
        durable=False,
        general=True,
    ),
    cue(
        rf"^(?P<cue>(?!{CERTAIN})[\w.+#/-]+(?: [\w.+#/-]+){{0,2}} only(?:[,.!;]|$))", "do", durable=False, general=True
    ),
    cue(
        r"^(?P<cue>(?:when|if) in doubt\b|by default,? (?:we|i|you|please|use|target|write|run|prefer|keep)\b)",
        "do",
        durable=True,
    ),
    cue(
        r"^(?P<cue>(?:as|like) (?:always|usual)[,:]?\s+(?:we|use|write|keep|put|run|no|with|tests?|please|in)\b"
        r"|.{3,120}?\b(?:like|as) (?:we|i) (?:always|usually|normally) do\b)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        r"^(?P<cue>(?:(?:our|house|team|my|general|golden) (?:convention|rule|policy|principle|guideline|standard)|"
        r"rule of thumb"
        r"|(?:a )?(?:note|reminder) for (?:next time|later|the future)|for the record)[:,]\s*\S)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        r"(?P<cue>\bin (?:all|every|each|any)(?: of)?(?: our| my) \w+"
        r"|\banywhere in (?:the|our) (?:docs|documentation|code(?:base)?|project|repo\w*|ui|texts?)\b"
        r"|\bit(?:'s| is) (?:spelled|spelt|written|called|named) q+(?: \w+)* in (?:this|our|all)\b)",
        None,
        durable=False,
        general=True,
    ),
    # general statements about what the work is made of
    cue(
        rf"^(?P<cue>{ARTEFACTS}\s(?:(?:are|is) (?!\w+ing\b|green\b|red\b|ok\b|fine\b|done\b|there\b|empty\b|not\b|"
        r"still\b|now\b|too\b|so\b|"
        r"very\b|really\b|quite\b|all\b|also\b|in (?:the|a|this)\b|in /|the\b|an?\b|on\b)|(?:go|goes|belongs?|lives?|"
        r"stays?|starts?|ends?|never|always|"
        r"explains?|follows?|don't|do not|gets?|needs?|has|have|comes? (?:with|before|after|first|from))\b)\s*\w)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        r"^(?:(?:and|but|also|please)[,:]?\s+)*(?P<cue>(?:write|name|format|prefix|order|sort) (?:all |"
        rf"any )?(?:[a-z][\w-]+ )?{ARTEFACT} "
        rf"(?:in|with|like|by|as|after|using|without) (?!{CERTAIN})\w)",
        "do",
        durable=False,
    ),
    cue(
        rf"^(?P<cue>for (?:all |new )?{ARTEFACT}[:,] (?!{CERTAIN}|example|instance)\w)",
        "do",
        durable=False,
        general=True,
    ),
    cue(
        rf"{START}(?P<cue>(?:assume|use|prefer|expect) (?!{CERTAIN})[\w .+#-]{{2,40}} for (?:all|every|"
        r"any)(?: of)?(?: our| my| new)? "
        rf"(?:[a-z][\w-]+ )?{ARTEFACT})",
        "do",
        durable=False,
    ),
    # who does what, and what must not happen
    cue(
        r"\b(?P<cue>i(?:'ll| will)? (?!did\b|have\b)(?:always )?(?:do|run|make|handle|take care of|commit|push|deploy|"
        r"release|merge|publish)\b "
        r"(?!it\b|this\b|that\b)(?:[\w-]+ ){0,4}(?:myself|by hand|on my own)\b|leave (?:the )?\w+ing to me\b|"
        r"let me do the \w+ing\b"
        r"|\w+ (?:is|are) my (?:job|business|call)\b)",
        "do",
        durable=False,
    ),
    cue(
        r"(?P<cue>\b(?:under no circumstances|at no point|whatever you do|on no account|in no case)\b)",
        "avoid",
        durable=True,
    ),
    cue(r"\b(?P<cue>nothing (?:gets?|is|goes) \w+ (?:without|until|before)\b)", "do", durable=True),
    cue(
        r"\b(?P<cue>we(?:'ve| have)? (?:banned|abandoned|got rid of|deprecated|stopped using|dropped) (?!the\b|this\b|"
        r"that\b|it\b)\w)",
        "avoid",
        durable=True,
        general=True,
    ),
    cue(r"\b(?P<cue>(?:get|be) (?:in(?:to)? the habit of|used to)\b(?! it\b))", "do", durable=True),
    cue(
        r"\b(?P<cue>(?:i hate it|it (?:bugs|annoys|bothers|irritates|drives) me(?: \w+)?) when\b)",
        "avoid",
        durable=True,
    ),
    cue(rf"\b(?P<cue>give me (?:short|brief|concise|long|detailed) {ARTEFACT})", "do", durable=False),
    # the person and the machine
    cue(
        r"\b(?P<cue>i(?:'m| am) (?:colou?r-?blind|dyslexic|blind|deaf|hard of hearing|not a native|new to (?!this\b|"
        r"the\b|it\b)\w))",
        "do",
        durable=True,
    ),
    cue(
        r"(?P<cue>\b(?:(?:on|in) this (?:machine|computer|laptop|box|network)\b|this (?:machine|computer|laptop|"
        r"box) has (?:no|only)\b"
        r"|we(?:'re| are) (?:all )?on (?:windows|macos|linux|wsl|nixos)\b))",
        "do",
        durable=True,
        general=True,
    ),
    cue(
        r"(?P<cue>\b(?:from|starting|as of) (?:today|tomorrow|next week|monday)\b(?: on)?,?)",
        None,
        durable=True,
        general=True,
    ),
)
