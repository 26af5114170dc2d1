//! How a job fails for good, and what can be done with it then.

use askr::store::{DeadLetter, Failure, Job, Push, Queue, State};

use super::{ALL, NONE, Place, Tier, in_state, pop, pop_all, total};

pub(crate) fn a_failed_job_is_moved_with_its_reason(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let every_byte: Vec<u8> = (0..=255).collect();
    let id = queue.push(b"\xffq", &every_byte, Push::default()).unwrap();
    pop(&mut *queue, b"\xffq", 60);
    place.advance(60);
    pop(&mut *queue, b"\xffq", 60);
    place.advance(7);
    let why = Failure { uuid: Some(b"an-id"), exception: Some(&every_byte) };
    assert!(queue.fail(id, why, Some(2)).unwrap());
    assert_eq!(total(&mut *queue, b"\xffq"), 0);
    let dead = queue.failed_list(None, ALL).unwrap();
    let expected = DeadLetter {
        id: dead[0].id,
        uuid: Some(b"an-id".into()),
        queue: b"\xffq".into(),
        payload: every_byte.clone(),
        exception: Some(every_byte),
        attempts: 2,
        failed_at: place.now(),
    };
    assert_eq!(dead, std::slice::from_ref(&expected));
    assert_eq!(queue.failed_find(expected.id).unwrap(), Some(expected));
}

pub(crate) fn a_reason_can_be_left_out(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    for why in [Failure::default(), Failure { uuid: Some(b""), exception: Some(b"") }] {
        let id = queue.push(b"q", b"", Push::default()).unwrap();
        assert!(queue.fail(id, why, None).unwrap());
        let dead = &queue.failed_list(None, ALL).unwrap()[0];
        assert_eq!((dead.uuid.as_deref(), dead.exception.as_deref()), (why.uuid, why.exception));
        assert_eq!(dead.attempts, 0);
    }
}

/// A job that may be handed out twice, and was. Its second claim lapses in 10 seconds.
fn handed_out_twice(place: &dyn Place, queue: &mut dyn Queue) -> i64 {
    let id = queue.push(b"q", b"body", Push { max_attempts: 2, ..Push::default() }).unwrap();
    assert_eq!(pop(queue, b"q", 10).attempts, 1);
    place.advance(10);
    assert_eq!(pop(queue, b"q", 10).attempts, 2);
    id
}

fn assert_exhausted(queue: &mut dyn Queue, now: i64) {
    let dead = queue.failed_list(None, ALL).unwrap();
    let [letter] = &dead[..] else { panic!("{dead:?}") };
    assert_eq!((&letter.queue[..], &letter.payload[..]), (&b"q"[..], &b"body"[..]));
    assert_eq!((letter.attempts, letter.uuid.as_deref(), letter.failed_at), (2, None, now));
    let why = String::from_utf8(letter.exception.clone().expect("a reason")).unwrap();
    assert!(why.contains("handed out 2 times"), "{why}");
    assert_eq!(total(queue, b"q"), 0);
}

pub(crate) fn the_last_attempt_released_ends_in_the_dead_letters(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = handed_out_twice(&*place, &mut *queue);
    assert!(queue.release(id, 5, Some(2)).unwrap());
    assert_eq!(queue.pop(b"q", 10).unwrap(), None);
    assert_eq!(queue.failed_list(None, ALL).unwrap(), [], "it was delayed yet");
    place.advance(5);
    assert_eq!(queue.pop(b"q", 10).unwrap(), None);
    assert_exhausted(&mut *queue, place.now());
}

pub(crate) fn the_last_attempt_lapsed_ends_in_the_dead_letters(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    handed_out_twice(&*place, &mut *queue);
    place.advance(9);
    assert_eq!(queue.pop(b"q", 10).unwrap(), None);
    assert_eq!(queue.failed_list(None, ALL).unwrap(), [], "its last claim lives yet");
    place.advance(1);
    assert_eq!(queue.pop(b"q", 10).unwrap(), None);
    assert_exhausted(&mut *queue, place.now());
}

pub(crate) fn the_last_attempt_can_be_acknowledged_late(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = handed_out_twice(&*place, &mut *queue);
    place.advance(100);
    assert!(queue.delete(id, Some(2)).unwrap());
    assert_eq!(queue.pop(b"q", 10).unwrap(), None);
    assert_eq!(queue.failed_list(None, ALL).unwrap(), []);
}

