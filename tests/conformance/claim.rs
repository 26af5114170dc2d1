//! Which job a claim gets, and for how long.

use askr::store::{Claimed, Push};

use super::{Tier, delayed, pop, pop_all, priority};

pub(crate) fn it_tells_all_about_the_job(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let created_at = place.now();
    let id = queue.push(b"q", b"body", Push { max_attempts: 9, ..delayed(3) }).unwrap();
    place.advance(5);
    let expected = Claimed {
        id,
        attempts: 1,
        payload: b"body".into(),
        max_attempts: 9,
        reserved_until: place.now() + 60,
        created_at,
    };
    assert_eq!(queue.pop(b"q", 60).unwrap(), Some(expected));
    assert_eq!(queue.pop(b"q", 60).unwrap(), None);
}

pub(crate) fn the_highest_priority_comes_first(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let mut pushed = |level| queue.push(b"q", b"", priority(level)).unwrap();
    let (low, none, high, higher) = (pushed(-1), pushed(0), pushed(1), pushed(10));
    assert_eq!(pop_all(&mut *queue, b"q"), [higher, high, none, low]);
}

pub(crate) fn then_the_longest_available(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let late = queue.push(b"q", b"", delayed(10)).unwrap();
    let early = queue.push(b"q", b"", delayed(5)).unwrap();
    place.advance(7);
    let between = queue.push(b"q", b"", delayed(0)).unwrap();
    place.advance(7);
    assert_eq!(pop_all(&mut *queue, b"q"), [early, between, late]);
    // Also between one that was never claimed and one whose claim lapsed.
    let late = queue.push(b"r", b"", delayed(10)).unwrap();
    let lapsed = queue.push(b"r", b"", delayed(0)).unwrap();
    assert_eq!(pop(&mut *queue, b"r", 5).id, lapsed);
    place.advance(10);
    assert_eq!(pop_all(&mut *queue, b"r"), [lapsed, late]);
}

pub(crate) fn then_the_smallest_id(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let ids = queue.push_many(b"q", &[b"", b"", b"", b""], Push::default()).unwrap();
    // Two come back from a reservation, in the other order: they are the same age as the rest.
    let (first, second) = (pop(&mut *queue, b"q", 2), pop(&mut *queue, b"q", 1));
    assert_eq!([first.id, second.id], ids[..2]);
    place.advance(3);
    assert_eq!(pop_all(&mut *queue, b"q"), ids);
}

pub(crate) fn delayed_jobs_stop_none_behind_them(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    queue.push(b"other", b"", priority(8)).unwrap();
    for (level, delay) in [(9, 100), (9, 100), (8, 100), (7, 1)] {
        queue.push(b"q", b"", Push { delay, ..priority(level) }).unwrap();
    }
    let mut ready = queue.push_many(b"q", &[b"", b""], priority(8)).unwrap();
    queue.push(b"q", b"", Push { delay: 100, ..priority(0) }).unwrap();
    ready.push(queue.push(b"q", b"", priority(-5)).unwrap());
    assert_eq!(pop_all(&mut *queue, b"q"), ready);
}

pub(crate) fn a_reservation_holds_to_the_second(tier: &dyn Tier) {
    let place = tier.fresh();
    let (mut one, mut other) = (place.queue(), place.queue());
    let id = one.push(b"q", b"", Push::default()).unwrap();
    assert_eq!(pop(&mut *one, b"q", 10).id, id);
    place.advance(9);
    assert_eq!(other.pop(b"q", 10).unwrap(), None);
    place.advance(1);
    let again = pop(&mut *other, b"q", 10);
    assert_eq!((again.id, again.attempts), (id, 2));
    assert_eq!(one.pop(b"q", 10).unwrap(), None);
}

