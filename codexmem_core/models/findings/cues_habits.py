"""The words by which a preference is recognised, as data: English sentences that tell how a person or a team works.

Nothing in them says "always"; their form does: a rule without exception, an event that comes back, an interaction with
the agent, a general noun. A report of a problem has the same forms, so that most of them give way to its signs.
"""

# Typed quotation marks are what this file is about.
# ruff: noqa: RUF001
from __future__ import annotations

from codexmem_core.models.findings.cues import ARTEFACT, ARTEFACTS, REPOSITORY, START, Cue, cue

_EVENT = (
    r"(?:commit|push|change|edit|release|deploy(?:ment)?|merge|pull request|pr|mr|session|answer|reply|task|migration|"
    r"refactoring|bug ?fix|fix|feature|step|message|review|rebase|upgrade|dependency|package|turn)"
)
"""What comes back in the work itself; "for every row" is about a program."""
_ACTS = r"(?:touch|chang|edit|add|commit|merg|push|deploy|releas|renam|remov|review|open|creat|updat|fix|break|writ)\w*"
_POLITE = r"^(?:[^:.!?]{3,60}:\s+)?(?:(?:and|but|so|also|please|just|again|no|btw|by the way)[,:]?\s+)*"
_CERTAIN = r"(?:the|this|that|it|them|these|those|my|your|everything|an?)\b"
_PEOPLE = r"(?:customers?|users?|clients?|colleagues?|boss|manager|friends?|teammates?|competitors?)\b"
_GENERAL = r"(?:never|always|only|start|end|begin|follow|use|live|go|stay|return|carry|contain|come|need|must|should|don't|do not)"
_FORBIDDEN = (
    r"(?:not allowed|forbidden|off[- ]limits|taboo|banned|a no-?go|prohibited|not an option|not ok(?:ay)?|frozen|"
    r"read-only|untouchable)"
)

