"""Where each known field failure of such tools is held: a row number to the tests that would notice it here.

The numbers are those of the project's list of field cases; each stands for a whole kind of failure.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SURVIVES = "tests/host/test_worker_survives.py"
LIVE = "tests/host/test_live_answers.py"
NEVER_FAIL = "tests/host/test_hooks_never_fail.py"
CODEX = "plugins/host_codex/tests/test_host_codex_odd_content.py"
CLAUDE = "plugins/host_claude/tests/test_host_claude_odd_content.py"
CODEX_SESSIONS = "plugins/host_codex/tests/test_host_codex_sessions.py"
CLAUDE_SESSIONS = "plugins/host_claude/tests/test_host_claude_sessions.py"
COMPRESSED = "plugins/host_codex/tests/test_host_codex_compressed.py"
CLAUDE_SCOPE = "plugins/claude_import/tests/test_claude_import_scope.py"
REDACTION = "tests/safety/test_safety_redaction.py"
PROCESSES = "tests/store/test_store_processes.py"
OPENING = "tests/store/test_opening_databases.py"
OWN = "tests/pipeline/test_own_sessions.py"
FAULTS = "tests/pipeline/test_faults.py"
WRITTEN = "tests/forget/test_forget_written_files.py"
CODEX_HOOKS = "plugins/host_codex/tests/test_host_codex_hooks.py"
CLAUDE_HOOKS = "plugins/host_claude/tests/test_host_claude_hooks.py"
CODEX_RULES = "tests/capture/test_codex_rules.py"
CLAUDE_RULES = "tests/capture/test_claude_rules.py"
PROJECTS = "tests/engine/test_projects.py"
APART = "tests/host/test_hooks_kept_apart.py"
SET_UP = "tests/setup/test_setup_command.py"
LOCKS = "tests/consolidate/test_baseline_locks.py"

OV_SENDS = "plugins/ov_commit/tests/test_ov_transport.py"
OV_ENDS = "plugins/ov_commit/tests/test_ov_ends.py"

REAL = "tests/real"

CASES: dict[int, tuple[str, ...]] = {
    # transcripts with odd content
    1: (
        f"{CODEX}::test_a_cut_multibyte_character_costs_one_line_only",
        f"{CLAUDE}::test_a_cut_multibyte_character_costs_one_line_only",
    ),
    3: (
        f"{CODEX}::test_a_byte_order_mark_is_removed_and_the_next_file_is_read_too",
        f"{CLAUDE}::test_a_byte_order_mark_is_removed",
    ),
    4: (
        f"{CODEX}::test_everything_after_a_malformed_line_is_read_and_the_line_number_is_told",
        f"{CLAUDE}::test_everything_after_a_malformed_line_is_read_and_the_line_number_is_told",
    ),
    6: (
        f"{COMPRESSED}::test_a_compressed_rollout_is_read_like_the_plain_one",
        f"{COMPRESSED}::test_both_forms_at_once_are_one_session_and_the_plain_one_wins",
        f"{COMPRESSED}::test_a_truncated_compressed_file_is_reported_and_stops_no_other",
    ),
    8: (
        f"{CODEX}::test_unknown_types_are_passed_over_without_being_reported",
        f"{CODEX}::test_a_stream_of_another_grammar_is_a_visible_warning_and_not_an_empty_session",
    ),
    9: (
        f"{CODEX}::test_replacement_history_and_images_are_never_turns",
        f"{CODEX}::test_a_line_of_64_mib_is_skipped_in_little_memory",
    ),
    10: (f"{CODEX}::test_a_working_directory_in_chinese_is_kept_and_a_broken_image_line_skipped",),
    11: (
        f"{CLAUDE}::test_the_least_that_a_line_can_be_is_understood",
        f"{CLAUDE}::test_a_json_array_is_an_error_that_a_user_sees_and_not_an_empty_session",
        f"{CLAUDE}::test_flat_messages_are_an_error_too",
    ),
    13: (
        f"{CODEX}::test_memory_stays_flat_and_a_second_reading_takes_only_what_is_new",
        f"{CLAUDE}::test_memory_stays_flat_and_a_second_reading_takes_only_what_is_new",
    ),
    15: (
        f"{CODEX_SESSIONS}::test_of_two_files_of_one_session_the_longer_wins",
        f"{CODEX_SESSIONS}::test_a_forked_session_does_not_repeat_its_parent",
        f"{CLAUDE_SESSIONS}::test_a_fork_does_not_repeat_its_parent",
    ),
    17: (
        f"{CODEX}::test_half_surrogate_pairs_are_replaced_and_the_position_moves_on",
        f"{CLAUDE}::test_half_surrogate_pairs_are_replaced_and_the_position_moves_on",
    ),
    18: (
        f"{OWN}::test_emoji_and_cjk_survive_a_locale_that_knows_neither",
        f"{NEVER_FAIL}::test_no_locale_changes_a_byte",
    ),
    # secrets
    20: (
        f"{REDACTION}::test_each_kind_of_token_goes_from_neutral_places",
        f"{REDACTION}::test_an_item_is_redacted_in_all_its_texts",
        "tests/pipeline/test_secrets.py::test_no_planted_secret_is_anywhere_in_the_home",
    ),
    22: (f"{REDACTION}::test_each_kind_of_token_goes_from_neutral_places",),
    23: (
        f"{REDACTION}::test_ordinary_text_and_documented_examples_stay",
        "tests/pipeline/test_secrets.py::test_what_a_model_copies_into_a_note_is_redacted_again",
    ),
    25: (f"{REDACTION}::test_an_assigned_secret_is_replaced_and_its_surroundings_stay",),
    # recursion, subagents
    31: (
        f"{OWN}::test_a_session_whose_first_words_are_our_prompt_is_ours",
        f"{OWN}::test_a_session_inside_a_memory_folder_is_not_captured",
        f"{OWN}::test_a_run_inside_our_own_child_learns_nothing",
        "tests/pipeline/test_plugin_points.py::test_an_event_from_inside_a_memory_folder_is_not_delivered",
        f"{CODEX_RULES}::test_codexs_memory_agent_is_known_by_its_folder_should_it_ever_write_a_rollout",
        "tests/pipeline/test_own_text.py::test_codex_wherever_it_stands",
        "tests/pipeline/test_own_text.py::test_claude_code_wherever_it_stands",
    ),
    33: (
        f"{OWN}::test_two_hundred_events_in_a_minute_start_no_process_and_one_pass_takes_them_in",
        f"{SURVIVES}::test_a_storm_of_two_hundred_calls_starts_few_workers_and_loses_nothing",
        f"{SURVIVES}::test_workers_that_end_at_once_are_started_twelve_times_an_hour_at_most",
        "tests/host/test_shim.py::test_a_model_of_ours_is_not_listened_to",
        "tests/services/test_processes.py::test_children_carry_the_mark_that_silences_hooks",
    ),
    35: (
        f"{CODEX_SESSIONS}::test_subagents_and_internal_sessions_are_told_from_the_users",
        f"{CLAUDE_SESSIONS}::test_four_kinds_of_subagent_files_are_told_from_one_real_session",
        f"{CODEX_RULES}::test_a_subagents_hooks_and_rollout_are_not_the_users",
        f"{CLAUDE_RULES}::test_subagents_files_hooks_and_sidechains_are_not_the_users",
    ),
    # concurrency, locks, databases, git
    36: (
        f"{PROCESSES}::test_eight_processes_claim_hundreds_of_sessions_and_none_is_lost_or_doubled",
        f"{PROCESSES}::test_a_process_that_holds_the_lock_for_seconds_makes_others_wait_and_not_fail",
    ),
    37: (f"{PROCESSES}::test_a_selection_sees_one_state_while_another_process_writes",),
    38: (
        f"{PROCESSES}::test_an_orphaned_consolidation_is_taken_over_by_exactly_one_of_two_racers",
        f"{PROCESSES}::test_a_pending_consolidation_without_owner_can_be_taken",
        f"{FAULTS}::test_a_run_killed_in_the_middle_of_extraction_is_taken_up_again",
    ),
    40: (
        f"{LOCKS}::test_a_lock_left_by_a_dead_git_is_removed",
        f"{LOCKS}::test_processes_that_commit_at_once_lose_nothing",
    ),
    44: (
        f"{OPENING}::test_a_damaged_header_is_set_aside_whole_and_memory_keeps_running",
        f"{OPENING}::test_a_page_of_zeros_in_the_middle_is_found_when_the_file_is_opened",
        f"{OPENING}::test_an_empty_file_is_begun_anew_and_told",
        f"{OPENING}::test_a_write_ahead_log_without_its_database_is_set_aside",
        "tests/pipeline/test_dual_write.py::test_a_memory_whose_database_is_rubbish_costs_the_other_nothing",
    ),
    45: (
        f"{PROCESSES}::test_a_full_disk_fails_one_transaction_and_harms_nothing_before_it",
        f"{FAULTS}::test_a_full_disk_leaves_the_memory_as_it_was_and_the_next_run_finishes",
    ),
    46: (f"{PROCESSES}::test_recorders_that_move_sessions_between_the_same_places_do_not_collide",),
    # upgrades
    48: (
        f"{OPENING}::test_an_older_database_is_backed_up_whole_before_it_is_migrated",
        f"{OPENING}::test_a_migration_that_loses_rows_is_undone",
    ),
    49: (
        f"{OPENING}::test_every_past_schema_is_brought_up_to_date_with_all_its_rows",
        f"{OPENING}::test_a_history_that_claims_a_column_which_is_missing_is_refused",
    ),
    # hooks
    51: (
        f"{LIVE}::test_a_worker_that_does_not_answer_costs_the_wait_and_not_the_memory",
        f"{LIVE}::test_a_source_that_hangs_or_fails_costs_the_others_nothing",
        f"{SURVIVES}::test_a_worker_that_hangs_delays_no_hook_and_is_replaced",
    ),
    53: (
        f"{REAL}/test_real_interrupted.py::test_however_a_session_broke_off_it_is_remembered",
        f"{NEVER_FAIL}::test_a_hook_that_is_killed_leaves_nothing_that_looks_like_an_event",
        "tests/host/test_sessions_end.py::test_a_host_that_is_killed_in_the_middle_of_a_turn_loses_nothing",
        "tests/host/test_sessions_end.py::test_a_host_that_was_killed_while_no_worker_ran_is_noticed_by_the_next_one",
        f"{CODEX_RULES}::test_sigterm_runs_no_hook_and_the_transcript_alone_is_enough",
        f"{CLAUDE_RULES}::test_killed_without_any_hook_the_transcript_alone_is_enough",
    ),
    54: (
        f"{SURVIVES}::test_killing_leaves_no_program_and_no_job_that_seems_to_run",
        f"{SURVIVES}::test_stopping_gives_claims_back_untouched_and_ends_programs_at_once",
        "tests/services/test_processes.py::test_no_child_and_no_grandchild_outlives_a_parent_that_is_killed",
        "tests/host/test_worker.py::test_a_worker_ends_when_nothing_is_to_be_done",
    ),
    55: (
        f"{SURVIVES}::test_a_second_worker_leaves_at_once",
        f"{SURVIVES}::test_somebody_elses_number_in_the_lock_is_nobodys_death",
        f"{SURVIVES}::test_two_hosts_at_once_share_one_worker",
    ),
    59: (f"{SURVIVES}::test_learning_that_is_switched_off_ends_with_the_job_that_runs",),
    # scope, paths, time, deletion
    # sending to OpenViking
    61: (
        f"{OV_SENDS}::test_more_than_a_hundred_messages_go_in_batches_and_the_cursor_moves_with_each",
        f"{OV_SENDS}::test_a_failed_tail_is_sent_by_the_next_sweep_once_and_then_committed",
    ),
    62: (
        f"{OV_SENDS}::test_a_message_that_is_refused_is_set_aside_and_the_rest_goes_on",
        f"{OV_SENDS}::test_only_the_batch_of_a_refused_message_goes_one_by_one",
    ),
    64: (
        f"{OV_ENDS}::test_without_a_session_id_nothing_is_written",
        f"{OV_SENDS}::test_a_server_without_batches_gets_them_one_by_one",
        f"{OV_SENDS}::test_no_session_is_ever_created",
    ),
    65: (
        f"{OV_SENDS}::test_who_we_are_is_not_told_to_servers_that_know_by_the_key",
        f"{OV_SENDS}::test_who_we_are_is_told_to_servers_that_trust_it",
    ),
    66: (
        "tests/services/test_http.py::test_loopback_never_goes_through_a_proxy",
        "tests/models_http/test_model_tls.py::test_a_signer_that_ssl_cert_file_names_is_trusted",
    ),
    67: (
        "tests/pipeline/test_folders_are_a_hint.py::test_every_folder_is_learned_from_and_given_the_same",
        f"{PROJECTS}::test_a_git_worktree_obeys_the_main_checkouts_uncommitted_file_at_the_same_place",
        f"{CLAUDE_SCOPE}::test_two_directories_of_one_key_are_told_apart_by_the_newest_session",
        f"{CLAUDE_SCOPE}::test_sessions_in_a_subfolder_tell_of_which_repository_the_memory_is",
        f"{CLAUDE_SCOPE}::test_sessions_in_a_worktree_tell_of_the_main_one",
        f"{CLAUDE_SCOPE}::test_of_a_bare_repository_the_newest_worktree_is_the_directory",
        f"{CLAUDE_SCOPE}::test_an_import_survives_its_directory_and_still_follows_its_source",
    ),
    69: (
        f"{CODEX_SESSIONS}::test_a_loop_of_links_ends_and_one_transcript_by_two_paths_is_one_session",
        f"{CLAUDE_SESSIONS}::test_a_project_folder_that_is_a_link_is_followed_once",
        f"{PROJECTS}::test_a_link_into_a_project_is_the_project_and_the_links_own_place_counts_too",
    ),
    70: (
        f"{SET_UP}::test_paths_with_spaces_and_quotes_reach_the_hook_whole",
        "tests/setup/test_broken_set_ups.py::test_each_hook_is_told_with_its_trust_and_when_it_last_fired",
    ),
    72: (
        "tests/readpath/test_ranked_search.py::test_no_script_and_no_punctuation_hides_what_is_there",
        "tests/readpath/test_ranked_search.py::test_nothing_in_a_question_is_query_syntax",
    ),
    77: (
        "tests/forget/test_forget_everywhere.py::test_a_session_is_forgotten_for_good_and_its_neighbours_stay",
        "tests/forget/test_forget_traces.py::test_nothing_that_matched_is_a_failure_and_changes_nothing",
    ),
    78: (f"{WRITTEN}::test_one_of_two_sessions_goes_from_a_mixed_block_and_the_other_stays",),
    74: (
        f"{CODEX_SESSIONS}::test_clocks_that_are_wrong_make_no_session_of_the_future",
        f"{CLAUDE_SESSIONS}::test_clocks_that_are_wrong_make_no_session_of_the_future",
    ),
    79: (
        f"{REAL}/test_real_context.py::test_every_request_of_a_session_has_the_memory_once",
        f"{CODEX_HOOKS}::test_answers_keep_to_the_schema",
        f"{CLAUDE_HOOKS}::test_answers_have_claude_codes_form",
        f"{APART}::test_what_was_noted_is_given_to_the_next_session_without_being_asked_for",
    ),
    81: (
        f"{REAL}/test_real_pairs.py::test_a_fact_told_in_one_host_is_in_the_first_request_of_the_next_session",
        f"{APART}::test_what_was_noted_is_given_to_the_next_session_without_being_asked_for",
    ),
}

REQUIRED = (
    *(1, 3, 4, 6, 8, 9, 10, 11, 13, 15, 17, 18),
    *(20, 22, 23, 25),
    *(31, 33, 35),
    *(36, 37, 38, 40, 44, 45, 46),
    *(48, 49),
    *(51, 53, 54, 55, 59, 61, 62, 64, 65, 66, 67, 69, 74, 79, 81),
)
"""Rows 41 and 42 are about a remote, which there is none of."""


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", REQUIRED)
def test_every_required_row_is_held_somewhere(row):
    assert CASES[row]


@pytest.mark.parametrize("node", sorted({node for nodes in CASES.values() for node in nodes}))
def test_every_named_test_exists(node):
    path, name = node.split("::")
    assert name in functions(ROOT / path)
