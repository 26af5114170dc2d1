//! What can go wrong, in the six ways that a caller can act on.

use std::fmt;
use std::path::PathBuf;

/// The result of every operation of a store.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller can do about an error. Each kind but [`Kind::InvalidArgument`] is one PHP exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// An argument that no store could serve. PHP: `ValueError`.
    InvalidArgument = 1,
    /// The store's lock was not to be had in time. Nothing was changed: safe to try again.
    /// PHP: `Askr\BusyException`.
    Busy = 2,
    /// Whether the change was stored is not known: must not be retried blindly.
    /// PHP: `Askr\UncertainException`.
    Uncertain = 3,
    /// There is no room. Nothing was changed. PHP: `Askr\FullException`.
    Full = 4,
    /// The store cannot be opened, mapped or trusted, or a setting is wrong. Nothing was changed.
    /// PHP: `Askr\UnavailableException`.
    Unavailable = 5,
    /// The store's content is damaged. PHP: `Askr\CorruptException`.
    Corrupt = 6,
    /// A fault of askr itself, a caught panic among them. PHP: `Askr\Exception`.
    Internal = 7,
}

/// What happened, to what, and what to do.
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    operation: Option<&'static str>,
    cause: String,
    path: Option<PathBuf>,
    remedy: Option<&'static str>,
    code: i32,
}

impl Error {
    /// An error of `kind`; `cause` is a clause such as "the file is read-only".
    pub fn new(kind: Kind, cause: impl Into<String>) -> Self {
        Self { kind, operation: None, cause: cause.into(), path: None, remedy: None, code: 0 }
    }

    /// What the caller asked for, e.g. "push". The first one named stays: it is the outermost's call to
    /// give, and the innermost that knows it wins.
    #[must_use]
    pub fn during(mut self, operation: &'static str) -> Self {
        self.operation.get_or_insert(operation);
        self
    }

    /// The file or directory that it happened to.
    #[must_use]
    pub fn at(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// What the reader can do about it, as a sentence.
    #[must_use]
    pub fn remedy(mut self, remedy: &'static str) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// SQLite's extended result code.
    #[must_use]
    pub fn code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// SQLite's extended result code, 0 where there is none.
    pub fn extended_code(&self) -> i32 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.operation {
            write!(f, "{operation}: ")?;
        }
        write!(f, "{}", self.cause)?;
        if let Some(path) = &self.path {
            write!(f, " ({})", path.display())?;
        }
        match self.remedy {
            Some(remedy) => write!(f, ". {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
