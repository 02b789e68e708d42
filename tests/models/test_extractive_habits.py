"""Preferences that nobody marks as such: habits, manners, rules by their form; and what only has that form."""

# Chinese and Japanese are written with full-width punctuation.
# ruff: noqa: RUF001

import pytest

from codexmem_core.models.findings.preferences import decision, lasting, preference

DO = [
    "Our commit messages start with the ticket number, here it's PEL-482.",
    "My branches are named after the ticket.",
    "I always want to see the test output.",
    "I want to approve every new dependency.",
    "I expect tests for every bug fix.",
    "Ask before adding a package.",
    "Check with me before you change the schema.",
    "Show me migrations before you apply them.",
    "Please leave unrelated code alone.",
    "Hands off the vendored code.",
    "Run the linter before every commit.",
    "After each change run the unit tests.",
    "Tests go next to the code, without exception.",
    "Type hints are mandatory.",
    "We have a logger for that.",
    "Whoever changes the API updates the docs too.",
    "Commits are squashed before merging, always.",
    "One commit per topic, please.",
    "Keep the changelog up to date.",
    "We name migrations by date.",
    "Be concise in your answers.",
    "Answer briefly.",
    "As usual we indent with two spaces.",
    "Our convention: kebab-case for file names.",
    "Rule of thumb: if it needs a comment, rename it.",
    "In my projects I use uv for everything.",
    "Everything that touches money needs a second test.",
    "If you are unsure, ask.",
    "When in doubt, choose the simpler solution.",
    "Unless I say otherwise, target Python 3.12.",
    "By default we target Node 20.",
    "I use fish as my shell.",
    "We are a Python shop, no node tooling please.",
    'It should be "colour", not "color", in all our texts.',
    "You used print again, we log with structlog.",
    "It would be great if you always ran mypy too.",
    "Can you use British spelling from here on?",
    "I do the commits myself.",
    "Nothing gets merged without a changelog entry.",
    "I'm colour-blind, so don't rely on red and green in charts.",
    "There are no tools on this machine, use podman.",
    "Comments explain why, not what.",
    "For tests, plain asserts only.",
    "Starting today, new endpoints are versioned.",
    "Readability over cleverness.",
    "You tend to over-engineer, keep it simple.",
    "You don't have to ask for permission to run tests.",
    "I'd like every function documented.",
    "All config comes from environment variables.",
    "I want code that a beginner can follow, even if it takes more lines.",
    "Subject line in the imperative, that's how we do all our commits.",
    "Every variable gets a default, that's our deal with operations.",
    "We're moving to Conventional Commits.",
    "In general commit first, then tag.",
    "And since you touch it often: every variable gets a default.",
    "我们的提交信息都以工单号开头。",
    "提交前先给我看 diff。",
    "代码注释用英文就行，这是团队规范。",
    "每次提交前都要跑一遍 lint。",
    "命令行选项的说明都要写中文，这点请记一下。",
    "部署我自己来。",
    "文档统一放在 docs 目录下。",
    "我更看重可读性。",
    "以后这种环境变量都写进 README 里，别让人去翻代码。",
    "另外我希望提交粒度小一点，一个提交只做一件事。",
    "Assume UTF-8 for all input files, our partners guarantee that.",
    "I'd like our style to be consistent, so sentence case in headings.",
    "依存を追加する前に確認してください。",
    "関数名はスネークケースで統一しています。",
    "わからないときは推測せずに聞いてください。",
    "チームの決まりとして、エラーメッセージは丁寧語で書いてください。",
    "ログは英語の小文字で書くことになっています。",
    "変更は最小限にしてください。",
]
AVOID = [
    "Our API handlers never raise, they return a Result.",
    "I never want generated files in the repository.",
    "I don't like it when you rename things without asking.",
    "Direct pushes to main are forbidden.",
    "Inline styles are a no-go.",
    "We don't use ORMs.",
    "I'm not a fan of one-letter variables.",
    "No magic numbers please.",
    "No type: ignore, ever.",
    "I review every diff, so no drive-by refactoring.",
    "You don't need to explain every step.",
    "Stop apologising.",
    "The folder generated/ must not be edited by hand.",
    "Under no circumstances commit .env files.",
    "We've banned lodash from the codebase.",
    "It bugs me when functions have more than three parameters.",
    "Please don't do releases from a dirty tree, it wasn't even committed yet!",
    "clippy has to be clean and unwrap() has no place outside of tests.",
    "没有我的同意不要安装新的依赖。",
    "配置文件以后别直接改，先跟我说一声。",
    "我们从来不在周五发布。",
    "勝手にpushしないようにしてください。",
    "謝らなくていいです。",
]
NEITHER = [
    "Our build is broken since Monday.",
    "Our customers complain about slow pages.",
    "Our server returns 502 after the deploy.",
    "I want a button that resets the form.",
    "I need the report by noon.",
    "I don't want this class any more.",
    "Ask the API for all users and print them.",
    "Check the logs first.",
    "Leave the function where it is.",
    "Run the linter and fix what it finds.",
    "Add a border to every button.",
    "Call the hook after each request.",
    "Requests without a token are not allowed.",
    "Tests are failing.",
    "We have a meeting at ten, so be quick.",
    "We have a function for that in util.py, it returns None.",
    "We moved the database yesterday and now the app cannot connect.",
    "I switched to the feature branch.",
    "When you are done, push the branch.",
    "When you click the button, nothing happens.",
    "If it fails, try again.",
    "If a file is missing, create it.",
    "Keep the old endpoint for now.",
    "Skip the slow tests this time.",
    "No need to do anything about it now.",
    "No luck, it still crashes.",
    "Let's keep the old version until Friday.",
    "It should be possible to sort by name.",
    "You forgot the import.",
    "I told you the password is in the vault.",
    "How often does the job run?",
    "Never seen that before.",
    "As always, great work!",
    "By default the timeout is 30 seconds.",
    "Nobody knows why.",
    "I prefer the second option.",
    "I'd rather look at the other bug first.",
    "We usually deploy at noon, but today we have to wait.",
    "Don't wait for the lock, just skip the row.",
    "Prefer the newest entry when two have the same key.",
    "Rows without a date must be skipped.",
    "The button should never be disabled.",
    "We store the files in S3, they are lost after a restart.",
    "One test fails.",
    "My test is called test_foo.",
    "All config files are in /etc/app.",
    "We keep getting timeouts from the gateway.",
    "Feel free to try something else.",
    "The API should return 201 when the order was created.",
    "Every order has one customer.",
    "Users can upload files up to 5 MB.",
    "I pushed a fix for that yesterday.",
    "Just print it, no fancy formatting.",
    "我们的服务挂了。",
    "这次不用写测试。",
    "先不要提交。",
    "帮我写一个脚本，每次部署前清理缓存。",
    "每个用户都要有一个头像，加上这个字段。",
    "列表按时间排序。",
    "これは前回と同じエラーです。",
    "ボタンを赤にしてください。",
    "今回だけテストを省略してください。",
    "ユーザーは毎回ログインする必要があります。",
    "ファイルを tests/ に移動してください。",
]


