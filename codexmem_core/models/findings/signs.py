"""Signs that decide whether a sentence with a cue states a default: one-off, question, report; and its scope."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001

from __future__ import annotations

import re

from codexmem_core.models.findings.cues import REPOSITORY

ONE_OFF = re.compile(
    r"\b(?:(?<!from )now(?! on)|this time|for the (?:moment|demo|time being)|just (?:this )?once|just \w+ (?:it|this|"
    r"that|them)|right away|"
    r"temporarily|here only|only here|"
    r"this (?:one|file|function|change|commit|pr|pull request|time|task|test|class|method|line|branch|patch|ticket|"
    r"issue|step)|"
    r"for this|until)\b"
    r"|(?<!we )\b(?:use|add|put|return|do|write)\b[^.]*\bhere\b"
    r"|(?:这|那)(?:次|一次|个文件|里|个函数|段|一行|个提交|个测试)|现在(?!起|开始)|暂时|本次|先别|先不"
    r"|今回|今だけ|(?:この|その)(?:ファイル|関数|行|コミット|テスト|ブランチ|変更)|とりあえず|一旦|"
    r"ここ(?:では|は|で|だけ)|今は|今すぐ|上記の"
)
"""Signs, anywhere in the sentence, that a weak cue is about the work at hand."""

OF_NOW = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|later|yet|currently|at the moment|this (?:morning|afternoon|evening|week|"
    r"month)|"
    r"last (?:week|night|month|time)|instead\s*$)\b|instead\s*$|当前|今天|さっき|先ほど"
)
"""The same, but only in the clause of the cue: beside it they say why ("no force pushes, it broke main yesterday")."""

PROBLEM = re.compile(
    r"\b(?:broken|fail\w*|crash\w*|slow\w*|wrong|down|stuck|flaky|missing|errors?|bugs?|problems?|issues?|complain\w*|"
    r"(?<![\w-])[45]\d\d(?![\w-])|"
    r"out of date|outdated|cut off|truncated|hang\w*|unreachable|lost|leak\w*|doesn't|isn't|aren't|won't|can't|cannot|"
    r"suddenly|anymore)\b"
    r"|报错|失败|崩溃|卡住|超时|挂了|エラー|失敗|落ち|止ま|動か"
)
"""Signs that a general statement reports something that does not work."""

DEFINITE = re.compile(
    # "use the logger instead of print" compares with a thing in general, "the old one" would be a certain one
    r"^(?!.*\b(?:instead of|rather than) (?!the\b|this\b|that\b|an?\b|my\b|your\b|it\b))[^,;]*?"
    r"\b(?:don't|do not|avoid|use|stop \w+ing|no more|want)\s+(?:(?:\w+\s+)?"
    r"(?:the|this|these|those|it|them|my|your|anything)|that|\w+ \w+ (?:the|this|that|these|those))\b"
)
"""A weak cue whose object is one certain thing: a request."""

AT_PLACE = re.compile(r"\b(?:in|for|of|to|from|into)\s+(?:[\w.-]+/[\w./-]+|\w[\w-]*\.[a-z]{1,4}\b|\w+\(\))")
"""A weak cue that names a place in the code: a request."""

NEGATION = re.compile(
    r"\b(?:never|don't|do not|not|no|avoid|stop|without|refrain|isn't|shouldn't|mustn't)\b"
    r"|不要|别(?!的)|勿|不(?:用|使|许|准|能|再|得)|禁止|避免|ないで|しない|ません|使わない|禁止|やめて|避け|嫌い"
)
CONTRAST = re.compile(
    r"\b(?:not|instead of|rather than|over|never)\b.*$|(?:而不是|不要用|别用|不用|代替).*$|^.*(?:ではなく|じゃなくて|"
    r"の代わりに)"
)
"""The side of a comparison that is turned down; its negation says nothing about the statement."""

QUESTION = re.compile(
    r"[?？]\s*$|^(?:why|what|how|who|which|is|are|was|were|does|did|do (?:you|we|i|they)|can|could|should "
    r"(?:i|we|you|it)|"
    r"would|will|have|has)\b|(?:吗|呢|吧[?？]|是不是|要不要|能不能)[?？。]?\s*$|(?:ですか|ますか|"
    r"でしょうか)[?？。]?\s*$"
)
ASKED_DEFAULT = re.compile(
    r"^(?:can|could|would|will) you(?: mind)?\b.*\b(?:always|never|from (?:now|here) on|in (?:the )?future|"
    r"going forward|next time|every time)\b"
    r"|^(?:can|could|would|will) you (?:please )?stop\b|^how (?:often|many times) (?:do|must|should) (?:i|we)\b"
)
"""A question by its form only."""

REPORTED = re.compile(r"\b(?!i\b|we\b)\w+\s+(?:says?|said|claims?|states?|suggests?|recommends?|told|wrote|writes)\b")

_ALL_PROJECTS = (
    r"(?:all|every|any|each)(?: of)?(?: my| our| the)? (?:[\w.+#-]+ ){0,2}"
    r"(?:projects?|repos?|repositor(?:y|ies)|codebases?)\b"
)
ALL_PROJECTS = re.compile(
    rf"\b(?:(?:in|for|to|across) {_ALL_PROJECTS}|across (?:my |our )?(?:projects|repos|repositories)\b"
    r"|(?:everything|whatever) (?:we|you|i) (?:do|work on|build|write))"
    r"|所有(?:的)?(?:项目|仓库|地方)|任何(?:项目|地方|仓库)|(?:すべて|全て|全部|どの)の?(?:プロジェクト|リポジトリ)"
)
"""Says outright that it holds in all projects."""
EVERYWHERE = re.compile(r"\b(?:everywhere|globally|in general)\b|全局|到处|どこでも")
"""Holds everywhere unless the sentence speaks of one project."""

IN_PROJECT = re.compile(
    rf"\b(?:in|for|throughout|across) (?:this|our|the|the whole) (?:\w+ )?{REPOSITORY}\b|\bthis {REPOSITORY}\b"
    r"|(?:这个|本|该|我们的?)(?:项目|仓库|代码库|工程)|(?:この|本|うちの)(?:リポジトリ|レポジトリ|プロジェクト|"
    r"コードベース)"
)

DECIDED = re.compile(
    r"\b(?:ended up (?:choosing|using|picking|going with)|settle on|the decision is|we(?:'ll| will) stay (?:on|with)|"
    r"we(?:'re| are) not going to (?:support|use|add|build|migrate)|ruled (?:it |that |them )?out|decided against|"
    r"opted (?:for|against|out)|(?:considered|evaluated|tried) .{2,60} (?:and|but) (?:rejected|dropped))\b|\b(?:let's|"
    r"let us) (?:go (?:with|for)|use|stick with|stick to|keep|switch to|take)\b|\bwe(?:'ll| will|'re "
    r"going to| are going to) "
    r"(?:use|go (?:with|for)|stick with|stay with|keep|switch to|adopt|build on|settle on)\b|\b(?:i|we)(?:'ve|"
    r" have)?(?: also| just| now| finally| already| both| all)* "
    r"(?:decided|chose|chosen|picked|selected|agreed|settled)\b|"
    r"\bdecision:|\bgo with (?:option|plan|variant)\b|\bwe(?:'re going| are going| went) (?:with|for)\b|(?:^|"
    r", )(?:ok(?:ay)?,? |so,? |then )*(?!that\b|this\b)[\w.+#-]+(?: [\w.+#-]+){0,2} it is[.!]*$|^(?:ok(?:ay)?|right|"
    r"fine|so)(?: then)?, (?:then )?[\w.+#-]+(?: [\w.+#-]+){0,2} instead of \w"
    r"|决定(?!不了)|定了(?:用|是|采用)|敲定|(?:选|商|议)定|我们(?:最后|最终|还是|后来)+(?:选了|选择了|用了?|"
    r"改用)|确定(?:用|采用|使用)|"
    r"就(?:用|选)|采用|选用|定下来|我们用.{1,30}吧|に決め(?:た|ました|ます)|を?採用(?:し|"
    r"する)|決定(?:し|です)|"
    r"で(?:行|い)き(?:ましょう|ます)|(?:に|と)しましょう"
)
UNDECIDED = re.compile(
    r"\buntil\b|\bfor (?:now|the moment|today)\b|\b(?:haven't|have not|not yet|not|never|hasn't|un)\s*decided|"
    r"\bif we\b|还没决定|未决定|まだ"
)
CHANGED_MIND = re.compile(
    r"^(?:actually|no[,. ]|wait|scratch that|on second thought|changed my mind|forget that|hmm)|(?:^|"
    r"，)(?:还是|算了|不对|改成)|やっぱり|やはり"
)
TAKEN_BACK = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)? changed (?:my|our) minds?|no longer|any ?more|on second thought|new rule|"
    r"scratch (?:that|what)"
    r"|forget (?:what i said|the old)|(?:i|we) used to (?:prefer|want|say|use)|instead of what)\b"
    r"|不再|改主意|改变主意|以前.{0,20}现在|気が変わ|変更(?:し|になり)ました|(?:これまで|以前)は.{1,40}(?:今後|"
    r"これから)"
)
"""Says that an earlier statement about the same thing is void."""

RULES = re.compile(
    r"\b(?:(?:ground|house|basic|general|project|team|coding|my|our|some|these|following|few) (?:\w+ )?"
    r"(?:rules|conventions|preferences|guidelines|principles|standards|habits|wishes)"
    r"|(?:here(?:'s| is)|this is) how (?:i|we) (?:like|want|do|work)|things? (?:\w+ ){0,4}(?:to (?:know|remember|note|"
    r"keep in mind)|about (?:me|us|how (?:i|we)))|so (?:that )?you know|how (?:i|we) work"
    r"|before (?:you|we) (?:start|begin)|code style|style guide|how (?:i|we) (?:like|want) (?:things|it|to work)"
    r"|(?:please )?(?:always|never|remember|keep in mind|bear in mind)|from now on|from here on|going forward|as a rule"
    r"|(?:for|in) (?:the )?future|(?:for )?next time|in general|generally speaking)\b[^.!?]*[:：]\s*$"
    r"|(?:规则|约定|规范|要求|偏好|习惯|原则|规矩|注意|记住|记一下|以后|今后)[^。！？]{0,20}[:：]\s*$"
    r"|(?:ルール|決まり|規約|方針|約束|今後|これから|覚えて)[^。！？]{0,20}[:：]\s*$"
)
"""A line or clause that introduces rules: what is listed below it, or follows it, is one."""

WITHDRAWN = re.compile(
    r"(?:\bno,? wait\b|\bnever ?mind\b|\bscratch that\b|\bforget (?:it|that)\b|\b(?:drop|skip|leave) (?:it|that)\b|"
    r"(?:^|[,.…] )don't)"
    r"[\s.!…]*$|(?:算了|不用了|やっぱりいい(?:です)?|やめておき(?:ます)?)[\s。！]*$"
)
"""The sentence takes itself back at its end."""

WAIVED = re.compile(
    r"^(?:but |and |also,? )*(?:you (?:may|can|could) (?:skip|leave out|ignore|leave)|(?:there is |"
    r"there's )?no need (?:to|for)|(?:you )?(?:don't|do not) "
    r"(?:have|need) to|never mind)\b|(?:不用|不必|不需要)[^，。]{0,15}[了。！]*$|(?:不要|"
    r"必要(?:は)?ありません|いりません|結構)(?:です)?[。！]*$"
)
"""Says that something need not be done: no request."""
