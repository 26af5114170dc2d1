//! The stores that this thread has open, and the claims that it holds in them.
//!
//! A store is opened by the first call that needs it and stays open across requests. It does not survive a
//! fork: just before one, the forking thread closes what it has open, so that parent and child both open
//! their own. SQLite keeps its locks and its shared memory per process in tables that a child would
//! inherit without the locks themselves; merely leaving the parent's connection alone is not enough
//! when the child opens the same file.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Once;

use ext_php_rs::zend::ExecutorGlobals;
use parking_lot::MutexGuard;

use super::{ini, zend};
use crate::config::QueueSettings;
use crate::store::{self, Error, Heartbeat, Kind, Queue, Result};

/// Most databases that a thread keeps open; the one opened first is closed for another.
const MOST_OPEN: usize = 8;

/// Most claims that are remembered; the jobs with the smallest ids are forgotten first.
const MOST_CLAIMS: usize = 100_000;

thread_local! {
    static OPEN: RefCell<Vec<Opened>> = const { RefCell::new(Vec::new()) };
    /// The store of the last call, and the generation of the settings that chose it.
    static CURRENT: Cell<Option<(usize, u64)>> = const { Cell::new(None) };
}

/// A database in use by this thread.
pub(super) struct Opened {
    settings: QueueSettings,
    queue: Option<Box<dyn Queue>>,
    /// The claims of this process.
    pub(super) claims: Claims,
    /// The heartbeats of this process, by job.
    pub(super) heartbeats: BTreeMap<i64, Heartbeat>,
}

impl Opened {
    /// The queue, open.
    pub(super) fn queue(&mut self) -> Result<&mut dyn Queue> {
        if self.queue.is_none() {
            self.queue = Some(self.settings.store(interrupted).queue()?);
        }
        match &mut self.queue {
            Some(queue) => Ok(queue.as_mut()),
            None => unreachable!("opened above"),
        }
    }

    /// What a heartbeat opens its queue with.
    pub(super) fn settings(&self) -> &QueueSettings {
        &self.settings
    }
}

/// Whether a signal or a time limit waits for PHP to come back to its own code.
pub(super) fn interrupted() -> bool {
    let globals = ExecutorGlobals::get();
    // SAFETY: PHP's own flag, which signal handlers set; a byte that is read as it is at this moment.
    unsafe { std::ptr::read_volatile(&raw const globals.vm_interrupt).value }
}

/// Which claim this process holds on a job that it popped. A call that names no claim means this one, so
/// that a worker whose reservation lapsed cannot touch the job of whoever took it over.
#[derive(Default)]
pub(super) struct Claims(BTreeMap<i64, i64>);

impl Claims {
    /// Remembers a claim.
    pub(super) fn hold(&mut self, id: i64, attempts: i64) {
        self.0.insert(id, attempts);
        if self.0.len() > MOST_CLAIMS {
            self.0.pop_first();
        }
    }

    /// The claim that a call means: the one it names, else the one held.
    pub(super) fn of(&self, id: i64, named: Option<i64>) -> Option<i64> {
        named.or_else(|| self.0.get(&id).copied())
    }

    /// Forgets a job that is gone for good. A job that was released is not: it may be another's next.
    pub(super) fn gone(&mut self, id: i64) {
        self.0.remove(&id);
    }
}

/// Runs `work` on the queue that the settings name now. Nothing of PHP may run within it.
pub(super) fn with_queue<T>(work: impl FnOnce(&mut Opened) -> Result<T>) -> Result<T> {
    OPEN.with_borrow_mut(|all| {
        let generation = ini::generation();
        let at = match CURRENT.get() {
            Some((at, known)) if known == generation => at,
            _ => choose(all)?,
        };
        if all[at].settings.untrusted {
            // At every call: a script may tighten open_basedir.
            check_open_basedir(all[at].settings.place.tier().1)?;
        }
        CURRENT.set(Some((at, generation)));
        work(&mut all[at])
    })
}

/// Reads the settings and finds or makes the place of the store that they name.
fn choose(all: &mut Vec<Opened>) -> Result<usize> {
    static BEFORE_FORKS: Once = Once::new();
    BEFORE_FORKS.call_once(close_before_forks);
    let settings = QueueSettings::read(ini::given)?;
    if let Some(at) = all.iter().position(|open| open.settings.place == settings.place) {
        if all[at].settings != settings {
            all[at].settings = settings;
            all[at].queue = None;
        }
        return Ok(at);
    }
    if all.len() == MOST_OPEN {
        all.remove(0);
    }
    all.push(Opened { settings, queue: None, claims: Claims::default(), heartbeats: BTreeMap::new() });
    Ok(all.len() - 1)
}

/// Ends what must not outlive a request.
pub(super) fn end_request() {
    ini::forget();
    OPEN.with_borrow_mut(|all| all.iter_mut().for_each(|open| open.heartbeats.clear()));
}

/// Closes everything of this thread.
pub(super) fn close() {
    CURRENT.set(None);
    OPEN.with_borrow_mut(Vec::clear);
}

fn check_open_basedir(path: &Path) -> Result<()> {
    // A path with a NUL byte names no file; opening it says so.
    let Ok(text) = CString::new(path.as_os_str().as_bytes()) else { return Ok(()) };
    // SAFETY: a C string that outlives the call; without a warning, for the exception says it.
    match unsafe { zend::php_check_open_basedir_ex(text.as_ptr(), 0) } {
        0 => Ok(()),
        _ => Err(Error::new(Kind::Unavailable, "open_basedir does not allow the database's path")
            .at(path)
            .remedy("Set askr.queue_db in php.ini instead, or add the folder to open_basedir")),
    }
}

/// See the module's text. The handlers run in the thread that forks, in parent and child.
fn close_before_forks() {
    thread_local! {
        /// From just before a fork to just after it, in the thread that forks and in its copy.
        static GATE: Cell<Option<MutexGuard<'static, ()>>> = const { Cell::new(None) };
    }
    extern "C" fn prepare() {
        // Waits for a renewal under way, and keeps the heartbeats from opening anything meanwhile.
        let _ = GATE.try_with(|gate| gate.set(Some(store::RENEWING.lock())));
        let _ = OPEN.try_with(|all| {
            if let Ok(mut all) = all.try_borrow_mut() {
                all.iter_mut().for_each(|open| open.queue = None);
            }
        });
    }
    extern "C" fn resume() {
        drop(GATE.try_with(Cell::take));
    }
    // SAFETY: the handlers are functions of this library, which is not unloaded before the process ends its
    // use of it, and they only take locks that are free or held for a bounded time.
    unsafe { libc::pthread_atfork(Some(prepare), Some(resume), Some(resume)) };
}
