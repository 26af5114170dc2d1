//! Which claim may acknowledge, release, renew and fail.

use askr::store::{Failure, Job, Push, Queue, State};

use super::{ALL, Place, Tier, in_state, pop, pop_all, priority, total};

/// Tries everything that a claim entitles to; which of them held. Each is tried on a job of its own that
/// `prepare` brings into the same situation.
fn what_holds(
    tier: &dyn Tier,
    prepare: fn(&dyn Place, &mut dyn Queue, i64),
    claim: Option<i64>,
) -> [bool; 4] {
    type Act = fn(&mut dyn Queue, i64, Option<i64>) -> askr::store::Result<bool>;
    let acts: [Act; 4] = [
        |queue, id, claim| queue.delete(id, claim),
        |queue, id, claim| queue.release(id, 0, claim),
        |queue, id, claim| queue.fail(id, Failure::default(), claim),
        |queue, id, claim| queue.renew(id, 60, claim),
    ];
    let delete = acts[0];
    acts.map(|act| {
        let place = tier.fresh();
        let mut queue = place.queue();
        let id = queue.push(b"q", b"", Push::default()).unwrap();
        assert_eq!(pop(&mut *queue, b"q", 10).id, id);
        prepare(&*place, &mut *queue, id);
        let everything = |queue: &mut dyn Queue| {
            let states = [State::Pending, State::Delayed, State::Reserved];
            let jobs: Vec<Vec<Job>> = states.map(|s| queue.list(b"q", s, ALL).unwrap()).into();
            (jobs, queue.failed_list(None, ALL).unwrap())
        };
        let before = everything(&mut *queue);
        let held = act(&mut *queue, id, claim).unwrap();
        let after = everything(&mut *queue);
        assert_eq!(
            after != before,
            held,
            "it answered {held}, and before and after are {before:?} {after:?}"
        );
        let count = |(jobs, dead): &(Vec<Vec<Job>>, Vec<_>)| jobs.iter().flatten().count() + dead.len();
        let gone = usize::from(held && std::ptr::fn_addr_eq(act, delete));
        assert_eq!(count(&after) + gone, count(&before), "a job is in one place");
        held
    })
}

pub(crate) fn a_claim_that_was_taken_over_holds_nothing(tier: &dyn Tier) {
    let taken_over = |place: &dyn Place, queue: &mut dyn Queue, id| {
        place.advance(10);
        assert_eq!(pop(queue, b"q", 10).id, id);
    };
    assert_eq!(what_holds(tier, taken_over, Some(1)), [false; 4]);
    assert_eq!(what_holds(tier, taken_over, Some(2)), [true; 4]);
}

pub(crate) fn a_claim_that_was_given_back_holds_nothing(tier: &dyn Tier) {
    let given_back =
        |_: &dyn Place, queue: &mut dyn Queue, id| assert!(queue.release(id, 5, Some(1)).unwrap());
    assert_eq!(what_holds(tier, given_back, Some(1)), [false; 4]);
}

pub(crate) fn a_lapsed_claim_that_nobody_took_still_holds(tier: &dyn Tier) {
    let lapsed = |place: &dyn Place, _: &mut dyn Queue, _| place.advance(10);
    assert_eq!(what_holds(tier, lapsed, Some(1)), [true, true, true, false]);
}

pub(crate) fn a_lapsed_claim_holds_among_many_others(tier: &dyn Tier) {
    // However many reservations have lapsed before and after it: none of them was given back.
    let among_many = |place: &dyn Place, queue: &mut dyn Queue, _| {
        for visibility in 1..=40 {
            queue.push(b"q", b"", priority(9)).unwrap();
            pop(queue, b"q", visibility);
        }
        place.advance(40);
        assert_eq!(pop(queue, b"q", 60).attempts, 2);
    };
    assert_eq!(what_holds(tier, among_many, Some(1)), [true, true, true, false]);
}

pub(crate) fn a_claim_that_never_was_holds_nothing(tier: &dyn Tier) {
    let as_it_is = |_: &dyn Place, _: &mut dyn Queue, _| {};
    for claim in [0, 2, -1, i64::MAX] {
        assert_eq!(what_holds(tier, as_it_is, Some(claim)), [false; 4]);
    }
    assert_eq!(what_holds(tier, as_it_is, Some(1)), [true; 4]);
}