pub(crate) fn a_lapsed_reservation_is_claimed_in_its_order(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let mut lapsed = |level| {
        let id = queue.push(b"q", b"", priority(level)).unwrap();
        assert_eq!(pop(&mut *queue, b"q", 5).id, id);
        place.advance(1);
        id
    };
    let (low, high, middle) = (lapsed(-2), lapsed(2), lapsed(0));
    place.advance(10);
    let mut fresh = |level| queue.push(b"q", b"", priority(level)).unwrap();
    let (lowest, above, below, highest) = (fresh(-3), fresh(1), fresh(-1), fresh(3));
    assert_eq!(pop_all(&mut *queue, b"q"), [highest, high, above, middle, below, low, lowest]);
}

pub(crate) fn many_lapsed_reservations_are_claimed_in_their_order(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    // Forty reservations that lapse in as many seconds, the best of them last.
    let ids: Vec<_> = (0..40).map(|level| queue.push(b"q", b"", priority(level)).unwrap()).collect();
    for visibility in 1..=40 {
        pop(&mut *queue, b"q", visibility);
    }
    place.advance(20);
    // Half have lapsed: those that were claimed first, which are the better half.
    let better: Vec<_> = ids[20..].iter().rev().copied().collect();
    assert_eq!(pop_all(&mut *queue, b"q"), better);
    place.advance(20);
    let rest: Vec<_> = ids[..20].iter().rev().copied().collect();
    assert_eq!(pop_all(&mut *queue, b"q"), rest);
}

pub(crate) fn every_priority_of_a_lapsed_second_is_looked_through(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    // Reserved together, and given back with a delay that outlasts the lapse of the others: a claim has to
    // pass over the delayed ones of each priority, whether never reserved or lapsed.
    let mut claimed = Vec::new();
    for level in [3, 2, 1] {
        queue.push(b"q", b"", priority(level)).unwrap();
        claimed.push(pop(&mut *queue, b"q", 5).id);
        queue.push(b"q", b"", Push { delay: 100, ..priority(level) }).unwrap();
    }
    assert!(queue.release(claimed[0], 50, Some(1)).unwrap());
    place.advance(5);
    assert_eq!(pop_all(&mut *queue, b"q"), claimed[1..]);
}

pub(crate) fn attempts_count_every_claim(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = queue.push(b"q", b"", Push { max_attempts: i64::MAX, ..Push::default() }).unwrap();
    for attempts in 1..=300 {
        let job = pop(&mut *queue, b"q", 60);
        assert_eq!((job.id, job.attempts), (id, attempts));
        assert!(queue.release(id, 0, Some(attempts)).unwrap());
    }
}

pub(crate) fn no_two_claims_get_one_job(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut handles: Vec<_> = (0..3).map(|_| place.queue()).collect();
    let pushed: Vec<_> = (0..30).map(|n| handles[n % 3].push(b"q", b"", Push::default()).unwrap()).collect();
    let claimed: Vec<_> = (0..30).map(|n| pop(&mut *handles[(n + 1) % 3], b"q", 60).id).collect();
    assert_eq!(claimed, pushed);
    assert!(handles.iter_mut().all(|queue| queue.pop(b"q", 60).unwrap().is_none()));
}

pub(crate) fn a_job_survives_a_reopening(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = queue.push(b"q", b"body", Push::default()).unwrap();
    let job = pop(&mut *queue, b"q", 60);
    drop(queue);
    let mut queue = place.queue();
    assert_eq!(queue.pop(b"q", 60).unwrap(), None);
    place.advance(60);
    let again = pop(&mut *queue, b"q", 60);
    assert_eq!((again.id, again.attempts, again.payload), (id, job.attempts + 1, b"body".into()));
}

pub(crate) fn visibility_nought_lapses_at_once(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = queue.push(b"q", b"", Push::default()).unwrap();
    for attempts in 1..=3 {
        let job = pop(&mut *queue, b"q", 0);
        assert_eq!((job.id, job.attempts, job.reserved_until), (id, attempts, place.now()));
    }
}
