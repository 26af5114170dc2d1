//! What every tier owes, as cases written against the traits alone. A tier's test file brings a [`Tier`]
//! and runs every case on it through [`each_case`].

pub(crate) mod claim;
pub(crate) mod failed;
pub(crate) mod fencing;
pub(crate) mod look;
pub(crate) mod push;

use askr::store::{Claimed, Page, Push, Queue, State};

/// A way to keep the data.
pub(crate) trait Tier {
    /// A new place with nothing in it.
    fn fresh(&self) -> Box<dyn Place>;
}

/// Where one store lives, with a clock that stands still until a case moves it.
pub(crate) trait Place {
    /// Opens the queue there, as another process would.
    fn queue(&self) -> Box<dyn Queue>;

    /// Unix seconds of the clock.
    fn now(&self) -> i64;

    /// Moves the clock.
    fn advance(&self, seconds: i64);
}

/// Hands the list of all cases, the longest last, to the macro `$with`.
#[macro_export]
macro_rules! each_case {
    ($with:ident) => {
        $with! {
            push::ids_only_grow,
            push::ids_grow_after_the_queue_was_emptied_and_reopened,
            push::none_of_many_is_none,
            push::a_delay_keeps_a_job_back_to_the_second,
            push::the_largest_numbers_fit,
            push::names_are_bytes_and_never_meet,
            claim::it_tells_all_about_the_job,
            claim::the_highest_priority_comes_first,
            claim::then_the_longest_available,
            claim::then_the_smallest_id,
            claim::delayed_jobs_stop_none_behind_them,
            claim::a_reservation_holds_to_the_second,
            claim::a_lapsed_reservation_is_claimed_in_its_order,
            claim::many_lapsed_reservations_are_claimed_in_their_order,
            claim::every_priority_of_a_lapsed_second_is_looked_through,
            claim::no_two_claims_get_one_job,
            claim::a_job_survives_a_reopening,
            claim::visibility_nought_lapses_at_once,
            fencing::a_claim_that_was_taken_over_holds_nothing,
            fencing::a_claim_that_was_given_back_holds_nothing,
            fencing::a_lapsed_claim_that_nobody_took_still_holds,
            fencing::a_lapsed_claim_holds_among_many_others,
            fencing::a_claim_that_never_was_holds_nothing,
            fencing::without_a_claim_the_id_is_enough,
            fencing::what_is_not_there_changes_nothing,
            fencing::a_release_keeps_all_but_its_time,
            fencing::a_renewal_extends_from_now_and_never_revives,
            fencing::only_the_named_job_changes,
            failed::a_failed_job_is_moved_with_its_reason,
            failed::a_reason_can_be_left_out,
            failed::the_last_attempt_released_ends_in_the_dead_letters,
            failed::the_last_attempt_lapsed_ends_in_the_dead_letters,
            failed::the_last_attempt_can_be_acknowledged_late,
            failed::exhausted_jobs_do_not_stop_the_next,
            failed::they_are_listed_newest_first,
            failed::a_retry_is_a_new_job,
            failed::forget_removes_one,
            failed::flush_removes_the_old_or_all,
            look::every_job_is_in_one_state,
            look::an_empty_queue_has_empty_figures,
            look::the_oldest_is_of_the_pending,
            look::the_next_moment_is_known,
            look::a_list_shows_one_state_oldest_first,
            look::a_list_has_pages,
            look::names_are_those_that_hold_a_job,
            look::clear_removes_every_state_of_one_queue,
            look::looking_reserves_nothing,
            push::a_job_comes_back_as_it_went_in,
            push::many_are_stored_in_order,
            claim::attempts_count_every_claim,
            look::clear_removes_more_than_one_part,
        }
    };
}

/// A page with everything on it.
pub(crate) const ALL: Page = Page { limit: i64::MAX, offset: 0 };

/// No ids.
pub(crate) const NONE: [i64; 0] = [];

/// A push with this delay, else as by default.
pub(crate) fn delayed(delay: i64) -> Push {
    Push { delay, ..Push::default() }
}

/// A push with this priority, else as by default.
pub(crate) fn priority(priority: i64) -> Push {
    Push { priority, ..Push::default() }
}

/// Claims the next job, which must be there.
pub(crate) fn pop(queue: &mut dyn Queue, name: &[u8], visibility: i64) -> Claimed {
    queue.pop(name, visibility).unwrap().expect("a job is pending")
}

/// Claims until nothing is pending; the ids in order. Ends at a thousand: a fault must not go on for ever.
pub(crate) fn pop_all(queue: &mut dyn Queue, name: &[u8]) -> Vec<i64> {
    std::iter::from_fn(|| queue.pop(name, 1000).unwrap()).map(|job| job.id).take(1000).collect()
}

/// The ids of the queue's jobs in one state.
pub(crate) fn in_state(queue: &mut dyn Queue, name: &[u8], state: State) -> Vec<i64> {
    queue.list(name, state, ALL).unwrap().iter().map(|job| job.id).collect()
}

/// The number of jobs in the queue.
pub(crate) fn total(queue: &mut dyn Queue, name: &[u8]) -> i64 {
    queue.backlog(name).unwrap().total
}
