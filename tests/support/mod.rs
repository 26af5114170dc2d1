//! What tests with real processes share. Each of them uses a part of it.
#![allow(dead_code)]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use askr::sqlite::{Options, SqliteQueue};

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

/// What tells a process of [`role`] where its database is.
const DATABASE: &str = "ASKR_TEST_DATABASE";

/// This test program once more, to run its ignored test `name`: what it does is done by another process. What
/// it reports goes to its standard error, which the test harness leaves alone.
pub(crate) fn role(name: &str, database: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture", name]).env(DATABASE, database);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// In a process of [`role`]: its database.
pub(crate) fn database() -> PathBuf {
    std::env::var_os(DATABASE).expect("this test is a part that another one runs").into()
}

/// The lines that a process of [`role`] reported, once it has ended well.
pub(crate) fn reported(child: Child) -> Vec<String> {
    let output = finish_within(child, Duration::from_secs(120)).expect("the process ends within two minutes");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

/// Opens the queue there.
pub(crate) fn open(database: &Path) -> SqliteQueue {
    SqliteQueue::open(Options::new(database)).unwrap()
}
