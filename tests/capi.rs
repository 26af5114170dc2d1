//! The C interface: a C program that knows the header alone drains a queue, and errors are told.

mod support;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::time::Duration;

use askr::capi::*;
use askr::sqlite::{Options, SqliteQueue};
use askr::store::{Push, Queue};
use support::run_within;

const MINUTES: Duration = Duration::from_secs(600);

/// Builds the core without PHP, and the program against it.
fn build(program: &Path) {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A folder of its own: elsewhere a library built with PHP has the same name.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("core");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "--lib", "--no-default-features", "--manifest-path"]);
    cargo.arg(top.join("Cargo.toml")).arg("--target-dir").arg(&target);
    succeed(&mut cargo);
    let library = target.join("debug");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(program);
    cc.arg("-I").arg(top.join("include")).arg(top.join("tests/c/drain.c"));
    // Old tags, because cargo's LD_LIBRARY_PATH would come before a new one.
    let rpath = format!("-Wl,--disable-new-dtags,-rpath,{}", library.display());
    cc.arg("-L").arg(&library).arg("-laskr").arg(rpath);
    succeed(&mut cc);
}

fn succeed(command: &mut Command) -> String {
    let output = run_within(command, MINUTES);
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_c_program_drains_a_queue() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("drain");
    build(&program);

    let database = folder.path().join("queue.db");
    let mut queue = SqliteQueue::open(Options::new(&database)).unwrap();
    let every_byte: Vec<u8> = (0..=255).collect();
    let payloads: [&[u8]; 4] = [&every_byte, b"", b"\0", b"last"];
    let ids = queue.push_many(b"jobs", &payloads, Push::default()).unwrap();
    queue.push(b"other", b"", Push::default()).unwrap();
    let first = queue.pop(b"jobs", 0).unwrap().unwrap();
    assert_eq!(first.id, ids[0], "it is claimed a second time by the program");

    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let attempts = [2, 1, 1, 1];
    let expected: String =
        (0..4).map(|nth| format!("{}\t{}\t{}\n", ids[nth], attempts[nth], hex(payloads[nth]))).collect();
    assert_eq!(succeed(Command::new(&program).arg(&database).arg("jobs")), expected);
    assert_eq!(queue.names().unwrap(), [b"other"]);
    assert_eq!(succeed(Command::new(&program).arg(&database).arg("jobs")), "");

    let nowhere: PathBuf = folder.path().join("missing/queue.db");
    let refused = run_within(Command::new(&program).arg(&nowhere).arg("jobs"), MINUTES);
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(text.starts_with("open: ") && text.contains(nowhere.to_str().unwrap()), "{text}");
}

fn bytes(bytes: &[u8]) -> AskrBytes {
    AskrBytes { data: bytes.as_ptr(), length: bytes.len() }
}

fn last_error() -> String {
    // SAFETY: the text lives until this thread's next call.
    unsafe { CStr::from_ptr(askr_last_error()) }.to_str().unwrap().to_owned()
}

#[test]
fn every_outcome_has_its_number_and_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = CString::new(folder.path().join("queue.db").to_str().unwrap()).unwrap();
    // SAFETY: a C string.
    let queue = unsafe { askr_queue_open(path.as_ptr(), 100, false) };
    assert!(!queue.is_null(), "{}", last_error());
    let push = |name: &[u8], delay, attempts| {
        let mut id = 0;
        let (name, payload) = (bytes(name), bytes(b"body"));
        // SAFETY: the queue is open, the bytes and the id live as long as the call.
        (unsafe { askr_queue_push(queue, name, payload, delay, 0, attempts, &raw mut id) }, id)
    };
    for (name, delay, attempts, told) in [
        (&b""[..], 0, 25, "empty"),
        (b"q", -1, 25, "-1"),
        (b"q", i64::MAX, 25, "between 0 and"),
        (b"q", 0, 0, "1 or more"),
    ] {
        assert_eq!(push(name, delay, attempts), (ASKR_INVALID_ARGUMENT, 0));
        assert!(last_error().contains(told), "{}", last_error());
    }
    let (outcome, id) = push(b"q", 0, 25);
    assert_eq!(outcome, ASKR_OK);

    let mut job = std::mem::MaybeUninit::<AskrJob>::uninit();
    // SAFETY: the queue is open, the job is writable.
    let mut pop = || unsafe { askr_queue_pop(queue, bytes(b"q"), 60, job.as_mut_ptr()) };
    assert_eq!([pop(), pop()], [ASKR_OK, ASKR_NONE]);
    // SAFETY: the first pop filled it, the second left it alone.
    let mut job = unsafe { job.assume_init() };
    assert_eq!((job.id, job.attempts, job.max_attempts, job.payload_length), (id, 1, 25, 4));
    // SAFETY: filled by pop. Freeing it twice is allowed.
    unsafe { askr_job_free(&raw mut job) };
    // SAFETY: as above.
    unsafe { askr_job_free(&raw mut job) };

    let mut ready = -1;
    // SAFETY: the queue is open, the number is writable.
    assert_eq!(unsafe { askr_queue_size(queue, bytes(b"q"), &raw mut ready) }, ASKR_OK);
    assert_eq!(ready, 0);
    // SAFETY: the queue is open.
    let renew = |claim| unsafe { askr_queue_renew(queue, id, 60, claim) };
    // SAFETY: the queue is open.
    let release = |claim| unsafe { askr_queue_release(queue, id, 0, claim) };
    // SAFETY: the queue is open.
    let delete = |claim| unsafe { askr_queue_delete(queue, id, claim) };
    // SAFETY: the queue is open, the bytes live as long as the call.
    let fail = |claim| unsafe { askr_queue_fail(queue, id, bytes(b"why"), claim) };
    let outcomes =
        [renew(2), renew(1), release(2), release(1), delete(1), fail(ASKR_ANY_CLAIM), fail(ASKR_ANY_CLAIM)];
    assert_eq!(outcomes, [ASKR_NONE, ASKR_OK, ASKR_NONE, ASKR_OK, ASKR_NONE, ASKR_OK, ASKR_NONE]);
    // SAFETY: null is refused.
    assert_eq!(unsafe { askr_queue_delete(ptr::null_mut(), id, 1) }, ASKR_INVALID_ARGUMENT);
    assert!(last_error().contains("null"), "{}", last_error());

    let other = rusqlite::Connection::open(folder.path().join("queue.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(push(b"q", 0, 25).0, ASKR_BUSY);
    assert!(last_error().contains(path.to_str().unwrap()), "{}", last_error());
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(push(b"q", 0, 25).0, ASKR_OK);
    // SAFETY: not used again.
    unsafe { askr_queue_close(queue) };
}
