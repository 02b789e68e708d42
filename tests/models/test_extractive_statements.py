"""Which sentences state a preference or a decision, in three languages, and which only look like it."""

# Chinese and Japanese are written with full-width punctuation.
# ruff: noqa: RUF001

import pytest

from codexmem_core.models.findings.preferences import decision, preference
from codexmem_core.models.findings.sentences import sentences, shortened, visible

STATED = [
    ("Always run make test before you commit.", "do", "unstated"),
    ("From now on use pnpm, not npm.", "do", "unstated"),
    ("Never push to main.", "avoid", "unstated"),
    ("Please always answer in German.", "do", "unstated"),
    ("I prefer small commits.", "do", "unstated"),
    ("In this repo we use tabs.", "do", "project"),
    ("No, use uv instead of pip.", "do", "unstated"),
    ("I said use tabs!", "do", "unstated"),
    ("Don't add comments to the code.", "avoid", "unstated"),
    ("Use tabs for indentation.", "do", "unstated"),
    ("Remember that I deploy on Fridays only.", "do", "unstated"),
    ("Commit messages must be in English.", "do", "unstated"),
    ("We use pytest in all our projects.", "do", "everywhere"),
    ("I don't like emojis in commit messages.", "avoid", "unstated"),
    ("Stop adding docstrings everywhere.", "avoid", "everywhere"),
    ("Whenever you change the schema, run the migration check.", "do", "unstated"),
    ("Can you always run ruff before you finish?", "do", "unstated"),
    ("Tests should never hit the network.", "avoid", "unstated"),
    ("And in all my projects: keep answers short, and no emojis.", "do", "everywhere"),
    ("For deployments use ./deploy.sh with the stage's name, never kubectl by hand.", "do", "unstated"),
    ("Always run the tests with `make test` in this repo, never call pytest directly.", "do", "project"),
    ("以后都用 pnpm，不要用 npm。", "do", "unstated"),
    ("请用中文回答。", "do", "unstated"),
    ("记住：提交前先跑测试。", "do", "unstated"),
    ("不要在代码里写注释。", "avoid", "unstated"),
    ("这个项目里统一用四个空格缩进。", "do", "project"),
    ("我更喜欢简短的回答", "do", "unstated"),
    ("不对，用 uv 安装依赖", "do", "unstated"),
    ("所有项目都请使用制表符", "do", "everywhere"),
    ("常に日本語で答えてください。", "do", "unstated"),
    ("今後は必ずテストを実行してからコミットして。", "do", "unstated"),
    ("タブではなくスペースを使ってください。", "do", "unstated"),
    ("コメントを書かないでください。", "avoid", "unstated"),
    ("このリポジトリではpnpmを使ってください。", "do", "project"),
    ("デプロイは金曜だけと覚えておいて。", "do", "unstated"),
    ("I want every function to have type hints from now on.", "do", "unstated"),
    ("Please don't use semicolons in our TypeScript code.", "avoid", "unstated"),
    ("Just so you know, I hate long commit messages.", "avoid", "unstated"),
    ("For the future: run prettier before committing.", "do", "unstated"),
    ("You should always ask me before you install new dependencies.", "do", "unstated"),
    ("Please write all documentation in British English.", "do", "unstated"),
    ("My preference is single quotes.", "do", "unstated"),
    ("Let's always use feature branches.", "do", "unstated"),
    ("We never commit directly to main here.", "avoid", "unstated"),
    ("I'd rather have small functions.", "do", "unstated"),
    ("I would prefer if you didn't create new files without asking.", "avoid", "unstated"),
    ("No more print statements, use the logger.", "avoid", "unstated"),
    ("Make sure you always run the formatter.", "do", "unstated"),
    ("In general, prefer composition over inheritance.", "do", "everywhere"),
    ("Only use named exports.", "do", "unstated"),
    ("Everything in this repo is formatted with black, keep it that way.", "do", "project"),
    ("Also, don't ever force-push.", "avoid", "unstated"),
    ("Again: tabs, not spaces!", "do", "unstated"),
    ("That's wrong, we use pnpm here, not yarn.", "do", "unstated"),
    ("I told you to use the logger instead of print.", "do", "unstated"),
    ("Don't use any in TypeScript.", "avoid", "unstated"),
    ("As a rule, tests go next to the code.", "do", "unstated"),
    ("Avoid abbreviations in variable names.", "avoid", "unstated"),
    ("以后写代码的时候都要加类型注解。", "do", "unstated"),
    ("别再用 print 调试了，用 logging。", "avoid", "unstated"),
    ("我希望你每次改完都跑一遍测试。", "do", "unstated"),
    ("回答请尽量简短。", "do", "unstated"),
    ("变量名不要用拼音。", "avoid", "unstated"),
    ("以后不要直接推到 main 分支", "avoid", "unstated"),
    ("我们团队统一使用 Prettier 格式化代码", "do", "unstated"),
    ("テストは必ずpytestで書いてください。", "do", "unstated"),
    ("printは使わないで、loggerを使って。", "avoid", "unstated"),
    ("コミットメッセージは英語でお願いします。", "do", "unstated"),
    ("mainブランチには直接pushしないでください。", "avoid", "unstated"),
    ("私はタブ派です。", "do", "unstated"),
    ("返事は短くしてください。", "do", "unstated"),
    ("変数名には略語を使わないこと。", "avoid", "unstated"),
    ("今度から、変更の前に確認してください。", "do", "unstated"),
]
NOT_STATED = [
    "Why does the test always time out?",
    "Make sure the tests pass.",
    "I think it never worked.",
    "Could you always return a list here?",
    "The function should always return a list.",
    "We always get a 500 when we call it.",
    "Users never see this page.",
    "The cache must be invalidated when the user logs out.",
    "Please use the new endpoint in api/client.ts.",
    "Use a mutex instead of a channel here.",
    "Don't remove the old code yet.",
    "Remember the bug from yesterday?",
    "In this repo there is a bug in the parser.",
    "I like this approach.",
    "I would like a summary.",
    "Can we use Redis instead of Postgres?",
    "If it always fails, skip it.",
    "I don't want to merge this now.",
    "Keep the function as it is.",
    "每次启动都会报错",
    "请用这个函数重写一下",
    "不要删除这个文件",
    "现在请用中文写一份总结",
    "このファイルは変更しないでください",
    "毎回エラーになる",
    "テストを実行してください",
    "さっきの関数を使ってください",
    "use tabs in this file now",
    "The build always fails on CI.",
    "It never returns.",
    "it seems to always crash",
    "I always forget the syntax",
    "I never said that it works",
    "Never mind.",
    "Why don't you use pytest?",
    "What should I use, npm or pnpm?",
    "Do you remember the last session?",
    "Don't touch the parser in this change.",
    "Don't commit yet.",
    "Please remember that fix, it bites us after every rebase.",
    "Don't worry about it.",
    "I don't know.",
    'The README says "always use yarn".',
    "The docs say never use yarn.",
    "Fix the login bug in this repo.",
    "I like it.",
    "I'd like you to fix the tests.",
    "The button must be blue.",
    "Use the new helper in src/a.py instead of the old one.",
    "use a dict instead of a list in parse()",
    "Run the tests.",
    "这次不要跑测试",
    "运行以后报错",
    "每次都失败",
    "总是失败",
    "特别好",
    "要不要用 pnpm？",
    "今回はテストを書かないで",
    "いつも失敗する",
]


