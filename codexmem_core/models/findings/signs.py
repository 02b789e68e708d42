"""Signs that decide whether a sentence with a cue states a default: one-off, question, report; and its scope."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001

from __future__ import annotations

import re

from codexmem_core.models.findings.cues import REPOSITORY

ONE_OFF = re.compile(
    r"\b(?:(?<!from )now(?! on)|this time|for the moment|just (?:this )?once|right away|today|tonight|yet|temporarily|"
    r"here only|only here|instead\s*$|this (?:one|file|function|change|commit|pr|pull request|time|task|"
    r"test|class|method|line|"
    r"branch|patch|ticket|issue|step)|for this|until (?:i|we|you))\b"
    r"|(?<!we )\b(?:use|add|put|return|do|write)\b[^.]*\bhere\b"
    r"|(?:这|那)(?:次|一次|个文件|里|个函数|段|一行|个提交|个测试)|现在(?!起|开始)|暂时|当前|今天|本次|先别|先不"
    r"|今回|今だけ|(?:この|その)(?:ファイル|関数|行|コミット|テスト|ブランチ|変更)|とりあえず|一旦|ここ(?:では|は|で|だけ)|今は|今すぐ|さっき|先ほど|上記の"
)
"""Signs that a weak cue is about the work at hand."""

DEFINITE = re.compile(
    # "use the logger instead of print" compares with a thing in general, "the old one" would be a certain one
    r"^(?!.*\b(?:instead of|rather than) (?!the\b|this\b|that\b|an?\b|my\b|your\b|it\b))[^,;]*?"
    r"\b(?:don't|do not|avoid|use|stop \w+ing|no more|want)\s+(?:\w+\s+)?(?:the|this|that|these|those|it|"
    r"them|my|your|anything)\b"
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
    r"would|will|have|has)\b|(?:吗|呢|吧[?？]|是不是|要不要|能不能)[?？。]?\s*$|(?:ですか|ますか|でしょうか)[?？。]?\s*$"
)
ASKED_DEFAULT = re.compile(r"^(?:can|could|would|will) you (?:please )?(?:always|never|from now on|stop)\b")
"""A question by its form only."""

REPORTED = re.compile(r"\b(?!i\b|we\b)\w+\s+(?:says?|said|claims?|states?|suggests?|recommends?|told|wrote|writes)\b")

EVERYWHERE = re.compile(
    r"\b(?:everywhere|globally|in general|across (?:all )?(?:my |our )?(?:projects|repos|repositories)|"
    r"(?:in|for) (?:all|every|any|each)(?: of)?(?: my| our)? (?:projects?|repos?|repositor(?:y|ies)|codebases?))\b"
    r"|所有(?:的)?(?:项目|仓库|地方)|任何(?:项目|地方|仓库)|全局|到处|(?:すべて|全て|全部)の(?:プロジェクト|リポジトリ)|どこでも"
)
IN_PROJECT = re.compile(
    rf"\b(?:in|for|throughout|across) (?:this|our|the|the whole) (?:\w+ )?{REPOSITORY}\b|\bthis {REPOSITORY}\b"
    r"|(?:这个|本|该|我们的?)(?:项目|仓库|代码库|工程)|(?:この|本|うちの)(?:リポジトリ|レポジトリ|プロジェクト|コードベース)"
)

DECIDED = re.compile(
    r"\b(?:let's|let us) (?:go with|use|stick with|stick to|keep|switch to|take)\b|\bwe(?:'ll| will|'re "
    r"going to| are going to) "
    r"(?:use|go with|stick with|keep|switch to|adopt|build on)\b|\b(?:i|we)(?:'ve| have)? (?:decided|chose|"
    r"agreed|settled)\b|"
    r"\bdecision:|\bgo with (?:option|plan|variant)\b|\bwe're going with\b"
    r"|决定(?!不了)|就(?:用|选)|采用|选用|定下来|我们用.{1,30}吧|に決め(?:た|ました|ます)|を?採用(?:し|する)|決定(?:し|です)|"
    r"で(?:行|い)き(?:ましょう|ます)|(?:に|と)しましょう"
)
UNDECIDED = re.compile(r"\b(?:haven't|have not|not yet|not|never|hasn't|un)\s*decided|\bif we\b|还没决定|未决定|まだ")
CHANGED_MIND = re.compile(
    r"^(?:actually|no[,. ]|wait|scratch that|on second thought|changed my mind|forget that|hmm)|(?:^|"
    r"，)(?:还是|算了|不对|改成)|やっぱり|やはり"
)
