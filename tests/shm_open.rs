//! Making and opening segments: many at once, what is in the way, and what happens when the file goes.

mod support;

use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use askr::shm::{Options, ShmQueue};
use askr::store::{Error, Kind, Push, Queue};
use support::{reported, role, wait_for};
use tempfile::TempDir;

const SIZE: usize = 1 << 20;

fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

fn options(folder: &Path) -> Options {
    Options { size: SIZE, ..Options::new(folder, "test") }
}

fn open(folder: &Path) -> ShmQueue {
    ShmQueue::open(options(folder)).unwrap()
}

fn push(queue: &mut ShmQueue, payload: &[u8]) -> i64 {
    queue.push(b"q", payload, Push::default()).unwrap()
}

/// What an opening that must fail says: the path, and this.
fn refused(options: Options, said: &[&str]) -> Error {
    let error = ShmQueue::open(options.clone()).expect_err("it must not be opened");
    let text = error.to_string();
    assert_eq!(error.kind(), Kind::Unavailable, "{text}");
    let path = options.path().display().to_string();
    for part in said.iter().chain([&path.as_str()]) {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    error
}

#[test]
fn of_many_that_start_at_once_one_makes_the_segment() {
    for _ in 0..5 {
        let folder = folder();
        let gate = File::create(folder.path().join("gate")).unwrap();
        gate.lock().unwrap();
        let children: Vec<_> = (0..32).map(|_| role("push_some", folder.path()).spawn().unwrap()).collect();
        std::thread::sleep(Duration::from_millis(300));
        gate.unlock().unwrap();
        let mut ids = Vec::new();
        for child in children {
            let of_one: Vec<i64> = reported(child).iter().map(|id| id.parse().unwrap()).collect();
            assert!(of_one.is_sorted(), "{of_one:?}");
            ids.extend(of_one);
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 32 * 5, "every id is one job's");
        assert_eq!(open(folder.path()).backlog(b"q").unwrap().total, 32 * 5);
    }
}

#[test]
#[ignore = "a part of of_many_that_start_at_once_one_makes_the_segment"]
fn push_some() {
    let folder = support::database();
    File::open(folder.join("gate")).unwrap().lock_shared().unwrap();
    let mut queue = open(&folder);
    for _ in 0..5 {
        eprintln!("{}", push(&mut queue, b"x"));
    }
}

#[test]
fn what_is_in_the_way_is_told() {
    type Change = fn(&Path);
    let cases: &[(Change, &[&str])] = &[
        (|path| File::options().write(true).open(path).unwrap().set_len(0).unwrap(), &["size is 0"]),
        (|path| File::options().write(true).open(path).unwrap().set_len(5000).unwrap(), &["size is 5000"]),
        (
            |path| File::options().write(true).open(path).unwrap().set_len(SIZE as u64 / 2).unwrap(),
            &["damaged"],
        ),
        (|path| fs::write(path, vec![7; SIZE]).unwrap(), &["no segment of askr's"]),
        (|path| write_at(path, 8, &99_u32.to_ne_bytes()), &["layout version 99", "askr.shm_name"]),
        (|path| write_at(path, 12, &512_u32.to_ne_bytes()), &["header is damaged"]),
        (|path| write_at(path, 24, &1_u64.to_ne_bytes()), &["header is damaged"]),
        (
            |path| {
                let away = path.with_extension("away");
                fs::rename(path, &away).unwrap();
                symlink(away, path).unwrap();
            },
            &["symbolic link", "Remove"],
        ),
        (|path| replace(path, |path| fs::create_dir(path).unwrap()), &["directory"]),
        (
            |path| replace(path, |path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap()),
            &["no segment"],
        ),
    ];
    for (change, said) in cases {
        let folder = folder();
        drop(open(folder.path()));
        change(&options(folder.path()).path());
        refused(options(folder.path()), said);
    }
}

fn write_at(path: &Path, offset: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

fn replace(path: &Path, with: impl FnOnce(&Path)) {
    fs::remove_file(path).unwrap();
    with(path);
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    refused(Options::new("/dev/shm/no-such-folder", "test"), &["its folder", "askr.shm_dir"]);
}

#[test]
fn a_size_that_cannot_be_reserved_is_told_at_once() {
    let folder = folder();
    let too_large = Options { size: 500 << 30, ..options(folder.path()) };
    refused(too_large, &["No space left", "askr.queue_memory"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of it");
    drop(open(folder.path()));
}

#[test]
fn whatever_the_umask_the_mode_is_the_settings() {
    use nix::sys::stat::{Mode, umask};
    for mode in [0o600, 0o660] {
        let folder = folder();
        let before = umask(Mode::from_bits_truncate(0o077));
        drop(ShmQueue::open(Options { mode, ..options(folder.path()) }).unwrap());
        umask(before);
        let found = fs::metadata(options(folder.path()).path()).unwrap().permissions().mode() & 0o7777;
        assert_eq!(found, mode);
    }
}

/// As root alone: files of other users.
#[test]
fn another_users_file_is_used_only_where_both_share() {
    if !nix::unistd::Uid::effective().is_root() {
        eprintln!("not root: files of other users cannot be made");
        return;
    }
    let folder = folder();
    drop(open(folder.path()));
    let path = options(folder.path()).path();
    std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
    refused(options(folder.path()), &["user 12345", "mode 0600", "this process is user 0", "askr.shm_mode"]);
    fs::set_permissions(&path, Permissions::from_mode(0o660)).unwrap();
    refused(options(folder.path()), &["mode 0660"]);
    drop(ShmQueue::open(Options { mode: 0o660, ..options(folder.path()) }).unwrap());
}

#[test]
fn a_file_that_is_cut_short_in_use_is_an_error_and_no_crash() {
    let folder = folder();
    let mut queue = open(folder.path());
    push(&mut queue, b"x");
    File::options().write(true).open(options(folder.path()).path()).unwrap().set_len(4096).unwrap();
    // The file is looked at every 10 ms.
    std::thread::sleep(Duration::from_millis(20));
    let error = queue.push(b"q", b"x", Push::default()).expect_err("there is no room any more");
    assert!(error.to_string().contains("cut short"), "{error}");
}

#[test]
fn when_the_file_is_removed_all_go_on_in_a_new_one() {
    let folder = folder();
    let (mut first, mut second) = (open(folder.path()), open(folder.path()));
    let last = push(&mut first, b"before");
    let claimed = first.pop(b"q", 600).unwrap().unwrap();
    push(&mut second, b"waiting");
    fs::remove_file(options(folder.path()).path()).unwrap();
    let mut newcomer = open(folder.path());
    let id = push(&mut newcomer, b"newcomer");
    assert!(id > last, "ids do not begin again");
    let one_world = wait_for(Duration::from_secs(1), || {
        let total = |queue: &mut ShmQueue| queue.backlog(b"q").unwrap().total;
        ([total(&mut first), total(&mut second), total(&mut newcomer)] == [3, 3, 3]).then_some(())
    });
    one_world.expect("within a second they see the same jobs");
    assert!(newcomer.delete(claimed.id, Some(claimed.attempts)).unwrap(), "a claim holds on");
    assert!(push(&mut second, b"after") > id);
    assert_eq!(first.backlog(b"q").unwrap().total, 3);
}

#[test]
fn what_a_process_pushed_just_before_it_ended_is_not_lost() {
    let folder = folder();
    let mut queue = open(folder.path());
    push(&mut queue, b"before");
    fs::remove_file(options(folder.path()).path()).unwrap();
    push(&mut queue, b"within the next ten milliseconds");
    drop(queue);
    assert_eq!(open(folder.path()).backlog(b"q").unwrap().total, 2);
}

#[test]
fn a_file_that_was_moved_over_is_noticed() {
    let (one, other) = (folder(), folder());
    let mut queue = open(one.path());
    push(&mut queue, b"ours");
    push(&mut open(other.path()), b"theirs");
    fs::rename(options(other.path()).path(), options(one.path()).path()).unwrap();
    let total = wait_for(Duration::from_secs(1), || (queue.backlog(b"q").unwrap().total == 2).then_some(()));
    total.expect("both jobs are in the one that has the name");
}

#[test]
fn a_segment_of_an_earlier_run_of_the_machine_is_made_anew() {
    let folder = folder();
    let id = push(&mut open(folder.path()), b"before the restart");
    write_at(&options(folder.path()).path(), 32, &[0x5a; 16]);
    let mut queue = open(folder.path());
    assert_eq!(queue.backlog(b"q").unwrap().total, 0);
    assert!(push(&mut queue, b"x") > id);
}

#[test]
fn names_are_apart() {
    let folder = folder();
    let mut other = ShmQueue::open(Options { name: "other".into(), ..options(folder.path()) }).unwrap();
    push(&mut open(folder.path()), b"x");
    assert_eq!(other.backlog(b"q").unwrap().total, 0);
    let files: Vec<PathBuf> = fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 4, "{files:?}");
}
