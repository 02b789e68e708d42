"""What a message does to the work: small talk, thanks, complaint, go-ahead, or a request of its own."""

# Chinese, Japanese and typed quotation marks are what this file is about.
# ruff: noqa: RUF001
from __future__ import annotations

import re
from typing import Literal

from codexmem_core.models.findings.identifiers import identifiers

Mood = Literal["thanks", "complaint", "stop", "go on", "social", ""]

FEWEST_WORDS, FEWEST_CJK = 3, 4
"""Words, or Chinese and Japanese letters, of the shortest request."""

_PUNCTUATION = r"[\s,.!;:~…。，！、👍🙏🎉😊)]*"
_THANKED = re.compile(
    r"^(?:(?:phew|whew|wow|oh|ah|hey|aha)\b[,.! ]*)*(?:(?:thank you|thanks|thx|ty|cheers|much appreciated|"
    r"works like a charm|lgtm|looks good|well done|"
    r"(?:nice|good|great|lovely) (?:work|job|one|catch|find|stuff|call|idea)|(?:well )?spot(?:ted| on)|love it|"
    r"good enough|fine by me|(?:that|this)(?:'ll| will) do|does the (?:job|trick)|all good|happy with (?:that|it)|"
    r"much better|"
    r"(?:it |that |this |all )?(?:looks?|sounds?|seems?) (?:good|fine|right|great|perfect|correct|ok(?:ay)?)|"
    r"(?:ok(?:ay)?|yes|yep|great|perfect|nice|cool|awesome|excellent|lovely|wonderful|brilliant|good|super|exactly)"
    r"(?=\s*(?:[,.!;:…)]|$|thank|thx|that|it\b|this|works?\b|now\b))|"
    r"(?:可以|好|行)[，,]?谢谢|谢谢|多谢|感谢|太好了|很好|完美|不错|(?:可以|好|行|成|对)了|搞定了?|没问题了|"
    r"成功了|没错|就是这样|"
    r"ありがとう(?:ございます|ございました)?|完璧(?:です)?|助かり(?:ました|ます)|いいですね|いいね|"
    r"素晴らしい|できました|動きました|直りました)"
    rf"(?:\b|{_PUNCTUATION})*{_PUNCTUATION})+"
)
_CONFIRMED = re.compile(
    r"^(?:ok,? |yes,? |great,? |and |now |so )*(?:it|that|this|everything|all(?: tests)?)(?:'s| is| are)? "
    r"(?:all )?(?:now )?"
    r"(?:works?|working|runs?|builds?|loads?|compiles?|starts?|renders?|green|fixed|solved|pass(?:es|ing)?|done|it|"
    r"exactly (?:it|right|what i (?:wanted|needed)))\b"
    r"|^(?:works|runs|builds|loads|compiles|passes)\b|^that (?:did it|helped|worked)\b|\b(?:works|working|fixed|"
    r"solved) now\b|\b(?:tests|checks) "
    r"(?:all )?pass(?:ed)? now\b"
    r"|(?:现在|已经)(?:可以|好|正常|通过|成功)了?|解决了|修好了|うまくいきました|問題(?:なく|ありません)"
)
_HOWEVER = re.compile(r"\b(?:but|however|except|although)\b|[?？]\s*$|但|けど|でも|\bnot\b|n't\b")
_COMPLAINT = re.compile(
    r"^(?:(?:oh|ugh|argh|hm+|well|ah|eh|ok|sorry)[,.! ]+)*(?:no\b(?=[,.!;: ]*(?:$|please|don't|that|it|i\b|you\b))|"
    r"not (?:quite|really|exactly|there yet)\b|almost\b|nearly\b)|"
    r"^(?:no+|nope|wrong|nah)(?:[,.!;:]|\s*$|\s+(?:that|this|it|not|you|use|i)\b)|\bthat(?:'s| is) (?:not|"
    r"wrong|incorrect)\b|"
    r"\b(?:it|this|that|they)? ?(?:still|again)\s+(?:\w+ ){0,3}(?:fails?|failing|broken|wrong|crash\w*|"
    r"errors?|not|doesn't|isn't|happens|the same)\b"
    r"|(?:^|\b(?:it|this|that|they|yours?)\s+)(?:still )?(?:doesn't|does not|didn't|did not|don't|isn't|not|"
    r"never) work(?:ing|ed)?\b|"
    r"\bfails? again\b|\bsame (?:error|problem|issue)\b|"
    r"\bnot what i (?:asked|meant|wanted|said)\b|\bi (?:said|told you|asked for|meant)\b|\byou (?:broke|"
    r"forgot|missed|ignored|misunderstood)\b|"
    r"\b(?:revert|undo|roll back) (?:that|this|it|your)\b|\bthat's not\b"
    r"|^why did you\b|\b(?:broken|failing|crashing|wrong|down) again\b"
    r"|^不对|^不行|还是一样|^错了|不是这个|还是(?:不行|报错|失败|不对|有问题)|又(?:失败|报错|坏)了|"
    r"没(?:有)?(?:修好|解决|用)|搞错了|我说的是|"
    r"不太对|还差一点|差一点|ちょっと違|惜しい|違(?:う|います)|まだ(?:失敗|エラー|動か|直って)|動(?:かない|"
    r"きません)|直って(?:ない|いない|いません)|そうじゃな|間違(?:い|って)"
)
_STOP = re.compile(
    r"^(?:stop|never ?mind|forget (?:it|about it)|cancel(?: that| it)?|abort|leave it|skip (?:it|that)|算了|停|"
    r"取消|もういい|やめて|中止)"
    rf"{_PUNCTUATION}(?:please)?{_PUNCTUATION}$|^\[request interrupted"
)
_GO_ON = re.compile(
    r"^(?:(?:y|yes|yeah|yep|sure|ok|okay|k|go|go on|go ahead|continue|proceed|do it|do that|please do|"
    r"please|keep going|next|"
    r"sounds good|fine|right|correct|agreed|approved|option \w|[a-d1-9]|"
    r"好|好的|可以|行|对|是|是的|嗯|继续|开始吧|同意|没问题|はい|うん|続けて|お願いします|どうぞ|了解|いいよ|それで)"
    rf"(?:\b|{_PUNCTUATION}))+(?:please|then)?{_PUNCTUATION}$"
)
_SOCIAL = re.compile(
    r"\b(?:hello|hi|hey|hiya|howdy|good (?:morning|afternoon|evening|night|day)|how(?:'s| is) it going|how "
    r"are (?:you|things)|"
    r"what's up|how do you do|nice to meet|see you|bye|goodbye|take care|have a (?:nice|good|great)|your "
    r"(?:day|weekend|name|"
    r"favou?rite)|who are you|are you (?:there|ready|ok|human|real|an? \w+)|the weather|weather|sunny|rainy|"
    r"weekend|tell me a "
    r"(?:joke|story)|joke|funny|haha|lol|coffee|tea\b|lunch|dinner|breakfast|birthday|holiday|vacation|bored|tired|"
    r"sleepy|"
    r"just (?:saying|chatting|checking in|testing)|small talk|happy (?:friday|monday|new year)|i'm (?:good|fine|well)|"
    r"can you hear me|nothing (?:else|more|special)|that's all|no worries|you're welcome|long day|cat|dog)\b"
    r"|你好|您好|早上好|晚上好|下午好|再见|拜拜|晚安|辛苦了|哈哈|天气|周末|吃饭|你是谁|在吗|聊聊天|讲个笑话"
    r"|こんにちは|こんばんは|おはよう|お疲れ|さようなら|またね|おやすみ|元気|天気|週末|はじめまして|よろしく"
)
_NOTED = re.compile(r"^(?:please )?(?:remember|note|keep (?:that|this|it) in mind|good to know|don't forget)\b")
_ECHO = re.compile(
    r"^(?:please )?(?:just |only )?(?:reply|say|answer|respond|print|output|return|write|echo)(?: with)?(?: "
    r"just| only| exactly)?"
    r"(?: the (?:single )?words?)?[:\s]+[\"'“`]?[\w-]+(?:\s[\w-]+)?[\"'”`]?(?: please| only| and nothing else)?[.!]*$"
)
_WORK = re.compile(
    r"\b(?:fix|add|write|implement|make|create|update|change|refactor|remove|delete|rename|move|run|build|compile|test|"
    r"check|"
    r"review|debug|deploy|release|install|upgrade|set ?up|configure|find|search|explain|describe|"
    r"summari[sz]e|document|translate|"
    r"convert|generate|optimi[sz]e|investigate|analy[sz]e|compare|show|list|read|open|parse|migrate|merge|rebase|"
    r"commit|push|"
    r"clean|format|lint|measure|profile|port|extract|replace|improve|reduce|support|handle|validate|design|plan|draft|"
    r"prepare|"
    r"calculate|count|sort|look (?:at|into|up)|figure out|work on|help me (?:with|to|\w+ \w+)|why (?:do|"
    r"does|is|are|did|was|can't|won't)|"
    r"how (?:do|does|to|can|should|would|is|are)|what (?:does|is the|are the|causes|happens)|where (?:is|"
    r"are|do|does)|bug|error|crash|"
    r"fails?|failing|broken|slow|code|function|script|server|database|query|file|repo|branch|module|class|api|"
    r"endpoint)\b"
    r"|修|改|写|加|添加|实现|解释|检查|运行|跑|构建|创建|新建|更新|删|测试|调试|安装|配置|部署|重构|优化|查|"
    r"生成|翻译|说明|分析|整理|支持|处理|代码|报错|失败|问题"
    r"|直し|修正|追加|作(?:って|成)|書い|実装|説明|確認|実行|調べ|削除|更新|テスト|変更|教えて|リファクタ|"
    r"ビルド|インストール|設定|整理|翻訳|生成|エラー|コード|バグ"
)
_ASKED_CJK = re.compile(
    r"(?:て|で)(?:ください|下さい|ほしい|もらえ|いただけ|くれ)|お願いします|^(?:请|麻烦|帮我|帮忙|能不能|"
    r"可以帮)|把.{1,30}(?:改|换|删|移|拆|加|放)"
)
"""The polite imperative, whatever the verb."""
RETRACTED = re.compile(
    r"\b(?:my (?:mistake|bad|fault|error)|i was wrong|i misread|i overlooked|i take (?:that|it) back|oh,? right|"
    r"never mind that)\b"
    r"|我(?:看|搞|弄|记)错了|是我的(?:错|问题)|私の(?:勘違い|間違い)|勘違いでした",
    re.IGNORECASE,
)
"""The person takes a complaint back in the same message."""
NEXT = re.compile(
    r"^(?:carry on|go on with|next(?: up| one)?|now|then|moving on|anyway|besides|apart from that|other than that|"
    r"something else|"
    r"another thing|new task|also|次(?:に|は)|それから|另外|接下来|还有)\b[:,，、]?",
    re.IGNORECASE,
)
"""How a message goes on to something else after a word about what was done."""
_OBSERVED = re.compile(
    r"^(?:(?:and|but|also|so|well)[, ]+)*i (?:noticed|see|saw|find|found|think|thought|guess|know|understand|like|"
    r"love)\b(?!.*[?？])"
)
"""Tells what the person thinks; when it leads to work, a tool shows it."""
_QUESTION_MARK = re.compile(r"[?？]\s*$|(?:吗|呢|ですか|ますか)[。]?\s*$")
_ENGLISH = re.compile(r"\b(?:the|is|are|a|an|i|you|and|to|it|my|of|in|that|for|was|with|we|me|do|this|so|just)\b")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_TECHNICAL = re.compile(r"`[^`]+`|\b[\w-]+/[\w./-]+|\b\w[\w-]*\.(?:[a-z]{1,4})\b|\w\(\)|\w+::\w+|(?<!\w)--?\w")


