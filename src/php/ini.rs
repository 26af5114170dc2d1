//! The settings as PHP's ini entries.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use ext_php_rs::ffi::{zend_ini_entry, zend_string};
use ext_php_rs::flags::IniEntryPermission;
use ext_php_rs::types::Zval;
use ext_php_rs::zend::{ExecutorGlobals, IniEntryDef, IniEntryDefs};

use super::zend;
use crate::config::{ALL, Given, Origin, Setting};

static ENTRIES: IniEntryDefs<{ ALL.len() + 1 }> = IniEntryDefs::new(entries());

const fn entries() -> [IniEntryDef; ALL.len() + 1] {
    let mut entries = [const { IniEntryDef::end() }; ALL.len() + 1];
    let mut at = 0;
    while at < ALL.len() {
        let permission = if ALL[at].by_script { IniEntryPermission::All } else { IniEntryPermission::System };
        entries[at] = IniEntryDef::new(ALL[at].name, ALL[at].default, permission);
        entries[at].on_modify = Some(changed);
        at += 1;
    }
    entries
}

thread_local! {
    static GENERATION: Cell<u64> = const { Cell::new(0) };
}

/// A number that changes whenever a setting may have: what was read under the same one still holds.
pub(super) fn generation() -> u64 {
    GENERATION.get()
}

/// What was read may hold no more: a request ends, and with it what it set.
pub(super) fn forget() {
    GENERATION.set(GENERATION.get() + 1);
}

/// PHP's call before an entry of ours gets a value. Every value is taken here; a wrong one is an exception at use.
unsafe extern "C" fn changed(
    _: *mut zend_ini_entry,
    _: *mut zend_string,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    _: c_int,
) -> c_int {
    forget();
    zend::SUCCESS
}

pub(super) fn register(module: i32) {
    IniEntryDef::register(ENTRIES.as_slice(), module);
}

pub(super) fn unregister(module: i32) {
    // SAFETY: called once, while the module shuts down, for the entries that it registered.
    unsafe { zend::zend_unregister_ini_entries(module) };
}

/// How a setting stands now: its ini entry, or where that is empty its environment variable.
pub(super) fn given(setting: &'static Setting) -> Given {
    let found = entry(setting).unwrap_or_else(|| Given { value: String::new(), origin: Origin::Default });
    if !found.value.is_empty() {
        return found;
    }
    let variable = setting.environment.and_then(std::env::var_os);
    match variable.filter(|value| !value.is_empty()) {
        Some(value) => Given { value: value.to_string_lossy().into_owned(), origin: Origin::Environment },
        None => found,
    }
}

fn entry(setting: &'static Setting) -> Option<Given> {
    let globals = ExecutorGlobals::get();
    // SAFETY: PHP's table of ini entries lives as long as the process, or is null before it starts.
    let directives = unsafe { globals.ini_directives.as_ref() }?;
    // SAFETY: what PHP stores in this table are pointers to ini entries.
    let entry = unsafe { directives.get(setting.name())?.ptr::<zend_ini_entry>() }?;
    // SAFETY: the entry lives as long as the table.
    let entry = unsafe { &*entry };
    // SAFETY: null, or a string that PHP keeps while the entry has this value.
    let value = unsafe { entry.value.as_ref() };
    let value = value.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()).unwrap_or_default();
    let origin = origin(setting, entry, &value);
    Some(Given { value, origin })
}

fn origin(setting: &Setting, entry: &zend_ini_entry, value: &str) -> Origin {
    if entry.modified != 0 {
        let by_admin = u32::from(entry.modifiable) == IniEntryPermission::System.bits();
        return if by_admin { Origin::Admin } else { Origin::Script };
    }
    let name = setting.name.to_bytes();
    // SAFETY: a lookup by a name of that length in PHP's configuration.
    let configured = unsafe { zend::cfg_get_entry(setting.name.as_ptr(), name.len()) };
    // SAFETY: null, or PHP's own value, which lives as long as the process.
    let configured = unsafe { configured.as_ref() }.and_then(Zval::str);
    // A pool's settings take the place of these values without a mark on the entry.
    match configured {
        Some(configured) if configured == value => Origin::Ini,
        None if setting.default.to_bytes() == value.as_bytes() => Origin::Default,
        _ => Origin::Admin,
    }
}
