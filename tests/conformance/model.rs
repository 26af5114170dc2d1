//! Random sequences of operations, against a model of the queue that is too plain to be wrong.

use askr::store::{DeadLetter, Failure, Job, Push, Queue, State};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::conformance::{ALL, Place, Tier};

const QUEUES: [&[u8]; 2] = [b"one", b"two"];

/// What can be done to a queue. A job is named by its place in the order of pushes, a claim by how many
/// claims ago it was.
#[derive(Clone, Debug)]
enum Step {
    Push { queue: usize, delay: i64, priority: i64, max_attempts: i64 },
    Pop { queue: usize, visibility: i64 },
    Delete { job: usize, ago: Option<i64> },
    Release { job: usize, delay: i64, ago: Option<i64> },
    Renew { job: usize, visibility: i64, ago: Option<i64> },
    Fail { job: usize, ago: Option<i64> },
    Retry { letter: usize },
    Advance { seconds: i64 },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let queue = 0..QUEUES.len();
    let job = 0..8_usize;
    let seconds = 0..4_i64;
    let ago = prop::option::of(prop_oneof![4 => Just(0), 1 => 1..3_i64]);
    prop_oneof![
        6 => (queue.clone(), prop_oneof![2 => Just(0), 1 => seconds.clone()], -1..=1_i64, 1..4_i64).prop_map(
            |(queue, delay, priority, max_attempts)| Step::Push { queue, delay, priority, max_attempts }
        ),
        8 => (queue, seconds.clone()).prop_map(|(queue, visibility)| Step::Pop { queue, visibility }),
        1 => (job.clone(), ago.clone()).prop_map(|(job, ago)| Step::Delete { job, ago }),
        2 => (job.clone(), seconds.clone(), ago.clone())
            .prop_map(|(job, delay, ago)| Step::Release { job, delay, ago }),
        2 => (job.clone(), seconds.clone(), ago.clone())
            .prop_map(|(job, visibility, ago)| Step::Renew { job, visibility, ago }),
        1 => (job.clone(), ago).prop_map(|(job, ago)| Step::Fail { job, ago }),
        1 => job.prop_map(|letter| Step::Retry { letter }),
        4 => seconds.prop_map(|seconds| Step::Advance { seconds }),
        1 => Just(Step::Reopen),
    ]
}

/// The queue as a list.
#[derive(Default)]
struct Model {
    jobs: Vec<(usize, Job)>,
    dead: Vec<DeadLetter>,
    last: i64,
}

impl Model {
    fn push(&mut self, id: i64, queue: usize, payload: Vec<u8>, how: Push, now: i64) {
        assert!(id > self.last, "{id} after {}", self.last);
        self.last = id;
        let job = Job {
            id,
            payload,
            priority: how.priority,
            available_at: now + how.delay,
            reserved_until: None,
            attempts: 0,
            max_attempts: how.max_attempts,
            created_at: now,
        };
        self.jobs.push((queue, job));
    }

    fn state(job: &Job, now: i64) -> State {
        match job.reserved_until {
            Some(until) if until > now => State::Reserved,
            _ if job.available_at > now => State::Delayed,
            _ => State::Pending,
        }
    }

    fn pop(&mut self, queue: usize, visibility: i64, now: i64) -> Option<Job> {
        loop {
            let pending = self
                .jobs
                .iter_mut()
                .filter(|(of, job)| *of == queue && Self::state(job, now) == State::Pending);
            let (_, job) = pending.min_by_key(|(_, job)| (-job.priority, job.available_at, job.id))?;
            job.attempts += 1;
            job.reserved_until = Some(now + visibility);
            if job.attempts <= job.max_attempts {
                return Some(job.clone());
            }
            let (id, attempts) = (job.id, job.max_attempts);
            self.bury(id, attempts, now);
        }
    }

    fn bury(&mut self, id: i64, attempts: i64, now: i64) {
        let (queue, job) = self.remove(id);
        // The suite looks up the real id, and the reason is told elsewhere.
        self.dead.push(DeadLetter {
            id: 0,
            uuid: None,
            queue: QUEUES[queue].into(),
            payload: job.payload,
            exception: None,
            attempts,
            failed_at: now,
        });
    }

    fn remove(&mut self, id: i64) -> (usize, Job) {
        let at = self.jobs.iter().position(|(_, job)| job.id == id).expect("the model has the job");
        self.jobs.remove(at)
    }

    /// The job, if that claim holds it.
    fn held(&mut self, id: i64, claim: Option<i64>) -> Option<&mut Job> {
        let (_, job) = self.jobs.iter_mut().find(|(_, job)| job.id == id)?;
        let holds = claim.is_none_or(|claim| claim == job.attempts && job.reserved_until.is_some());
        holds.then_some(job)
    }
}

