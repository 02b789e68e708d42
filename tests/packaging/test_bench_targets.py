"""contrib/bench: its table, what its README explains, its inputs, and what it makes of a miss."""

import hashlib
import json
import subprocess
import sys

import pytest


@pytest.fixture
def bench(root, monkeypatch):
    """Modules of the benchmarks by name."""
    monkeypatch.syspath_prepend(str(root / "contrib" / "bench"))

    def module(name):
        return __import__(f"codexmem_bench.{name}", fromlist=[name])

    return module


@pytest.fixture
def readme(root):
    return (root / "contrib" / "bench" / "README.md").read_text(encoding="utf-8")


def call(root, *arguments):
    return subprocess.run(
        [sys.executable, str(root / "contrib" / "bench"), *arguments], capture_output=True, text=True, check=False
    )


def contents(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def measured(bench, tmp_path):
    """Outcomes of one measurement that gives these numbers, one after the other."""
    figures, sizes = bench("figures"), bench("bench")

    def run(*numbers, limit=2.0, at_least=False, explained=(), peer=""):
        figure = figures.Figure(key="a", what="", limit=limit, at_least=at_least)
        answers = iter(numbers)

        def measure(_bench):
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return {"a": figures.Value(number=answer)}

        measurement = figures.Measurement(figures=(figure,), measure=measure, peer=peer)
        made = sizes.Bench(scratch=tmp_path, sizes=sizes.QUICK)
        explained = dict.fromkeys(explained, "because")
        (outcome,) = bench("running").outcomes([(measurement, (figure,))], made, explained)
        return bench("running").verdict(outcome, explained), outcome

    return run


def test_the_list_names_every_figure_with_its_target(root, bench):
    done = call(root, "--list")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    for figure in bench("table").figures():
        assert figure.target in lines[figure.key]


def test_keys_are_unique(bench):
    keys = [figure.key for figure in bench("table").figures()]
    assert len(keys) == len(set(keys))


def test_a_name_chooses_its_figure_and_those_that_begin_with_it(bench):
    keys = [[figure.key for figure in figures] for _, figures in bench("table").chosen(["claims", "cli-status"])]
    assert keys == [["claims-rate", "claims-rate-work", "claims-locked", "claims-wait"], ["cli-status"]]


def test_a_name_that_chooses_nothing_is_wrong_use(root):
    done = call(root, "--only", "claims,nonsense")
    assert done.returncode == 2
    assert "no figure is called nonsense" in done.stderr


def test_the_readme_has_a_result_for_every_figure(bench, readme):
    assert bench("readme").results(readme) == [figure.key for figure in bench("table").figures()]


def test_the_readme_explains_only_figures_that_exist(bench, readme):
    keys = {figure.key for figure in bench("table").figures()}
    assert set(bench("readme").known_misses(readme)) <= keys


def test_an_explanation_may_take_several_lines(bench):
    text = "# B\n\n## Known misses\n\n* `one-two`: the first\n  and more\n* `three`: short\n\n## Else\n\n* `four`: no\n"
    assert bench("readme").known_misses(text) == {"one-two": "the first and more", "three": "short"}


def test_an_entry_without_a_reason_explains_nothing(bench):
    assert bench("readme").known_misses("## Known misses\n\n* `one`:\n") == {}


def test_a_figure_at_its_limit_is_met(measured):
    assert measured(2.0)[0] == "met"
    assert measured(2.0, at_least=True)[0] == "met"


def test_a_miss_is_measured_again_and_the_better_value_counts(measured):
    verdict, outcome = measured(3.0, 1.5)
    assert (verdict, outcome.value.number) == ("met", 1.5)
    verdict, outcome = measured(1.5, 1.0, at_least=True)
    assert (verdict, outcome.value.number) == ("MISSED", 1.5)


def test_a_miss_that_the_readme_explains_is_called_so(measured):
    assert measured(3.0, explained=["a"])[0] == "explained"
    assert measured(3.0, 3.0, explained=["b"])[0] == "MISSED"


def test_what_cannot_be_measured_has_failed_even_if_a_miss_is_explained(measured):
    verdict, outcome = measured(OSError("no disk"), explained=["a"])
    assert verdict == "FAILED"
    assert outcome.error == "OSError: no disk"


def test_without_the_path_of_its_peer_a_figure_is_left_out(measured):
    verdict, outcome = measured(1.0, peer="another")
    assert verdict == "left out"
    assert outcome.error == "needs --another PATH"


@pytest.mark.parametrize(
    ("counts", "check", "status"),
    [
        ({"met": 3, "explained": 1, "left out": 1}, True, 0),
        ({"met": 3, "MISSED": 1}, True, 1),
        ({"met": 3, "MISSED": 1}, False, 0),
        ({"met": 3, "FAILED": 1}, False, 1),
    ],
)
def test_only_checking_fails_on_a_miss(bench, counts, check, status):
    assert bench("running").exit_status(counts, check=check) == status


def test_product_and_yardstick_take_turns_and_the_first_round_does_not_count(bench):
    calls = []
    pairs = bench("timing").in_pairs(
        lambda: calls.append("product"),
        lambda: calls.append("yardstick"),
        rounds=2,
        before=lambda: calls.append("before"),
    )
    one, other = ["before", "yardstick", "product"], ["product", "before", "yardstick"]
    assert calls == [*one, *other, *one]
    assert len(pairs.product) == len(pairs.yardstick) == 2


def test_the_ratio_is_the_median_of_the_rounds_ratios(bench):
    pairs = bench("timing").Pairs(product=(2.0, 9.0, 4.0), yardstick=(1.0, 3.0, 4.0))
    assert pairs.ratio == 2.0


def test_the_same_seed_writes_the_same_rollouts(bench, tmp_path):
    corpora = bench("corpora")
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        corpora.write_sessions(tmp_path / name, count=8, kilobytes=60, seed=seed)
    assert contents(tmp_path / "a") == contents(tmp_path / "b") != contents(tmp_path / "c")


def test_rollouts_hold_the_planted_secrets_and_a_broken_line(bench, tmp_path):
    corpus = bench("corpora").write_sessions(tmp_path, count=8, kilobytes=200, seed=1)
    text = "".join(path.read_text(encoding="utf-8") for path in corpus.files)
    assert corpus.secrets
    assert all(secret in text for secret in corpus.secrets)
    broken = 0
    for line in text.splitlines():
        try:
            json.loads(line)
        except ValueError:
            broken += 1
    assert broken == 1


def test_only_the_long_line_is_longer_than_a_megabyte(bench, tmp_path):
    corpora = bench("corpora")
    plain = corpora.write_long(tmp_path / "plain", megabytes=8, line_megabytes=0, seed=1)
    lined = corpora.write_long(tmp_path / "lined", megabytes=1, line_megabytes=3, seed=1)
    assert plain.longest_line < 1_000_000
    assert 3_000_000 < lined.longest_line < 4_000_000
    assert plain.size_bytes > 8_000_000


def test_the_same_seed_writes_and_edits_the_same_memory(bench, tmp_path):
    changes = []
    for name in ("a", "b"):
        files = bench("memory_files").MemoryFiles(tmp_path / name, files=30, seed=1)
        before = contents(tmp_path / name)
        changes.append(files.edit(10))
        after = contents(tmp_path / name)
        kinds = {path: "D" if path not in after else "A" if path not in before else "M" for path in {*before, *after}}
        differing = {(kinds[path], path) for path in kinds if before.get(path) != after.get(path)}
        assert differing == changes[-1]
    assert changes[0] == changes[1]
    assert sorted(status for status, _ in changes[0]) == ["A"] * 2 + ["D"] + ["M"] * 7
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
