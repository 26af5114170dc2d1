//! Keeps a claim alive while its job's handler runs, also one that never yields.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};
use parking_lot::{Condvar, Mutex};

use super::{Error, Kind, Queue, Result};

/// Opens the queue anew for one renewal.
pub(super) type Opener = Box<dyn Fn() -> Result<Box<dyn Queue>> + Send>;

/// Held while a heartbeat has its queue open. Whoever forks holds it meanwhile, so that no child
/// inherits a connection of a thread that it does not have.
pub(crate) static RENEWING: Mutex<()> = Mutex::new(());

/// A thread that renews one claim three times within its visibility, until it is stopped or finds the
/// claim lost.
///
/// It opens the queue for each renewal and closes it again. A renewal that fails for another reason
/// than a lost claim is tried again after a second: the claim may well live on.
#[derive(Debug)]
pub struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    process: u32,
}

#[derive(Debug)]
struct Shared {
    lost: AtomicBool,
    stop: Mutex<bool>,
    wake: Condvar,
}

impl Heartbeat {
    /// Starts renewing claim `attempts` of job `id` for `visibility` seconds each time, at least 2.
    pub fn start(open: Opener, id: i64, attempts: i64, visibility: i64) -> Result<Self> {
        let shared =
            Arc::new(Shared { lost: AtomicBool::new(false), stop: Mutex::new(false), wake: Condvar::new() });
        let theirs = Arc::clone(&shared);
        // The thread inherits this mask: the process's signals stay with PHP's own thread, whose
        // handlers expect to run there.
        let mut before = SigSet::empty();
        let masked = pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&SigSet::all()), Some(&mut before));
        let thread = std::thread::Builder::new()
            .name("askr-heartbeat".into())
            .spawn(move || beat(&theirs, &open, id, attempts, visibility));
        if masked.is_ok() {
            let _ = pthread_sigmask(SigmaskHow::SIG_SETMASK, Some(&before), None);
        }
        let thread = thread.map_err(|e| {
            Error::new(Kind::Unavailable, format!("no thread could be started: {e}"))
                .remedy("Raise the limit of threads, or choose a visibility longer than the job")
        })?;
        Ok(Self { shared, thread: Some(thread), process: std::process::id() })
    }

    /// Whether every renewal so far found the claim alive.
    pub fn alive(&self) -> bool {
        !self.shared.lost.load(Ordering::Acquire) && self.process == std::process::id()
    }
}

impl Drop for Heartbeat {
    /// Stops the thread and waits for it: at most the renewal under way.
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // A child of fork has no such thread, and its locks may be as another thread left them.
            std::mem::forget(self.thread.take());
            return;
        }
        *self.shared.stop.lock() = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn beat(shared: &Shared, open: &Opener, id: i64, attempts: i64, visibility: i64) {
    // A reservation lives up to a second less than its visibility, for times are whole seconds.
    let period = Duration::from_millis(visibility.saturating_sub(1).unsigned_abs().saturating_mul(1000) / 3);
    let mut pause = period;
    loop {
        let mut stop = shared.stop.lock();
        if !*stop {
            shared.wake.wait_for(&mut stop, pause);
        }
        if *stop {
            return;
        }
        drop(stop);
        let renewed = {
            let _gate = RENEWING.lock();
            open().and_then(|mut queue| queue.renew(id, visibility, Some(attempts)))
        };
        pause = match renewed {
            Ok(true) => period,
            Ok(false) => {
                // Pairs with the load in `alive`.
                shared.lost.store(true, Ordering::Release);
                return;
            }
            Err(_) => Duration::from_secs(1).min(period),
        };
    }
}