HABITS: tuple[Cue, ...] = (
    # whose it is
    cue(
        rf"^(?:also,? |btw,? |by the way,? )?(?P<cue>(?:our|my) (?!{_PEOPLE})[\w./ -]{{2,40}}?\s(?:{_GENERAL}"
        r"|is (?:always|never|only)|are (?:always|never|only|named|written|called|formatted|kept|stored|sorted|grouped|prefixed|in|on))\b)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        rf"{START}(?P<cue>we (?:don't|do not|avoid|stick to|name|write|prefix|format|squash|indent|log|document|"
        r"version|tag|pin|target|lint|commit|review)\b(?! (?:both|too|know|see|have|need|get|think|understand|"
        r"want|care|believe|remember|find|mind|seem|even|really|it|this|that|the|an?|yet|back|in|off|out)\b)\s*\w)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        r"\b(?P<cue>(?:i|we) (?:use|prefer|write|follow) [\w.+#-]+ (?:for|in|as) (?:everything|all|every|my|our)\b"
        r"|(?:for|in|with) (?!(?:this|that|the|these|those|it)\b)[\w.+#-]+,? (?:i|we) (?:use|prefer|write|follow|stick)\b"
        rf"|in (?:my|our|all(?: my| our)?) (?:\w+ )?{REPOSITORY[:-1]}|repositories|projects)s?,? (?:i|we)\b)",
        "do",
        durable=True,
        general=True,
    ),
    cue(
        r"\b(?P<cue>i use (?:vim|neovim|emacs|helix|vs ?code|zed|zsh|fish|nushell|powershell|nix|colemak|dvorak)\b"
        r"|we(?:'re| are) an? [\w.+#-]+ (?:shop|house)\b)",
        "do",
        durable=True,
        general=True,
    ),
    cue(
        r"^(?P<cue>(?:but )?we(?:'ve| have)(?: got)? (?:an?|our own) (?!(?:\w+ )?(?:ticket|meeting|bug|issue|problem|plan|"
        r"deadline|demo|customer|question|idea)\b)[\w -]{2,40}? for (?:that|this|those|[\w -]{3,40}, (?:please )?use (?:it|"
        r"that))[.!]*$)",
        "do",
        durable=True,
        general=True,
    ),
    cue(
        r"\b(?P<cue>(?:i'm|i am|we're|we are) (?:not (?:a|much of a) (?:big )?fan of|allergic to)\b|we had bad experiences with\b|i (?:don't|do not|never) like it when you\b)",
        "avoid",
        durable=True,
    ),
    cue(r"\b(?P<cue>i(?:'m| am) a (?:big )?fan of\b)", "do", durable=True),
    # what the person wants of the agent
    cue(r"\b(?P<cue>(?:i|we) never (?:ever )?(?:want|need|expect)\b(?!.*\bto have\b))", "avoid", durable=True),
    cue(r"\b(?P<cue>(?:i|we) (?:always|only ever) (?:want|need|expect|like)\b)", "do", durable=True),
    cue(
        r"\b(?P<cue>(?:i|we)(?:'d| would)? (?:want|need|like|expect|prefer)(?: you)? to (?:see|approve|review|be asked|sign off|confirm|be "
        rf"told)\b.{{0,60}}\b(?:before (?:you|any|each|every)|(?:each|every|any|all)(?: new| single)? (?:{_EVENT}|plan|diff|command|deletion)))",
        "do",
        durable=False,
    ),
    cue(r"\b(?P<cue>i expect .{2,60}? (?:for|with|in|before|after) (?:every|each|all|any)\b)", "do", durable=True),
    cue(
        rf"{_POLITE}(?P<cue>ask(?: me)?(?: first)?,? (?:before|whenever|if|instead of|rather than|first)\b"
        r"|(?:check|confirm) with me\b|get my (?:ok|okay|approval)\b|tell me (?:instead of|rather than|before)\b"
        rf"|(?:show|send|give) me (?!{_CERTAIN})[\w -]{{2,50}}? before (?:you|any|each|every|they|it)\b)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?:if|when|whenever) (?:in doubt|(?:you(?:'re| are)|something(?:'s| is)|anything(?:'s| is)|things are)"
        r" (?!done\b|finished\b|ready\b|there\b|it\b|at it\b)[\w' -]{3,40}?|an? [\w-]+(?: [\w-]+)? (?:is|isn't|fails|looks)\b[\w -]{0,30}?"
        r"|you (?:finish|change|add|touch|find|see|need|write|rename|delete|are asked)\b (?:an?|any|new|some\w*|more)\b[\w -]{0,40}?),"
        r"\s*(?:please |then |just )*(?:ask|tell|stop|say|don't|do not|choose|prefer|pick|take|use|list|show|write|keep|"
        r"leave|warn|check|let me|assume|never|always|add|update|run)\b)",
        None,
        durable=False,
    ),
    cue(r"(?P<cue>\bunless (?:i|we) (?:say|tell|ask|explicitly|specifically)\b)", None, durable=True),
    cue(
        r"\b(?P<cue>(?:i(?:'d| would) (?:really )?appreciate it if|it(?:'d| would) be (?:great|nice|good|better|helpful) if) you"
        r" (?:always|never|kept|didn't|did not|stopped|asked|used|would (?:always|never|not|stop|keep)|could (?:always|stop|keep))\b)",
        None,
        durable=False,
    ),
    cue(r"\b(?P<cue>let's (?:agree|keep it) that\b)", None, durable=True),
    cue(
        rf"\b(?P<cue>(?:i|we)(?:'d| would)? (?:like|want|expect) (?:every|each|all|any)(?: new| public)? {ARTEFACT} (?!in\b|of\b|from\b|for\b)\w)",
        "do",
        durable=False,
    ),
    cue(
        r"\b(?P<cue>you(?:'re| are) (?:always )?(?:free|welcome|allowed) to\b|feel free to (?!.*\b(?:else|another|different)\b)\w"
        r"|you (?:may|can) always\b|you (?:don't|do not) (?:have|need) to ask\b)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>you (?:tend to|keep \w+ing|always|often|constantly)\b[^,]*, (?:please |so )?(?:keep|stop|don't|use|do|we|try|leave|write|prefer)\b"
        r"|.{0,60}\byou \w+ .{2,50} (?:all|every) (?:the )?time\b.*\b(?:stop|don't|instead)\b)",
        None,
        durable=True,
    ),
    cue(
        r"\b(?P<cue>(?:i|we) (?:don't|do not|never) need (?!it\b|this\b|that\b|the\b|an?\b|to\b|any\b)\w+s\b)",
        "avoid",
        durable=False,
        general=True,
    ),
    cue(
        rf"\b(?P<cue>(?:i|we) (?:want|like|expect) (?!the\b|this\b|that\b|my\b|your\b|an?\b)(?:[a-z][\w-]+ )?{ARTEFACT} (?:that|which|with|without|to be|as)\b)",
        "do",
        durable=False,
    ),
    # what counts more
    cue(
        r"^(?P<cue>(?!the\b|this\b|that\b|it\b|hand\b)[a-z][\w -]{2,40} over (?!the\b|there\b|here\b|http|ssh|tcp|tls)[\w -]{3,40}[.!]*$"
        r"|.{3,60}?\bmatters? (?:more|less) (?:to (?:me|us) )?than\b|.{3,60}?\bas far as i'm concerned\b"
        r"|[a-z][\w -]{3,40} (?:is|are) not (?:a concern|a priority|important)\b)",
        "do",
        durable=True,
        general=True,
    ),
    cue(rf"{START}(?P<cue>keep (?:it|things) (?:simple|short|small|minimal|boring|plain)\b)", "do", durable=False),
    cue(
        rf"^(?P<cue>(?!{_CERTAIN}|me\b|at\b|safety\b)[a-z][\w-]+(?: [\w-]+)? first(?:,? please|, (?:then|and|not)\b))",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?!(?:please |can you |could you )?(?:replace|rename|change|fix|update|add|remove|search|look|make|find|delete|insert)\b|it\b|this\b|that\b)"
        r".{3,100}?\beverywhere\b)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        rf"{_POLITE}(?P<cue>(?:document|test|annotate|cover) (?:all |every |any |public |new |exported )+{ARTEFACT}\b(?! (?:in|of|from)\b)"
        r"|use (?:[\w-]+ )?(?:units|spelling|notation|syntax|casing|quotes|capitals)\b|address me\b)",
        "do",
        durable=False,
    ),
    cue(rf"{START}(?P<cue>we (?:keep|put|store) (?:all|every|our)\b)", "do", durable=False, general=True),
    # the manner of answers
    cue(
        rf"{_POLITE}(?P<cue>be (?:more |very |as )*(?:brief|concise|short|terse|direct|precise|honest|explicit|consistent)\b"
        r"|(?:answer|reply|respond)(?: me)? (?:briefly|shortly|concisely|in (?:short|one|a few))\b)",
        "do",
        durable=False,
    ),
    cue(
        rf"{_POLITE}(?P<cue>skip (?:the |all |your )*(?:explanations?|summar(?:y|ies)|introductions?|preamble|pleasantries|"
        r"apologies|disclaimers?)\b|(?:leave|keep) (?!"
        + _CERTAIN
        + r")[\w /.-]{2,50}?\s(?:alone|untouched|as (?:it is|they are))\b"
        r"|hands off\b\s*\S)",
        "do",
        durable=False,
    ),
    cue(
        rf"{_POLITE}(?P<cue>stop \w{(2,)}ing[.!]*$"
        r"|(?:you (?:don't|do not) (?:need|have) to|(?:there is |there's )?no need to) (?:explain|apologi[sz]e|summari[sz]e|repeat|"
        r"justify|describe|thank)\b)",
        "avoid",
        durable=False,
    ),
    # what stays as it is
    cue(
        rf"{START}(?P<cue>keep (?:the |your |all )?(?:changelog|readme|docs|documentation|imports|lines|classes|modules|diffs?|"
        r"branches|comments|dependencies)\s+\w)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>.{3,70}?\b(?:must|may|should|can|shall)(?: not|n't| never) be (?:edited|touched|changed by hand|modified by "
        r"hand|committed|checked in|pushed|reformatted|renamed)\b|(?:nobody|no one) (?:edits|touches|changes|commits|pushes|"
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
        rf"^(?P<cue>(?!{_CERTAIN}|(?:requests?|users?|access|logins?)\b).{{3,60}}?\b(?:is|are) (?:strictly |absolutely )?{_FORBIDDEN}\b)",
        "avoid",
        durable=False,
    ),
    cue(
        rf"^(?P<cue>(?!{_CERTAIN}).{{3,60}}?\b(?:is|are) (?:mandatory|compulsory|obligatory|non-negotiable|a must)\b)",
        "do",
        durable=False,
    ),
    cue(
        rf"{_POLITE}(?P<cue>(?!(?:it|this|that|the|he|she|they|there|we|i|you|why|what|please)\b)[a-z]\w+ [^,;]{{2,60}}?\b(?:before|after|with|"
        rf"in|on|for|at) (?:each|every|any) (?:single )?{_EVENT}s?\b"
        rf"|(?:before|after|with|in|on|for) (?:each|every|any) (?:single )?{_EVENT}s?\b,?\s+.{{3,}})",
        None,
        durable=True,
        general=True,
    ),
    cue(
        rf"(?P<cue>\b(?:whoever|anyone who|anybody who|everyone who|everybody who)\s+{_ACTS}\b.{{0,80}}?\b(?:has to|must|needs to|"
        rf"should)\s+\w|\bwhoever (?!\w+ed\b|wrote\b|broke\b|made\b){_ACTS}\b)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        r"^(?P<cue>(?:everything|anything|all (?:code|files))\b(?: that| which)? .{3,40}?\b(?:needs?|must|has to|have to|gets?|goes|"
        rf"(?:is|are) {_FORBIDDEN})\b)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        rf"{_POLITE}(?P<cue>(?:one|small|short|tiny|atomic|separate|single|descriptive|meaningful) (?:commits?|functions?|answers?|messages?|"
        r"prs?|pull requests?|names|classes|files?|diffs?|steps?|tests?|branch(?:es)?|migrations?)\b(?: (?:per|for each|for every) \w|(?=,? please|"
        r"\s*[.!]*$)))",
        "do",
        durable=False,
    ),
    cue(
        rf"{START}(?P<cue>no (?!(?:open|pending|new|further|other|more|real|big|major|failing|known|obvious|visible|need|idea|luck)\b)"
        r"(?:[\w-]+ ){1,2}(?:\w+[^s\W]s|tooling|code|logic|state)\b(?=(?:,? please)?\s*[.!]*$|,| unless\b)"
        r"|no [\w-]+ without\b)",
        "avoid",
        durable=False,
        general=True,
    ),
    cue(
        r"^(?P<cue>(?:in general|generally|in principle|basically|typically)[:,]? (?!(?:it|this|that|the|i|he|she|they|there)\b)\w)",
        None,
        durable=True,
        general=True,
    ),
    cue(rf"{START}(?P<cue>no [^,.;]{{2,60}},? ever\b)", "avoid", durable=True),
    cue(
        rf"{START}(?P<cue>no (?:[\w-]+ )?(?!(?:morning|evening|nothing|meaning)\b)\w{{3,}}ing\b(?=(?:,? please)?\s*[.!]*$|,| without\b))",
        "avoid",
        durable=False,
        general=True,
    ),
    cue(
        rf"^(?P<cue>(?!{_CERTAIN})[\w.+#/-]+(?: [\w.+#/-]+){{0,2}} only(?:[,.!;]|$))", "do", durable=False, general=True
    ),
    cue(
        rf"^(?P<cue>(?:when|if) in doubt\b|by default,? (?:we|i|you|please|use|target|write|run|prefer|keep)\b)",
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
        r"^(?P<cue>(?:(?:our|house|team|my|general|golden) (?:convention|rule|policy|principle|guideline|standard)|rule of thumb"
        r"|(?:a )?(?:note|reminder) for (?:next time|later|the future)|for the record)[:,]\s*\S)",
        None,
        durable=True,
        general=True,
    ),
    cue(
        r"(?P<cue>\bin (?:all|every|each|any)(?: of)?(?: our| my) \w+"
        r"|\bit(?:'s| is) (?:spelled|spelt|written|called|named) q+(?: \w+)* in (?:this|our|all)\b)",
        None,
        durable=False,
        general=True,
    ),
    # general statements about what the work is made of
    cue(
        rf"^(?P<cue>{ARTEFACTS}\s(?:(?:are|is) (?!\w+ing\b|green\b|red\b|ok\b|fine\b|done\b|there\b|empty\b|not\b|still\b|now\b|too\b|so\b|"
        r"very\b|really\b|quite\b|all\b|also\b|in (?:the|a|this)\b|in /|the\b|an?\b|on\b)|(?:go|goes|belongs?|lives?|stays?|starts?|ends?|never|always|"
        r"explains?|follows?|don't|do not|gets?|needs?|has|have|comes? (?:with|before|after|first|from))\b)\s*\w)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        rf"^(?:(?:and|but|also|please)[,:]?\s+)*(?P<cue>(?:write|name|format|prefix|order|sort) (?:all |any )?(?:[a-z][\w-]+ )?{ARTEFACT} "
        rf"(?:in|with|like|by|as|after|using|without) (?!{_CERTAIN})\w)",
        "do",
        durable=False,
    ),
    cue(
        rf"^(?P<cue>for (?:all |new )?{ARTEFACT}[:,] (?!{_CERTAIN}|example|instance)\w)",
        "do",
        durable=False,
        general=True,
    ),
    # who does what, and what must not happen
    cue(
        r"\b(?P<cue>i(?:'ll| will)? (?!did\b|have\b)(?:always )?(?:do|run|make|handle|take care of|commit|push|deploy|release|merge|publish)\b "
        r"(?!it\b|this\b|that\b)(?:[\w-]+ ){0,4}(?:myself|by hand|on my own)\b|leave (?:the )?\w+ing to me\b|let me do the \w+ing\b"
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
        r"\b(?P<cue>we(?:'ve| have)? (?:banned|abandoned|got rid of|deprecated|stopped using|dropped) (?!the\b|this\b|that\b|it\b)\w)",
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
        r"\b(?P<cue>i(?:'m| am) (?:colou?r-?blind|dyslexic|blind|deaf|hard of hearing|not a native|new to (?!this\b|the\b|it\b)\w))",
        "do",
        durable=True,
    ),
    cue(
        r"(?P<cue>\b(?:(?:on|in) this (?:machine|computer|laptop|box|network)\b|this (?:machine|computer|laptop|box) has (?:no|only)\b"
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
