"""The words by which a preference is recognised, as data: English sentences that tell how a person or a team works.

Nothing in them says "always": they speak of habits, of the agent's manner, of what somebody wants to be asked. A report
of a problem has the same forms, so that many of them give way to its signs.
"""

from __future__ import annotations

from codexmem_core.models.findings.cues import ARTEFACT, REPOSITORY, START, Cue, cue

EVENT = (
    r"(?:commit|push|change|edit|release|deploy(?:ment)?|merge|pull request|pr|mr|session|answer|reply|task|migration|"
    r"refactoring|bug ?fix|fix|feature|step|message|review|rebase|upgrade|dependency|package|turn)"
)
"""What comes back in the work itself; "for every row" is about a program."""
POLITE = r"^(?:[^:.!?]{3,60}:\s+)?(?:(?:and|but|so|also|please|just|again|no|btw|by the way)[,:]?\s+)*"
CERTAIN = r"(?:the|this|that|it|them|these|those|my|your|everything|an?)\b"
_PEOPLE = r"(?:customers?|users?|clients?|colleagues?|boss|manager|friends?|teammates?|competitors?)\b"
_GENERAL = (
    r"(?:never|always|only|start|end|begin|follow|use|live|go|stay|return|carry|contain|come|need|must|should|don't|"
    r"do not)"
)

