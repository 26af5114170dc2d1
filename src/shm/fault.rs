//! Dying on purpose, for the test that kills a process at every step of a critical section.

/// Called after every store to the segment. In a build with the `fault-injection` feature the process kills
/// itself at the step that [`die_at`] named.
#[inline]
pub(super) fn step() {
    #[cfg(feature = "fault-injection")]
    armed::step();
}

#[cfg(feature = "fault-injection")]
pub use armed::die_at;

#[cfg(feature = "fault-injection")]
mod armed {
    use std::sync::atomic::{AtomicU64, Ordering};

    static AT: AtomicU64 = AtomicU64::new(u64::MAX);
    static STEPS: AtomicU64 = AtomicU64::new(0);

    /// Begins to count steps; the process dies by SIGKILL at step `at`, from 1.
    pub fn die_at(at: u64) {
        STEPS.store(0, Ordering::SeqCst);
        AT.store(at, Ordering::SeqCst);
    }

    pub(super) fn step() {
        if STEPS.fetch_add(1, Ordering::SeqCst) + 1 == AT.load(Ordering::SeqCst) {
            let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
        }
    }
}
