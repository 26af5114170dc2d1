//! Storing jobs.

use askr::store::{MAX_SECONDS, Push, State};

use super::{NONE, Tier, delayed, in_state, pop, pop_all, total};

pub(crate) fn a_job_comes_back_as_it_went_in(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let every_byte: Vec<u8> = (0..=255).collect();
    let large = every_byte.repeat(40_000);
    for payload in [&every_byte[..], b"", b"\0", b"\xff", b"123", &large] {
        let id = queue.push(b"q", payload, Push::default()).unwrap();
        let job = pop(&mut *queue, b"q", 60);
        assert_eq!(job.id, id);
        assert!(job.payload == payload, "a payload of {} bytes came back changed", payload.len());
    }
}

pub(crate) fn ids_only_grow(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let mut last = 0;
    for round in 0..5 {
        let id = queue.push(b"q", b"", Push::default()).unwrap();
        assert!(id > last, "{id} after {last}");
        last = id;
        let many = queue.push_many(b"other", &[b"", b""], Push::default()).unwrap();
        assert!(many[0] > last && many[1] > many[0], "{many:?} after {last}");
        last = many[1];
        if round % 2 == 0 {
            assert!(queue.delete(id, None).unwrap());
            queue.clear(b"other").unwrap();
        }
    }
}

pub(crate) fn ids_grow_after_the_queue_was_emptied_and_reopened(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let last = *queue.push_many(b"q", &[b"", b"", b""], Push::default()).unwrap().last().unwrap();
    queue.clear(b"q").unwrap();
    drop(queue);
    let id = place.queue().push(b"q", b"", Push::default()).unwrap();
    assert!(id > last, "{id} after {last}");
}

pub(crate) fn many_are_stored_in_order(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let payloads: Vec<_> = (0..10_000).map(|n: i32| n.to_string().into_bytes()).collect();
    let payloads: Vec<_> = payloads.iter().map(Vec::as_slice).collect();
    let how = Push { delay: 5, priority: 7, max_attempts: 3 };
    let ids = queue.push_many(b"q", &payloads, how).unwrap();
    assert!(ids.is_sorted_by(|a, b| a < b));
    let jobs = queue.list(b"q", State::Delayed, super::ALL).unwrap();
    assert!(jobs.iter().map(|job| (job.id, &job.payload[..])).eq(ids.into_iter().zip(payloads)));
    let same = |job: &askr::store::Job| {
        (job.priority, job.max_attempts, job.available_at) == (7, 3, place.now() + 5)
    };
    assert!(jobs.iter().all(same));
}

pub(crate) fn none_of_many_is_none(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    assert_eq!(queue.push_many(b"q", &[], Push::default()).unwrap(), NONE);
    assert_eq!(total(&mut *queue, b"q"), 0);
}

pub(crate) fn a_delay_keeps_a_job_back_to_the_second(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let id = queue.push(b"q", b"", delayed(10)).unwrap();
    place.advance(9);
    assert_eq!(queue.pop(b"q", 60).unwrap(), None);
    place.advance(1);
    assert_eq!(pop_all(&mut *queue, b"q"), [id]);
}

pub(crate) fn the_largest_numbers_fit(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let far = queue.push(b"q", b"", delayed(MAX_SECONDS)).unwrap();
    let low = Push { priority: i64::MIN, max_attempts: i64::MAX, delay: 0 };
    let high = Push { priority: i64::MAX, ..low };
    let low = queue.push(b"q", b"", low).unwrap();
    let high = queue.push(b"q", b"", high).unwrap();
    let job = pop(&mut *queue, b"q", MAX_SECONDS);
    assert_eq!((job.id, job.max_attempts), (high, i64::MAX));
    assert_eq!(job.reserved_until, place.now() + MAX_SECONDS);
    assert_eq!(pop_all(&mut *queue, b"q"), [low]);
    assert_eq!(in_state(&mut *queue, b"q", State::Delayed), [far]);
    assert!(queue.renew(high, MAX_SECONDS, Some(1)).unwrap());
    assert!(queue.release(high, MAX_SECONDS, Some(1)).unwrap());
    assert_eq!(in_state(&mut *queue, b"q", State::Delayed), [far, high]);
}

pub(crate) fn names_are_bytes_and_never_meet(tier: &dyn Tier) {
    let place = tier.fresh();
    let mut queue = place.queue();
    let long = [b'n'; 10_000];
    let (longer, other) = ([&long[..], b"a"].concat(), [&long[..], b"b"].concat());
    let every_byte: Vec<u8> = (0..=255).collect();
    let mut names: Vec<&[u8]> = vec![
        b"\xff",
        b"\xfe",
        b"\xc3\x28",
        b"a",
        b"A",
        b"a ",
        b"a\0",
        b"a\0b",
        b"a\0c",
        b"\0",
        b"1",
        b"01",
        b"1.0",
        b"caf\xc3\xa9",
        b"cafe\xcc\x81",
        b"'; DROP TABLE askr_jobs; --",
        b"%",
        b"_",
        &every_byte,
        &long,
        &longer,
        &other,
    ];
    for name in &names {
        queue.push(name, name, Push::default()).unwrap();
    }
    for name in &names {
        assert_eq!(total(&mut *queue, name), 1);
        let job = pop(&mut *queue, name, 60);
        assert!(job.payload == *name, "{name:?} got the job of {:?}", job.payload);
        assert_eq!(queue.pop(name, 60).unwrap(), None);
        assert!(queue.fail(job.id, Default::default(), Some(1)).unwrap());
        let dead = queue.failed_list(Some(name), super::ALL).unwrap();
        assert_eq!(dead.iter().map(|letter| &letter.queue[..]).collect::<Vec<_>>(), [*name]);
        queue.push(name, name, Push::default()).unwrap();
    }
    names.sort();
    assert_eq!(queue.names().unwrap(), names);
    for name in &names {
        assert_eq!(queue.clear(name).unwrap(), 1);
    }
}