def mood(sentence: str) -> Mood:
    """What a sentence at the beginning of a message says about the work before it."""
    lowered = sentence.lower().replace("’", "'").strip()
    if _STOP.search(lowered):
        return "stop"
    if _COMPLAINT.search(lowered):
        return "complaint"
    if _GO_ON.search(lowered):
        return "go on"
    if (_THANKED.search(lowered) or _CONFIRMED.search(lowered)) and not _HOWEVER.search(lowered):
        return "thanks"
    if social(lowered) or _NOTED.search(lowered):
        return "social"
    return ""


def social(sentence: str) -> bool:
    """Whether it is said to be polite, or only asks for a word to be echoed."""
    lowered = sentence.lower()
    if _ECHO.search(lowered):
        return True
    return (
        bool(_SOCIAL.search(lowered))
        and not _TECHNICAL.search(sentence)
        and not _WORK.search(_SOCIAL.sub(" ", lowered))
    )


def asks_to_know(sentence: str) -> bool:
    """Whether it is a question in plain words: without a tool nothing of it is worth keeping."""
    return (
        bool(_QUESTION_MARK.search(sentence))
        and not _TECHNICAL.search(sentence)
        and not next(identifiers(sentence), "")
    )


def request(sentence: str) -> bool:
    """Whether the sentence asks for work, so that it counts even when no tool was used.

    English, Chinese and Japanese must speak of work (a verb or a thing of the trade, a path, an identifier); in other
    languages four words that are not known as small talk are enough.
    """
    lowered = sentence.lower()
    if _ECHO.search(lowered) or _OBSERVED.search(lowered) or social(sentence):
        return False
    words = lowered.split()
    cjk = len(_CJK.findall(lowered))
    if len(words) < FEWEST_WORDS and cjk < FEWEST_CJK:
        return False
    if _TECHNICAL.search(sentence) or next(identifiers(sentence), ""):
        return True
    if cjk and _ASKED_CJK.search(lowered):
        return True
    if cjk or _ENGLISH.search(lowered):
        return bool(_WORK.search(lowered))
    return len(words) > FEWEST_WORDS


def beyond_thanks(sentence: str) -> str:
    """What is left of a sentence after words of thanks or a go-ahead at its beginning, when it asks for more."""
    match = _THANKED.search(sentence.lower().replace("’", "'"))
    rest = sentence[match.end() :].lstrip(" ,.!;:-—") if match else ""
    return rest if request(rest) else ""