def stated(sentence):
    found = preference(sentence)
    return found.polarity if found else ""


@pytest.mark.parametrize("sentence", DO)
def test_what_is_wanted_is_a_preference(sentence):
    assert stated(sentence) == "do"


@pytest.mark.parametrize("sentence", AVOID)
def test_what_is_unwanted_is_a_preference(sentence):
    assert stated(sentence) == "avoid"


@pytest.mark.parametrize("sentence", NEITHER)
def test_a_report_a_request_or_a_specification_of_the_same_form_is_none(sentence):
    assert stated(sentence) == ""


@pytest.mark.parametrize("sentence", NEITHER)
def test_nor_is_it_a_decision(sentence):
    assert decision(sentence) == "" or lasting(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We'll go for UUIDs as primary keys in the end.",
        "We also agreed that reports are stored as plain CSV.",
        "We considered pandas for this and ruled it out.",
        "We picked Apache-2.0 in the spring.",
        "I've thought about it, we'll stay on Postgres 15.",
        "Postgres it is.",
        "OK then, gRPC instead of REST.",
        "数据库我们定了用 PostgreSQL。",
    ],
)
def test_a_choice_that_was_made_is_a_decision(sentence):
    assert decision(sentence) == sentence


@pytest.mark.parametrize(
    ("sentence", "scope"),
    [
        ("Money is never a float in this codebase, we use Decimal everywhere.", "project"),
        ("This goes for every Rust project of mine: clippy has to be clean.", "everywhere"),
        ("In general, prefer composition.", "everywhere"),
        ("Whenever you change a schema, show it to me.", "unstated"),
    ],
)
def test_the_scope_is_what_was_said(sentence, scope):
    found = preference(sentence)
    assert found is not None
    assert found.scope == scope


@pytest.mark.parametrize(
    "heading",
    [
        "Some ground rules before we start, they hold for whatever we do together:",
        "A few things about how I work so you know:",
        "two more things for all of my repos:",
        "Please always remember:",
        "几点要求：",
        "このチームのルール：",
    ],
)
def test_what_is_listed_below_such_a_heading_is_a_rule(heading):
    found = preference("write the test before the code", heading, listed=True)
    assert found is not None
    assert found.quote == "write the test before the code"


@pytest.mark.parametrize("heading", ["Please fix these files:", "The errors are:", "Today's job:", ""])
def test_what_is_listed_below_another_heading_is_none(heading):
    assert preference("write the test before the code", heading, listed=True) is None
