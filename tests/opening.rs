//! Opening a database: what cannot be opened is told with path, cause and remedy.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use askr::sqlite::{Options, SqliteQueue};
use askr::store::{Kind, Push, Queue};
use rusqlite::Connection;
use support::{database, open, reported, role};

/// Asserts that the database is refused, for that cause.
fn refused(database: &Path, cause: &str) {
    let error = SqliteQueue::open(Options::new(database)).expect_err(cause);
    let text = error.to_string();
    assert_eq!(error.kind(), Kind::Unavailable, "{text}");
    assert!(text.contains(cause), "{text}");
    let (what, remedy) = text.rsplit_once("). ").unwrap_or_else(|| panic!("no remedy in: {text}"));
    assert!(what.contains(database.to_str().unwrap()), "the path is missing in: {text}");
    assert!(!remedy.is_empty(), "{text}");
}

/// A database in which that SQL was run.
fn with_sql(folder: &Path, sql: &str) -> PathBuf {
    let database = folder.join("other.db");
    Connection::open(&database).unwrap().execute_batch(sql).unwrap();
    database
}

#[test]
fn a_relative_path_is_refused() {
    refused(Path::new("queue.db"), "relative");
}

#[test]
fn a_missing_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let text = SqliteQueue::open(Options::new(missing.join("queue.db"))).unwrap_err().to_string();
    assert!(text.contains("folder") && text.contains(missing.to_str().unwrap()), "{text}");
    assert!(!missing.exists());
}

#[test]
fn a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(folder.path(), "is a folder");
}

#[test]
fn a_file_of_another_kind_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    let text = "These are notes, and no database. ".repeat(100);
    fs::write(&file, &text).unwrap();
    refused(&file, "no SQLite database");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1);
}

#[test]
fn a_cut_database_is_told_to_be_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    open(&database).push_many(b"q", &[&[0; 500][..]; 100], Push::default()).unwrap();
    let file = fs::OpenOptions::new().write(true).open(&database).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    let outcome = SqliteQueue::open(Options::new(&database)).and_then(|mut queue| queue.backlog(b"q"));
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    assert!(error.to_string().contains(database.to_str().unwrap()), "{error}");
}

#[test]
fn tables_of_another_program_are_refused() {
    for table in ["askr_jobs (id INTEGER, job TEXT)", "askr_failed_jobs (id INTEGER PRIMARY KEY, why TEXT)"] {
        let folder = tempfile::tempdir().unwrap();
        refused(&with_sql(folder.path(), &format!("CREATE TABLE {table}")), "other columns");
    }
}

#[test]
fn another_text_encoding_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(&with_sql(folder.path(), "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a)"), "UTF-16");
}

#[test]
fn columns_that_were_added_with_defaults_are_fine() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("queue.db");
    drop(open(&database));
    let other = Connection::open(&database).unwrap();
    other.execute_batch("ALTER TABLE askr_jobs ADD COLUMN note TEXT DEFAULT ''").unwrap();
    let mut queue = open(&database);
    let id = queue.push(b"q", b"", Push::default()).unwrap();
    assert_eq!(queue.pop(b"q", 60).unwrap().map(|job| job.id), Some(id));
}

#[test]
fn a_read_only_file_system_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.db");
    drop(open(&path));
    let part = role("open_read_only", &path);
    let mut unshare = Command::new("unshare");
    unshare.args(if nix::unistd::Uid::effective().is_root() { &["-m"][..] } else { &["-m", "-r"] });
    let mount = "mount --bind \"$0\" \"$0\"; mount -o remount,bind,ro \"$0\"; exec \"$@\"";
    unshare.args(["sh", "-ec", mount]).arg(folder.path()).arg(part.get_program()).args(part.get_args());
    unshare.envs(part.get_envs().filter_map(|(name, value)| Some((name, value?))));
    unshare.stdout(Stdio::null()).stderr(Stdio::piped());
    reported(unshare.spawn().unwrap());
}

#[test]
#[ignore = "a part of a_read_only_file_system_is_refused"]
fn open_read_only() {
    refused(&database(), "must be able to write the file and its folder");
    refused(&database().with_file_name("new.db"), "cannot be created");
}

#[test]
fn a_new_database_belongs_to_its_folders_owner() {
    // Only root can create a file for somebody else.
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (user, group) = (4321, 4322);
    chown(folder.path(), Some(user), Some(group)).unwrap();
    let database = folder.path().join("queue.db");
    let mut queue = open(&database);
    queue.push(b"q", b"", Push::default()).unwrap();
    let files: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(files.len(), 4, "the database, its log, the log's index and the doorbell: {files:?}");
    for file in files {
        let data = file.metadata().unwrap();
        assert_eq!((data.uid(), data.gid()), (user, group), "{file:?}");
    }
}