pub(crate) fn without_a_claim_the_id_is_enough(tier: &dyn Tier) {
    let taken_over = |place: &dyn Place, queue: &mut dyn Queue, id| {
        place.advance(10);
        assert_eq!(pop(queue, b"q", 10).id, id);
    };
    assert_eq!(what_holds(tier, taken_over, None), [true; 4]);
    // Released: there is nothing to renew.
    let given_back = |_: &dyn Place, queue: &mut dyn Queue, id| assert!(queue.release(id, 5, None).unwrap());
    assert_eq!(what_holds(tier, given_back, None), [true, true, true, false]);
    let lapsed = |place: &dyn Place, _: &mut dyn Queue, _| place.advance(10);
    assert_eq!(what_holds(tier, lapsed, None), [true, true, true, false]);
}

pub(crate) fn what_is_not_there_changes_nothing(tier: &dyn Tier) {
    let gone = |_: &dyn Place, queue: &mut dyn Queue, id| {
        assert!(queue.delete(id, Some(1)).unwrap());
        queue.push(b"q", b"", Push::default()).unwrap();
    };
    assert_eq!(what_holds(tier, gone, None), [false; 4]);
    assert_eq!(what_holds(tier, gone, Some(1)), [false; 4]);
}

pub(crate) fn a_release_keeps_all_but_its_time(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = queue.push(b"q", b"body", Push { priority: 3, max_attempts: 7, delay: 0 }).unwrap();
    place.advance(2);
    let job = pop(&mut *queue, b"q", 60);
    place.advance(3);
    assert!(queue.release(id, 10, Some(1)).unwrap());
    let expected = Job {
        id,
        payload: b"body".into(),
        priority: 3,
        available_at: place.now() + 10,
        reserved_until: None,
        attempts: 1,
        max_attempts: 7,
        created_at: job.created_at,
    };
    assert_eq!(queue.list(b"q", State::Delayed, ALL).unwrap(), [expected]);
    place.advance(9);
    assert_eq!(queue.pop(b"q", 60).unwrap(), None);
    place.advance(1);
    assert_eq!(pop(&mut *queue, b"q", 60).attempts, 2);
    assert!(queue.release(id, 0, Some(2)).unwrap());
    assert_eq!(pop(&mut *queue, b"q", 60).attempts, 3);
}

pub(crate) fn a_renewal_extends_from_now_and_never_revives(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = queue.push(b"q", b"", Push::default()).unwrap();
    pop(&mut *queue, b"q", 10);
    place.advance(9);
    assert!(queue.renew(id, 10, Some(1)).unwrap());
    let reserved = queue.list(b"q", State::Reserved, ALL).unwrap();
    assert_eq!((reserved[0].reserved_until, reserved[0].attempts), (Some(place.now() + 10), 1));
    place.advance(9);
    assert_eq!(queue.pop(b"q", 10).unwrap(), None);
    place.advance(1);
    assert!(!queue.renew(id, 10, Some(1)).unwrap());
    assert_eq!(pop(&mut *queue, b"q", 10).attempts, 2);
}

pub(crate) fn only_the_named_job_changes(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let ids = queue.push_many(b"q", &[b"", b"", b"", b"", b""], Push::default()).unwrap();
    // All of one number of attempts, all reserved until the same second.
    assert_eq!((0..5).map(|_| pop(&mut *queue, b"q", 10).id).collect::<Vec<_>>(), ids);
    assert!(queue.delete(ids[1], Some(1)).unwrap());
    assert_eq!(in_state(&mut *queue, b"q", State::Reserved), [ids[0], ids[2], ids[3], ids[4]]);
    assert!(queue.fail(ids[2], Failure::default(), Some(1)).unwrap());
    assert_eq!(in_state(&mut *queue, b"q", State::Reserved), [ids[0], ids[3], ids[4]]);
    assert_eq!(queue.failed_list(None, ALL).unwrap().len(), 1);
    assert!(queue.release(ids[3], 5, Some(1)).unwrap());
    assert_eq!(in_state(&mut *queue, b"q", State::Delayed), [ids[3]]);
    place.advance(5);
    assert!(queue.renew(ids[4], 100, Some(1)).unwrap());
    place.advance(5);
    assert_eq!(pop_all(&mut *queue, b"q"), [ids[0], ids[3]]);
    assert_eq!(total(&mut *queue, b"q"), 3);
}