@pytest.mark.parametrize(("sentence", "polarity", "scope"), STATED)
def test_a_stated_default_is_a_preference(sentence, polarity, scope):
    found = preference(sentence)
    assert found is not None
    assert (found.quote, found.polarity, found.scope) == (sentence, polarity, scope)
    assert found.topic == found.topic.lower()
    assert found.topic


@pytest.mark.parametrize("sentence", NOT_STATED)
def test_a_request_a_question_or_a_report_is_none(sentence):
    assert preference(sentence) is None


def test_a_request_in_front_of_a_preference_stays_a_request():
    found = preference("Fix the login bug, and always run the linter before committing.")
    assert found is not None
    assert found.request == "Fix the login bug"
    assert found.quote == "always run the linter before committing."


def test_a_quote_is_bounded():
    found = preference("Always " + "check the very long list of things " * 12)
    assert found is not None
    assert len(found.quote) <= 200
    assert found.quote.endswith("…")


@pytest.mark.parametrize(
    "sentence",
    ["let's go with Postgres", "We decided to keep the monolith.", "就用 Redis 吧", "SQLiteを採用します"],
)
def test_a_choice_is_a_decision(sentence):
    assert decision(sentence) == sentence


@pytest.mark.parametrize("sentence", ["I haven't decided yet.", "Should we go with X?", "He said let's use X"])
def test_an_open_choice_is_none(sentence):
    assert decision(sentence) == ""


def test_pasted_code_logs_and_markup_are_not_the_users_words():
    text = (
        "Look at this:\n```\nalways use spaces\n```\n> never push\n2026-01-02T10:00:00 INFO always retry\n"
        "<system-reminder>From now on use yarn.</system-reminder>\nIt breaks. Why?"
    )
    assert [sentence.text for sentence in sentences(visible(text))] == ["Look at this:", "It breaks.", "Why?"]


def test_shortening_keeps_short_text_and_cuts_at_a_word():
    assert shortened("  two\n words ") == "two words"
    assert shortened("alpha beta gamma delta", 16) == "alpha beta…"
