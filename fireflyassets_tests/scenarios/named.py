"""What goes wrong, by name, and which tests prove that nothing is lost or paid twice by it.

Here: the table. Not here: the tests. Whatever a test of one part proves in virtual time is proven
there; a test on the whole stack stands here only where nothing less would do. `make bench-chaos`
does nearly all of it at once, to one running stack.
"""

PROVEN: dict[str, tuple[str, ...]] = {
    "storm of 429s": (
        "wave/test_recovery.py::test_throttled_calls_cost_no_try",
        "wave/test_recovery.py::test_a_storm_parks_the_job",
        "contracts/test_limiter_pause.py::test_a_pause_holds_every_process",
        "stages/test_watch.py::test_five_minutes_of_refusals_brake_and_four_do_not",
    ),
    "lost answer": (
        "wave/test_recovery.py::test_a_lost_generate_is_held_and_not_repeated",
        "wave/test_recovery.py::test_a_lost_composite_is_settled_by_its_key",
        "adapters/adobe/test_lost_answers.py::test_silence_after_the_request_is_a_lost_outcome",
    ),
    "lost poll": (
        "adapters/adobe/test_lost_answers.py::test_poll_that_gets_no_answer_just_failed",
        "wave/test_recovery.py::test_a_timed_out_job_is_collected_by_its_id",
        "wave/test_sweeping.py::test_id_that_the_vendor_does_not_know_is_an_unknown_outcome",
    ),
    "duplicate delivery": (
        "stages/test_queue.py::test_a_crash_before_the_delete_leaves_a_repeat_not_a_loss",
        "stages/test_queue.py::test_one_slice_may_hold_a_request_twice",
    ),
    "poisoned message": (
        "stages/test_queue.py::test_hopeless_messages_are_put_aside_with_a_reason",
        "stages/test_letters.py::test_what_no_job_answers_for_is_put_aside_with_the_reason",
    ),
    "noisy tenant": (
        "limiter/test_sharing.py::test_light_tenants_are_done_in_their_fair_time",
        "wave/test_limits.py::test_without_weights_tenants_share_alike",
    ),
    "retired model": (
        "stages/test_generate.py::test_a_model_of_no_use_costs_nothing",
        "core/test_failure.py::test_dead_letter_of_a_retired_model_is_never_replayed",
    ),
    "expired reference": (
        "fence/test_protocol.py::test_references_are_signed_anew_once",
        "wave/test_replaying.py::test_a_replayed_job_has_its_tries_anew_and_keeps_what_it_has",
    ),
    "credential rotated": (
        "adapters/test_secrets.py::test_two_secrets_live_during_a_rotation",
        "adapters/adobe/test_token_rejection.py::test_rejected_token_is_replaced_once_for_all",
        "wave/test_tokens.py::test_a_refused_credential_spends_nothing",
    ),
    "entitlement lost": (
        "wave/test_refused_organisation.py::test_one_refusal_of_the_organisation_parks_the_others",
        "wave/test_refused_organisation.py::test_a_refused_probe_costs_one_job_and_no_more",
    ),
    "template changed in mid-campaign": (
        "scenarios/test_template_change.py::test_a_change_touches_no_job_that_was_priced_before_it",
    ),
    "DynamoDB throttled and in conflict": (
        "adapters/aws/test_budget_deaths.py::test_conflicts_and_throttling_are_waited_out",
        "adapters/aws/test_ledger_wire.py::test_conflicts_without_end_are_an_error",
        "wave/test_outages.py::test_a_failing_ledger_parks_a_job_and_holds_none",
    ),
    "S3 slow or away": (
        "wave/test_lanes.py::test_blocked_transfers_stop_neither_heartbeat_nor_vendor_id",
        "wave/test_outages.py::test_a_failing_bucket_parks_a_job_and_holds_none",
    ),
    "Redis gone": (
        (
            "scenarios/test_limiter_outage.py::"
            "test_a_wave_parks_while_redis_is_dead_and_the_next_one_finishes"
        ),
    ),
    "daemon killed": (
        "contracts/test_dispatch_deaths.py::test_no_death_strands_a_job",
        "stages/test_dispatch.py::test_what_never_came_to_run_is_launched_again",
    ),
    "code server replaced in mid-wave": (
        "scenarios/test_kill_worker.py::test_killed_workers_pay_nothing_twice",
    ),
    "location reloaded, ministack restarted in mid-wave": (
        "scenarios/test_restart.py::test_a_wave_outlives_a_reload_and_a_restart_of_the_tables",
    ),
    "disk full": (
        "local/test_full_disk.py::test_save_that_fails_is_said_and_the_next_start_refused",
        "local/test_stack.py::test_disk_that_fills_up_stops_the_stack_in_time",
    ),
    "clock jump": (
        "limiter/test_clock.py::test_a_step_of_the_wall_clock_fires_nothing_early",
        "limiter/test_clock.py::test_a_machine_that_stood_still_fires_nothing_late",
        "fence/test_cases.py::test_clock_ahead_takes_nothing_a_living_worker_binds",
    ),
}