fn run(place: &dyn Place, steps: &[Step]) {
    let mut queue = place.queue();
    let mut model = Model::default();
    let mut ids = Vec::new();
    for step in steps {
        let now = place.now();
        let id = |job: usize| ids.get(job).copied().unwrap_or(9_999);
        let claim = |model: &Model, id: i64, ago: Option<i64>| {
            let attempts = model.jobs.iter().find(|(_, job)| job.id == id).map_or(1, |(_, job)| job.attempts);
            ago.map(|ago| attempts - ago)
        };
        match *step {
            Step::Push { queue: name, delay, priority, max_attempts } => {
                let how = Push { delay, priority, max_attempts };
                let payload = ids.len().to_string().into_bytes();
                let id = queue.push(QUEUES[name], &payload, how).unwrap();
                model.push(id, name, payload, how, now);
                ids.push(id);
            }
            Step::Pop { queue: name, visibility } => {
                let got = queue.pop(QUEUES[name], visibility).unwrap();
                let got = got.map(|job| (job.id, job.attempts, job.payload, Some(job.reserved_until)));
                let expected = model.pop(name, visibility, now);
                let expected = expected.map(|job| (job.id, job.attempts, job.payload, job.reserved_until));
                assert_eq!(got, expected);
            }
            Step::Delete { job, ago } => {
                let (id, claim) = (id(job), claim(&model, id(job), ago));
                let held = model.held(id, claim).is_some();
                assert_eq!(queue.delete(id, claim).unwrap(), held);
                if held {
                    model.remove(id);
                }
            }
            Step::Release { job, delay, ago } => {
                let (id, claim) = (id(job), claim(&model, id(job), ago));
                let held = model.held(id, claim).map(|job| {
                    job.reserved_until = None;
                    job.available_at = now + delay;
                });
                assert_eq!(queue.release(id, delay, claim).unwrap(), held.is_some());
            }
            Step::Renew { job, visibility, ago } => {
                let (id, claim) = (id(job), claim(&model, id(job), ago));
                let held = model.held(id, claim).filter(|job| Model::state(job, now) == State::Reserved);
                let held = held.map(|job| job.reserved_until = Some(now + visibility));
                assert_eq!(queue.renew(id, visibility, claim).unwrap(), held.is_some());
            }
            Step::Fail { job, ago } => {
                let (id, claim) = (id(job), claim(&model, id(job), ago));
                let attempts = model.held(id, claim).map(|job| job.attempts);
                assert_eq!(queue.fail(id, Failure::default(), claim).unwrap(), attempts.is_some());
                if let Some(attempts) = attempts {
                    model.bury(id, attempts, now);
                }
            }
            Step::Retry { letter } if letter < model.dead.len() => {
                let dead = queue.failed_list(None, ALL).unwrap();
                let real = dead[dead.len() - 1 - letter].id;
                let id = queue.failed_retry(real, 2, 0).unwrap().expect("the dead letter is there");
                let letter = model.dead.remove(letter);
                let name = QUEUES.iter().position(|name| *name == letter.queue).expect("a queue of ours");
                model.push(id, name, letter.payload, Push { max_attempts: 2, ..Push::default() }, now);
            }
            Step::Retry { .. } => {}
            Step::Advance { seconds } => place.advance(seconds),
            Step::Reopen => queue = place.queue(),
        }
        assert_same(&mut *queue, &model, place.now());
    }
}

fn assert_same(queue: &mut dyn Queue, model: &Model, now: i64) {
    for (of, name) in QUEUES.into_iter().enumerate() {
        for state in [State::Pending, State::Delayed, State::Reserved] {
            let jobs = model.jobs.iter().filter(|(q, job)| *q == of && Model::state(job, now) == state);
            let jobs: Vec<_> = jobs.map(|(_, job)| plain(job.clone(), now)).collect();
            let listed = queue.list(name, state, ALL).unwrap().into_iter();
            assert_eq!(listed.map(|job| plain(job, now)).collect::<Vec<_>>(), jobs, "{state:?}");
        }
    }
    let mut dead = queue.failed_list(None, ALL).unwrap();
    dead.reverse();
    for letter in &mut dead {
        (letter.id, letter.exception) = (0, None);
    }
    assert_eq!(dead, model.dead);
}

/// A tier may forget when a claim lapsed, but not that it did.
fn plain(mut job: Job, now: i64) -> Job {
    job.reserved_until = job.reserved_until.map(|until| if until <= now { 0 } else { until });
    job
}

/// Not in [`each_case`], so that the mutation test does not depend on chance.
pub(crate) fn random_operations_agree_with_a_plain_model(tier: &dyn Tier) {
    let config =
        Config { cases: 150, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    let outcome = TestRunner::new(config).run(&vec(step(), 1..60), |steps| {
        run(&*tier.fresh(), &steps);
        Ok(())
    });
    if let Err(e) = outcome {
        panic!("{e}");
    }
}