HABITS: tuple[Cue, ...] = (
    # whose it is
    cue(
        rf"^(?:also,? |btw,? |by the way,? )?(?P<cue>(?:our|my) (?!{_PEOPLE})[\w./ -]{{2,40}}?\s(?:{_GENERAL}"
        r"|is (?:always|never|only)|are (?:always|never|only|named|written|called|formatted|kept|stored|sorted|grouped|"
        r"prefixed|in|on))\b)",
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
        r"|(?:for|in|with) (?!(?:this|that|the|these|those|it)\b)[\w.+#-]+,? (?:i|we) (?:use|prefer|write|follow|"
        r"stick)\b"
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
        r"^(?P<cue>(?:but )?we(?:'ve| have)(?: got)? (?:an?|our own) (?!(?:\w+ )?(?:ticket|meeting|bug|issue|problem|"
        r"plan|"
        r"deadline|demo|customer|question|idea)\b)[\w -]{2,40}? for (?:that|this|those|"
        r"[\w -]{3,40}, (?:please )?use (?:it|"
        r"that))[.!]*$)",
        "do",
        durable=True,
        general=True,
    ),
    cue(
        r"\b(?P<cue>(?:i'm|i am|we're|we are) (?:not (?:a|much of a) (?:big )?fan of|allergic to)\b|"
        r"we had bad experiences with\b|i (?:don't|do not|never) like it when you\b)",
        "avoid",
        durable=True,
    ),
    cue(r"\b(?P<cue>i(?:'m| am) a (?:big )?fan of\b)", "do", durable=True),
    # what the person wants of the agent
    cue(r"\b(?P<cue>(?:i|we) never (?:ever )?(?:want|need|expect)\b(?!.*\bto have\b))", "avoid", durable=True),
    cue(r"\b(?P<cue>(?:i|we) (?:always|only ever) (?:want|need|expect|like)\b)", "do", durable=True),
    cue(
        r"\b(?P<cue>(?:i|we)(?:'d| would)? (?:want|need|like|expect|prefer)(?: you)? to (?:see|approve|review|be asked|"
        r"sign off|confirm|be "
        rf"told)\b.{{0,60}}\b(?:before (?:you|any|each|every)|(?:each|every|any|all)(?: new| single)? (?:{EVENT}|plan|"
        r"diff|command|deletion)))",
        "do",
        durable=False,
    ),
    cue(r"\b(?P<cue>i expect .{2,60}? (?:for|with|in|before|after) (?:every|each|all|any)\b)", "do", durable=True),
    cue(
        rf"{POLITE}(?P<cue>ask(?: me)?(?: first)?,? (?:before|whenever|if|instead of|rather than|first)\b"
        r"|(?:check|confirm) with me\b|get my (?:ok|okay|approval)\b|tell me (?:instead of|rather than|before)\b"
        rf"|(?:show|send|give) me (?!{CERTAIN})[\w -]{{2,50}}? before (?:you|any|each|every|they|it)\b)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?:if|when|whenever) (?:in doubt|(?:you(?:'re| are)|something(?:'s| is)|anything(?:'s| is)|"
        r"things are)"
        r" (?!done\b|finished\b|ready\b|there\b|it\b|at it\b)[\w' -]{3,40}?|an? [\w-]+(?: [\w-]+)? (?:is|isn't|fails|"
        r"looks)\b[\w -]{0,30}?"
        r"|you (?:finish|change|add|touch|find|see|need|write|rename|delete|are asked)\b (?:an?|any|new|some\w*|"
        r"more)\b[\w -]{0,40}?),"
        r"\s*(?:please |then |just )*(?:ask|tell|stop|say|don't|do not|choose|prefer|pick|take|use|list|show|write|"
        r"keep|"
        r"leave|warn|check|let me|assume|never|always|add|update|run)\b)",
        None,
        durable=False,
    ),
    cue(r"(?P<cue>\bunless (?:i|we) (?:say|tell|ask|explicitly|specifically)\b)", None, durable=True),
    cue(
        r"\b(?P<cue>(?:i(?:'d| would) (?:really )?appreciate it if|it(?:'d| would) be (?:great|nice|good|better|"
        r"helpful) if) you"
        r" (?:always|never|kept|didn't|did not|stopped|asked|used|would (?:always|never|not|stop|keep)|could (?:always|"
        r"stop|keep))\b)",
        None,
        durable=False,
    ),
    cue(r"\b(?P<cue>let's (?:agree|keep it) that\b)", None, durable=True),
    cue(
        r"\b(?P<cue>(?:i|we)(?:'d| would)? (?:like|want|expect) (?:every|each|all|any)(?: new|"
        rf" public)? {ARTEFACT} (?!in\b|of\b|from\b|for\b)\w)",
        "do",
        durable=False,
    ),
    cue(
        r"\b(?P<cue>you(?:'re| are) (?:always )?(?:free|welcome|allowed) to\b|feel free to (?!.*\b(?:else|another|"
        r"different)\b)\w"
        r"|you (?:may|can) always\b|you (?:don't|do not) (?:have|need) to ask\b)",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>you (?:tend to|keep \w+ing|always|often|constantly)\b[^,]*, (?:please |so )?(?:keep|stop|don't|use|"
        r"do|we|try|leave|write|prefer)\b"
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
        r"\b(?P<cue>(?:i|we) (?:want|like|expect) (?!the\b|this\b|that\b|my\b|your\b|"
        rf"an?\b)(?:[a-z][\w-]+ )?{ARTEFACT} (?:that|which|with|without|to be|as)\b)",
        "do",
        durable=False,
    ),
    cue(
        r"\b(?P<cue>(?:i|we)(?:'d| would)? (?:like|want) (?:our|all|all our) (?!to\b)[\w -]{3,30} to (?:be|have|use|"
        r"stay|look|read|follow)\b)",
        "do",
        durable=False,
        general=True,
    ),
    # what counts more
    cue(
        r"^(?P<cue>(?!the\b|this\b|that\b|it\b|hand\b)[a-z][\w -]{2,40} over (?!the\b|there\b|here\b|http|ssh|tcp|"
        r"tls)[\w -]{3,40}[.!]*$"
        r"|.{3,60}?\bmatters? (?:more|less) (?:to (?:me|us) )?than\b|.{3,60}?\bas far as i'm concerned\b"
        r"|[a-z][\w -]{3,40} (?:is|are) not (?:a concern|a priority|important)\b)",
        "do",
        durable=True,
        general=True,
    ),
    cue(rf"{START}(?P<cue>keep (?:it|things) (?:simple|short|small|minimal|boring|plain)\b)", "do", durable=False),
    cue(
        rf"^(?P<cue>(?!{CERTAIN}|me\b|at\b|safety\b)[a-z][\w-]+(?: [\w-]+)? first(?:,? please|, (?:then|and|not)\b))",
        "do",
        durable=False,
    ),
    cue(
        r"^(?P<cue>(?!(?:please |can you |could you )?(?:replace|rename|change|fix|update|add|remove|search|look|make|"
        r"find|delete|insert)\b|it\b|this\b|that\b)"
        r".{3,100}?\beverywhere\b)",
        None,
        durable=False,
        general=True,
    ),
    cue(
        rf"{POLITE}(?P<cue>(?:document|test|annotate|cover) (?:all |every |any |public |new |"
        rf"exported )+{ARTEFACT}\b(?! (?:in|of|from)\b)"
        r"|use (?:[\w-]+ )?(?:units|spelling|notation|syntax|casing|quotes|capitals)\b|address me\b)",
        "do",
        durable=False,
    ),
    cue(rf"{START}(?P<cue>we (?:keep|put|store) (?:all|every|our)\b)", "do", durable=False, general=True),
    # the manner of answers
    cue(
        rf"{POLITE}(?P<cue>be (?:more |very |as )*(?:brief|concise|short|terse|direct|precise|honest|explicit|"
        r"consistent)\b"
        r"|(?:answer|reply|respond)(?: me)? (?:briefly|shortly|concisely|in (?:short|one|a few))\b)",
        "do",
        durable=False,
    ),
    cue(
        rf"{POLITE}(?P<cue>skip (?:the |all |your )*(?:explanations?|summar(?:y|ies)|introductions?|preamble|"
        r"pleasantries|"
        r"apologies|disclaimers?)\b|(?:leave|keep) (?!"
        + CERTAIN
        + r")[\w /.-]{2,50}?\s(?:alone|untouched|as (?:it is|they are))\b"
        r"|hands off\b\s*\S)",
        "do",
        durable=False,
    ),
    cue(
        rf"{POLITE}(?P<cue>stop \w{{2,}}ing[.!]*$"
        r"|(?:you (?:don't|do not) (?:need|have) to|(?:there is |there's )?no need to) (?:explain|apologi[sz]e|"
        r"summari[sz]e|repeat|"
        r"justify|describe|thank)\b)",
        "avoid",
        durable=False,
    ),
)
