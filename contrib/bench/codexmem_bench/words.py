"""Words and sentences that the seeded inputs are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

_TEXT = """the build fails because cache key ignores lockfile please run tests again and keep migration small
    worker lease expires before heartbeat so retry burns budget prefer ripgrep over find never push to main
    without review user wants short commit messages database schema version index query latency config token
    parser stream buffer offset session memory note branch rebase conflict module import path error trace
    timeout socket client server request response header body json yaml python rust typescript docker deploy
    staging release flag rollback metric alert dashboard owner team decision assert expected actual fixture
    mock snapshot coverage lint format type check strict optional default value range workspace baseline
    watermark citation extraction"""
WORDS = tuple(_TEXT.split())
"""``token`` is among them on purpose: a word that announces secrets is common in real transcripts."""

SENTENCES_CJK = (
    "请先运行测试，再提交代码；缓存键忽略了锁文件，所以构建失败。",  # noqa: RUF001 - the punctuation of the language
    "用户偏好简短的提交信息，并且不要直接推送到主分支。",  # noqa: RUF001
    "数据库迁移要小步进行，失败时可以回滚。",  # noqa: RUF001
    "セッションの要約は日本語で書いてください。テストが落ちた原因はタイムアウトです。",
    "リースが切れる前にハートビートを送る必要があります。",
    "메모리 파일은 마크다운으로 저장하고 비밀 키는 절대 기록하지 마세요.",
    "빌드가 실패한 이유는 의존성 버전이 맞지 않기 때문입니다. 🙂",
)


class Prose:
    """Sentences from one seed, a fixed stock of them."""

    def __init__(self, random: Random, stock: int = 3_000) -> None:
        self._random = random
        self.sentences = [self._sentence() for _ in range(stock)]

    def _sentence(self) -> str:
        words = " ".join(self._random.choices(WORDS, k=self._random.randint(6, 22)))
        return words.capitalize() + self._random.choice((".", ".", ".", ";", "?", " (see `notes.md`)."))

    def sentence(self) -> str:
        """One of the stock."""
        return self._random.choice(self.sentences)

    def of_length(self, characters: int) -> str:
        """Exactly so many characters."""
        parts: list[str] = []
        length = 0
        while length < characters:
            parts.append(self.sentence())
            length += len(parts[-1]) + 1
        return " ".join(parts)[:characters]

    def message(self) -> str:
        """What somebody says: one to nine sentences, now and then some in another script."""
        text = " ".join(self.sentence() for _ in range(self._random.randint(1, 9)))
        if self._random.random() < 0.2:  # noqa: PLR2004 - a share
            text += "\n" + "".join(self._random.choices(SENTENCES_CJK, k=2))
        return text