pub(crate) fn exhausted_jobs_do_not_stop_the_next(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    for _ in 0..5 {
        queue.push(b"q", b"", Push { max_attempts: 1, ..Push::default() }).unwrap();
        pop(&mut *queue, b"q", 10);
    }
    let next = queue.push(b"q", b"", Push::default()).unwrap();
    place.advance(10);
    assert_eq!(pop_all(&mut *queue, b"q"), [next]);
    assert_eq!(queue.failed_list(None, ALL).unwrap().len(), 5);
}

/// Dead letters of the queues `a`, `b`, `a`, `b`, … ten seconds apart; their ids, oldest first.
fn dead_letters(place: &dyn Place, queue: &mut dyn Queue, count: usize) -> Vec<i64> {
    for name in [b"a", b"b"].into_iter().cycle().take(count) {
        let id = queue.push(name, b"body", Push::default()).unwrap();
        assert!(queue.fail(id, Failure::default(), None).unwrap());
        place.advance(10);
    }
    left(queue).into_iter().rev().collect()
}

fn left(queue: &mut dyn Queue) -> Vec<i64> {
    queue.failed_list(None, ALL).unwrap().iter().map(|letter| letter.id).collect()
}

pub(crate) fn they_are_listed_newest_first(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let ids = dead_letters(&*place, &mut *queue, 5);
    assert!(ids.is_sorted_by(|a, b| a < b));
    let mut listed = |name: Option<&[u8]>, limit, offset| {
        let page = askr::store::Page { limit, offset };
        let letters = queue.failed_list(name, page).unwrap();
        letters.iter().map(|letter| letter.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 5, 0), [ids[4], ids[3], ids[2], ids[1], ids[0]]);
    assert_eq!(listed(None, 2, 1), [ids[3], ids[2]]);
    assert_eq!(listed(None, 2, 4), [ids[0]]);
    assert_eq!(listed(None, 0, 0), NONE);
    assert_eq!(listed(Some(b"a"), 5, 0), [ids[4], ids[2], ids[0]]);
    assert_eq!(listed(Some(b"b"), 1, 1), [ids[1]]);
    assert_eq!(listed(Some(b"c"), 5, 0), NONE);
}

pub(crate) fn a_retry_is_a_new_job(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let other = dead_letters(&*place, &mut *queue, 1)[0];
    let id = queue.push(b"q", b"body", Push { delay: 5, priority: 2, max_attempts: 9 }).unwrap();
    assert!(queue.fail(id, Failure::default(), None).unwrap());
    let letter = left(&mut *queue)[0];
    place.advance(100);
    let again = queue.failed_retry(letter, 4, 6).unwrap().expect("there is such a dead letter");
    assert!(again > id, "{again} after {id}");
    let job = Job {
        id: again,
        payload: b"body".into(),
        priority: 6,
        available_at: place.now(),
        reserved_until: None,
        attempts: 0,
        max_attempts: 4,
        created_at: place.now(),
    };
    assert_eq!(queue.list(b"q", State::Pending, ALL).unwrap(), [job]);
    assert_eq!(queue.failed_find(letter).unwrap(), None);
    assert_eq!(queue.failed_retry(letter, 4, 6).unwrap(), None);
    assert_eq!(left(&mut *queue), [other]);
    assert_eq!(total(&mut *queue, b"q"), 1);
}

pub(crate) fn forget_removes_one(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let ids = dead_letters(&*place, &mut *queue, 3);
    assert!(queue.failed_forget(ids[1]).unwrap());
    assert!(!queue.failed_forget(ids[1]).unwrap());
    assert_eq!(left(&mut *queue), [ids[2], ids[0]]);
    assert_eq!(queue.failed_find(ids[1]).unwrap(), None);
    assert_eq!(queue.failed_find(ids[2]).unwrap().map(|letter| letter.id), Some(ids[2]));
    assert_eq!(in_state(&mut *queue, b"a", State::Pending), NONE);
}

pub(crate) fn flush_removes_the_old_or_all(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    // Their ages are now 40, 30, 20 and 10 seconds.
    let ids = dead_letters(&*place, &mut *queue, 4);
    assert_eq!(queue.failed_flush(Some(40)).unwrap(), 0, "40 is not past 40");
    assert_eq!(queue.failed_flush(Some(29)).unwrap(), 2);
    assert_eq!(left(&mut *queue), [ids[3], ids[2]]);
    assert_eq!(queue.failed_flush(Some(askr::store::MAX_SECONDS)).unwrap(), 0);
    assert_eq!(queue.failed_flush(None).unwrap(), 2);
    assert_eq!(queue.failed_flush(None).unwrap(), 0);
    let id = dead_letters(&*place, &mut *queue, 1)[0];
    assert!(id > ids[3], "{id} after {}", ids[3]);
}
