//! What tests with real processes share. Each of them uses a part of it.
#![allow(dead_code)]

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs a command to its end and returns its output. One that takes longer than `most` is killed, and fails
/// the test.
pub(crate) fn run_within(command: &mut Command, most: Duration) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    finish_within(child.unwrap_or_else(|e| panic!("cannot run {command:?}: {e}")), most)
        .unwrap_or_else(|| panic!("{command:?} did not end within {most:?}"))
}

/// Waits for a process and returns its output; none, once it is killed, when it takes longer than `most`.
pub(crate) fn finish_within(mut child: Child, most: Duration) -> Option<Output> {
    let (out, err) = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = wait_for(most, || child.try_wait().unwrap());
    if status.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (stdout, stderr) = (out.join().unwrap(), err.join().unwrap());
    status.map(|status| Output { status, stdout, stderr })
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut all = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut all).unwrap();
        }
        all
    })
}

/// Looks until `observed` sees something; none when it has not within `most`.
pub(crate) fn wait_for<T>(most: Duration, mut observed: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        match observed() {
            None if start.elapsed() < most => thread::sleep(Duration::from_millis(2)),
            seen => return seen,
        }
    }
}
