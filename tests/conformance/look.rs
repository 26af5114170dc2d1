//! Figures, lists and clearing.

use askr::store::{Backlog, Failure, Job, Page, Push, Queue, State};

use super::{ALL, NONE, Place, Tier, delayed, in_state, pop, priority, total};

/// A queue with two pending jobs, one of them by a lapsed reservation, three delayed and one reserved.
fn every_state(place: &dyn Place, queue: &mut dyn Queue) -> [Vec<i64>; 3] {
    let lapsed = queue.push(b"q", b"", Push::default()).unwrap();
    pop(queue, b"q", 10);
    place.advance(5);
    let reserved = queue.push(b"q", b"", Push::default()).unwrap();
    assert_eq!(pop(queue, b"q", 10).id, reserved);
    let released = queue.push(b"q", b"", Push::default()).unwrap();
    assert_eq!(pop(queue, b"q", 10).id, released);
    assert!(queue.release(released, 100, Some(1)).unwrap());
    let later = queue.push_many(b"q", &[b"", b""], delayed(6)).unwrap();
    let pending = queue.push(b"q", b"", delayed(3)).unwrap();
    queue.push(b"other", b"", Push::default()).unwrap();
    place.advance(5);
    [vec![lapsed, pending], [vec![released], later].concat(), vec![reserved]]
}

pub(crate) fn every_job_is_in_one_state(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let jobs = every_state(&*place, &mut *queue);
    for (state, ids) in [State::Pending, State::Delayed, State::Reserved].into_iter().zip(jobs) {
        assert_eq!(in_state(&mut *queue, b"q", state), ids, "{state:?}");
    }
    let Backlog { pending, delayed, reserved, total, .. } = queue.backlog(b"q").unwrap();
    assert_eq!((pending, delayed, reserved, total), (2, 3, 1, 6));
    // To the second: the delayed come up and the reserved lapses.
    place.advance(1);
    let Backlog { pending, delayed, reserved, .. } = queue.backlog(b"q").unwrap();
    assert_eq!((pending, delayed, reserved), (4, 1, 1));
    place.advance(4);
    let Backlog { pending, delayed, reserved, .. } = queue.backlog(b"q").unwrap();
    assert_eq!((pending, delayed, reserved), (5, 1, 0));
}

pub(crate) fn an_empty_queue_has_empty_figures(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    queue.push(b"other", b"", Push::default()).unwrap();
    let empty =
        Backlog { pending: 0, delayed: 0, reserved: 0, total: 0, oldest_seconds: 0, oldest_created_at: None };
    assert_eq!(queue.backlog(b"q").unwrap(), empty);
    queue.push(b"q", b"", delayed(5)).unwrap();
    assert_eq!(queue.backlog(b"q").unwrap(), Backlog { delayed: 1, total: 1, ..empty });
    place.advance(5);
    pop(&mut *queue, b"q", 5);
    assert_eq!(queue.backlog(b"q").unwrap(), Backlog { reserved: 1, total: 1, ..empty });
}

pub(crate) fn the_oldest_is_of_the_pending(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let start = place.now();
    queue.push(b"q", b"", delayed(1000)).unwrap();
    queue.push(b"q", b"", priority(9)).unwrap();
    pop(&mut *queue, b"q", 100);
    place.advance(1);
    queue.push(b"q", b"", delayed(10)).unwrap();
    place.advance(1);
    queue.push(b"q", b"", delayed(2)).unwrap();
    let oldest = |queue: &mut dyn Queue| {
        let figures = queue.backlog(b"q").unwrap();
        (figures.oldest_seconds, figures.oldest_created_at)
    };
    // The oldest is the one that has been ready the longest. At 4 the last becomes ready; at 11 the one pushed
    // before it, which is not longer ready; at 100 the reservation of the second lapses.
    let expected = [
        (3, (0, None)),
        (4, (0, Some(start + 2))),
        (10, (6, Some(start + 2))),
        (11, (7, Some(start + 2))),
        (99, (95, Some(start + 2))),
        (100, (100, Some(start))),
    ];
    for (second, figures) in expected {
        place.advance(start + second - place.now());
        assert_eq!(oldest(&mut *queue), figures, "at {second}");
    }
}

pub(crate) fn the_next_moment_is_known(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let start = place.now();
    let due = |queue: &mut dyn Queue| queue.next_due(b"q").unwrap();
    assert_eq!(due(&mut *queue), None);
    queue.push(b"q", b"", Push::default()).unwrap();
    queue.push(b"other", b"", delayed(1)).unwrap();
    queue.push(b"other", b"", Push::default()).unwrap();
    pop(&mut *queue, b"other", 2);
    queue.push(b"other", b"", Push { delay: 3, priority: 99, ..Push::default() }).unwrap();
    assert_eq!(due(&mut *queue), None, "what can be claimed waits for no moment");
    queue.push(b"q", b"", Push { delay: 30, priority: 9, ..Push::default() }).unwrap();
    assert_eq!(due(&mut *queue), Some(start + 30));
    queue.push(b"q", b"", Push { delay: 20, priority: -9, ..Push::default() }).unwrap();
    pop(&mut *queue, b"q", 40);
    assert_eq!(due(&mut *queue), Some(start + 20), "the earliest, of whatever priority");
    queue.push(b"q", b"", Push::default()).unwrap();
    pop(&mut *queue, b"q", 10);
    assert_eq!(due(&mut *queue), Some(start + 10), "a reservation that lapses");
    place.advance(10);
    assert_eq!(due(&mut *queue), Some(start + 20));
    place.advance(25);
    assert_eq!(due(&mut *queue), Some(start + 40));
    place.advance(5);
    assert_eq!(due(&mut *queue), None);
}

pub(crate) fn a_list_shows_one_state_oldest_first(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let now = place.now();
    let how = Push { delay: 0, priority: 4, max_attempts: 8 };
    let first = queue.push(b"q", b"first", how).unwrap();
    let second = queue.push(b"q", b"second", priority(9)).unwrap();
    queue.push(b"other", b"", how).unwrap();
    let expected = Job {
        id: first,
        payload: b"first".into(),
        priority: 4,
        available_at: now,
        reserved_until: None,
        attempts: 0,
        max_attempts: 8,
        created_at: now,
    };
    let pending = queue.list(b"q", State::Pending, ALL).unwrap();
    assert_eq!(pending[0], expected);
    assert_eq!(pending.iter().map(|job| job.id).collect::<Vec<_>>(), [first, second]);
    place.advance(3);
    assert_eq!(pop(&mut *queue, b"q", 10).id, second);
    assert_eq!(pop(&mut *queue, b"q", 10).id, first);
    let expected = Job { reserved_until: Some(now + 13), attempts: 1, ..expected };
    assert_eq!(queue.list(b"q", State::Reserved, ALL).unwrap()[0], expected);
}

pub(crate) fn a_list_has_pages(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let ids = queue.push_many(b"q", &[&b""[..]; 5], Push::default()).unwrap();
    let mut page = |limit, offset| {
        let jobs = queue.list(b"q", State::Pending, Page { limit, offset }).unwrap();
        jobs.iter().map(|job| job.id).collect::<Vec<_>>()
    };
    assert_eq!(page(2, 0), ids[..2]);
    assert_eq!(page(2, 2), ids[2..4]);
    assert_eq!(page(2, 4), ids[4..]);
    assert_eq!(page(2, 5), NONE);
    assert_eq!(page(0, 0), NONE);
}

pub(crate) fn names_are_those_that_hold_a_job(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    assert_eq!(queue.names().unwrap(), Vec::<Vec<u8>>::new());
    for name in [b"c", b"a", b"d", b"b", b"e", b"a"] {
        queue.push(name, b"", Push::default()).unwrap();
    }
    pop(&mut *queue, b"c", 60);
    let gone = pop(&mut *queue, b"d", 60);
    assert!(queue.delete(gone.id, Some(1)).unwrap());
    let dead = pop(&mut *queue, b"e", 60);
    assert!(queue.fail(dead.id, Failure::default(), Some(1)).unwrap());
    assert_eq!(queue.names().unwrap(), [b"a", b"b", b"c"]);
}

pub(crate) fn clear_removes_every_state_of_one_queue(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    every_state(&*place, &mut *queue);
    assert_eq!(queue.clear(b"q").unwrap(), 6);
    assert_eq!(queue.clear(b"q").unwrap(), 0);
    assert_eq!(total(&mut *queue, b"q"), 0);
    assert_eq!(total(&mut *queue, b"other"), 1);
}

pub(crate) fn clear_removes_more_than_one_part(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    queue.push_many(b"q", &[&b""[..]; 20_001], Push::default()).unwrap();
    assert_eq!(queue.clear(b"q").unwrap(), 20_001);
    assert_eq!(total(&mut *queue, b"q"), 0);
}

pub(crate) fn looking_reserves_nothing(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let ids = queue.push_many(b"q", &[b"", b""], Push::default()).unwrap();
    for _ in 0..3 {
        assert_eq!(in_state(&mut *queue, b"q", State::Pending), ids);
        assert_eq!(total(&mut *queue, b"q"), 2);
        assert_eq!(queue.names().unwrap(), [b"q"]);
    }
    assert_eq!(pop(&mut *queue, b"q", 60).attempts, 1);
}
